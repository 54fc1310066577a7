// Gemm(A, B) -> Sum(., C)    ==>    Gemm(A, B, C)        (C of the result's shape)
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Sum"})) return 0;
  int count = 0;
  for (NodeId gemm : r.order()) {
    if (!r.Is(gemm, "Gemm") || r.PresentInputs(gemm) != 2) continue;
    const NodeId sum = r.OnlyConsumerOf(gemm);
    if (!r.Is(sum, "Sum") || r.PresentInputs(sum) != 2) continue;
    const ValueId c = r.input(sum, r.input(sum, 0) == r.output(gemm) ? 1 : 0);
    if (!r.dims(c) || r.dims(c) != r.dims(r.output(gemm))) continue;
    const auto attributes = r.node(gemm).attributes;
    const NodeId fused = r.Fuse({gemm, sum}, "Gemm", kOnnx, {r.input(gemm, 0), r.input(gemm, 1), c});
    r.node(fused).attributes = attributes;
    ++count;
  }
  return count;
}

}  // namespace

FusionRule GemmSumFusion() { return MakeRule("gemm-sum", FusionLevel::kBasic, "Gemm + Sum -> Gemm", Rewrite); }

}  // namespace simpred
