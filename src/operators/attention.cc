#include "operators/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/normalization.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {

Result<Heads> SplitHeads(const Shape& shape, int64_t num_heads, std::string_view tensor) {
  if (!shape.has_rank()) return Heads{};
  if (shape.rank() == 4) return Heads{shape.dim(0), shape.dim(1), shape.dim(2), shape.dim(3)};
  if (shape.rank() != 3) {
    return ModelError(fmt::format("{} needs 3 or 4 dimensions, has shape {}", tensor, shape.ToString()));
  }
  if (num_heads < 1)
    return ModelError(fmt::format("{} has 3 dimensions, but its number of heads is not given", tensor));
  const Dim hidden = shape.dim(2);
  if (hidden.is_known() && hidden.value() % num_heads != 0) {
    return ModelError(fmt::format("{} {} cannot be divided into {} heads", tensor, shape.ToString(), num_heads));
  }
  return Heads{shape.dim(0), Dim(num_heads), shape.dim(1), FloorDiv(hidden, Dim(num_heads))};
}

Flops AttentionFlops(const AttentionSizes& s) {
  const double pairs = s.batch * s.heads * s.queries * s.keys;
  return Flops(pairs * (cost::kMultiplyAdd * (s.head_size + s.value_size) + cost::kMultiply + kSoftmaxOperations));
}

namespace {

// Of a table [rows, width] at most `rows` rows are read.
void ReadOnlyRows(Work& work, const CostContext& c, size_t table, double rows) {
  if (table >= c.inputs.size() || !c.inputs[table].present || c.inputs[table].dims.empty()) return;
  const CostTensor& t = c.inputs[table];
  if (t.dims.size() != 2 || rows >= static_cast<double>(t.dims[0])) return;
  ReadOnly(work, t, StorageSize(t.dtype, t.dims[1]) * static_cast<int64_t>(rows));
}

}  // namespace

Work RotaryWork(const CostContext& c, size_t x, size_t cos, size_t sin) {
  Work work = TrafficOf(c);
  const Shape shape = ShapeOf(c, x);
  const double length = Number(shape.dim(shape.rank() == 4 ? 2 : 1));
  const double positions = Number(shape.dim(0)) * length;
  ReadOnlyRows(work, c, cos, positions);
  ReadOnlyRows(work, c, sin, positions);
  work.flops = Flops(InputElements(c, x) * (2 * cost::kMultiply + cost::kAdd));
  return work;
}

namespace {

struct AttentionView {
  Heads q, k, v;
  Dim total;  // past and new keys
};

// Inputs: Q, K, V, mask, past_key, past_value.
Result<AttentionView> View(const Node& node, const Shape& q, const Shape& k, const Shape& v, const Shape& past_key) {
  AttentionView a;
  const int64_t q_heads = node.Int("q_num_heads", 0);
  const int64_t kv_heads = node.Int("kv_num_heads", 0);
  SIMPRED_ASSIGN_OR_RETURN(a.q, SplitHeads(q, q_heads, "Q"));
  SIMPRED_ASSIGN_OR_RETURN(a.k, SplitHeads(k, kv_heads, "K"));
  SIMPRED_ASSIGN_OR_RETURN(a.v, SplitHeads(v, kv_heads, "V"));
  if (a.q.size.is_known() && a.k.size.is_known() && a.q.size.value() != a.k.size.value()) {
    return ModelError(fmt::format("head sizes of Q {} and K {} differ: {} and {}", q.ToString(), k.ToString(),
                                  a.q.size.value(), a.k.size.value()));
  }
  if (a.q.heads.is_known() && a.k.heads.is_known() &&
      (a.k.heads.value() < 1 || a.q.heads.value() % a.k.heads.value() != 0)) {
    return ModelError(fmt::format("{} query heads cannot share {} key heads", a.q.heads.value(), a.k.heads.value()));
  }
  if (past_key.has_rank() && past_key.rank() != 4) {
    return ModelError(fmt::format("past_key needs 4 dimensions, has shape {}", past_key.ToString()));
  }
  a.total = a.k.length + (past_key.has_rank() ? past_key.dim(2) : Dim(0));
  return a;
}

Status AttentionShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const Shape& q = c.input(0).shape;
  const bool past = c.has_input(4);
  const Shape past_key = past ? c.input(4).shape : Shape();
  SIMPRED_ASSIGN_OR_RETURN(AttentionView a, View(c.node(), q, c.input(1).shape, c.input(2).shape, past_key));
  if (past && !past_key.has_rank()) a.total = Dim();
  const DataType type = c.input(0).dtype;
  if (!q.has_rank()) {
    c.set_output(0, Tensor(type));
  } else if (q.rank() == 4) {
    c.set_output(0, Tensor(type, Shape({a.q.batch, a.q.heads, a.q.length, a.v.size})));
  } else {
    c.set_output(0, Tensor(type, Shape({a.q.batch, a.q.length, a.q.heads * a.v.size})));
  }
  c.set_output(1, Tensor(c.input(1).dtype, Shape({a.q.batch, a.k.heads, a.total, a.k.size})));
  c.set_output(2, Tensor(c.input(2).dtype, Shape({a.q.batch, a.k.heads, a.total, a.v.size})));
  c.set_output(3, Tensor(type, Shape({a.q.batch, a.q.heads, a.q.length, a.total})));
  return OkStatus();
}

