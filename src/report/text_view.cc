// What does a person at a terminal read? Time per operator, end to end, utilisation; then the bottleneck, where the
// time comes from, warnings.
//
//   resnet50 on cpu (Xeon, 2 cores), onnxruntime 1.30.0, 1 thread, precision model, fusion auto
//
//   Time per operator (10 of 59)
//     operator       type                          time   share  90 % interval       source        bound
//     conv1          com.microsoft.nchwc.Conv   1.51 ms   6.4 %  1.42 .. 1.60 ms     interpolated  compute
//
//   End to end
//     23.6 ms, 90 % between 22.4 ms and 24.8 ms
//     grade baseline (expected deviation 4.1 %): differences of more than that can be relied on
//
// share: of the end-to-end time. bound: which ceiling of the roofline the kernel is under.
#include <fmt/format.h>

#include <algorithm>

#include "report/escape.h"
#include "report/report.h"
#include "report/table.h"

namespace simpred {
namespace {

constexpr size_t kDefaultTop = 10;

using Align = Table::Align;

std::string Percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string SignedPercent(double share) { return fmt::format("{}{}", share > 0 ? "+" : "", Percent(share)); }

std::string Interval(Duration low, Duration high) { return fmt::format("{} .. {}", low, high); }

std::string Heading(std::string_view text, const ViewOptions& o) {
  return o.color ? fmt::format("\033[1m{}\033[0m\n", text) : fmt::format("{}\n", text);
}

std::string Head(const Report& r) {
  const RunInfo& i = r.run;
  std::string line = fmt::format("{} on {}", i.model_name, i.device);
  if (!i.device_description.empty()) line += fmt::format(" ({})", i.device_description);
  if (!i.runtime.empty())
    line += fmt::format(", {}{}{}", i.runtime, i.runtime_version.empty() ? "" : " ", i.runtime_version);
  line += fmt::format(", {} thread{}, precision {}, fusion {}", i.threads, i.threads == 1 ? "" : "s", i.precision,
                      i.fusion_mode);
  std::string text = TerminalSafe(line) + "\n";
  if (!i.input_shapes.empty()) text += "input " + TerminalSafe(i.input_shapes) + "\n";
  if (!i.calibration.empty()) text += TerminalSafe(i.calibration) + "\n";
  return text + "\n";
}

std::string Operators(const Report& r, const ViewOptions& o) {
  const std::vector<size_t> order = ByTime(r);
  const size_t wanted = o.all ? order.size() : o.top > 0 ? static_cast<size_t>(o.top) : kDefaultTop;
  const size_t rows = std::min(order.size(), wanted);
  const bool measured = r.comparison.has_value();
  std::vector<Table::Column> columns = {{"operator", Align::kLeft, 40},
                                        {"type", Align::kLeft, 36},
                                        {"time", Align::kRight},
                                        {"share", Align::kRight},
                                        {"90 % interval"},
                                        {"source"},
                                        {"bound"}};
  if (measured) columns.insert(columns.begin() + 3, {{"measured", Align::kRight}, {"deviation", Align::kRight}});
  Table table(columns);
  for (size_t i = 0; i < rows; ++i) {
    const ReportOperator& op = r.operators[order[i]];
    std::vector<std::string> cells = {op.name,
                                      op.type + (op.hypothetical ? " (hypothetical)" : ""),
                                      ToString(op.latency),
                                      r.latency > Duration() ? Percent(op.latency / r.latency) : "",
                                      Interval(op.low, op.high),
                                      std::string(Name(op.source)),
                                      std::string(Name(op.bound))};
    if (measured)
      cells.insert(cells.begin() + 3, {op.measured ? ToString(*op.measured) : "",
                                       op.measured ? SignedPercent(Deviation(op.latency, *op.measured)) : ""});
    table.Row(std::move(cells));
  }
  std::string text =
      Heading(rows < order.size() ? fmt::format("Time per operator ({} of {}; --all shows all)", rows, order.size())
                                  : fmt::format("Time per operator ({})", order.size()),
              o);
  text += table.ToString();
  if (rows == order.size()) return text + "\n";
  text += "\n  Time per type\n";
  Table types(
      {{"type", Align::kLeft, 40}, {"kernels", Align::kRight}, {"time", Align::kRight}, {"share", Align::kRight}});
  const std::vector<TypeTotal> totals = TotalsByType(r);
  for (size_t i = 0; i < std::min<size_t>(totals.size(), kDefaultTop); ++i)
    types.Row({totals[i].type, fmt::to_string(totals[i].count), ToString(totals[i].latency),
               r.latency > Duration() ? Percent(totals[i].latency / r.latency) : ""});
  return text + types.ToString(4) + "\n";
}

std::string EndToEnd(const Report& r, const ViewOptions& o) {
  std::string text = Heading("End to end", o);
  text += fmt::format("  {}, 90 % between {} and {}\n", r.latency, r.low, r.high);
  text += fmt::format("  grade {}", Name(r.grade));
  if (r.expected_deviation > 0) text += fmt::format(" (expected deviation {})", Percent(r.expected_deviation));
  text += fmt::format(": {}\n", Advice(r.grade));
  text += fmt::format("  kernels {}, gap {}, cost of a run {}\n", r.kernels, r.gap, r.run_cost);
  if (r.excluded > Duration()) text += fmt::format("  excluded kernels would take {} more\n", r.excluded);
  text += fmt::format("  peak memory {} (weights {}, activations {})", r.peak_memory, r.weights, r.peak_activations);
  if (r.memory_capacity > Bytes())
    text += r.fits ? fmt::format(", fits in {}", r.memory_capacity)
                   : fmt::format(": DOES NOT FIT in {}, this plan is infeasible", r.memory_capacity);
  text += "\n";
  if (!r.comparison) return text + "\n";
  const Comparison& c = *r.comparison;
  text += fmt::format(
      "  measured {} ({} of {} rounds, spread {}): the prediction deviates by {}, the truth lies {} the interval\n",
      c.end_to_end, c.statistic, c.rounds, Percent(c.spread), SignedPercent(Deviation(r.latency, c.end_to_end)),
      c.end_to_end >= r.low && c.end_to_end <= r.high ? "inside" : "outside");
  return text + "\n";
}

std::string Utilisation(const Report& r, const ViewOptions& o) {
  constexpr int kBar = 40;
  std::string text = Heading("Utilisation", o);
  Table table({{"resource"}, {"busy", Align::kRight}, {"", Align::kLeft, kBar}});
  for (const ReportResource& resource : r.resources) {
    const double share = std::clamp(resource.utilization, 0.0, 1.0);
    table.Row(
        {resource.name, Percent(resource.utilization), std::string(static_cast<size_t>(share * kBar + 0.5), '#')});
  }
  return text + table.ToString() + "\n";
}

std::string Sources(const Report& r, const ViewOptions& o) {
  std::string text = Heading("Where the time comes from", o);
  Table table({{"source"}, {"time", Align::kRight}, {"share of kernels", Align::kRight}});
  Duration sum;
  for (const auto& [source, time] : r.by_source) sum += time;
  for (const auto& [source, time] : r.by_source)
    table.Row({std::string(Name(source)), ToString(time), sum > Duration() ? Percent(time / sum) : ""});
  return text + table.ToString() + "  " + r.Coverage() + "\n";
}

}  // namespace

std::string RenderText(const Report& r, const ViewOptions& o) {
  std::string text = Head(r) + Operators(r, o) + EndToEnd(r, o) + Utilisation(r, o);
  text += Heading("Bottleneck", o) + "  " + TerminalSafe(r.bottleneck) + "\n\n";
  text += Sources(r, o);
  if (r.warnings.empty()) return text;
  text += "\n" + Heading(fmt::format("Warnings ({})", r.warnings.size()), o);
  for (const std::string& w : r.warnings) text += "  - " + TerminalSafe(w) + "\n";
  return text;
}

}  // namespace simpred
