// How busy was the machine while something was measured?
#include "profile/collectors/machine_state.h"

#include <vector>

#include "base/file.h"
#include "base/numbers.h"

namespace simpred {
namespace {

constexpr size_t kSmallFile = 1 << 20;

std::string FirstLine(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return words;
}

}  // namespace

std::optional<ProcessorTicks> ParseProcStat(std::string_view proc_stat) {
  // "cpu user nice system idle iowait irq softirq steal guest guest_nice"; guests are inside user: proc(5).
  constexpr size_t kSteal = 8;
  const std::vector<std::string_view> words = Words(proc_stat.substr(0, proc_stat.find('\n')));
  if (words.size() <= kSteal || words[0] != "cpu") return std::nullopt;
  ProcessorTicks ticks;
  for (size_t i = 1; i <= kSteal; ++i) {
    const std::optional<double> n = ParseDouble(words[i]);
    if (!n) return std::nullopt;
    ticks.total += *n;
    if (i == kSteal) ticks.steal = *n;
  }
  return ticks;
}

std::optional<ProcessorTicks> ReadProcessorTicks() {
  const Result<std::string> text = ReadText("/proc/stat", kSmallFile);
  return text.ok() ? ParseProcStat(*text) : std::nullopt;
}

std::map<std::string, std::string> MachineFacts(const std::optional<ProcessorTicks>& before) {
  std::map<std::string, std::string> facts;
  if (const Result<std::string> load = ReadText("/proc/loadavg", kSmallFile); load.ok()) {
    facts["load"] = load->substr(0, load->find(' '));
  }
  if (const std::optional<ProcessorTicks> now = ReadProcessorTicks(); now && before && now->total > before->total) {
    facts["steal_percent"] = FormatFixed(100 * (now->steal - before->steal) / (now->total - before->total), 2);
  }
  const auto governor = ReadText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", kSmallFile);
  if (governor.ok()) facts["governor"] = FirstLine(*governor);
  return facts;
}

}  // namespace simpred
