// The simulation description as a file: "sim_predict.workload/1". Reading back gives the same description; a file that
// is not one is refused with what is wrong in it.
#include <array>
#include <nlohmann/json.hpp>

#include "workload/workload.h"

namespace simpred {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "sim_predict.workload/1";
constexpr std::array kLayouts = {Layout::kPlain,     Layout::kNchwc,    Layout::kNc1hwc0,
                                 Layout::kFractalNz, Layout::kFractalZ, Layout::kNhwc};
constexpr std::array kClasses = {OperatorClass::kConvolution,  OperatorClass::kMatMul,        OperatorClass::kRecurrent,
                                 OperatorClass::kElementwise,  OperatorClass::kNormalization, OperatorClass::kReduction,
                                 OperatorClass::kPooling,      OperatorClass::kDataMovement,  OperatorClass::kView,
                                 OperatorClass::kQuantization, OperatorClass::kDataDependent, OperatorClass::kControl,
                                 OperatorClass::kRandom,       OperatorClass::kSequence,      OperatorClass::kOther};

Json TensorJson(const KernelTensor& t) {
  if (!t.present) return nullptr;
  Json j = {{"name", t.name}, {"dtype", Name(t.dtype)}, {"dims", t.dims}};
  if (t.layout != Layout::kPlain) j["layout"] = Name(t.layout);
  if (t.constant) j["constant"] = true;
  return j;
}

Json KernelJson(const Kernel& k) {
  Json j = {{"name", k.name}, {"type", k.type}, {"class", Name(k.op_class)}};
  if (!k.has_rule) j["has_rule"] = false;
  if (k.hypothetical) j["hypothetical"] = true;
  j["inputs"] = Json::array();
  for (const KernelTensor& t : k.inputs) j["inputs"].push_back(TensorJson(t));
  j["outputs"] = Json::array();
  for (const KernelTensor& t : k.outputs) j["outputs"].push_back(TensorJson(t));
  j["attributes"] = k.attributes;
  j["fused_from"] = k.fused_from;
  j["inputs_from"] = k.inputs_from;
  j["flops"] = k.work.flops.count();
  j["read_bytes"] = k.work.read.count();
  j["weight_bytes"] = k.work.weights.count();
  j["written_bytes"] = k.work.written.count();
  return j;
}

template <typename E, size_t N>
E FromName(const std::array<E, N>& all, const std::string& name, const char* what) {
  for (E e : all)
    if (Name(e) == name) return e;
  throw std::invalid_argument(std::string(what) + " '" + name + "' is not known");
}

KernelTensor TensorFrom(const Json& j) {
  KernelTensor t;
  if (j.is_null()) {
    t.present = false;
    return t;
  }
  t.name = j.at("name").get<std::string>();
  const auto dtype = DataTypeFromName(j.at("dtype").get<std::string>());
  if (!dtype && j.at("dtype") != Name(DataType::kUndefined)) throw std::invalid_argument("dtype is not known");
  t.dtype = dtype.value_or(DataType::kUndefined);
  t.dims = j.at("dims").get<std::vector<int64_t>>();
  for (int64_t d : t.dims)
    if (d < 0) throw std::invalid_argument("a dimension is negative");
  t.layout = FromName(kLayouts, j.value("layout", "plain"), "layout");
  t.constant = j.value("constant", false);
  return t;
}

Kernel KernelFrom(const Json& j, size_t index) {
  Kernel k;
  k.name = j.at("name").get<std::string>();
  k.type = j.at("type").get<std::string>();
  k.op_class = FromName(kClasses, j.at("class").get<std::string>(), "class");
  k.has_rule = j.value("has_rule", true);
  k.hypothetical = j.value("hypothetical", false);
  for (const Json& t : j.at("inputs")) k.inputs.push_back(TensorFrom(t));
  for (const Json& t : j.at("outputs")) k.outputs.push_back(TensorFrom(t));
  k.attributes = j.at("attributes").get<std::map<std::string, std::string>>();
  k.fused_from = j.at("fused_from").get<std::vector<std::string>>();
  k.inputs_from = j.at("inputs_from").get<std::vector<int32_t>>();
  for (int32_t from : k.inputs_from)
    if (from < 0 || static_cast<size_t>(from) >= index) throw std::invalid_argument("inputs_from points forward");
  k.work.flops = Flops(j.at("flops").get<double>());
  k.work.read = Bytes(j.at("read_bytes").get<int64_t>());
  k.work.weights = Bytes(j.at("weight_bytes").get<int64_t>());
  k.work.written = Bytes(j.at("written_bytes").get<int64_t>());
  k.signature = SignatureOf(k);
  return k;
}

Workload WorkloadFrom(const Json& j) {
  if (j.at("schema") != kSchema) throw std::invalid_argument(std::string("schema is not ") + kSchema);
  Workload w;
  w.model_name = j.at("model").get<std::string>();
  w.structure_sha256 = j.at("structure_sha256").get<std::string>();
  w.runtime = j.at("runtime").get<std::string>();
  w.fusion_mode = j.at("fusion_mode").get<std::string>();
  w.precision = j.at("precision").get<std::string>();
  w.weights = Bytes(j.at("weight_bytes").get<int64_t>());
  w.peak_activations = Bytes(j.at("peak_activation_bytes").get<int64_t>());
  for (const Json& text : j.at("warnings")) w.warnings.push_back({text.get<std::string>()});
  for (const Json& k : j.at("kernels")) w.kernels.push_back(KernelFrom(k, w.kernels.size()));
  return w;
}

}  // namespace

std::string ToJson(const Workload& w) {
  Json j = {{"schema", kSchema},
            {"model", w.model_name},
            {"structure_sha256", w.structure_sha256},
            {"runtime", w.runtime},
            {"fusion_mode", w.fusion_mode},
            {"precision", w.precision},
            {"weight_bytes", w.weights.count()},
            {"peak_activation_bytes", w.peak_activations.count()}};
  j["warnings"] = Json::array();
  for (const Warning& warning : w.warnings) j["warnings"].push_back(warning.text);
  j["kernels"] = Json::array();
  for (const Kernel& k : w.kernels) j["kernels"].push_back(KernelJson(k));
  // Names in a model are bytes; what is not UTF-8 is replaced, not refused.
  return j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<Workload> WorkloadFromJson(std::string_view text) {
  try {
    return WorkloadFrom(Json::parse(text));
  } catch (const std::exception& e) {  // the JSON library's way to say no
    return UsageError(std::string("not a workload file: ") + e.what(),
                      "write one with: sim_predict describe MODEL --json");
  }
}

}  // namespace simpred
