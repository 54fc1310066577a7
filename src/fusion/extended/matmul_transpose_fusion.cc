// Transpose -> MatMul    ==>    FusedMatMul with transA / transB (last two axes) or transBatchA / transBatchB (first
// axis moved behind the batch axes)
//
// Only if the transposed tensor's last axis stays among the last two and the batch axes keep their order.
#include "fusion/rules.h"

namespace simpred {
namespace {

struct Transposed {
  NodeId node = kNoNode;
  bool matrix = false, batch = false;
};

Transposed Recognise(Rewriter& r, ValueId v) {
  const NodeId n = r.Producer(v);
  if (!r.Is(n, "Transpose") || r.ProducesGraphOutput(n)) return {};
  const auto perm = r.Permutation(n);
  if (!perm || perm->size() < 2) return {};
  const auto rank = static_cast<int64_t>(perm->size());
  const bool last = (*perm)[perm->size() - 1] == rank - 1, before_last = (*perm)[perm->size() - 2] == rank - 1;
  if (!last && !before_last) return {};
  if (rank >= 3) {
    if ((*perm)[0] != 0 && (*perm)[0] != 1) return {};
    for (size_t i = 0; i + 3 < perm->size(); ++i)
      if ((*perm)[i] + 1 != (*perm)[i + 1]) return {};
  }
  return {n, before_last, rank >= 3 && (*perm)[0] == 1};
}

bool IsSupported(DataType t) {
  return t == DataType::kFloat32 || t == DataType::kFloat16 || t == DataType::kFloat64 || t == DataType::kBFloat16;
}

// Both batch flags, or none, where both operands have batches: the kernel has no other form.
bool Try(Rewriter& r, NodeId matmul) {
  const bool fused = r.Is(matmul, "FusedMatMul", kMicrosoft);
  Transposed sides[2];
  const char* matrix[2] = {"transA", "transB"};
  const char* batch[2] = {"transBatchA", "transBatchB"};
  for (size_t i = 0; i < 2; ++i) {
    if (!IsSupported(r.dtype(r.input(matmul, i)))) return false;
    if (!fused || r.node(matmul).Int(batch[i], 0) == 0) sides[i] = Recognise(r, r.input(matmul, i));
  }
  for (size_t i = 0; i < 2; ++i) {
    // A transposed batch needs an operand of the same rank on the other side.
    if (sides[i].batch && r.rank(r.input(matmul, 0)) != r.rank(r.input(matmul, 1))) sides[i] = {};
  }
  if (sides[0].node == kNoNode && sides[1].node == kNoNode) return false;
  std::vector<ValueId> inputs = r.node(matmul).inputs;
  std::vector<NodeId> names = {matmul};
  auto attributes = r.node(matmul).attributes;
  Node flags;
  flags.attributes = attributes;
  if (!fused) flags.Set("alpha", 1.0);
  for (size_t i = 0; i < 2; ++i) {
    flags.Set(matrix[i], flags.Int(matrix[i], 0) ^ (sides[i].matrix ? 1 : 0));
    flags.Set(batch[i], flags.Int(batch[i], 0) ^ (sides[i].batch ? 1 : 0));
    if (sides[i].node == kNoNode) continue;
    inputs[i] = r.input(sides[i].node, 0);
    names.push_back(sides[i].node);
  }
  const std::vector<std::string> all = r.NamesOf(names);
  const NodeId n = r.Fuse({matmul}, "FusedMatMul", kMicrosoft, inputs);
  r.node(n).attributes = flags.attributes;
  r.node(n).fused_from = all;
  for (const Transposed& side : sides)
    if (r.alive(side.node) && r.OutputUses(side.node) == 0) r.Remove(side.node);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Transpose"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if ((r.Is(n, "MatMul") || r.Is(n, "FusedMatMul", kMicrosoft)) && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule MatMulTransposeFusion() {
  return MakeRule("matmul-transpose", FusionLevel::kExtended, "Transpose -> MatMul ==> FusedMatMul", Rewrite);
}

}  // namespace simpred
