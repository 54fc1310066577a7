// F(constants)    ==>    a constant
// Shape(x), x static    ==>    a constant
// If(constant condition)    ==>    the nodes of the branch that runs
//
// Not folded: what is random, what holds a subgraph, DequantizeLinear (the runtime wants to see the pair), operators of
// other domains.
#include "fusion/basic/determinism.h"
#include "fusion/basic/evaluate.h"
#include "fusion/basic/inline_if.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

bool AllInputsConstant(Rewriter& r, NodeId n) {
  bool any = false;
  for (ValueId v : r.node(n).inputs) {
    if (v == kNoValue) continue;
    if (!r.IsConstant(v)) return false;
    any = true;
  }
  return any;
}

bool FoldShape(Rewriter& r, NodeId n) {
  const auto dims = r.dims(r.input(n, 0));
  if (!dims) return false;
  const auto rank = static_cast<int64_t>(dims->size());
  const auto clamp = [rank](int64_t i) { return std::min(std::max(i < 0 ? i + rank : i, int64_t{0}), rank); };
  const int64_t start = clamp(r.node(n).Int("start", 0)), end = clamp(r.node(n).Int("end", rank));
  auto c = std::make_shared<ConstantValue>();
  c->dtype = DataType::kInt64;
  for (int64_t i = start; i < end; ++i) c->ints.emplace_back((*dims)[static_cast<size_t>(i)]);
  c->dims = {static_cast<int64_t>(c->ints.size())};
  r.value(r.output(n)).constant = std::move(c);
  r.MakeConstant(n);
  return true;
}

bool HasTensorOutputsOnly(Rewriter& r, NodeId n) {
  for (ValueId v : r.node(n).outputs)
    if (v != kNoValue && r.value(v).type.kind != ValueKind::kTensor) return false;
  return true;
}

bool Fold(Rewriter& r, NodeId n) {
  const Node& node = r.node(n);
  if (node.Is("Shape")) return FoldShape(r, n);
  if (node.Is("DequantizeLinear") || !(node.domain.empty() || node.domain == "ai.onnx")) return false;
  if (HasSubgraph(node) || !IsDeterministic(node) || !AllInputsConstant(r, n)) return false;
  if (!HasTensorOutputsOnly(r, n)) return false;
  EvaluateSmall(r, n);
  r.MakeConstant(n);
  return true;
}

int Rewrite(Rewriter& r) {
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.alive(n)) continue;
    if (r.Is(n, "If") ? InlineIf(r, n) : Fold(r, n)) ++count;
  }
  return count;
}

}  // namespace

FusionRule ConstantFolding() {
  return MakeRule("constant-folding", FusionLevel::kBasic, "what depends on constants only becomes one", Rewrite);
}

}  // namespace simpred
