// The timeline for Perfetto and speedscope: Chrome's trace event format, one track a resource, and what was measured
// beside it where there is a measurement. Long schedules keep the longest kernels; what is left out is said in the
// trace's metadata.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "report/escape.h"
#include "report/report.h"

namespace simpred {
namespace {

constexpr size_t kMostEvents = 200'000;  // about 60 MB, which Perfetto still opens at once
constexpr int kPredicted = 1, kMeasured = 2;

std::string Micros(Duration d) {
  const double us = d / Microseconds(1);
  return std::isfinite(us) ? FormatFixed(us, 3) : "0";
}

std::string Metadata(std::string_view what, int process, size_t thread, std::string_view name) {
  return fmt::format("{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"{}\",\"args\":{{\"name\":{}}}}}", process, thread,
                     what, JsonString(name));
}

std::string Complete(const ReportOperator& o, int process, size_t thread, Duration start, Duration length) {
  return fmt::format(
      "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{},\"name\":{},\"cat\":{},\"args\":{{\"type\":{},"
      "\"source\":\"{}\","
      "\"reason\":{},\"bound\":\"{}\",\"stall_cause\":\"{}\",\"flops\":{},\"bytes\":{},\"low_us\":{},\"high_us\":{}}}}"
      "}",
      process, thread, Micros(start), Micros(length), JsonString(o.name), JsonString(o.op_class), JsonString(o.type),
      Name(o.source), JsonString(o.reason), Name(o.bound), Name(o.stall),
      std::isfinite(o.flops.count()) ? FormatDouble(o.flops.count()) : "0", o.bytes.count(), Micros(o.low),
      Micros(o.high));
}

// Kernels that are drawn, in execution order: all, or the longest.
std::vector<size_t> Drawn(const Report& r) {
  std::vector<size_t> order = ByTime(r);
  if (order.size() > kMostEvents) order.resize(kMostEvents);
  std::sort(order.begin(), order.end());
  return order;
}

size_t Thread(const Report& r, const std::string& resource) {
  for (size_t i = 0; i < r.resources.size(); ++i)
    if (r.resources[i].name == resource) return i + 1;
  return 0;
}

}  // namespace

std::string RenderTrace(const Report& r, const ViewOptions&) {
  const std::vector<size_t> drawn = Drawn(r);
  std::string out = fmt::format(
      "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"tool\":{},\"model\":{},\"device\":{},\"kernels\":{},\"kernels_"
      "left_out\":{}}},"
      "\"traceEvents\":[\n",
      JsonString("sim_predict " + r.run.tool_version), JsonString(r.run.model_name), JsonString(r.run.device),
      r.operators.size(), r.operators.size() - drawn.size());
  out.reserve(out.size() + drawn.size() * 320);
  out += Metadata("process_name", kPredicted, 0, "predicted: " + r.run.model_name + " on " + r.run.device);
  for (size_t i = 0; i < r.resources.size(); ++i)
    out += ",\n" + Metadata("thread_name", kPredicted, i + 1, r.resources[i].name);
  for (const size_t i : drawn) {
    const ReportOperator& o = r.operators[i];
    if (o.source == Source::kExcluded) continue;
    out += ",\n" + Complete(o, kPredicted, Thread(r, o.resource), o.start, o.end - o.start);
  }
  if (r.comparison) {
    // The measured times one after the other: what a sequential runtime does.
    out += ",\n" + Metadata("process_name", kMeasured, 0, "measured") + ",\n" +
           Metadata("thread_name", kMeasured, 1, "measured");
    Duration at;
    for (const size_t i : drawn) {
      if (!r.operators[i].measured) continue;
      out += ",\n" + Complete(r.operators[i], kMeasured, 1, at, *r.operators[i].measured);
      at += *r.operators[i].measured;
    }
  }
  return out + "\n]}\n";
}

}  // namespace simpred
