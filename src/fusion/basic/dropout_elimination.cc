// x -> Dropout -> y    ==>    x -> y        (inference: training_mode absent or false, mask unused)
#include "fusion/rules.h"

namespace simpred {
namespace {

bool IsTraining(Rewriter& r, NodeId n) {
  const ValueId mode = r.input(n, 2);
  if (mode == kNoValue) return false;
  return r.Scalar(mode).value_or(1) != 0;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Dropout"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Dropout") && !IsTraining(r, n) && r.Bypass(n)) ++count;
  return count;
}

}  // namespace

FusionRule DropoutElimination() {
  return MakeRule("dropout-elimination", FusionLevel::kBasic, "Dropout is dropped in inference", Rewrite);
}

}  // namespace simpred
