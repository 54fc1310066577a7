// x -> Add(b) -> Gelu | FastGelu    ==>    BiasGelu(x, b) | FastGelu(x, b)        (b: one-dimensional, of x's last
// size)
#include "fusion/rules.h"

namespace simpred {
namespace {

bool Try(Rewriter& r, NodeId add) {
  const NodeId gelu = r.OnlyConsumerOf(add);
  const bool exact =
      r.Is(gelu, "Gelu", kMicrosoft) || (r.Is(gelu, "Gelu") && r.node(gelu).String("approximate", "none") == "none");
  const bool fast = r.Is(gelu, "FastGelu", kMicrosoft) && r.PresentInputs(gelu) == 1;
  if (!exact && !fast) return false;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId bias = r.input(add, i), x = r.input(add, 1 - i);
    if (r.rank(bias) != 1 || r.rank(x) < 1 || r.dtype(x) != DataType::kFloat32) continue;
    if (!(r.value(x).type.shape.dim(-1) == r.value(bias).type.shape.dim(0))) continue;
    r.Fuse({add, gelu}, exact ? "BiasGelu" : "FastGelu", kMicrosoft, {x, bias});
    return true;
  }
  return false;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Gelu", "FastGelu"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Add") && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule BiasGeluFusion() {
  return MakeRule("bias-gelu", FusionLevel::kExtended, "Add -> Gelu ==> BiasGelu", Rewrite);
}

}  // namespace simpred
