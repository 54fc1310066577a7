// com.microsoft: attention with its projections, packed batches and caches; rotary embeddings; position biases.
//
// Lengths: S new tokens, P past ones, T = P + S keys. With a shared past buffer the cache is already as long as it will
// ever be, and keeps its shape.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "operators/attention.h"
#include "operators/cost_constants.h"
#include "operators/matmul.h"
#include "operators/microsoft.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

Result<int64_t> HeadCount(const Node& node, const char* attribute) {
  const int64_t heads = node.Int(attribute, 0);
  if (heads < 1) return ModelError(fmt::format("{} must not be {}", attribute, heads));
  return heads;
}

// --- Attention with its own projection: input [B, S, C], weights [C, q + k + v] -------------------------------------

struct ProjectedInputs {
  int weights = 1;
  int past = 4;
};

// Hidden sizes of query, key and value: attribute, or thirds of the weights' columns.
Result<std::vector<Dim>> QkvSizes(const Node& node, const Dim& columns) {
  const std::vector<int64_t> given = node.Ints("qkv_hidden_sizes").value_or(std::vector<int64_t>{});
  if (given.empty()) return std::vector<Dim>(3, FloorDiv(columns, Dim(3)));
  if (given.size() != 3 || *std::min_element(given.begin(), given.end()) < 1) {
    return ModelError("qkv_hidden_sizes needs three positive numbers");
  }
  return std::vector<Dim>(given.begin(), given.end());
}

Status ProjectedShape(InferenceContext& c, const ProjectedInputs& at) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, at.weights + 1));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t heads, HeadCount(c.node(), "num_heads"));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape w, RequireRank(c, at.weights, 2));
  SIMPRED_RETURN_IF_ERROR(MatMulOutputShape(x, w).status());
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Dim> qkv, QkvSizes(c.node(), w.dim(1)));
  const DataType type = c.has_input(2) && c.node().op_type == "QAttention" ? c.input(2).dtype : c.input(0).dtype;
  c.set_output(0, Tensor(type, Shape({x.dim(0), x.dim(1), qkv[2]})));
  Dim total = x.dim(1);
  if (c.has_input(at.past)) {
    SIMPRED_ASSIGN_OR_RETURN(const Shape past, RequireRank(c, at.past, 5));
    const bool shared = c.node().Int("past_present_share_buffer", 0) != 0;
    total = shared ? past.dim(3) : total + past.dim(3);
  }
  c.set_output(1, Tensor(type, Shape({Dim(2), x.dim(0), Dim(heads), total, FloorDiv(qkv[1], Dim(heads))})));
  return OkStatus();
}

Flops ProjectionFlops(double tokens, double inner, double columns) {
  return Flops(tokens * columns * (cost::kMultiplyAdd * inner + cost::kAdd));
}

Work ProjectedWork(const CostContext& c, const ProjectedInputs& at) {
  Work work = TrafficOf(c);
  const Shape x = ShapeOf(c, 0);
  const Shape w = ShapeOf(c, static_cast<size_t>(at.weights));
  if (c.node == nullptr || x.rank() != 3 || w.rank() != 2) return work;
  const Result<std::vector<Dim>> qkv = QkvSizes(*c.node, w.dim(1));
  if (!qkv.ok()) return work;
  const double batch = Number(x.dim(0));
  const double length = Number(x.dim(1));
  const Shape past = ShapeOf(c, static_cast<size_t>(at.past));
  const bool shared = c.node->Int("past_present_share_buffer", 0) != 0;
  const double keys = past.rank() == 5 ? Number(past.dim(3)) + (shared ? 0 : length) : length;
  // heads * head size is the hidden size: with one head the products are the same; the softmax needs them apart.
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  work.flops = ProjectionFlops(batch * length, Number(w.dim(0)), Number(w.dim(1))) +
               AttentionFlops({batch, heads, length, keys, Number((*qkv)[0]) / heads, Number((*qkv)[2]) / heads});
  return work;
}

// Tokens without their padding: input [tokens, C], token_offset [B, S] tells how long a sequence may be.
Status PackedAttentionShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape w, RequireRank(c, 1, 2));
  SIMPRED_RETURN_IF_ERROR(MatMulOutputShape(x, w).status());
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Dim> qkv, QkvSizes(c.node(), w.dim(1)));
  c.set_output(0, Tensor(c.input(0).dtype, Shape({x.dim(0), qkv[2]})));
  return OkStatus();
}

