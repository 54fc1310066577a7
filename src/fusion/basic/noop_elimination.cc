// x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1    ==>    x        (the constant is a scalar, or a list of one float)
#include <algorithm>

#include "fusion/rules.h"

namespace simpred {
namespace {

bool IsNoOp(Rewriter& r, NodeId n) {
  const bool sum = r.IsOneOf(n, {"Add", "Sub"});
  if (!sum && !r.IsOneOf(n, {"Mul", "Div"})) return false;
  const ValueId a = r.input(n, 0), b = r.input(n, 1);
  if (a == kNoValue || b == kNoValue || r.IsConstant(a) == r.IsConstant(b)) return false;
  const bool first = r.IsConstant(a);
  if (first && r.IsOneOf(n, {"Sub", "Div"})) return false;
  const ValueId constant = first ? a : b, other = first ? b : a;
  const int most_rank = IsFloat(r.dtype(constant)) ? 1 : 0;
  if (r.rank(constant) > std::min(r.rank(other), most_rank)) return false;
  const auto value = r.Scalar(constant);
  return value && *value == (sum ? 0.0 : 1.0);
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Add", "Sub", "Mul", "Div"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.alive(n) || !IsNoOp(r, n)) continue;
    if (r.Bypass(n, r.IsConstant(r.input(n, 0)) ? 1 : 0)) ++count;
  }
  return count;
}

}  // namespace

FusionRule NoOpElimination() {
  return MakeRule("noop-elimination", FusionLevel::kBasic, "x + 0 and x * 1 are x", Rewrite);
}

}  // namespace simpred
