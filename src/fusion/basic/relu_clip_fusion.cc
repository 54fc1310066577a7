// x -> Relu -> Clip(min, max) -> y    ==>    x -> Clip(max(min, 0), max) -> y
#include "fusion/rules.h"

namespace simpred {
namespace {

int Rewrite(Rewriter& r) {
  if (!r.Has({"Clip"})) return 0;
  int count = 0;
  for (NodeId relu : r.order()) {
    if (!r.Is(relu, "Relu")) continue;
    const NodeId clip = r.OnlyConsumerOf(relu);
    if (!r.Is(clip, "Clip") || r.input(clip, 0) != r.output(relu)) continue;
    const ValueId min = r.input(clip, 1);
    if (min != kNoValue && !r.Scalar(min)) continue;
    const DataType t = r.dtype(r.output(relu));
    if (t != DataType::kFloat32 && t != DataType::kFloat16) continue;
    if (r.opset() >= 11 && (min == kNoValue || *r.Scalar(min) < 0)) {
      const ValueId zero = r.NewConstant("clip_min", t, {});
      auto c = std::make_shared<ConstantValue>();
      c->dtype = t;
      c->floats = {0.0};
      r.value(zero).constant = std::move(c);
      r.SetInput(clip, 1, zero);
    } else if (r.opset() < 11 && r.node(clip).Float("min", -1) < 0) {
      r.node(clip).Set("min", 0.0);
    }
    if (r.Bypass(relu)) ++count;
  }
  return count;
}

}  // namespace

FusionRule ReluClipFusion() { return MakeRule("relu-clip", FusionLevel::kBasic, "Relu -> Clip ==> Clip", Rewrite); }

}  // namespace simpred
