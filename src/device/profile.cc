// Where do device profiles lie, and which one is meant by a name?
#include "device/profile.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/nearest.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestProfile = size_t{1} << 20;

// $SIMPRED_DEVICES first; then what stands near the binary: beside it, in the source tree of a build folder
// (build/release/sim_predict), installed (bin/ and share/).
std::vector<fs::path> ProfileFolders() {
  std::vector<fs::path> folders;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody here sets it
  if (const char* given = std::getenv("SIMPRED_DEVICES"); given != nullptr && *given != '\0')
    folders.emplace_back(given);
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (error) return folders;
  const fs::path here = binary.parent_path();
  for (const char* near :
       {"devices", "../devices", "../../devices", "../../../devices", "../share/sim_predict/devices"}) {
    folders.push_back((here / near).lexically_normal());
  }
  return folders;
}

// Name -> file; the first folder that has a name wins.
std::map<std::string, fs::path> ProfileFiles() {
  std::map<std::string, fs::path> files;
  for (const fs::path& folder : ProfileFolders()) {
    std::error_code error;
    for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
      if (i->path().extension() == ".yaml") files.emplace(i->path().stem().string(), i->path());
    }
  }
  return files;
}

Result<DeviceProfile> ReadProfile(const fs::path& path) {
  SIMPRED_ASSIGN_OR_RETURN(const std::string text, ReadText(path, kLargestProfile));
  return ParseDeviceYaml(text, path.string());
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return text;
}

bool LooksLikeAPath(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

// The known names that are nearest, at most three: "did you mean 'A100'?"
std::string Suggestion(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& candidate : known) {
    const int distance = EditDistance(LowerCase(name), LowerCase(candidate));
    if (2 * distance <= static_cast<int>(std::max(name.size(), candidate.size())))
      ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  if (ranked.empty()) return fmt::format("known devices: {}", fmt::join(known, ", "));
  std::vector<std::string> nearest;
  for (size_t i = 0; i < ranked.size() && i < 3; ++i) nearest.push_back(fmt::format("'{}'", ranked[i].second));
  return fmt::format("did you mean {}? Known devices: {}", fmt::join(nearest, " or "), fmt::join(known, ", "));
}

}  // namespace

Result<DeviceProfile> LoadDevice(const std::string& name, const fs::path& config_folder) {
  if (LowerCase(name) == "cpu") return DetectCpu();
  if (LooksLikeAPath(name)) {
    const fs::path path(name);
    return ReadProfile(path.is_absolute() ? path : config_folder / path);
  }
  const auto files = ProfileFiles();
  if (const auto found = files.find(name); found != files.end()) return ReadProfile(found->second);
  for (const auto& [known, path] : files) {
    if (LowerCase(known) == LowerCase(name)) return ReadProfile(path);
  }
  return UsageError(fmt::format("there is no device '{}'", name), Suggestion(name, KnownDevices()));
}

std::vector<std::string> KnownDevices() {
  std::vector<std::string> names;
  for (const auto& [name, path] : ProfileFiles()) names.push_back(name);
  names.emplace_back("cpu");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace simpred
