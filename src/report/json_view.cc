// The report for programs: "sim_predict.report/1", docs/schema/report.schema.json. Written directly, in a fixed order
// of keys: a report of ten thousand operators needs no tree in memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "report/escape.h"
#include "report/report.h"

namespace simpred {
namespace {

// Null for what is no number: JSON has neither infinity nor nan.
std::string Number(double v) { return std::isfinite(v) ? FormatDouble(v) : "null"; }

// To the nanosecond, which is what the simulator's clock resolves; below one, to the picosecond.
std::string Micros(Duration d) {
  const double ns = d / Nanoseconds(1);
  return Number(std::abs(ns) >= 1 ? std::round(ns) / 1e3 : std::round(ns * 1e3) / 1e6);
}

std::string Count(Flops f) { return Number(f.count()); }

std::string TextOrNull(const std::string& text) { return text.empty() ? "null" : JsonString(text); }

std::string Pair(Duration low, Duration high) { return fmt::format("[{}, {}]", Micros(low), Micros(high)); }

void AppendRun(const RunInfo& i, std::string& out) {
  out += fmt::format("  \"run\": {{\n    \"id\": {},\n", i.id ? fmt::to_string(*i.id) : "null");
  const std::pair<const char*, const std::string*> texts[] = {{"tool_version", &i.tool_version},
                                                              {"config", &i.config},
                                                              {"config_sha256", &i.config_sha256},
                                                              {"model_path", &i.model_path},
                                                              {"model_name", &i.model_name},
                                                              {"model_sha256", &i.model_sha256},
                                                              {"model_version", &i.model_version},
                                                              {"commit", &i.commit},
                                                              {"input_shapes", &i.input_shapes},
                                                              {"device", &i.device},
                                                              {"device_description", &i.device_description},
                                                              {"runtime", &i.runtime},
                                                              {"runtime_version", &i.runtime_version},
                                                              {"precision", &i.precision},
                                                              {"fusion_mode", &i.fusion_mode},
                                                              {"family", &i.family},
                                                              {"statistic", &i.statistic},
                                                              {"calibration_state", &i.calibration}};
  for (const auto& [key, value] : texts) out += fmt::format("    \"{}\": {},\n", key, TextOrNull(*value));
  out += fmt::format("    \"threads\": {}\n  }},\n", i.threads);
}

void AppendEndToEnd(const Report& r, std::string& out) {
  out += fmt::format(
      "  \"end_to_end\": {{\n    \"latency_us\": {},\n    \"interval_us\": {},\n    \"interval_level\": 0.9,\n"
      "    \"grade\": \"{}\",\n    \"advice\": {},\n    \"expected_deviation\": {},\n    \"source\": \"{}\",\n    "
      "\"reason\": {},\n    \"by_source\": {{",
      Micros(r.latency), Pair(r.low, r.high), Name(r.grade), JsonString(Advice(r.grade)), Number(r.expected_deviation),
      Name(r.source), JsonString(r.reason));
  const char* separator = "";
  for (const auto& [source, time] : r.by_source) {
    out += fmt::format("{}\"{}\": {}", separator, Name(source), Micros(time));
    separator = ", ";
  }
  out += fmt::format(
      "}},\n    \"kernels_us\": {},\n    \"gap_us\": {},\n    \"run_cost_us\": {},\n    \"excluded_us\": {},\n"
      "    \"peak_memory_bytes\": {},\n    \"weights_bytes\": {},\n    \"peak_activations_bytes\": {},\n    "
      "\"memory_capacity_bytes\": {},\n    \"fits\": {}\n  }},\n",
      Micros(r.kernels), Micros(r.gap), Micros(r.run_cost), Micros(r.excluded), r.peak_memory.count(),
      r.weights.count(), r.peak_activations.count(), r.memory_capacity.count(), r.fits);
}

void AppendOperator(const ReportOperator& o, std::string& out) {
  out += fmt::format("    {{\"name\": {}, \"type\": {}, \"class\": {}, \"dtype\": {}, \"fused_from\": [",
                     JsonString(o.name), JsonString(o.type), JsonString(o.op_class), JsonString(o.dtype));
  for (size_t i = 0; i < o.fused_from.size(); ++i) out += (i > 0 ? ", " : "") + JsonString(o.fused_from[i]);
  out += fmt::format(
      "], \"hypothetical\": {}, \"has_rule\": {}, \"latency_us\": {}, \"interval_us\": {}, \"source\": \"{}\", "
      "\"reason\": {}, \"flops\": {}, \"bytes\": {}, \"bound\": \"{}\", \"roofline_us\": {}, \"start_us\": {}, "
      "\"end_us\": {}, \"resource\": {}, \"stall_cause\": \"{}\"",
      o.hypothetical, o.has_rule, Micros(o.latency), Pair(o.low, o.high), Name(o.source), JsonString(o.reason),
      Count(o.flops), o.bytes.count(), Name(o.bound), Micros(o.roofline), Micros(o.start), Micros(o.end),
      JsonString(o.resource), Name(o.stall));
  if (o.measured) out += fmt::format(", \"measured_us\": {}", Micros(*o.measured));
  out += "}";
}

void AppendCeilings(const char* key, const std::vector<Ceiling>& ceilings, std::string& out) {
  out += fmt::format("\"{}\": [", key);
  for (size_t i = 0; i < ceilings.size(); ++i)
    out += fmt::format("{}{{\"name\": {}, \"per_second\": {}}}", i > 0 ? ", " : "", JsonString(ceilings[i].name),
                       Number(ceilings[i].per_second));
  out += "]";
}

void AppendComparison(const Report& r, std::string& out) {
  const Comparison& c = *r.comparison;
  out += fmt::format(
      "  \"comparison\": {{\"measured_us\": {}, \"statistic\": {}, \"rounds\": {}, \"spread\": {}, \"deviation\": {}, "
      "\"inside_interval\": {}}},\n",
      Micros(c.end_to_end), JsonString(c.statistic), c.rounds, Number(c.spread),
      Number(Deviation(r.latency, c.end_to_end)), c.end_to_end >= r.low && c.end_to_end <= r.high);
}

}  // namespace

std::string RenderJson(const Report& r, const ViewOptions&) {
  std::string out = "{\n  \"schema\": \"sim_predict.report/1\",\n";
  out.reserve(4096 + r.operators.size() * 640);
  AppendRun(r.run, out);
  AppendEndToEnd(r, out);
  out += "  \"operators\": [";
  for (size_t i = 0; i < r.operators.size(); ++i) {
    out += i > 0 ? ",\n" : "\n";
    AppendOperator(r.operators[i], out);
  }
  out += r.operators.empty() ? "],\n  \"resources\": [" : "\n  ],\n  \"resources\": [";
  for (size_t i = 0; i < r.resources.size(); ++i)
    out += fmt::format("{}{{\"name\": {}, \"utilization\": {}}}", i > 0 ? ", " : "", JsonString(r.resources[i].name),
                       Number(r.resources[i].utilization));
  out += fmt::format("],\n  \"bottleneck\": {},\n  \"coverage\": {},\n  \"roofline\": {{", JsonString(r.bottleneck),
                     JsonString(r.Coverage()));
  AppendCeilings("compute", r.compute_ceilings, out);
  out += ", ";
  AppendCeilings("memory", r.memory_ceilings, out);
  out += "},\n";
  if (r.comparison) AppendComparison(r, out);
  out += "  \"warnings\": [";
  for (size_t i = 0; i < r.warnings.size(); ++i) out += (i > 0 ? ",\n    " : "\n    ") + JsonString(r.warnings[i]);
  return out + (r.warnings.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace simpred