Work PackedAttentionWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const Shape x = ShapeOf(c, 0);
  const Shape w = ShapeOf(c, 1);
  if (c.node == nullptr || x.rank() != 2 || w.rank() != 2) return work;
  const Shape offsets = ShapeOf(c, 3);
  const double tokens = Number(x.dim(0));
  const double keys = offsets.rank() == 2 ? Number(offsets.dim(1)) : tokens;
  const double hidden = Number(w.dim(1)) / 3;
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  work.flops = ProjectionFlops(tokens, Number(w.dim(0)), Number(w.dim(1))) +
               AttentionFlops({1, heads, tokens, keys, hidden / heads, hidden / heads});
  return work;
}

// Three separate weights, quantised (QOrderedAttention): input 0, Q_weight 5, V_weight 7.
Status OrderedAttentionShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 8));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, MatMulOutputShape(c.input(0).shape, c.input(7).shape));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

Work OrderedAttentionWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const Shape x = ShapeOf(c, 0);
  if (c.node == nullptr || x.rank() != 3) return work;
  const double length = Number(x.dim(1));
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  const double columns = Number(ShapeOf(c, 5).dim(-1)) + Number(ShapeOf(c, 6).dim(-1)) + Number(ShapeOf(c, 7).dim(-1));
  work.flops = ProjectionFlops(Number(x.dim(0)) * length, Number(x.dim(2)), columns) +
               AttentionFlops({Number(x.dim(0)), heads, length, length, columns / 3 / heads, columns / 3 / heads});
  return work;
}

// A window of `window` tokens on each side, and the projections of local and global tokens.
Work LongformerWork(const CostContext& c, size_t weights) {
  Work work = TrafficOf(c);
  const Shape x = ShapeOf(c, 0);
  const Shape w = ShapeOf(c, weights);
  if (c.node == nullptr || x.rank() != 3 || w.rank() != 2) return work;
  const double length = Number(x.dim(1));
  const double keys = std::min(length, 2 * static_cast<double>(std::max<int64_t>(0, c.node->Int("window", 0))) + 1);
  const double hidden = Number(x.dim(2));
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  work.flops = ProjectionFlops(Number(x.dim(0)) * length, hidden, Number(w.dim(1))) * 2 +
               AttentionFlops({Number(x.dim(0)), heads, length, keys, hidden / heads, hidden / heads});
  return work;
}

// --- Attention over given query, key and value ----------------------------------------------------------------------

struct Given {
  Dim batch, queries, new_keys, hidden, value_hidden;
  Dim heads, kv_heads, head_size;
};

// query [B, S, hidden] or packed [B, S, heads, 3, D]; key [B, L, hidden], packed [B, L, heads, 2, D] or, of a cache,
// [B, heads, L, D]; value likewise.
Result<Given> ReadMultiHead(const Shape& q, const Shape& k, const Shape& v, int64_t heads) {
  Given g;
  g.heads = g.kv_heads = Dim(heads);
  if (q.has_rank() && q.rank() != 3 && q.rank() != 5) {
    return ModelError(fmt::format("query needs 3 or 5 dimensions, has shape {}", q.ToString()));
  }
  g.batch = q.dim(0);
  g.queries = g.new_keys = q.dim(1);
  const bool packed = q.rank() == 5;
  g.hidden = packed ? q.dim(2) * q.dim(4) : q.rank() == 3 ? q.dim(2) : Dim();
  g.head_size = FloorDiv(g.hidden, Dim(heads));
  g.value_hidden = g.hidden;
  if (g.hidden.is_known() && g.hidden.value() % heads != 0) {
    return ModelError(fmt::format("query {} cannot be divided into {} heads", q.ToString(), heads));
  }
  if (k.has_rank()) g.new_keys = k.dim(k.rank() == 4 ? 2 : 1);
  if (v.has_rank()) g.value_hidden = v.rank() == 4 ? v.dim(1) * v.dim(3) : v.dim(2);
  return g;
}

// Keys of a cache [B, heads, P, D] and the new ones.
Dim TotalKeys(const Node& node, const Dim& new_keys, bool has_past, const Shape& past) {
  if (!has_past) return new_keys;
  const Dim length = past.rank() == 4 ? past.dim(2) : Dim();
  return node.Int("past_present_share_buffer", 0) != 0 ? length : length + new_keys;
}

Shape InputShapeOr(const InferenceContext& c, int i) { return c.has_input(i) ? c.input(i).shape : Shape(); }

