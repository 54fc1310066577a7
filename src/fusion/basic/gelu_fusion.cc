// x -> Div(sqrt 2) -> Erf -> Add(1) -> Mul(. , x * 0.5)    ==>    Gelu(x)
// x -> Div(sqrt 2) -> Erf -> Add(1) -> Mul(x) -> Mul(0.5)  ==>    Gelu(x)
//
// From opset 20 Gelu is an operator of ai.onnx and is made at the basic level, before that it is one of com.microsoft
// and belongs to the extended level. (x * 1/sqrt 2 in place of the division is not recognised by the runtime.)
#include <cmath>

#include "fusion/rules.h"

namespace simpred {
namespace {

constexpr double kSqrt2 = 1.4142135623730951;
constexpr int64_t kOpsetWithGelu = 20;

bool IsFloatType(DataType t) { return t == DataType::kFloat32 || t == DataType::kFloat16 || t == DataType::kFloat64; }

// The other input of a two-input node.
ValueId Other(Rewriter& r, NodeId n, ValueId v) { return r.input(n, r.input(n, 0) == v ? 1 : 0); }

// The Mul that halves: reads `v` and the constant 0.5.
bool Halves(Rewriter& r, NodeId mul, ValueId v) {
  return r.Is(mul, "Mul") && r.InputIndex(mul, v) >= 0 && r.IsScalarNear(Other(r, mul, v), 0.5);
}

bool Try(Rewriter& r, NodeId div, std::string_view domain) {
  const ValueId x = r.input(div, 0);
  if (!IsFloatType(r.dtype(x)) || !r.IsScalarNear(r.input(div, 1), kSqrt2)) return false;
  const NodeId erf = r.OnlyConsumerOf(div);
  if (!r.Is(erf, "Erf")) return false;
  const NodeId add = r.OnlyConsumerOf(erf);
  if (!r.Is(add, "Add") || !r.IsScalarNear(Other(r, add, r.output(erf)), 1.0)) return false;
  const NodeId mul = r.OnlyConsumerOf(add);
  if (!r.Is(mul, "Mul")) return false;
  const ValueId other = Other(r, mul, r.output(add));
  const NodeId half = r.Producer(other);
  if (r.Is(half, "Mul")) {
    if (r.OnlyConsumerOf(half) != mul || !Halves(r, half, x)) return false;
    r.Fuse({div, erf, add, half, mul}, "Gelu", domain, {x});
    return true;
  }
  const NodeId last = r.OnlyConsumerOf(mul);
  if (other != x || last == kNoNode || !Halves(r, last, r.output(mul))) return false;
  r.Fuse({div, erf, add, mul, last}, "Gelu", domain, {x});
  return true;
}

int Rewrite(Rewriter& r, std::string_view domain) {
  if (!r.Has({"Erf"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Div") && Try(r, n, domain)) ++count;
  return count;
}

int RewriteBasic(Rewriter& r) { return r.opset() >= kOpsetWithGelu ? Rewrite(r, kOnnx) : 0; }
int RewriteExtended(Rewriter& r) { return r.opset() >= kOpsetWithGelu ? 0 : Rewrite(r, kMicrosoft); }

}  // namespace

FusionRule GeluFusion(FusionLevel level) {
  return MakeRule("gelu", level, "Div -> Erf -> Add -> Mul -> Mul ==> Gelu",
                  level == FusionLevel::kBasic ? RewriteBasic : RewriteExtended);
}

}  // namespace simpred
