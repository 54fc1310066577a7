#include "operators/registry.h"

#include <fmt/format.h>

#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

std::string Key(std::string_view domain, std::string_view type) {
  if (domain.empty() || domain == "ai.onnx") return std::string(type);
  return fmt::format("{}.{}", domain, type);
}

}  // namespace

std::string_view Name(OperatorClass c) {
  switch (c) {
    case OperatorClass::kConvolution:
      return "convolution";
    case OperatorClass::kMatMul:
      return "matmul";
    case OperatorClass::kRecurrent:
      return "recurrent";
    case OperatorClass::kElementwise:
      return "elementwise";
    case OperatorClass::kNormalization:
      return "normalization";
    case OperatorClass::kReduction:
      return "reduction";
    case OperatorClass::kPooling:
      return "pooling";
    case OperatorClass::kDataMovement:
      return "data movement";
    case OperatorClass::kView:
      return "view";
    case OperatorClass::kQuantization:
      return "quantization";
    case OperatorClass::kDataDependent:
      return "data dependent";
    case OperatorClass::kControl:
      return "control";
    case OperatorClass::kRandom:
      return "random";
    case OperatorClass::kSequence:
      return "sequence";
    case OperatorClass::kOther:
      return "other";
  }
  return "other";
}

int64_t CostTensor::elements() const {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d <= 0) return 0;
    if (__builtin_mul_overflow(n, d, &n)) n = INT64_MAX;
  }
  return n;
}

Bytes CostTensor::bytes() const { return present ? StorageSize(dtype, elements()) : Bytes(0); }

const Registry& Registry::Default() {
  static const Registry registry = [] {
    Registry r;
    RegisterShapeArithmetic(r);
    RegisterViews(r);
    RegisterFills(r);
    RegisterDataMovement(r);
    RegisterSlice(r);
    RegisterIndexing(r);
    RegisterResize(r);
    RegisterDataDependent(r);
    RegisterControl(r);
    RegisterSequence(r);
    RegisterRandom(r);
    RegisterQuantization(r);
    RegisterMachineLearning(r);
    RegisterText(r);
    RegisterTraining(r);
    RegisterElementwise(r);
    RegisterConvolution(r);
    RegisterPooling(r);
    RegisterMatMul(r);
    RegisterAttention(r);
    RegisterNormalization(r);
    RegisterReduction(r);
    RegisterRecurrent(r);
    RegisterImage(r);
    RegisterMicrosoft(r);
    RegisterNchwc(r);
    RegisterHypothetical(r);
    return r;
  }();
  return registry;
}

void Registry::Add(OperatorRule rule) {
  std::string key = Key(rule.domain, rule.type);
  rules_.insert_or_assign(std::move(key), std::move(rule));
}

const OperatorRule* Registry::Find(std::string_view domain, std::string_view type) const {
  const bool standard = domain.empty() || domain == "ai.onnx";
  auto it = standard ? rules_.find(type) : rules_.find(Key(domain, type));
  // A type with a dot in it must not reach the rule of another domain.
  if (it == rules_.end() || it->second.type != type) return nullptr;
  return &it->second;
}

std::vector<const OperatorRule*> Registry::all() const {
  std::vector<const OperatorRule*> rules;
  rules.reserve(rules_.size());
  for (const auto& [key, rule] : rules_) rules.push_back(&rule);
  return rules;
}

Work BytesOfTensors(const CostContext& c) {
  Work w = TrafficOf(c);
  double elements = 0;
  for (const CostTensor& t : c.outputs) {
    if (t.present) elements += static_cast<double>(t.elements());
  }
  w.flops = Flops(elements);
  return w;
}

Work CostOf(const OperatorRule* rule, const CostContext& c) {
  return rule != nullptr && rule->cost ? rule->cost(c) : BytesOfTensors(c);
}

}  // namespace simpred
