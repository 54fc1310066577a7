// Range(start, end, step) -> Gather(x, .)    ==>    Unsqueeze x 3 -> Slice(x)
#include "fusion/rules.h"

namespace simpred {
namespace {

bool Try(Rewriter& r, NodeId range) {
  const NodeId gather = r.OnlyConsumerOf(range);
  if (!r.Is(gather, "Gather") || r.input(gather, 1) != r.output(range)) return false;
  const std::vector<std::string> names = r.NamesOf({range, gather});
  const ValueId x = r.input(gather, 0), out = r.output(gather);
  const DataType t = r.dtype(r.output(range));
  int64_t axis = r.node(gather).Int("axis", 0);
  if (axis < 0) axis += r.rank(x);
  std::vector<ValueId> scalars;
  for (size_t i = 0; i < 3; ++i) scalars.push_back(r.input(range, i));
  r.Remove(range);
  r.Remove(gather);
  std::vector<ValueId> inputs = {x, kNoValue, kNoValue, r.NewInts("slice_axes", {axis}), kNoValue};
  const size_t places[3] = {1, 2, 4};
  for (size_t i = 0; i < 3; ++i) {
    const ValueId v = r.NewValue("unsqueeze_output", t, {1});
    inputs[places[i]] = v;
    if (r.opset() >= 13) {
      r.AddNode("Unsqueeze", kOnnx, {scalars[i], r.NewInts("unsqueeze_axes", {0})}, {v});
    } else {
      const NodeId u = r.AddNode("Unsqueeze", kOnnx, {scalars[i]}, {v});
      r.node(u).Set("axes", std::vector<int64_t>{0});
    }
  }
  r.AddNode("Slice", kOnnx, inputs, {out}, names);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Range"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Range") && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule RangeGatherFusion() {
  return MakeRule("range-gather", FusionLevel::kExtended, "Range -> Gather ==> Slice", Rewrite);
}

}  // namespace simpred