Work AttentionCost(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.node == nullptr) return work;
  const Result<AttentionView> a = View(*c.node, ShapeOf(c, 0), ShapeOf(c, 1), ShapeOf(c, 2), ShapeOf(c, 4));
  if (!a.ok()) return work;
  work.flops = AttentionFlops({Number(a->q.batch), Number(a->q.heads), Number(a->q.length), Number(a->total),
                               Number(a->q.size), Number(a->v.size)});
  return work;
}

Status RotaryShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const Shape& x = c.input(0).shape;
  if (x.has_rank() && x.rank() != 3 && x.rank() != 4) {
    return ModelError(fmt::format("X needs 3 or 4 dimensions, has shape {}", x.ToString()));
  }
  c.set_output(0, c.input(0));
  return OkStatus();
}

// query [B, T, Hq*dk], key [B, T, Hkv*dk], value [B, T, Hkv*dv] -> [B, T, Hq*dv], state [B, Hkv, dk, dv].
Status LinearAttentionShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  for (int i = 0; i < 3; ++i) SIMPRED_RETURN_IF_ERROR(RequireRank(c, i, 3).status());
  const int64_t q_heads = c.node().Int("q_num_heads", 0);
  const int64_t kv_heads = c.node().Int("kv_num_heads", 0);
  SIMPRED_ASSIGN_OR_RETURN(const Heads q, SplitHeads(c.input(0).shape, q_heads, "query"));
  SIMPRED_ASSIGN_OR_RETURN(const Heads v, SplitHeads(c.input(2).shape, kv_heads, "value"));
  if (q_heads < 1 || kv_heads < 1 || q_heads % kv_heads != 0) {
    return ModelError(fmt::format("{} query heads cannot share {} key heads", q_heads, kv_heads));
  }
  c.set_output(0, Tensor(c.input(0).dtype, Shape({q.batch, q.length, Dim(q_heads) * v.size})));
  const DataType state = c.has_input(3) ? c.input(3).dtype : c.input(0).dtype;
  c.set_output(1, Tensor(state, Shape({q.batch, Dim(kv_heads), q.size, v.size})));
  return OkStatus();
}

// The state is dk * dv numbers per key head. Each token adds an outer product to it; a gate scales it; a delta rule
// first asks it for the old value; each query head reads it once.
Work LinearAttentionWork(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.node == nullptr) return work;
  const int64_t q_heads = c.node->Int("q_num_heads", 0);
  const int64_t kv_heads = c.node->Int("kv_num_heads", 0);
  const Result<Heads> q = SplitHeads(ShapeOf(c, 0), q_heads, "query");
  const Result<Heads> v = SplitHeads(ShapeOf(c, 2), kv_heads, "value");
  if (!q.ok() || !v.ok()) return work;
  const std::string rule = c.node->String("update_rule", "gated_delta");
  double per_kv_head = cost::kMultiplyAdd;
  if (rule == "gated" || rule == "gated_delta") per_kv_head += cost::kMultiply;
  if (rule == "delta" || rule == "gated_delta") per_kv_head += cost::kMultiplyAdd;
  const double state = Number(q->size) * Number(v->size);
  const double tokens = Number(q->batch) * Number(q->length);
  work.flops = Flops(tokens * state *
                     (per_kv_head * static_cast<double>(kv_heads) + cost::kMultiplyAdd * static_cast<double>(q_heads)));
  return work;
}

}  // namespace

void RegisterAttention(Registry& r) {
  const char* const source = "Vaswani et al. 2017, section 3.2.1: 4 * B * H * Sq * Sk * D and a softmax";
  r.Add({.type = "Attention",
         .op_class = OperatorClass::kMatMul,
         .shape = AttentionShape,
         .cost = AttentionCost,
         .source = source});
  // Its score and probability functions are subgraphs; their work is not counted.
  r.Add({.type = "FlexAttention",
         .domain = "ai.onnx.preview",
         .op_class = OperatorClass::kMatMul,
         .shape = AttentionShape,
         .cost = AttentionCost,
         .source = source});
  r.Add({.type = "LinearAttention",
         .op_class = OperatorClass::kMatMul,
         .shape = LinearAttentionShape,
         .cost = LinearAttentionWork,
         .source = "ONNX operator page LinearAttention: the recurrence, token by token"});
  r.Add({.type = "RotaryEmbedding",
         .op_class = OperatorClass::kElementwise,
         .shape = RotaryShape,
         .cost = [](const CostContext& c) { return RotaryWork(c, 0, 1, 2); },
         .source = "Su et al., RoFormer, equation 34: x * cos + rotated(x) * sin"});
}

}  // namespace simpred
