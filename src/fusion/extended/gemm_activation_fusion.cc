// Gemm -> activation    ==>    FusedGemm        (float only)
#include "fusion/rules.h"

namespace simpred {
namespace {

bool IsFusable(Rewriter& r, NodeId n) {
  return r.IsOneOf(n, {"Relu", "Sigmoid", "Tanh", "Selu", "Softplus", "Softsign", "ThresholdedRelu", "Elu",
                       "HardSigmoid", "LeakyRelu"});
}

// Of these the rule knows one version of the operator only.
bool IsKnownVersion(Rewriter& r, NodeId n) {
  if (r.Is(n, "LeakyRelu")) return r.opset() < 16;
  if (r.IsOneOf(n, {"Elu", "HardSigmoid", "Selu", "Softplus", "Softsign", "ThresholdedRelu"})) return r.opset() < 22;
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Gemm"})) return 0;
  int count = 0;
  for (NodeId gemm : r.order()) {
    if (!r.Is(gemm, "Gemm") || r.dtype(r.output(gemm)) != DataType::kFloat32) continue;
    const NodeId activation = r.OnlyConsumerOf(gemm);
    if (!IsFusable(r, activation) || !IsKnownVersion(r, activation)) continue;
    const auto attributes = r.node(gemm).attributes;
    const NodeId fused = r.Fuse({gemm, activation}, "FusedGemm", kMicrosoft, r.node(gemm).inputs);
    r.node(fused).attributes = attributes;
    r.node(fused).Set("activation", r.node(activation).op_type);
    for (const auto& [name, value] : r.node(activation).attributes)
      r.node(fused).attributes["activation_" + name] = value;
    ++count;
  }
  return count;
}

}  // namespace

FusionRule GemmActivationFusion() {
  return MakeRule("gemm-activation", FusionLevel::kExtended, "Gemm -> activation ==> FusedGemm", Rewrite);
}

}  // namespace simpred
