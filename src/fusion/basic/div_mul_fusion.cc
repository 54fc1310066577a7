// 1 / x -> Mul(y)    ==>    y / x
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Div"})) return 0;
  int count = 0;
  for (NodeId div : r.order()) {
    if (!r.Is(div, "Div") || r.Scalar(r.input(div, 0)) != 1.0) continue;
    const NodeId mul = r.OnlyConsumerOf(div);
    if (!r.Is(mul, "Mul") || r.PresentInputs(mul) != 2) continue;
    const ValueId y = r.input(mul, r.input(mul, 0) == r.output(div) ? 1 : 0);
    const ValueId x = r.input(div, 1);
    r.Fuse({div, mul}, "Div", kOnnx, {y, x});
    ++count;
  }
  return count;
}

}  // namespace

FusionRule DivMulFusion() { return MakeRule("div-mul", FusionLevel::kBasic, "(1 / x) * y -> y / x", Rewrite); }

}  // namespace simpred
