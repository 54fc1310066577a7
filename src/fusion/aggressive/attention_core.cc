// softmax(Q K^T * scale + mask) V, in two products, a softmax and what stands between    ==>    Attention(Q, K, V,
// mask)
//
//   Q [B, H, S, D], K [B, H, L, D], V [B, H, L, Dv], mask that broadcasts to [B, H, S, L]
//
// The scores, the largest tensors of a transformer at long sequences, are then never written.
#include "fusion/aggressive/mark.h"

namespace simpred {
namespace {

class Matcher {
 public:
  Matcher(Rewriter& r, NodeId softmax) : r_(r), softmax_(softmax) {}

  bool Match() {
    const int64_t axis = r_.node(softmax_).Int("axis", -1);
    if (axis != -1 && axis != r_.rank(r_.output(softmax_)) - 1) return false;
    values_ = r_.OnlyConsumer(r_.output(softmax_));
    if (!IsPlainProduct(values_) || r_.input(values_, 0) != r_.output(softmax_)) return false;
    NodeId n = r_.InputNode(softmax_, 0);
    if (r_.Is(n, "Add") && r_.OnlyConsumerOf(n) == softmax_) n = TakeMask(n);
    if (r_.IsOneOf(n, {"Mul", "Div"}) && r_.OnlyConsumerOf(n) != kNoNode) n = TakeScale(n);
    scores_ = n;
    return IsScores() && HasFourDimensions();
  }

  void Fuse() {
    const ValueId k = KeysOf();
    std::vector<ValueId> inputs = {r_.input(scores_, 0), k, r_.input(values_, 1)};
    if (mask_ != kNoValue) inputs.push_back(mask_);
    std::vector<NodeId> olds = {scores_};
    olds.insert(olds.end(), between_.begin(), between_.end());
    olds.insert(olds.end(), {softmax_, values_});
    const NodeId n = r_.Fuse(olds, "Attention", kOnnx, inputs);
    if (r_.alive(transpose_)) r_.RemoveUpwards(transpose_);
    MarkHypothetical(r_, n);
  }

 private:
  bool IsPlainProduct(NodeId n) {
    if (r_.Is(n, "MatMul")) return true;
    if (!r_.Is(n, "FusedMatMul", kMicrosoft)) return false;
    for (const char* flag : {"transA", "transB", "transBatchA", "transBatchB"})
      if (r_.node(n).Int(flag, 0) != 0) return false;
    return true;
  }

  NodeId TakeMask(NodeId add) {
    for (size_t i = 0; i < 2; ++i) {
      const NodeId producer = r_.InputNode(add, i);
      if (!r_.Is(producer, "MatMul") && !r_.Is(producer, "FusedMatMul", kMicrosoft) &&
          !r_.IsOneOf(producer, {"Mul", "Div"}))
        continue;
      mask_ = r_.input(add, 1 - i);
      between_.insert(between_.begin(), add);
      return producer;
    }
    return kNoNode;
  }

  NodeId TakeScale(NodeId scale) {
    const bool first = r_.Scalar(r_.input(scale, 0)).has_value();
    if (first == r_.Scalar(r_.input(scale, 1)).has_value() || (first && r_.Is(scale, "Div"))) return kNoNode;
    between_.insert(between_.begin(), scale);
    return r_.InputNode(scale, first ? 1 : 0);
  }

  // Q times K transposed: by the product's own flag, or by a Transpose that only it reads.
  bool IsScores() {
    if (scores_ == kNoNode || r_.OnlyConsumerOf(scores_) == kNoNode) return false;
    if (r_.Is(scores_, "FusedMatMul", kMicrosoft) && r_.node(scores_).Int("transB", 0) != 0) {
      for (const char* flag : {"transA", "transBatchA", "transBatchB"})
        if (r_.node(scores_).Int(flag, 0) != 0) return false;
      return true;
    }
    if (!IsPlainProduct(scores_)) return false;
    transpose_ = r_.InputNode(scores_, 1);
    return r_.Is(transpose_, "Transpose") && r_.Permutation(transpose_).has_value();
  }

  bool HasFourDimensions() {
    const auto q = r_.dims(r_.input(scores_, 0)), v = r_.dims(r_.input(values_, 1)), s = r_.dims(r_.output(scores_));
    if (!q || !v || !s || q->size() != 4 || v->size() != 4 || s->size() != 4) return false;
    if ((*q)[0] != (*v)[0] || (*q)[1] != (*v)[1] || (*s)[3] != (*v)[2]) return false;
    if (mask_ == kNoValue) return true;
    const auto m = r_.dims(mask_);
    return m && m->size() <= 4 && r_.dims(r_.output(softmax_)) == s;
  }

  // [B, H, L, D]: the operand of the flag, or a Transpose whose last two axes are turned back.
  ValueId KeysOf() {
    const ValueId k = r_.input(scores_, 1);
    if (transpose_ == kNoNode) return k;
    std::vector<int64_t> perm = *r_.Permutation(transpose_);
    std::swap(perm[2], perm[3]);
    const ValueId source = r_.input(transpose_, 0);
    if (IsIdentityPermutation(perm)) return source;
    std::vector<int64_t> dims = *r_.dims(k);
    std::swap(dims[2], dims[3]);
    const ValueId made = r_.NewValue("keys", r_.dtype(k), dims);
    const NodeId n = r_.AddNode("Transpose", kOnnx, {source}, {made}, r_.NamesOf({transpose_}));
    r_.node(n).Set("perm", perm);
    return made;
  }

  Rewriter& r_;
  NodeId softmax_, scores_ = kNoNode, values_ = kNoNode, transpose_ = kNoNode;
  std::vector<NodeId> between_;
  ValueId mask_ = kNoValue;
};

int Rewrite(Rewriter& r) {
  if (!r.Has({"Softmax"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Softmax")) continue;
    Matcher m(r, n);
    if (!m.Match()) continue;
    m.Fuse();
    ++count;
  }
  return count;
}

}  // namespace

FusionRule AttentionCoreFusion() {
  return MakeHypotheticalRule("attention-core", "MatMul -> Softmax -> MatMul ==> Attention",
                              "ONNX operator page Attention; Dao et al., FlashAttention, algorithm 1", Rewrite);
}

}  // namespace simpred
