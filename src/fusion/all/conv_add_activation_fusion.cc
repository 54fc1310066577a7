// Conv(x, W, b) -> Add(z) -> activation    ==>    FusedConv(x, W, b, z)        (z of the same four-dimensional shape)
//
// What the blocked layout has left in the plain one.
#include "fusion/extended/activation_fusion.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

// The Conv that takes the sum: the first operand's, if it qualifies, else the second's.
NodeId ConvOf(Rewriter& r, NodeId add) {
  const auto a = r.dims(r.input(add, 0)), b = r.dims(r.input(add, 1));
  if (!a || !b || a->size() != 4 || *a != *b) return kNoNode;
  for (size_t i = 0; i < 2; ++i) {
    const NodeId conv = r.InputNode(add, i);
    if (r.Is(conv, "Conv") && r.PresentInputs(conv) == 3 && r.OutputUses(conv) == 1 && !r.ProducesGraphOutput(conv))
      return conv;
  }
  return kNoNode;
}

bool Try(Rewriter& r, NodeId add) {
  const NodeId conv = ConvOf(r, add);
  if (conv == kNoNode || r.dtype(r.input(conv, 0)) != DataType::kFloat32) return false;
  const ValueId other = r.input(add, r.input(add, 0) == r.output(conv) ? 1 : 0);
  const NodeId activation = r.OnlyConsumerOf(add);
  const bool active = activation != kNoNode && IsConvActivation(r, activation);
  std::vector<ValueId> inputs = r.node(conv).inputs;
  inputs.resize(3, kNoValue);
  inputs.push_back(other);
  const auto attributes = r.node(conv).attributes;
  const auto [min, max] = active ? ClipBounds(r, activation) : std::pair<double, double>();
  std::vector<NodeId> olds = {conv, add};
  if (active) olds.push_back(activation);
  const NodeId fused = r.Fuse(olds, "FusedConv", kMicrosoft, inputs);
  r.node(fused).attributes = attributes;
  if (active) SetActivation(r, fused, r.node(activation), min, max);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Conv"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Add") && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule ConvAddActivationFusion() {
  return MakeRule("conv-add-activation", FusionLevel::kAll, "Conv + Add -> activation ==> FusedConv", Rewrite);
}

}  // namespace simpred
