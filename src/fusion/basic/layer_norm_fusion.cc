// x -> ReduceMean -> Sub -> Pow(2) -> ReduceMean -> Add(eps) -> Sqrt -> Div -> Mul(scale) -> Add(bias)
//                     \________________________________________________/
//   ==>    LayerNormalization(x, scale, bias)
//
// Also with two Sub of the same operands (old exporters), a Cast between Sub and Pow or between Div and Mul, and a Cast
// in front that nothing else reads. Operator of ai.onnx from opset 17: made at the basic level then, else at the
// extended one.
#include <vector>

#include "fusion/basic/norm_match.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

constexpr int64_t kOpsetWithLayerNorm = 17;
constexpr double kDefaultEpsilon = 1e-5;

class Matcher {
 public:
  Matcher(Rewriter& r, NodeId mean) : r_(r), mean_(mean) {}

  bool Match() { return MatchMean() && MatchSub() && MatchDivision() && MatchVariance() && MatchScale(); }

  void Fuse() {
    const NodeId add_epsilon = epsilon_add_;
    const std::optional<double> epsilon = r_.Scalar(r_.input(add_epsilon, 1));
    const NodeId n = r_.Fuse(nodes_, "LayerNormalization", kOnnx, {x_, scale_, bias_});
    r_.node(n).Set("epsilon", epsilon.value_or(kDefaultEpsilon));
    r_.node(n).Set("axis", int64_t{-1});
  }

 private:
  bool MatchMean() {
    x_ = r_.input(mean_, 0);
    const size_t uses = r_.OutputUses(mean_);
    if ((uses != 1 && uses != 2) || r_.ProducesGraphOutput(mean_) || !IsNormType(r_.dtype(x_))) return false;
    for (NodeId u : r_.Uses(r_.output(mean_))) {
      if (!r_.Is(u, "Sub") || r_.input(u, 0) != x_) return false;
      subs_.push_back(u);
    }
    nodes_.push_back(mean_);
    // A Cast that only this pattern reads goes too.
    const NodeId cast = r_.Producer(x_);
    if (r_.Is(cast, "Cast") && r_.OutputUses(cast) == subs_.size() + 1 && !r_.ProducesGraphOutput(cast)) {
      nodes_.insert(nodes_.begin(), cast);
      x_ = r_.input(cast, 0);
    }
    return true;
  }

  bool MatchSub() {
    const NodeId sub = subs_[0];
    nodes_.insert(nodes_.end(), subs_.begin(), subs_.end());
    if (subs_.size() == 1) {
      const NodeId next = r_.OnlyConsumerOf(sub);
      if (r_.Is(next, "Cast") && r_.OutputUses(next) == 2 && !r_.ProducesGraphOutput(next)) {
        cast_ = next;
        nodes_.push_back(next);
      }
    }
    const size_t expected = subs_.size() == 1 && cast_ == kNoNode ? 2 : 1;
    return r_.OutputUses(sub) == expected && !r_.ProducesGraphOutput(sub);
  }

  bool MatchDivision() {
    div_ = ChildOfType(r_, cast_ != kNoNode ? cast_ : subs_[0], "Div");
    if (div_ == kNoNode && subs_.size() == 2) div_ = ChildOfType(r_, subs_[1], "Div");
    if (div_ == kNoNode || r_.OnlyConsumerOf(div_) == kNoNode) return false;
    nodes_.push_back(div_);
    return true;
  }

  bool MatchVariance() {
    const NodeId sqrt = ParentOfType(r_, div_, "Sqrt");
    if (sqrt == kNoNode || r_.OnlyConsumerOf(sqrt) == kNoNode) return false;
    epsilon_add_ = r_.InputNode(sqrt, 0);
    if (!r_.Is(epsilon_add_, "Add") || r_.OnlyConsumerOf(epsilon_add_) == kNoNode) return false;
    const NodeId variance = ParentOfType(r_, epsilon_add_, "ReduceMean");
    if (variance == kNoNode || r_.OnlyConsumerOf(variance) == kNoNode) return false;
    const NodeId pow = r_.InputNode(variance, 0);
    if (!r_.Is(pow, "Pow") || r_.OnlyConsumerOf(pow) == kNoNode) return false;
    nodes_.insert(nodes_.end(), {sqrt, epsilon_add_, variance, pow});
    const NodeId cast = ParentOfType(r_, pow, "Cast");
    if (cast != kNoNode && cast != cast_) {
      if (r_.OnlyConsumerOf(cast) == kNoNode) return false;
      nodes_.push_back(cast);
    } else if (cast == kNoNode) {
      const NodeId sub = ParentOfType(r_, pow, "Sub");
      if (sub != subs_[0] && (subs_.size() < 2 || sub != subs_[1])) return false;
    }
    return ReducesLastAxis(r_, mean_) && ReducesLastAxis(r_, variance);
  }

  bool MatchScale() {
    NodeId mul = r_.OnlyConsumerOf(div_);
    if (r_.Is(mul, "Cast") && r_.OnlyConsumerOf(mul) != kNoNode) {
      nodes_.push_back(mul);
      mul = r_.OnlyConsumerOf(mul);
    }
    if (!r_.Is(mul, "Mul")) return false;
    const NodeId add = r_.OnlyConsumerOf(mul);
    if (!r_.Is(add, "Add")) return false;
    scale_ = OneDimensionalInput(r_, mul);
    bias_ = OneDimensionalInput(r_, add);
    if (scale_ == kNoValue || bias_ == kNoValue || r_.dims(scale_) != r_.dims(bias_)) return false;
    nodes_.insert(nodes_.end(), {mul, add});
    return true;
  }

  Rewriter& r_;
  NodeId mean_;
  ValueId x_ = kNoValue, scale_ = kNoValue, bias_ = kNoValue;
  std::vector<NodeId> subs_, nodes_;
  NodeId cast_ = kNoNode, div_ = kNoNode, epsilon_add_ = kNoNode;
};

int Rewrite(Rewriter& r) {
  if (!r.Has({"ReduceMean"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "ReduceMean")) continue;
    Matcher m(r, n);
    if (!m.Match()) continue;
    m.Fuse();
    ++count;
  }
  return count;
}

int RewriteBasic(Rewriter& r) { return r.opset() >= kOpsetWithLayerNorm ? Rewrite(r) : 0; }
int RewriteExtended(Rewriter& r) { return r.opset() >= kOpsetWithLayerNorm ? 0 : Rewrite(r); }

}  // namespace

FusionRule LayerNormFusion(FusionLevel level) {
  return MakeRule("layer-norm", level, "ReduceMean -> Sub -> ... -> Mul -> Add ==> LayerNormalization",
                  level == FusionLevel::kBasic ? RewriteBasic : RewriteExtended);
}

}  // namespace simpred
