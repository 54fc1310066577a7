#include "fusion/extended/activation_fusion.h"

#include <limits>

namespace simpred {

bool IsConvActivation(Rewriter& r, NodeId n) {
  if (r.IsOneOf(n, {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid"})) return true;
  if (!r.Is(n, "Clip")) return false;
  for (size_t i = 1; i < 3; ++i)
    if (r.input(n, i) != kNoValue && !r.Scalar(r.input(n, i))) return false;
  return true;
}

std::pair<double, double> ClipBounds(Rewriter& r, NodeId clip) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (!r.Is(clip, "Clip")) return {-kMost, kMost};
  if (r.opset() < 11) return {r.node(clip).Float("min", -kMost), r.node(clip).Float("max", kMost)};
  return {r.Scalar(r.input(clip, 1)).value_or(-kMost), r.Scalar(r.input(clip, 2)).value_or(kMost)};
}

void SetActivation(Rewriter& r, NodeId conv, const Node& activation, double clip_min, double clip_max) {
  Node& node = r.node(conv);
  node.Set("activation", activation.op_type);
  if (activation.op_type == "LeakyRelu") {
    node.Set("activation_params", std::vector<double>{activation.Float("alpha", 0.01)});
  } else if (activation.op_type == "HardSigmoid") {
    node.Set("activation_params", std::vector<double>{activation.Float("alpha", 0.2), activation.Float("beta", 0.5)});
  } else if (activation.op_type == "Clip") {
    node.Set("activation_params", std::vector<double>{clip_min, clip_max});
  }
}

}  // namespace simpred
