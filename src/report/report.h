// What is said about a prediction? Plain data, from a prediction or from a saved report, and the table of views that
// show it.
//
//   Report r = BuildReport(info, workload, prediction, device);
//   std::string html = FindView("html")->render(r, {});
//
// A view is one file and one line in view.cc; it sees the report only. docs/formats.md describes the JSON form.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "device/profile.h"
#include "predict/predictor.h"
#include "workload/workload.h"

namespace simpred {

// What was asked, of what, with which tool.
struct RunInfo {
  std::optional<int64_t> id;  // in the database, once saved
  std::string tool_version;
  std::string config, config_sha256;
  std::string model_path, model_name, model_sha256, model_version, commit;
  std::string input_shapes;
  std::string device, device_description;
  std::string runtime, runtime_version;
  int threads = 1;
  std::string precision, fusion_mode, family;
  std::string statistic = "p10";
  std::string calibration;  // one sentence: what the twin was fitted on, or that there is none
};

struct ReportOperator {
  std::string name, type, op_class, dtype;
  std::vector<std::string> fused_from;
  bool hypothetical = false;
  bool has_rule = true;
  Duration latency, low, high;
  Source source = Source::kUnknown;
  std::string reason;
  Flops flops;
  Bytes bytes;
  Bound bound = Bound::kMemory;
  Duration roofline;
  Duration start, end;
  std::string resource;
  StallCause stall = StallCause::kNone;
  std::optional<Duration> measured;  // for comparison
};

struct ReportResource {
  std::string name;
  double utilization = 0;  // 0..1
};

// A line of the roofline plot.
struct Ceiling {
  std::string name;
  double per_second = 0;  // FLOP or bytes
};

struct Comparison {
  Duration end_to_end;  // measured
  std::string statistic;
  int64_t rounds = 0;
  double spread = 0;  // of the rounds
};

struct Report {
  RunInfo run;
  Duration latency, low, high;
  Grade grade = Grade::kReference;
  double expected_deviation = 0;
  Source source = Source::kUnknown;
  std::string reason;
  std::map<Source, Duration> by_source;
  Duration kernels, gap, run_cost, excluded;
  Bytes peak_memory, weights, peak_activations, memory_capacity;
  bool fits = true;
  std::vector<ReportOperator> operators;  // in execution order
  std::vector<ReportResource> resources;
  std::string bottleneck;
  std::vector<std::string> warnings;
  std::vector<Ceiling> compute_ceilings, memory_ceilings;
  std::optional<Comparison> comparison;

  Flops flops() const;
  Bytes bytes() const;
  int64_t without_rule() const;
  // "59 of 59 kernels have a cost rule; 57 (99.1 % of the time) are measured or inside what was calibrated"
  std::string Coverage() const;
};

Report BuildReport(RunInfo run, const Workload& workload, Prediction prediction, const DeviceProfile& device);

// (predicted - measured) / measured; nothing to divide by gives 0.
double Deviation(Duration predicted, Duration measured);
// Indices of `operators`, longest first, ties in execution order.
std::vector<size_t> ByTime(const Report& r);

// Time per type, longest first.
struct TypeTotal {
  std::string type;
  int64_t count = 0;
  Duration latency;
  Flops flops;
  Bytes bytes;
};
std::vector<TypeTotal> TotalsByType(const Report& r);

struct ViewOptions {
  int top = 0;         // rows of a table; 0: the view's own choice
  bool all = false;    // all rows
  bool color = false;  // ANSI colours
};

struct View {
  std::string_view name;   // --format
  std::string_view media;  // what it is, for people
  std::string (*render)(const Report& r, const ViewOptions& o);
};
const View* FindView(std::string_view name);
std::vector<std::string> ViewNames();

std::string RenderText(const Report& r, const ViewOptions& o);
std::string RenderJson(const Report& r, const ViewOptions& o);
std::string RenderCsv(const Report& r, const ViewOptions& o);
std::string RenderTrace(const Report& r, const ViewOptions& o);
std::string RenderHtml(const Report& r, const ViewOptions& o);

// The other direction, for saved reports. Errors: kDatabase, naming what is missing or of the wrong type.
Result<Report> ReportFromJson(std::string_view text);

}  // namespace simpred
