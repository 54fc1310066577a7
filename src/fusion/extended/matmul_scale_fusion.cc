// Mul | Div by a scalar constant, before or after MatMul    ==>    FusedMatMul with alpha        (float only)
#include "fusion/rules.h"

namespace simpred {
namespace {

struct Scale {
  NodeId node = kNoNode;
  double factor = 1;
  ValueId scaled = kNoValue;  // what is multiplied
};

// The product keeps the shape of what is scaled.
std::optional<double> Factor(Rewriter& r, ValueId constant, ValueId scaled) {
  if (r.rank(constant) > 0 && r.rank(scaled) < r.rank(constant)) return std::nullopt;
  return r.Scalar(constant);
}

Scale Recognise(Rewriter& r, NodeId n) {
  if (r.Is(n, "Div")) {
    const auto divisor = Factor(r, r.input(n, 1), r.input(n, 0));
    return divisor ? Scale{n, 1 / *divisor, r.input(n, 0)} : Scale{};
  }
  if (!r.Is(n, "Mul")) return {};
  for (size_t i = 0; i < 2; ++i)
    if (const auto factor = Factor(r, r.input(n, i), r.input(n, 1 - i))) return {n, *factor, r.input(n, 1 - i)};
  return {};
}

bool Try(Rewriter& r, NodeId matmul) {
  for (size_t i = 0; i < 2; ++i)
    if (r.dtype(r.input(matmul, i)) != DataType::kFloat32) return false;
  Scale before[2];
  for (size_t i = 0; i < 2; ++i) before[i] = Recognise(r, r.InputNode(matmul, i));
  Scale after = Recognise(r, r.OnlyConsumerOf(matmul));
  if (after.node != kNoNode && after.scaled != r.output(matmul)) after = {};
  if (before[0].node == kNoNode && before[1].node == kNoNode && after.node == kNoNode) return false;
  Node flags;
  if (r.node(matmul).op_type == "FusedMatMul") flags.attributes = r.node(matmul).attributes;
  double alpha = flags.Float("alpha", 1.0) * after.factor;
  std::vector<ValueId> inputs = r.node(matmul).inputs;
  std::vector<NodeId> names = {matmul};
  for (size_t i = 0; i < 2; ++i) {
    if (before[i].node == kNoNode) continue;
    alpha *= before[i].factor;
    inputs[i] = before[i].scaled;
    names.push_back(before[i].node);
  }
  if (after.node != kNoNode) names.push_back(after.node);
  flags.Set("alpha", alpha);
  const std::vector<std::string> all = r.NamesOf(names);
  std::vector<NodeId> olds = {matmul};
  if (after.node != kNoNode) olds.push_back(after.node);
  const NodeId n = r.Fuse(olds, "FusedMatMul", kMicrosoft, inputs);
  r.node(n).attributes = flags.attributes;
  r.node(n).fused_from = all;
  for (const Scale& s : before)
    if (r.alive(s.node) && r.OutputUses(s.node) == 0 && !r.ProducesGraphOutput(s.node)) r.Remove(s.node);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"MatMul", "FusedMatMul"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if ((r.Is(n, "MatMul") || r.Is(n, "FusedMatMul", kMicrosoft)) && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule MatMulScaleFusion() {
  return MakeRule("matmul-scale", FusionLevel::kExtended, "MatMul * scalar ==> FusedMatMul", Rewrite);
}

}  // namespace simpred
