// x -> Mul(alpha) -> Sigmoid -> Mul(x)    ==>    QuickGelu(x)        (without the first Mul: alpha = 1)
#include "fusion/rules.h"

namespace simpred {
namespace {

bool Try(Rewriter& r, NodeId sigmoid, NodeId scale, ValueId x, double alpha) {
  const NodeId mul = r.OnlyConsumerOf(sigmoid);
  if (!r.Is(mul, "Mul") || r.PresentInputs(mul) != 2) return false;
  if (r.input(mul, r.input(mul, 0) == r.output(sigmoid) ? 1 : 0) != x) return false;
  std::vector<NodeId> olds = {sigmoid, mul};
  if (scale != kNoNode) olds.insert(olds.begin(), scale);
  const NodeId n = r.Fuse(olds, "QuickGelu", kMicrosoft, {x});
  r.node(n).Set("alpha", alpha);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Sigmoid"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (r.Is(n, "Mul")) {
      const NodeId sigmoid = r.OnlyConsumerOf(n);
      if (!r.Is(sigmoid, "Sigmoid")) continue;
      for (size_t i = 0; i < 2; ++i) {
        const auto alpha = r.rank(r.input(n, i)) <= 1 ? r.Scalar(r.input(n, i)) : std::nullopt;
        if (!alpha || !IsFloat(r.dtype(r.input(n, i)))) continue;
        count += Try(r, sigmoid, n, r.input(n, 1 - i), *alpha) ? 1 : 0;
        break;
      }
    } else if (r.Is(n, "Sigmoid")) {
      count += Try(r, n, kNoNode, r.input(n, 0), 1.0) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

FusionRule QuickGeluFusion() {
  return MakeRule("quick-gelu", FusionLevel::kExtended, "x * Sigmoid(alpha * x) ==> QuickGelu", Rewrite);
}

}  // namespace simpred
