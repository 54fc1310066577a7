// MatMul(A, B) -> Add(., c)    ==>    Gemm(A, B, c)
// with A of more (or fewer) than two dimensions:    Reshape -> Gemm -> Reshape
//
// The first time (basic) a MatMul that could belong to an attention block is left alone, because a later rule of the
// runtime wants to see it; the second time (extended) it is not.
#include <algorithm>
#include <numeric>
#include <set>

#include "fusion/rules.h"

namespace simpred {
namespace {

class MatMulAdd {
 public:
  MatMulAdd(Rewriter& r, bool preserve_attention) : r_(r), preserve_attention_(preserve_attention) {}

  int Rewrite() {
    int count = 0;
    for (NodeId n : r_.order())
      if (r_.Is(n, "MatMul") && Try(n)) ++count;
    return count;
  }

 private:
  bool Try(NodeId matmul) {
    const NodeId add = r_.OnlyConsumerOf(matmul);
    if (!r_.Is(add, "Add")) return false;
    const ValueId a = r_.input(matmul, 0), b = r_.input(matmul, 1);
    const DataType t = r_.dtype(a);
    if (t != r_.dtype(r_.input(add, 0))) return false;
    if (t != DataType::kFloat32 && t != DataType::kFloat16 && t != DataType::kBFloat16) return false;
    if (r_.rank(a) < 0 || r_.rank(b) != 2) return false;
    const bool reshape = r_.rank(a) != 2;
    if (reshape && preserve_attention_ && IsAttentionInput(matmul, add)) return false;
    const auto a_dims = r_.dims(a), b_dims = r_.dims(b);
    if (reshape && (!a_dims || !b_dims)) return false;
    const ValueId bias = r_.input(add, r_.input(add, 0) == r_.output(matmul) ? 1 : 0);
    if (!IsBias(bias, a, b, reshape)) return false;
    if (!reshape) {
      r_.Fuse({matmul, add}, "Gemm", kOnnx, {a, b, bias});
    } else {
      FuseReshaped({matmul, add}, bias, *a_dims, *b_dims);
    }
    return true;
  }

  // [N], and for two-dimensional A also [1, N], [M, 1] and [M, N].
  bool IsBias(ValueId bias, ValueId a, ValueId b, bool reshape) {
    if (r_.rank(bias) < 0) return false;
    const Shape& s = r_.value(bias).type.shape;
    const Dim n = r_.value(b).type.shape.dim(1);
    if (s.rank() == 1) return s.dim(0) == n;
    if (reshape || s.rank() != 2) return false;
    const bool n_or_one = s.dim(1) == n || s.dim(1) == Dim(1);
    return (s.dim(0) == Dim(1) && s.dim(1) == n) || (s.dim(0) == r_.value(a).type.shape.dim(0) && n_or_one);
  }

  void FuseReshaped(const std::vector<NodeId>& olds, ValueId bias, const std::vector<int64_t>& a_dims,
                    const std::vector<int64_t>& b_dims) {
    const ValueId a = r_.input(olds[0], 0), b = r_.input(olds[0], 1), out = r_.output(olds[1]);
    const std::vector<std::string> names = r_.NamesOf(olds);
    const int64_t k = b_dims[0], n = b_dims[1];
    const int64_t m =
        a_dims.empty() ? 1 : std::accumulate(a_dims.begin(), a_dims.end() - 1, int64_t{1}, std::multiplies<>());
    const DataType t = r_.dtype(a);
    for (NodeId old : olds) r_.Remove(old);
    const ValueId flat = r_.NewValue("gemm_input", t, {m, k});
    r_.AddNode("Reshape", kOnnx, {a, r_.NewInts("gemm_input_shape", {m, k})}, {flat});
    const ValueId product = r_.NewValue("gemm_output", t, {m, n});
    r_.AddNode("Gemm", kOnnx, {flat, b, bias}, {product}, names);
    std::vector<int64_t> shape = a_dims;
    if (!shape.empty()) shape.back() = n;
    r_.AddNode("Reshape", kOnnx, {product, r_.NewInts("gemm_output_shape", shape)}, {out});
  }

  // A LayerNormalization read by three MatMul, one Add and only Shape besides, whose sum comes from another Add.
  bool IsAttentionInput(NodeId matmul, NodeId add) {
    const NodeId parent = r_.InputNode(matmul, 0);
    if (norms_.contains(parent) || adds_.contains(add)) return true;
    if (!r_.alive(parent) || r_.node(parent).op_type != "LayerNormalization") return false;
    size_t matmuls = 0, sums = 0, shapes = 0;
    NodeId sum = kNoNode;
    for (ValueId v : r_.node(parent).outputs) {
      for (NodeId u : r_.Uses(v)) {
        if (r_.Is(u, "Add")) {
          ++sums;
          sum = u;
        }
        matmuls += r_.Is(u, "MatMul") ? 1 : 0;
        shapes += r_.Is(u, "Shape") ? 1 : 0;
      }
    }
    if (sums != 1 || matmuls != 3 || shapes + 4 != r_.OutputUses(parent)) return false;
    const NodeId other = r_.InputNode(sum, r_.input(sum, 0) == r_.output(parent) ? 1 : 0);
    if (!r_.Is(other, "Add")) return false;
    norms_.insert(parent);
    adds_.insert(other);
    return true;
  }

  Rewriter& r_;
  bool preserve_attention_;
  std::set<NodeId> norms_, adds_;
};

int RewriteFirst(Rewriter& r) { return r.Has({"MatMul"}) ? MatMulAdd(r, true).Rewrite() : 0; }
int RewriteSecond(Rewriter& r) { return r.Has({"MatMul"}) ? MatMulAdd(r, false).Rewrite() : 0; }

}  // namespace

FusionRule MatMulAddFusion(FusionLevel level) {
  return MakeRule("matmul-add", level, "MatMul + Add -> Gemm",
                  level == FusionLevel::kBasic ? RewriteFirst : RewriteSecond);
}

}  // namespace simpred
