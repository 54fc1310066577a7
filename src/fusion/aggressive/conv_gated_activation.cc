// Conv -> QuickGelu | HardSwish | HardSigmoid | Mish    ==>    Conv with that activation
//
// The runtime's convolutions take simple activations on their way out, but none that reads its input twice; the
// arithmetic is the same, and the tensor between the two is not written and read again.
#include "fusion/aggressive/mark.h"

namespace simpred {
namespace {

bool IsConv(Rewriter& r, NodeId n) {
  return r.Is(n, "Conv") || r.Is(n, "Conv", kNchwc) || r.Is(n, "FusedConv", kMicrosoft);
}

bool IsGated(Rewriter& r, NodeId n) {
  return r.Is(n, "QuickGelu", kMicrosoft) || r.IsOneOf(n, {"HardSwish", "HardSigmoid", "Mish"});
}

bool Try(Rewriter& r, NodeId conv) {
  if (!r.node(conv).String("activation", "").empty()) return false;
  const NodeId activation = r.OnlyConsumer(r.output(conv));
  if (!IsGated(r, activation)) return false;
  const Node& node = r.node(conv);
  const std::string type = node.op_type == "Conv" && node.domain != kNchwc ? "FusedConv" : node.op_type;
  const std::string domain(node.domain == kNchwc ? kNchwc : kMicrosoft);
  const auto attributes = node.attributes;
  const std::string name = r.node(activation).op_type;
  const NodeId fused = r.Fuse({conv, activation}, type, domain, r.node(conv).inputs);
  r.node(fused).attributes = attributes;
  r.node(fused).Set("activation", name);
  MarkHypothetical(r, fused);
  return true;
}

int Rewrite(Rewriter& r) {
  int count = 0;
  for (NodeId n : r.order())
    if (r.alive(n) && IsConv(r, n) && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule ConvGatedActivationFusion() {
  return MakeHypotheticalRule("conv-gated-activation", "Conv -> x * sigmoid(x) ==> one Conv",
                              "oneDNN, post-ops of convolutions (eltwise: swish, hardswish, mish)", Rewrite);
}

}  // namespace simpred
