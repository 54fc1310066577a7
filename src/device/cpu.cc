// Which processor is this, and what can it do? Names and caches from the kernel, speeds measured once and kept.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/numbers.h"
#include "device/cpu_speed.h"
#include "device/profile.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

std::string Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

// A small file of /proc or /sys; empty where it is not there.
std::string Read(const fs::path& path) {
  const Result<std::string> text = ReadText(path, size_t{16} << 20);
  return text.ok() ? Trim(*text) : std::string();
}

// The lines "key : value" of the first processor (or of all of /proc/meminfo).
std::map<std::string, std::string> ReadKeys(const fs::path& path) {
  std::map<std::string, std::string> keys;
  std::istringstream lines(Read(path));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    if (const size_t colon = line.find(':'); colon != std::string::npos) {
      keys[Trim(line.substr(0, colon))] = Trim(line.substr(colon + 1));
    }
  }
  return keys;
}

// "0-3,8" -> {0, 1, 2, 3, 8}
std::set<int64_t> ParseCpuList(const std::string& text) {
  constexpr int64_t kMostCpus = 1 << 16;
  std::set<int64_t> cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const auto first = ParseInt(Trim(part.substr(0, dash)));
    const auto last = dash == std::string::npos ? first : ParseInt(Trim(part.substr(dash + 1)));
    if (!first || !last) continue;
    for (int64_t cpu = *first; cpu <= std::min(*last, kMostCpus); ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

const fs::path& CpuFolder() {
  static const fs::path kFolder = "/sys/devices/system/cpu";
  return kFolder;
}

fs::path OneCpu(int64_t cpu) { return CpuFolder() / fmt::format("cpu{}", cpu); }

// The CPUs of this machine or container. Not the affinity of this process: a thread that was pinned for a measurement
// runs on the same hardware as before.
std::set<int64_t> UsableCpus() {
  std::set<int64_t> cpus = ParseCpuList(Read("/sys/fs/cgroup/cpuset.cpus.effective"));
  if (cpus.empty()) cpus = ParseCpuList(Read(CpuFolder() / "online"));
  if (cpus.empty()) {
    for (int64_t cpu = 0; cpu < std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

// Hyper-threads share the units that compute: they are one core.
int CountCores(const std::set<int64_t>& cpus) {
  std::set<std::string> cores;
  for (const int64_t cpu : cpus) {
    const std::string siblings = Read(OneCpu(cpu) / "topology" / "thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  auto count = static_cast<int>(cores.size());
  // A container's quota: "200000 100000" is two processors' time.
  const std::string quota = Read("/sys/fs/cgroup/cpu.max");
  const size_t blank = quota.find(' ');
  const auto time = ParseDouble(quota.substr(0, blank));
  const auto period = blank == std::string::npos ? std::nullopt : ParseDouble(quota.substr(blank + 1));
  if (time && period && *period > 0) count = std::min(count, static_cast<int>(std::ceil(*time / *period)));
  return std::max(count, 1);
}

// "2048K" -> 2 MiB
Bytes ParseCacheSize(const std::string& text) {
  if (text.empty()) return {};
  const int shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : 0;
  const auto number = ParseInt(shift == 0 ? text : text.substr(0, text.size() - 1));
  return number && *number > 0 && *number < (int64_t{1} << 32) ? Bytes(*number << shift) : Bytes();
}

std::vector<MemoryLevel> ReadCaches(const std::set<int64_t>& cpus) {
  std::vector<MemoryLevel> levels;
  for (int i = 0; i < 8; ++i) {
    const fs::path cache = OneCpu(*cpus.begin()) / "cache" / fmt::format("index{}", i);
    const std::string kind = Read(cache / "type");
    if (kind != "Data" && kind != "Unified") continue;
    MemoryLevel level;
    level.name = fmt::format("L{}", Read(cache / "level"));
    level.capacity = ParseCacheSize(Read(cache / "size"));
    level.shared = CountCores(ParseCpuList(Read(cache / "shared_cpu_list"))) > 1;
    if (level.capacity.count() > 0) levels.push_back(std::move(level));
  }
  return levels;
}

// The instruction sets that the runtime's kernels are chosen by.
std::vector<std::string> MainInstructionSets(const std::string& flags) {
  std::set<std::string> have;
  std::istringstream words(flags);
  for (std::string word; words >> word;) have.insert(word);
  std::vector<std::string> main;
  for (const char* name :
       {"sse4_2",   "avx",         "f16c",        "fma",         "avx2",     "avx_vnni", "avx512f",  "avx512bw",
        "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",  // x86
        "asimd",    "asimdhp",     "asimddp",     "i8mm",        "bf16",     "sve"}) {                // Arm
    if (have.count(name) > 0) main.emplace_back(name);
  }
  return main;
}

std::string Get(const std::map<std::string, std::string>& keys, const char* key, const char* fallback) {
  const auto found = keys.find(key);
  return found != keys.end() && !found->second.empty() ? found->second : fallback;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What people call the widest vector unit; the whole list is in DeviceProfile::features.
std::string WidestVectors(const std::vector<std::string>& features) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"amx_tile", "AVX-512 and AMX"},
                                                                             {"avx512f", "AVX-512"},
                                                                             {"avx2", "AVX2"},
                                                                             {"avx", "AVX"},
                                                                             {"sse4_2", "SSE4.2"},
                                                                             {"sve", "SVE"},
                                                                             {"asimd", "NEON"}};
  for (const auto& [feature, name] : kNames) {
    if (std::find(features.begin(), features.end(), feature) != features.end()) return fmt::format(", {}", name);
  }
  return {};
}

// A working set that lies in this level and in none that is nearer. The number: enough not to live in the nearer one by
// chance, small enough not to be pushed out by the neighbours of a shared level.
Bytes WorkingSet(const std::vector<MemoryLevel>& levels, size_t i) {
  const Bytes nearer = i == 0 ? Bytes() : levels[i - 1].capacity;
  return std::min(Bytes(levels[i].capacity.count() / 2), std::max(nearer * 6, Bytes(16 << 10)));
}

// Larger than the caches, but never more than an eighth of the memory that is free, and not a long wait.
Bytes MainMemoryWorkingSet(const std::vector<MemoryLevel>& caches) {
  const auto keys = ReadKeys("/proc/meminfo");
  const std::string text = Get(keys, "MemAvailable", "");
  const int64_t available = ParseInt(text.substr(0, text.find(' '))).value_or(1 << 20) << 10;
  const int64_t wanted = caches.empty() ? 0 : 2 * caches.back().capacity.count();
  return Bytes(std::min({std::max<int64_t>(wanted, 128 << 20), available / 8, int64_t{512} << 20}));
}

void MeasureSpeeds(DeviceProfile& d) {
  d.peak[DataType::kFloat32] = MeasureFloat32Peak() * d.cores;
  if (const FlopsPerSecond int8 = MeasureInt8Peak(); int8.count() > 0) d.peak[DataType::kInt8] = int8 * d.cores;
  d.sources["peak"] =
      "measured on this machine: independent multiply-adds in registers on one core, the fastest of several runs, "
      "times "
      "the cores";
  d.sources["memory"] = "sizes from the kernel (/sys), bandwidths measured on this machine: reading";
  for (size_t i = 0; i < d.memory.size(); ++i) {
    MemoryLevel& level = d.memory[i];
    const bool is_main = i + 1 == d.memory.size();
    const std::vector<MemoryLevel> caches(d.memory.begin(), d.memory.end() - 1);
    const Bytes working_set = is_main ? MainMemoryWorkingSet(caches) : WorkingSet(caches, i);
    const BytesPerSecond one = MeasureReadBandwidth(working_set, 1);
    level.bandwidth = one;
    if (level.shared) {
      level.one_core = one;
      // The threads' parts must not fit into the caches of their cores.
      const Bytes all = is_main ? working_set : std::min(working_set * d.cores, Bytes(level.capacity.count() / 2));
      level.bandwidth = d.cores == 1 ? one : std::max(one, MeasureReadBandwidth(all, d.cores));
    }
    level.source = "measured";
  }
}

fs::path KeptFile(const fs::path& folder, const DeviceProfile& d) {
  return folder / "devices" / fmt::format("cpu-{}.yaml", Sha256Hex(d.fingerprint).substr(0, 12));
}

}  // namespace

Result<DeviceProfile> IdentifyCpu() {
  const auto keys = ReadKeys("/proc/cpuinfo");
  const std::set<int64_t> cpus = UsableCpus();
  DeviceProfile d;
  d.name = "cpu";
  d.kind = "cpu";
  d.runtime = "onnxruntime";
  d.cores = CountCores(cpus);
  d.features = MainInstructionSets(Get(keys, "flags", Get(keys, "Features", "").c_str()));
  const std::string model = Get(keys, "model name", Get(keys, "CPU part", "unknown processor").c_str());
  d.description = fmt::format("{}, {} core{}{}", model, d.cores, d.cores == 1 ? "" : "s", WidestVectors(d.features));
  d.fingerprint = fmt::format("{} family {} model {} stepping {}, {} cores, {}", model, Get(keys, "cpu family", "?"),
                              Get(keys, "model", "?"), Get(keys, "stepping", "?"), d.cores, Join(d.features));
  d.memory = ReadCaches(cpus);
  const std::string total = Get(ReadKeys("/proc/meminfo"), "MemTotal", "");
  d.memory_capacity = Bytes(ParseInt(total.substr(0, total.find(' '))).value_or(0) << 10);
  MemoryLevel main;
  main.name = "DRAM";
  main.capacity = d.memory_capacity;
  main.shared = true;
  d.memory.push_back(std::move(main));
  return d;
}

Result<DeviceProfile> DetectCpu(bool measure_again) {
  SIMPRED_ASSIGN_OR_RETURN(DeviceProfile identified, IdentifyCpu());
  const Result<fs::path> folder = UserDataFolder();
  if (folder.ok() && !measure_again) {
    const fs::path file = KeptFile(*folder, identified);
    const Result<std::string> kept = ReadText(file, size_t{1} << 20);
    if (kept.ok()) {
      Result<DeviceProfile> profile = ParseDeviceYaml(*kept, file.string());
      if (profile.ok() && profile->fingerprint == identified.fingerprint) {
        profile->description = identified.description;
        return profile;
      }
    }
  }
  MeasureSpeeds(identified);
  if (folder.ok()) {
    // Not kept is not an error: the next call measures again.
    const fs::path file = KeptFile(*folder, identified);
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    (void)WriteAtomically(file, ToYaml(identified)).ok();
  }
  return identified;
}

}  // namespace simpred
