// Conv(x, W, b?) -> Mul(., c)    ==>    Conv(x, W * c, b * c)        (c constant: a scalar or one number per channel)
#include "fusion/basic/conv_constants.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Conv"})) return 0;
  int count = 0;
  for (NodeId conv : r.order()) {
    if (!r.Is(conv, "Conv")) continue;
    const NodeId mul = r.OnlyConsumerOf(conv);
    if (!r.Is(mul, "Mul") || r.input(mul, 0) != r.output(conv)) continue;
    const ValueId c = r.input(mul, 1);
    if (!HasConstantWeights(r, conv) || !r.IsConstant(c)) continue;
    if (r.rank(c) != 0 && !BroadcastsOverChannels(r, conv, c)) continue;
    FoldIntoConv(r, conv, mul, false);
    ++count;
  }
  return count;
}

}  // namespace

FusionRule ConvMulFusion() {
  return MakeRule("conv-mul", FusionLevel::kBasic, "Conv * constant per channel -> Conv", Rewrite);
}

}  // namespace simpred
