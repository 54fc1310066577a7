// HardSwish(x)    ==>    Mul(x, HardSigmoid(x))
//
// The runtime has no kernel for it and puts the operator's definition in its place, at every level.
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"HardSwish"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "HardSwish") || r.input(n, 0) == kNoValue) continue;
    const ValueId x = r.input(n, 0);
    const std::vector<std::string> names = r.NamesOf({n});
    const ValueId gate = r.NewValueLike("hard_sigmoid", x);
    const NodeId sigmoid = r.AddNode("HardSigmoid", kOnnx, {x}, {gate}, names);
    r.node(sigmoid).Set("alpha", 1.0 / 6);
    r.node(sigmoid).Set("beta", 0.5);
    r.Fuse({n}, "Mul", kOnnx, {x, gate});
    ++count;
  }
  return count;
}

}  // namespace

FusionRule HardSwishDefinition() {
  return MakeRule("hard-swish-definition", FusionLevel::kOff, "HardSwish is HardSigmoid and Mul", Rewrite);
}

}  // namespace simpred