Status MultiHeadShape(InferenceContext& c, int past_key) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t heads, HeadCount(c.node(), "num_heads"));
  SIMPRED_ASSIGN_OR_RETURN(const Given g,
                           ReadMultiHead(c.input(0).shape, InputShapeOr(c, 1), InputShapeOr(c, 2), heads));
  const DataType type = c.input(0).dtype;
  const Dim total = TotalKeys(c.node(), g.new_keys, c.has_input(past_key), InputShapeOr(c, past_key));
  const Dim value_size = FloorDiv(g.value_hidden, Dim(heads));
  c.set_output(0, Tensor(type, Shape({g.batch, g.queries, g.value_hidden})));
  c.set_output(1, Tensor(type, Shape({g.batch, g.heads, total, g.head_size})));
  c.set_output(2, Tensor(type, Shape({g.batch, g.heads, total, value_size})));
  c.set_output(3, Tensor(type, Shape({g.batch, g.heads, g.queries, total})));
  return OkStatus();
}

Work MultiHeadWork(const CostContext& c, size_t past_key) {
  Work work = TrafficOf(c);
  if (c.node == nullptr) return work;
  const int64_t heads = std::max<int64_t>(1, c.node->Int("num_heads", 1));
  const Result<Given> g = ReadMultiHead(ShapeOf(c, 0), ShapeOf(c, 1), ShapeOf(c, 2), heads);
  if (!g.ok()) return work;
  const Dim total = TotalKeys(*c.node, g->new_keys, IsPresent(c, past_key), ShapeOf(c, past_key));
  const double h = static_cast<double>(heads);
  work.flops = AttentionFlops(
      {Number(g->batch), h, Number(g->queries), Number(total), Number(g->head_size), Number(g->value_hidden) / h});
  return work;
}

// query, key, value [tokens, hidden] or query [tokens, heads, 3, D]; token_offset [B, S].
Status PackedMultiHeadShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& q = c.input(0).shape;
  Shape out = Shape::OfRank(2);
  if (q.has_rank() && q.rank() != 2 && q.rank() != 4) {
    return ModelError(fmt::format("query needs 2 or 4 dimensions, has shape {}", q.ToString()));
  }
  out.dims()[0] = q.dim(0);
  out.dims()[1] = q.rank() == 4 ? q.dim(1) * q.dim(3) : c.has_input(2) ? c.input(2).shape.dim(1) : q.dim(1);
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

Work PackedMultiHeadWork(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.node == nullptr || c.outputs.empty() || c.outputs[0].dims.size() != 2) return work;
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  const double tokens = static_cast<double>(c.outputs[0].dims[0]);
  const Shape offsets = ShapeOf(c, 4);
  const double size = static_cast<double>(c.outputs[0].dims[1]) / heads;
  work.flops = AttentionFlops({1, heads, tokens, offsets.rank() == 2 ? Number(offsets.dim(1)) : tokens, size, size});
  return work;
}

// query [B, S, heads * D], or packed with key and value [B, S, (heads + 2 kv_heads) * D]; caches [B, kv_heads, P, D].
Result<Given> ReadGrouped(const Node& node, const Shape& q, bool packed, const Shape& k) {
  Given g;
  SIMPRED_ASSIGN_OR_RETURN(const int64_t heads, HeadCount(node, "num_heads"));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t kv_heads, HeadCount(node, "kv_num_heads"));
  if (heads % kv_heads != 0) {
    return ModelError(fmt::format("{} query heads cannot share {} key heads", heads, kv_heads));
  }
  if (heads > (int64_t{1} << 30) || kv_heads > (int64_t{1} << 30)) return ModelError("too many heads");
  if (q.has_rank() && q.rank() != 3) {
    return ModelError(fmt::format("query needs 3 dimensions, has shape {}", q.ToString()));
  }
  g.batch = q.dim(0);
  g.queries = g.new_keys = q.dim(1);
  g.heads = Dim(heads);
  g.kv_heads = Dim(kv_heads);
  const int64_t parts = packed ? heads + 2 * kv_heads : heads;
  if (q.dim(2).is_known() && q.dim(2).value() % parts != 0) {
    return ModelError(fmt::format("query {} cannot be divided into {} heads", q.ToString(), parts));
  }
  g.head_size = FloorDiv(q.dim(2), Dim(parts));
  g.hidden = g.value_hidden = g.head_size * g.heads;
  if (k.rank() == 3) g.new_keys = k.dim(1);
  return g;
}

