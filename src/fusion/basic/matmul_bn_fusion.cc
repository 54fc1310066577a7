// MatMul(x, W) -> (Reshape | Transpose)* -> BatchNormalization    ==>    Gemm(x, W', b) -> (the same)*
#include "fusion/rules.h"

namespace simpred {
namespace {

bool HasConstantStatistics(Rewriter& r, NodeId bn) {
  for (size_t i = 1; i < 5; ++i)
    if (!r.IsConstant(r.input(bn, i))) return false;
  return r.node(bn).outputs.size() <= 1 || r.output(bn, 1) == kNoValue;
}

// The BatchNormalization that MatMul `n` leads to; `last`: the node that feeds it. The runtime knows three ways:
// directly, over a Reshape, and over Transpose and Reshape in the forms that linear layers are exported in.
NodeId FollowToBatchNorm(Rewriter& r, NodeId n, NodeId& last) {
  last = n;
  NodeId next = r.OnlyConsumerOf(n);
  for (int steps = 0; steps < 3 && next != kNoNode; ++steps) {
    if (r.Is(next, "BatchNormalization")) return next;
    if (!r.IsOneOf(next, {"Reshape", "Transpose"})) return kNoNode;
    last = next;
    next = r.OnlyConsumerOf(next);
  }
  return r.Is(next, "BatchNormalization") ? next : kNoNode;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"BatchNormalization"})) return 0;
  int count = 0;
  for (NodeId matmul : r.order()) {
    if (!r.Is(matmul, "MatMul") || r.rank(r.input(matmul, 0)) != 2) continue;
    const auto weights = r.dims(r.input(matmul, 1));
    if (!r.IsConstant(r.input(matmul, 1)) || !weights || weights->size() != 2) continue;
    NodeId last = kNoNode;
    const NodeId bn = FollowToBatchNorm(r, matmul, last);
    if (bn == kNoNode || r.input(bn, 0) != r.output(last) || !HasConstantStatistics(r, bn)) continue;
    if (r.dims(r.input(bn, 1)) != std::vector<int64_t>{(*weights)[1]}) continue;
    const DataType t = r.dtype(r.input(matmul, 1));
    const std::vector<ValueId> inputs = {r.input(matmul, 0), r.NewConstant("folded_weight", t, *weights),
                                         r.NewConstant("folded_bias", t, {(*weights)[1]})};
    if (last == matmul) {
      r.Fuse({matmul, bn}, "Gemm", kOnnx, inputs);
    } else if (!r.ProducesGraphOutput(bn)) {
      r.Bypass(bn);
      r.Fuse({matmul}, "Gemm", kOnnx, inputs);
    } else {
      continue;
    }
    ++count;
  }
  return count;
}

}  // namespace

FusionRule MatMulBatchNormFusion() {
  return MakeRule("matmul-bn", FusionLevel::kBasic, "MatMul -> BatchNormalization ==> Gemm", Rewrite);
}

}  // namespace simpred
