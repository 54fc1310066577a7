// Transpose(1, 0) -> Gemm    ==>    Gemm with transA or transB turned over
#include "fusion/rules.h"

namespace simpred {
namespace {

// Reads past a matrix transpose at input `i`.
bool TakeTranspose(Rewriter& r, NodeId gemm, size_t i, const char* attribute) {
  const NodeId transpose = r.InputNode(gemm, i);
  if (!r.Is(transpose, "Transpose")) return false;
  const auto perm = r.Permutation(transpose);
  if (!perm || *perm != std::vector<int64_t>{1, 0}) return false;
  r.node(gemm).fused_from = r.NamesOf({transpose, gemm});
  r.SetInput(gemm, i, r.input(transpose, 0));
  r.node(gemm).Set(attribute, int64_t{1} - r.node(gemm).Int(attribute, 0));
  if (r.OutputUses(transpose) == 0 && !r.ProducesGraphOutput(transpose)) r.Remove(transpose);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Gemm"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Gemm")) continue;
    count += TakeTranspose(r, n, 0, "transA") ? 1 : 0;
    count += TakeTranspose(r, n, 1, "transB") ? 1 : 0;
  }
  return count;
}

}  // namespace

FusionRule GemmTransposeFusion(FusionLevel level) {
  return MakeRule("gemm-transpose", level, "Transpose -> Gemm ==> Gemm with transA/transB", Rewrite);
}

}  // namespace simpred
