// x -> Cast(to the type that x has) -> y    ==>    x -> y
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Cast"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Cast") || r.input(n, 0) == kNoValue) continue;
    const DataType from = r.dtype(r.input(n, 0));
    if (from != DataType::kUndefined && from == r.dtype(r.output(n)) && r.Bypass(n)) ++count;
  }
  return count;
}

}  // namespace

FusionRule CastElimination() {
  return MakeRule("cast-elimination", FusionLevel::kBasic, "a Cast to the same type is dropped", Rewrite);
}

}  // namespace simpred
