// How busy was the machine while something was measured?
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace simpred {

// Counters of all processors since boot, in the kernel's ticks.
struct ProcessorTicks {
  double total = 0, steal = 0;
};
std::optional<ProcessorTicks> ParseProcStat(std::string_view proc_stat);
std::optional<ProcessorTicks> ReadProcessorTicks();

// "load" (one minute), "steal_percent" since `before`, "governor": what can be read.
std::map<std::string, std::string> MachineFacts(const std::optional<ProcessorTicks>& before);

}  // namespace simpred
