// x -> Identity -> y    ==>    x -> y
//
// An Identity that writes a graph output goes too, when the node before it feeds nothing else: that node then writes
// the graph output itself.
#include "fusion/rules.h"

namespace simpred {
namespace {

bool MoveOutputUp(Rewriter& r, NodeId n) {
  const ValueId from = r.input(n, 0), to = r.output(n);
  const NodeId producer = r.Producer(from);
  if (producer == kNoNode || r.IsGraphOutput(from) || r.UseCount(from) != 1) return false;
  r.ReplaceUses(to, from);
  r.Remove(n);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Identity"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Identity") || r.input(n, 0) == kNoValue) continue;
    const bool done = r.ProducesGraphOutput(n) ? MoveOutputUp(r, n) : r.Bypass(n);
    count += done ? 1 : 0;
  }
  return count;
}

}  // namespace

FusionRule IdentityElimination() {
  return MakeRule("identity-elimination", FusionLevel::kBasic, "Identity is dropped", Rewrite);
}

}  // namespace simpred
