// x -> Expand(to a shape that x has already) -> y    ==>    x -> y
#include "fusion/rules.h"

namespace simpred {
namespace {

bool ChangesNothing(Rewriter& r, NodeId n) {
  const auto from = r.dims(r.input(n, 0));
  const auto to = r.ConstantInts(r.input(n, 1));
  if (!from || !to || to->size() > from->size()) return false;
  for (size_t i = 1; i <= to->size(); ++i) {
    const int64_t wanted = (*to)[to->size() - i];
    if (wanted != 1 && wanted != (*from)[from->size() - i]) return false;
  }
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Expand"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Expand") && ChangesNothing(r, n) && r.Bypass(n)) ++count;
  return count;
}

}  // namespace

FusionRule ExpandElimination() {
  return MakeRule("expand-elimination", FusionLevel::kBasic, "an Expand to the same shape is dropped", Rewrite);
}

}  // namespace simpred