Status GroupedShape(InferenceContext& c, int total_length) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Given g, ReadGrouped(c.node(), c.input(0).shape, !c.has_input(1), InputShapeOr(c, 1)));
  const DataType type = c.input(0).dtype;
  c.set_output(0, Tensor(type, Shape({g.batch, g.queries, g.hidden})));
  Dim total = g.new_keys;
  if (c.has_input(3)) {
    // The cache keeps its length if it already holds all tokens; otherwise it grows by the new ones.
    const Dim past = InputShapeOr(c, 3).rank() == 4 ? InputShapeOr(c, 3).dim(2) : Dim();
    const std::optional<Dim> given =
        total_length >= 0 && c.has_input(total_length) ? DimOf(c, total_length) : std::nullopt;
    total = given && !given->is_unknown() ? Max(past, *given) : past + g.new_keys;
  }
  const DataType cache = c.has_input(3) ? c.input(3).dtype : type;
  const Shape present({g.batch, g.kv_heads, total, g.head_size});
  c.set_output(1, Tensor(cache, present));
  c.set_output(2, Tensor(cache, present));
  c.set_output(3, Tensor(type, Shape({g.batch, g.heads, g.queries, total})));
  return OkStatus();
}

Work GroupedWork(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.node == nullptr) return work;
  const Result<Given> g = ReadGrouped(*c.node, ShapeOf(c, 0), !IsPresent(c, 1), ShapeOf(c, 1));
  if (!g.ok()) return work;
  double keys = Number(g->new_keys);
  if (c.outputs.size() > 1 && c.outputs[1].present && c.outputs[1].dims.size() == 4) {
    keys = static_cast<double>(c.outputs[1].dims[2]);
  }
  const int64_t window = c.node->Int("local_window_size", -1);
  if (window > 0) keys = std::min(keys, static_cast<double>(window));
  const double size = Number(g->head_size);
  work.flops = AttentionFlops({Number(g->batch), Number(g->heads), Number(g->queries), keys, size, size});
  if (c.node->Int("do_rotary", 0) != 0) {
    const double rotated = Number(g->batch) * Number(g->queries) * (Number(g->heads) + Number(g->kv_heads)) * size;
    work.flops += Flops(rotated * (2 * cost::kMultiply + cost::kAdd));
  }
  return work;
}

// query [tokens, hidden], key_cache [blocks, block size, kv_heads, D], block_table [B, blocks of a sequence].
Status PagedShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, RequireRank(c, 0, 2));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t heads, HeadCount(c.node(), "num_heads"));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t kv_heads, HeadCount(c.node(), "kv_num_heads"));
  if (!c.has_input(1)) out.dims()[1] = FloorDiv(out.dim(1), Dim(heads) + Dim(2) * Dim(kv_heads)) * Dim(heads);
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  for (int i : {3, 4}) {
    if (c.has_input(i)) c.set_output(i - 2, c.input(i));
  }
  return OkStatus();
}

Work PagedWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const Shape cache = ShapeOf(c, 3);
  const Shape table = ShapeOf(c, 7);
  if (c.outputs.empty() || c.outputs[0].dims.size() != 2 || c.node == nullptr) return work;
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  const double size = static_cast<double>(c.outputs[0].dims[1]) / heads;
  // The blocks that a sequence may have: the most keys that a token can see.
  const double keys = cache.rank() == 4 && table.rank() == 2 ? Number(cache.dim(1)) * Number(table.dim(1)) : 0;
  work.flops = AttentionFlops({1, heads, static_cast<double>(c.outputs[0].dims[0]), keys, size, size});
  return work;
}

// query [S, B, hidden], key [T, B, hidden], caches [B, heads, P, D]: projections chosen at run time.
Status DecoderShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 4));
  SIMPRED_ASSIGN_OR_RETURN(const Shape q, RequireRank(c, 0, 3));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t heads, HeadCount(c.node(), "num_heads"));
  const Shape cache({q.dim(1), Dim(heads), Dim(), FloorDiv(q.dim(2), Dim(heads))});
  c.set_output(0, c.input(0));
  c.set_output(1, Tensor(c.input(0).dtype, cache));
  c.set_output(2, Tensor(c.input(0).dtype, cache));
  return OkStatus();
}

Work DecoderWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const Shape q = ShapeOf(c, 0);
  const Shape k = ShapeOf(c, 1);
  if (c.node == nullptr || q.rank() != 3 || k.rank() != 3) return work;
  const double heads = static_cast<double>(std::max<int64_t>(1, c.node->Int("num_heads", 1)));
  const double hidden = Number(q.dim(2));
  const double batch = Number(q.dim(1));
  work.flops = ProjectionFlops(batch * Number(q.dim(0)), hidden, hidden) +
               ProjectionFlops(batch * Number(k.dim(0)), hidden, 2 * hidden) +
               AttentionFlops({batch, heads, Number(q.dim(0)), Number(k.dim(0)), hidden / heads, hidden / heads});
  return work;
}

