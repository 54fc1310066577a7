// Pad(zeros, spatial) -> Conv | MaxPool | AveragePool(count_include_pad)    ==>    the same with larger pads
#include <algorithm>

#include "fusion/rules.h"

namespace simpred {
namespace {

std::optional<std::vector<int64_t>> ZeroPads(Rewriter& r, NodeId pad) {
  if (r.node(pad).String("mode", "constant") != "constant" || r.PresentInputs(pad) > 3) return std::nullopt;
  std::optional<std::vector<int64_t>> pads;
  if (r.opset() >= 11) {
    pads = r.ConstantInts(r.input(pad, 1));
    if (r.input(pad, 2) != kNoValue && r.Scalar(r.input(pad, 2)) != 0.0) return std::nullopt;
  } else {
    pads = r.node(pad).Ints("pads");
    if (r.node(pad).Float("value", 0) != 0) return std::nullopt;
  }
  if (!pads || pads->size() < 6 || pads->size() % 2 != 0) return std::nullopt;
  const size_t half = pads->size() / 2;
  if ((*pads)[0] != 0 || (*pads)[1] != 0 || (*pads)[half] != 0 || (*pads)[half + 1] != 0) return std::nullopt;
  if (std::any_of(pads->begin(), pads->end(), [](int64_t p) { return p < 0; })) return std::nullopt;
  return pads;
}

bool CanTakePads(Rewriter& r, NodeId n, size_t spatial) {
  if (!r.IsOneOf(n, {"Conv", "MaxPool", "AveragePool"})) return false;
  if (r.Is(n, "AveragePool") && r.node(n).Int("count_include_pad", 0) == 0) return false;
  if (r.node(n).outputs.size() > 1 || r.node(n).String("auto_pad", "NOTSET") != "NOTSET") return false;
  const auto own = r.node(n).Ints("pads");
  return !own || own->size() == 2 * spatial;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Pad"})) return 0;
  int count = 0;
  for (NodeId pad : r.order()) {
    if (!r.Is(pad, "Pad")) continue;
    const auto pads = ZeroPads(r, pad);
    const NodeId child = r.OnlyConsumerOf(pad);
    if (!pads || child == kNoNode || r.input(child, 0) != r.output(pad)) continue;
    const size_t half = pads->size() / 2, spatial = half - 2;
    if (!CanTakePads(r, child, spatial)) continue;
    std::vector<int64_t> sum = r.node(child).Ints("pads").value_or(std::vector<int64_t>(2 * spatial));
    for (size_t i = 0; i < spatial; ++i) {
      sum[i] += (*pads)[2 + i];
      sum[spatial + i] += (*pads)[half + 2 + i];
    }
    r.node(child).Set("pads", sum);
    r.node(child).fused_from = r.NamesOf({pad, child});
    if (r.Bypass(pad)) ++count;
  }
  return count;
}

}  // namespace

FusionRule PadFusion() { return MakeRule("pad", FusionLevel::kBasic, "Pad -> Conv ==> Conv with pads", Rewrite); }

}  // namespace simpred
