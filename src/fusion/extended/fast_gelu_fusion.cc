// 0.5 * x * (1 + Tanh(0.79788 * (x + 0.044715 * x^3)))    ==>    FastGelu(x)
//
// In two spellings: x -> Pow(3) -> Mul(0.044715) -> Add(x) -> Mul(0.79788) -> Tanh, and
// x -> Mul(0.044715) -> Mul(x) -> Add(1) -> Mul(x * 0.79788) -> Tanh.
#include "fusion/rules.h"

namespace simpred {
namespace {

constexpr double kCubic = 0.044715;
constexpr double kSqrtTwoOverPi = 0.7978845834732056;

ValueId Other(Rewriter& r, NodeId n, ValueId v) { return r.input(n, r.input(n, 0) == v ? 1 : 0); }

class Matcher {
 public:
  explicit Matcher(Rewriter& r) : r_(r) {}

  bool Try(NodeId n) {
    nodes_.clear();
    tanh_input_ = kNoNode;
    if (r_.Is(n, "Pow"))
      MatchPower(n);
    else if (r_.Is(n, "Mul"))
      MatchProduct(n);
    return tanh_input_ != kNoNode && MatchTail();
  }

 private:
  // The next node, of type `type`, whose other operand is `wanted` (a constant if `wanted` is null).
  NodeId Next(NodeId n, std::string_view type, std::optional<double> constant, ValueId wanted = kNoValue) {
    const NodeId next = r_.OnlyConsumerOf(n);
    if (!r_.Is(next, type)) return kNoNode;
    const ValueId other = Other(r_, next, r_.output(n));
    if (constant ? !r_.IsScalarNear(other, *constant) : (wanted != kNoValue && other != wanted)) return kNoNode;
    nodes_.push_back(next);
    return next;
  }

  void MatchPower(NodeId pow) {
    if (!r_.IsScalarNear(r_.input(pow, 1), 3.0)) return;
    x_ = r_.input(pow, 0);
    nodes_ = {pow};
    const NodeId scaled = Next(pow, "Mul", kCubic);
    const NodeId sum = scaled == kNoNode ? kNoNode : Next(scaled, "Add", std::nullopt, x_);
    tanh_input_ = sum == kNoNode ? kNoNode : Next(sum, "Mul", kSqrtTwoOverPi);
  }

  void MatchProduct(NodeId mul) {
    for (size_t i = 0; i < 2; ++i)
      if (r_.IsScalarNear(r_.input(mul, i), kCubic)) x_ = r_.input(mul, 1 - i);
    if (x_ == kNoValue) return;
    nodes_ = {mul};
    const NodeId square = Next(mul, "Mul", std::nullopt, x_);
    const NodeId sum = square == kNoNode ? kNoNode : Next(square, "Add", 1.0);
    const NodeId product = sum == kNoNode ? kNoNode : Next(sum, "Mul", std::nullopt);
    if (product == kNoNode) return;
    const NodeId scale = r_.Producer(Other(r_, product, r_.output(sum)));
    if (!r_.Is(scale, "Mul") || r_.InputIndex(scale, x_) < 0 || r_.OnlyConsumerOf(scale) != product) return;
    if (!r_.IsScalarNear(Other(r_, scale, x_), kSqrtTwoOverPi)) return;
    nodes_.push_back(scale);
    tanh_input_ = product;
  }

  // Tanh -> Add(1) -> Mul(x * 0.5)
  bool MatchTail() {
    if (r_.dtype(x_) != DataType::kFloat32) return false;
    const NodeId tanh = r_.OnlyConsumerOf(tanh_input_);
    if (!r_.Is(tanh, "Tanh")) return false;
    nodes_.push_back(tanh);
    const NodeId sum = Next(tanh, "Add", 1.0);
    if (sum == kNoNode) return false;
    const NodeId last = r_.OnlyConsumerOf(sum);
    if (!r_.Is(last, "Mul") || r_.ProducesGraphOutput(last)) return false;
    const NodeId half = r_.Producer(Other(r_, last, r_.output(sum)));
    if (!r_.Is(half, "Mul") || r_.InputIndex(half, x_) < 0 || !r_.IsScalarNear(Other(r_, half, x_), 0.5)) return false;
    if (r_.OnlyConsumerOf(half) != last) return false;
    nodes_.push_back(half);
    nodes_.push_back(last);
    r_.Fuse(nodes_, "FastGelu", kMicrosoft, {x_});
    return true;
  }

  Rewriter& r_;
  ValueId x_ = kNoValue;
  NodeId tanh_input_ = kNoNode;
  std::vector<NodeId> nodes_;
};

int Rewrite(Rewriter& r) {
  if (!r.Has({"Tanh"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.alive(n) && Matcher(r).Try(n)) ++count;
  return count;
}

}  // namespace

FusionRule FastGeluFusion() {
  return MakeRule("fast-gelu", FusionLevel::kExtended, "0.5 x (1 + Tanh(...)) ==> FastGelu", Rewrite);
}

}  // namespace simpred
