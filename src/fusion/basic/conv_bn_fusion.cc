// Conv -> BatchNormalization(scale, bias, mean, variance constant)    ==>    Conv with other weights and a bias
#include "fusion/basic/conv_constants.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

bool HasConstantStatistics(Rewriter& r, NodeId bn) {
  for (size_t i = 1; i < 5; ++i)
    if (!r.IsConstant(r.input(bn, i))) return false;
  for (size_t i = 1; i < r.node(bn).outputs.size(); ++i)  // training
    if (r.output(bn, i) != kNoValue) return false;
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"BatchNormalization"})) return 0;
  int count = 0;
  for (NodeId conv : r.order()) {
    if (!r.Is(conv, "Conv")) continue;
    const NodeId bn = r.OnlyConsumerOf(conv);
    if (!r.Is(bn, "BatchNormalization") || r.input(bn, 0) != r.output(conv)) continue;
    if (!HasConstantWeights(r, conv) || !HasConstantStatistics(r, bn)) continue;
    FoldIntoConv(r, conv, bn, true);
    ++count;
  }
  return count;
}

}  // namespace

FusionRule ConvBatchNormFusion() {
  return MakeRule("conv-bn", FusionLevel::kBasic, "Conv -> BatchNormalization ==> Conv", Rewrite);
}

}  // namespace simpred
