// How does a saved report come back? From the JSON that json_view.cc wrote, checked field by field: a database may be
// damaged or written by another version.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "report/report.h"

namespace simpred {
namespace {

using Json = nlohmann::json;

// Reads fields of one object; the first that is missing or of the wrong type is remembered.
class Fields {
 public:
  Fields(const Json& object, std::string where, std::string& wrong)
      : object_(object), where_(std::move(where)), wrong_(wrong) {}

  std::string Text(const char* key) const {  // null and absent: empty
    const Json* v = Find(key);
    if (v == nullptr || v->is_null()) return {};
    if (v->is_string()) return v->get<std::string>();
    return Wrong(key, "a text"), std::string();
  }
  double Number(const char* key) const {
    const Json* v = Find(key);
    if (v != nullptr && v->is_number()) return v->get<double>();
    if (v != nullptr && v->is_null()) return 0;
    return Wrong(key, "a number"), 0;
  }
  int64_t Integer(const char* key) const {
    const Json* v = Find(key);
    if (v != nullptr && v->is_number_integer()) return v->get<int64_t>();
    return Wrong(key, "a whole number"), 0;
  }
  bool Flag(const char* key) const {
    const Json* v = Find(key);
    if (v != nullptr && v->is_boolean()) return v->get<bool>();
    return Wrong(key, "true or false"), false;
  }
  Duration Micros(const char* key) const { return Microseconds(Number(key)); }
  std::pair<Duration, Duration> Interval(const char* key) const {
    const Json* v = Find(key);
    if (v != nullptr && v->is_array() && v->size() == 2 && (*v)[0].is_number() && (*v)[1].is_number())
      return {Microseconds((*v)[0].get<double>()), Microseconds((*v)[1].get<double>())};
    return Wrong(key, "two numbers"), std::pair<Duration, Duration>();
  }
  const Json& List(const char* key) const { return OfType(key, Json::value_t::array, "a list"); }
  const Json& Map(const char* key) const { return OfType(key, Json::value_t::object, "a map"); }
  template <typename Enum>
  Enum OneOf(const char* key, Enum last) const {
    const std::string text = Text(key);
    for (int i = 0; i <= static_cast<int>(last); ++i)
      if (Name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    return Wrong(key, "a known name"), last;
  }
  bool Has(const char* key) const { return Find(key) != nullptr; }

 private:
  const Json* Find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  void Wrong(const char* key, const char* wanted) const {
    if (wrong_.empty()) wrong_ = fmt::format("'{}{}' needs {}", where_, key, wanted);
  }
  const Json& OfType(const char* key, Json::value_t type, const char* wanted) const {
    static const Json kNothing;
    const Json* v = Find(key);
    if (v != nullptr && v->type() == type) return *v;
    Wrong(key, wanted);
    return kNothing;
  }

  const Json& object_;
  std::string where_;
  std::string& wrong_;
};

RunInfo ReadRun(const Fields& f) {
  RunInfo i;
  i.tool_version = f.Text("tool_version");
  i.config = f.Text("config");
  i.config_sha256 = f.Text("config_sha256");
  i.model_path = f.Text("model_path");
  i.model_name = f.Text("model_name");
  i.model_sha256 = f.Text("model_sha256");
  i.model_version = f.Text("model_version");
  i.commit = f.Text("commit");
  i.input_shapes = f.Text("input_shapes");
  i.device = f.Text("device");
  i.device_description = f.Text("device_description");
  i.runtime = f.Text("runtime");
  i.runtime_version = f.Text("runtime_version");
  i.threads = static_cast<int>(f.Integer("threads"));
  i.precision = f.Text("precision");
  i.fusion_mode = f.Text("fusion_mode");
  i.family = f.Text("family");
  i.statistic = f.Text("statistic");
  i.calibration = f.Text("calibration_state");
  return i;
}

void ReadEndToEnd(const Fields& f, Report& r) {
  r.latency = f.Micros("latency_us");
  std::tie(r.low, r.high) = f.Interval("interval_us");
  r.grade = f.OneOf("grade", Grade::kReference);
  r.expected_deviation = f.Number("expected_deviation");
  r.source = f.OneOf("source", Source::kUnknown);
  r.reason = f.Text("reason");
  r.kernels = f.Micros("kernels_us");
  r.gap = f.Micros("gap_us");
  r.run_cost = f.Micros("run_cost_us");
  r.excluded = f.Micros("excluded_us");
  r.peak_memory = Bytes(f.Integer("peak_memory_bytes"));
  r.weights = Bytes(f.Integer("weights_bytes"));
  r.peak_activations = Bytes(f.Integer("peak_activations_bytes"));
  r.memory_capacity = Bytes(f.Integer("memory_capacity_bytes"));
  r.fits = f.Flag("fits");
  for (const auto& [name, time] : f.Map("by_source").items())
    for (int i = 0; i <= static_cast<int>(Source::kUnknown); ++i)
      if (Name(static_cast<Source>(i)) == name && time.is_number())
        r.by_source[static_cast<Source>(i)] = Microseconds(time.get<double>());
}

ReportOperator ReadOperator(const Fields& f) {
  ReportOperator o;
  o.name = f.Text("name");
  o.type = f.Text("type");
  o.op_class = f.Text("class");
  o.dtype = f.Text("dtype");
  for (const Json& name : f.List("fused_from"))
    if (name.is_string()) o.fused_from.push_back(name.get<std::string>());
  o.hypothetical = f.Flag("hypothetical");
  o.has_rule = f.Flag("has_rule");
  o.latency = f.Micros("latency_us");
  std::tie(o.low, o.high) = f.Interval("interval_us");
  o.source = f.OneOf("source", Source::kUnknown);
  o.reason = f.Text("reason");
  o.flops = Flops(f.Number("flops"));
  o.bytes = Bytes(f.Integer("bytes"));
  o.bound = f.OneOf("bound", Bound::kOverhead);
  o.roofline = f.Micros("roofline_us");
  o.start = f.Micros("start_us");
  o.end = f.Micros("end_us");
  o.resource = f.Text("resource");
  o.stall = f.OneOf("stall_cause", StallCause::kLaunchGap);
  if (f.Has("measured_us")) o.measured = f.Micros("measured_us");
  return o;
}

std::vector<Ceiling> ReadCeilings(const Json& list, const std::string& where, std::string& wrong) {
  std::vector<Ceiling> ceilings;
  for (const Json& item : list) {
    const Fields f(item, where, wrong);
    ceilings.push_back({f.Text("name"), f.Number("per_second")});
  }
  return ceilings;
}

}  // namespace

Result<Report> ReportFromJson(std::string_view text) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return DatabaseError("the saved report is not JSON");
  std::string wrong;
  const Fields top(root, "", wrong);
  if (const std::string schema = top.Text("schema"); schema != "sim_predict.report/1")
    return DatabaseError(fmt::format("the saved report has schema '{}'", schema.substr(0, 80)),
                         "this version reads sim_predict.report/1; use the version that wrote it");
  Report r;
  const Fields run(top.Map("run"), "run.", wrong);
  r.run = ReadRun(run);
  ReadEndToEnd(Fields(top.Map("end_to_end"), "end_to_end.", wrong), r);
  for (const Json& item : top.List("operators")) r.operators.push_back(ReadOperator(Fields(item, "operators.", wrong)));
  for (const Json& item : top.List("resources")) {
    const Fields f(item, "resources.", wrong);
    r.resources.push_back({f.Text("name"), f.Number("utilization")});
  }
  r.bottleneck = top.Text("bottleneck");
  const Fields roofline(top.Map("roofline"), "roofline.", wrong);
  r.compute_ceilings = ReadCeilings(roofline.List("compute"), "roofline.compute.", wrong);
  r.memory_ceilings = ReadCeilings(roofline.List("memory"), "roofline.memory.", wrong);
  if (top.Has("comparison")) {
    const Fields f(top.Map("comparison"), "comparison.", wrong);
    r.comparison = Comparison{f.Micros("measured_us"), f.Text("statistic"), f.Integer("rounds"), f.Number("spread")};
  }
  for (const Json& w : top.List("warnings"))
    if (w.is_string()) r.warnings.push_back(w.get<std::string>());
  if (!wrong.empty()) return DatabaseError("the saved report is damaged: " + wrong, "predict again");
  return r;
}

}  // namespace simpred
