// Not(c) -> Where(., x, y)    ==>    Where(c, y, x)        (the Not has no other reader)
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Not"})) return 0;
  int count = 0;
  for (NodeId where : r.order()) {
    if (!r.Is(where, "Where")) continue;
    const NodeId negation = r.InputNode(where, 0);
    if (!r.Is(negation, "Not") || r.OnlyConsumerOf(negation) != where) continue;
    r.Fuse({negation, where}, "Where", kOnnx, {r.input(negation, 0), r.input(where, 2), r.input(where, 1)});
    ++count;
  }
  return count;
}

}  // namespace

FusionRule NotWhereFusion() { return MakeRule("not-where", FusionLevel::kBasic, "Not -> Where ==> Where", Rewrite); }

}  // namespace simpred