// --- Positions ------------------------------------------------------------------------------------------------------

// bias_table [buckets, heads], query_length, key_length -> [1, heads, query_length, key_length].
Status PositionBiasShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape table, RequireRank(c, 0, 2));
  c.set_output(0, Tensor(c.input(0).dtype,
                         Shape({Dim(1), table.dim(1), DimOf(c, 1).value_or(Dim()), DimOf(c, 2).value_or(Dim())})));
  return OkStatus();
}

// query_layer [B, S, heads * D] -> [B, heads, S, S].
Status GatedBiasShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t heads, HeadCount(c.node(), "num_heads"));
  const Shape& q = c.input(0).shape;
  const Shape& rel = c.input(2).shape;
  const Dim length = q.rank() == 3 ? q.dim(1) : rel.rank() == 4 ? rel.dim(2) : Dim();
  const Dim batch = q.rank() == 3 ? q.dim(0) : Dim();
  c.set_output(0, Tensor(c.input(0).dtype, Shape({batch, Dim(heads), length, length})));
  return OkStatus();
}

void AddAttention(MicrosoftFamily& f) {
  const auto projected = [&](const char* type, ProjectedInputs at) {
    f.Add(
        type, [at](InferenceContext& c) { return ProjectedShape(c, at); },
        [at](const CostContext& c) { return ProjectedWork(c, at); });
  };
  projected("Attention", {});
  projected("QAttention", {.past = 8});
  projected("DecoderMaskedSelfAttention", {});
  f.Add("PackedAttention", PackedAttentionShape, PackedAttentionWork);
  f.Add("QOrderedAttention", OrderedAttentionShape, OrderedAttentionWork);
  f.Add("LongformerAttention", SameAsInput(), [](const CostContext& c) { return LongformerWork(c, 1); });
  f.Add("QOrderedLongformerAttention", SameAsInput(), [](const CostContext& c) { return LongformerWork(c, 2); });
  const auto multi_head = [&](const char* type, int past_key) {
    f.Add(
        type, [past_key](InferenceContext& c) { return MultiHeadShape(c, past_key); },
        [past_key](const CostContext& c) { return MultiHeadWork(c, static_cast<size_t>(past_key)); });
  };
  multi_head("MultiHeadAttention", 6);
  multi_head("DecoderMaskedMultiHeadAttention", 5);
  f.Add("PackedMultiHeadAttention", PackedMultiHeadShape, PackedMultiHeadWork);
  f.Add(
      "GroupQueryAttention", [](InferenceContext& c) { return GroupedShape(c, 6); }, GroupedWork);
  // Sparse blocks are data: the work is counted as if none were empty.
  f.Add(
      "SparseAttention", [](InferenceContext& c) { return GroupedShape(c, 7); }, GroupedWork);
  f.Add("PagedAttention", PagedShape, PagedWork);
  f.Add("DecoderAttention", DecoderShape, DecoderWork);
}

}  // namespace

void RegisterMicrosoftAttention(Registry& r) {
  MicrosoftFamily attention(
      r, OperatorClass::kMatMul,
      "Vaswani et al. 2017, section 3.2: projections where they are inside, 4 * B * H * Sq * Sk * D");
  AddAttention(attention);
  MicrosoftFamily positions(r, OperatorClass::kElementwise,
                            "operations per element of the formula in ContribOperators.md");
  positions.Add("RotaryEmbedding", SameAsInput(), [](const CostContext& c) { return RotaryWork(c, 0, 2, 3); });
  positions.Add(
      "GemmaRotaryEmbedding",
      [](InferenceContext& c) -> Status {
        SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 4));
        c.set_output(0, c.input(1));
        c.set_output(1, c.input(3));
        return OkStatus();
      },
      [](const CostContext& c) {
        Work work = TrafficOf(c);
        const double rotated = OutputElements(c, 0) + OutputElements(c, 1);
        work.flops = Flops(InputElements(c) * 2 * cost::kSin + rotated * (2 * cost::kMultiply + cost::kAdd));
        return work;
      });
  positions.Add("RelativePositionBias", PositionBiasShape, PerElement(cost::kLog + cost::kIndexElement));
  // A small product per query and head, two sigmoids, and a multiply-add per pair.
  positions.Add("GatedRelativePositionBias", GatedBiasShape, [](const CostContext& c) {
    Work work = TrafficOf(c);
    work.flops = Flops(InputElements(c) * cost::kMultiplyAdd * 8 + OutputElements(c) * cost::kMultiplyAdd);
    return work;
  });
}

}  // namespace simpred
