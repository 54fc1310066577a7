// Reshape -> (Reshape | Squeeze | Unsqueeze)*    ==>    one Reshape to the last shape
// Shape(x) -> Gather -> Unsqueeze -> Concat -> Reshape(x, .)    ==>    Reshape(x, [0, ...])
//
// The second form is only left where a dimension of x is not known: elsewhere Shape was folded before.
#include "fusion/rules.h"

namespace simpred {
namespace {

bool FuseChain(Rewriter& r, NodeId first) {
  std::vector<NodeId> chain = {first};
  for (;;) {
    const NodeId next = r.OnlyConsumerOf(chain.back());
    if (!r.IsOneOf(next, {"Reshape", "Squeeze", "Unsqueeze"}) || r.input(next, 0) != r.output(chain.back())) break;
    if (!r.dims(r.output(next))) break;
    chain.push_back(next);
  }
  if (chain.size() < 2) return false;
  const std::vector<int64_t> shape = *r.dims(r.output(chain.back()));
  r.Fuse(chain, "Reshape", kOnnx, {r.input(first, 0), r.NewInts("fused_shape", shape)});
  return true;
}

// The i-th input of the Concat is dimension i of x.
bool IsDimensionOf(Rewriter& r, ValueId v, ValueId x, int64_t i) {
  const NodeId unsqueeze = r.Producer(v);
  if (!r.Is(unsqueeze, "Unsqueeze")) return false;
  const NodeId gather = r.InputNode(unsqueeze, 0);
  if (!r.Is(gather, "Gather") || r.Scalar(r.input(gather, 1)) != static_cast<double>(i)) return false;
  const NodeId shape = r.InputNode(gather, 0);
  return r.Is(shape, "Shape") && r.input(shape, 0) == x;
}

// Nothing but this Concat reads the arithmetic between a Shape and v.
bool IsComputedForThisOnly(Rewriter& r, ValueId v) {
  constexpr int kMostSteps = 32;
  NodeId n = r.Producer(v);
  for (int i = 0; i < kMostSteps && n != kNoNode && !r.Is(n, "Shape"); ++i) {
    if (r.OnlyConsumerOf(n) == kNoNode) return false;
    n = r.InputNode(n, 0);
  }
  return n != kNoNode;
}

bool FuseShapeArithmetic(Rewriter& r, NodeId reshape) {
  const ValueId x = r.input(reshape, 0);
  const NodeId concat = r.InputNode(reshape, 1);
  if (!r.Is(concat, "Concat") || r.OnlyConsumerOf(concat) != reshape) return false;
  std::vector<int64_t> shape;
  int unknown = 0;
  for (ValueId v : r.node(concat).inputs) {
    if (const auto ints = r.ConstantInts(v)) {
      shape.insert(shape.end(), ints->begin(), ints->end());
    } else if (IsDimensionOf(r, v, x, static_cast<int64_t>(shape.size()))) {
      shape.push_back(0);
    } else if (r.dims(v) == std::vector<int64_t>{1} && IsComputedForThisOnly(r, v)) {
      shape.push_back(-1);
    } else {
      return false;
    }
  }
  for (int64_t d : shape) unknown += d == -1 ? 1 : 0;
  if (unknown > 1) return false;
  r.SetInput(reshape, 1, r.NewInts("fused_shape", shape));
  r.RemoveUpwards(concat);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Reshape"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Reshape")) continue;
    if (FuseShapeArithmetic(r, n)) ++count;
    if (FuseChain(r, n)) ++count;
  }
  return count;
}

}  // namespace

FusionRule ReshapeFusion() { return MakeRule("reshape", FusionLevel::kBasic, "Reshape chains -> Reshape", Rewrite); }

}  // namespace simpred
