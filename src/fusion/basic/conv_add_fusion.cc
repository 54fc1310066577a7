// Conv(x, W, b?) -> Add(., c)    ==>    Conv(x, W, b + c)        (c constant, one number per channel)
#include "fusion/basic/conv_constants.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Conv"})) return 0;
  int count = 0;
  for (NodeId conv : r.order()) {
    if (!r.Is(conv, "Conv")) continue;
    const NodeId add = r.OnlyConsumerOf(conv);
    if (!r.Is(add, "Add") || r.input(add, 0) != r.output(conv)) continue;
    if (!HasConstantWeights(r, conv) || !r.IsConstant(r.input(add, 1))) continue;
    if (!BroadcastsOverChannels(r, conv, r.input(add, 1))) continue;
    FoldIntoConv(r, conv, add, true);
    ++count;
  }
  return count;
}

}  // namespace

FusionRule ConvAddFusion() {
  return MakeRule("conv-add", FusionLevel::kBasic, "Conv + constant per channel -> Conv", Rewrite);
}

}  // namespace simpred
