// Conv -> Relu | Sigmoid | Tanh | LeakyRelu | HardSigmoid | Clip    ==>    FusedConv        (float only)
#include "fusion/extended/activation_fusion.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Conv"})) return 0;
  int count = 0;
  for (NodeId conv : r.order()) {
    if (!r.Is(conv, "Conv") || r.dtype(r.input(conv, 0)) != DataType::kFloat32) continue;
    const NodeId activation = r.OnlyConsumerOf(conv);
    if (activation == kNoNode || r.input(activation, 0) != r.output(conv) || !IsConvActivation(r, activation)) continue;
    const auto attributes = r.node(conv).attributes;
    const auto [min, max] = ClipBounds(r, activation);
    const NodeId fused = r.Fuse({conv, activation}, "FusedConv", kMicrosoft, r.node(conv).inputs);
    r.node(fused).attributes = attributes;
    SetActivation(r, fused, r.node(activation), min, max);
    ++count;
  }
  return count;
}

}  // namespace

FusionRule ConvActivationFusion() {
  return MakeRule("conv-activation", FusionLevel::kExtended, "Conv -> activation ==> FusedConv", Rewrite);
}

}  // namespace simpred
