// x -> Pow(2) -> ReduceMean -> Add(eps) -> Sqrt -> Div(x, .) -> Mul(scale)    ==>    SimplifiedLayerNormalization
#include "fusion/basic/norm_match.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

bool Try(Rewriter& r, NodeId pow) {
  const ValueId x = r.input(pow, 0);
  if (!IsNormType(r.dtype(x)) || !r.IsScalarNear(r.input(pow, 1), 2.0)) return false;
  const NodeId mean = r.OnlyConsumerOf(pow);
  if (!r.Is(mean, "ReduceMean") || !ReducesLastAxis(r, mean)) return false;
  const NodeId add = r.OnlyConsumerOf(mean);
  if (!r.Is(add, "Add")) return false;
  const NodeId sqrt = r.OnlyConsumerOf(add);
  if (!r.Is(sqrt, "Sqrt")) return false;
  const NodeId div = r.OnlyConsumerOf(sqrt);
  if (!r.Is(div, "Div") || r.input(div, 0) != x) return false;
  const NodeId mul = r.OnlyConsumerOf(div);
  if (!r.Is(mul, "Mul")) return false;
  const ValueId scale = OneDimensionalInput(r, mul);
  if (scale == kNoValue) return false;
  const double epsilon = r.Scalar(r.input(add, 1)).value_or(1e-5);
  const NodeId n = r.Fuse({pow, mean, add, sqrt, div, mul}, "SimplifiedLayerNormalization", kOnnx, {x, scale});
  r.node(n).Set("epsilon", epsilon);
  r.node(n).Set("axis", int64_t{-1});
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Pow"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Pow") && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule SimplifiedLayerNormFusion() {
  return MakeRule("simplified-layer-norm", FusionLevel::kExtended, "Pow -> ReduceMean -> ... -> Mul ==> RMS norm",
                  Rewrite);
}

}  // namespace simpred
