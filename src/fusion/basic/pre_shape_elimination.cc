// x -> Cast -> Shape    ==>    x -> Shape        (every reader of the Cast is a Shape)
#include <algorithm>

#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Shape"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Cast")) continue;
    const std::vector<NodeId>& readers = r.Uses(r.output(n));
    if (readers.empty() || !std::all_of(readers.begin(), readers.end(), [&](NodeId u) { return r.Is(u, "Shape"); }))
      continue;
    if (r.Bypass(n)) ++count;
  }
  return count;
}

}  // namespace

FusionRule PreShapeElimination() {
  return MakeRule("pre-shape-elimination", FusionLevel::kBasic, "a Cast that only Shape reads is dropped", Rewrite);
}

}  // namespace simpred
