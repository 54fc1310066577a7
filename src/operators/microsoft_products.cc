// com.microsoft: convolutions and matrix products with what the runtime fused into them or how it stores their weights.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "operators/activations.h"
#include "operators/convolution.h"
#include "operators/cost_constants.h"
#include "operators/matmul.h"
#include "operators/microsoft.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

// X, W, B, and a tensor that is added before the activation.
Work FusedConvWork(const CostContext& c) {
  return ConvWork(c, {}, (IsPresent(c, 3) ? cost::kAdd : 0) + FusedActivationOperations(c.node));
}

// QLinearConv of this domain knows channels_last; the output has the type of y_zero_point.
Status QLinearConvShape(InferenceContext& c) {
  const ConvLayout layout{.x = 0, .w = 3, .bias = 8, .channels_last = c.node().Int("channels_last", 0) != 0};
  SIMPRED_ASSIGN_OR_RETURN(Shape out, ConvOutputShape(c, layout));
  c.set_output(0, Tensor(c.has_input(7) ? c.input(7).dtype : c.input(0).dtype, std::move(out)));
  return OkStatus();
}

// X, W, Pads, B: the padding is the third input.
Status DynamicPadsShape(InferenceContext& c) {
  SIMPRED_ASSIGN_OR_RETURN(Shape out, ConvOutputShape(c, {.bias = 3, .transposed = true}));
  if (out.has_rank() && c.has_input(2)) {
    const size_t spatial = static_cast<size_t>(out.rank()) - 2;
    const std::optional<std::vector<Dim>> pads = DimsOf(c, 2);
    if (pads && pads->size() != 2 * spatial) {
      return ModelError(fmt::format("Pads needs {} numbers, has {}", 2 * spatial, pads->size()));
    }
    for (size_t i = 0; i < spatial; ++i) {
      Dim& d = out.dims()[i + 2];
      d = pads ? d - (*pads)[i] - (*pads)[i + spatial] : Dim();
      if (d.is_known() && d.value() < 0) return ModelError("Pads leave nothing of the output");
    }
  }
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

CostRule ActivatedMatMul(int bias = -1) {
  return [bias](const CostContext& c) {
    const bool biased = bias >= 0 && IsPresent(c, static_cast<size_t>(bias));
    return MatMulWork(c, 0, (biased ? cost::kAdd : 0) + FusedActivationOperations(c.node));
  };
}

// Output type of GemmFloat8: attribute dtype.
Status GemmFloat8Shape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, GemmOutputShape(c, 0, 1, 2));
  const DataType type = FromOnnxType(c.node().Int("dtype", 1));
  c.set_output(0, Tensor(type == DataType::kUndefined ? DataType::kFloat32 : type, std::move(out)));
  return OkStatus();
}

// A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point; without the last two the result is
// float.
Status QGemmShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 6));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, GemmOutputShape(c, 0, 3, 6));
  c.set_output(0, Tensor(c.has_input(8) ? c.input(8).dtype : DataType::kFloat32, std::move(out)));
  return OkStatus();
}

// A [..., K] times weights whose sizes are the attributes K and N.
Result<Shape> PackedProduct(InferenceContext& c, const char* columns) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const int64_t k = c.node().Int("K", 0);
  const int64_t n = c.node().Int(columns, 0);
  if (k < 1 || n < 1) return ModelError(fmt::format("K and {} must be positive, are {} and {}", columns, k, n));
  SIMPRED_ASSIGN_OR_RETURN(Shape a, RequireRankAtLeast(c, 0, 1));
  if (!a.has_rank()) return a;
  if (a.dim(-1).is_known() && a.dim(-1).value() != k) {
    return ModelError(fmt::format("inner dimension of A {} must be K = {}", a.ToString(), k));
  }
  a.dims().back() = Dim(n);
  return a;
}

Status PackedShape(InferenceContext& c) {
  SIMPRED_ASSIGN_OR_RETURN(Shape out, PackedProduct(c, "N"));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

// The product, and each weight dequantised once.
Work PackedWork(const CostContext& c) {
  Work work = MatMulWork(c, 0, IsPresent(c, 5) ? cost::kAdd : 0);
  if (c.node != nullptr) {
    const double weights = static_cast<double>(c.node->Int("K", 0)) * static_cast<double>(c.node->Int("N", 0));
    work.flops += Flops(std::max(0.0, weights) * cost::kDequantize);
  }
  return work;
}

// A, packed B, and B's two sizes as a constant.
Status MatMulFpQ4Shape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const std::optional<std::vector<Dim>> sizes = DimsOf(c, 2);
  const Shape b = sizes ? Shape(*sizes) : Shape::OfRank(2);
  SIMPRED_ASSIGN_OR_RETURN(Shape out, MatMulOutputShape(c.input(0).shape, b));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

// Weights of one expert are those of the tensor over the number of experts; k experts see each token.
Work MoEWork(const CostContext& c, std::initializer_list<size_t> weights, double bits_factor) {
  Work work = TrafficOf(c);
  if (c.node == nullptr || c.inputs.empty() || c.inputs[0].dims.empty()) return work;
  const double tokens = InputElements(c) / static_cast<double>(std::max<int64_t>(1, c.inputs[0].dims.back()));
  const double per_token = static_cast<double>(std::max<int64_t>(1, c.node->Int("k", 1)));
  double flops = 0;
  for (size_t w : weights) {
    if (!IsPresent(c, w) || c.inputs[w].dims.empty()) continue;
    const double experts = static_cast<double>(std::max<int64_t>(1, c.inputs[w].dims[0]));
    flops += cost::kMultiplyAdd * tokens * per_token * InputElements(c, w) * bits_factor / experts;
    // Experts that no token chose are not read.
    const int64_t count = std::max<int64_t>(1, c.inputs[w].dims[0]);
    const int64_t used = static_cast<int64_t>(std::min({tokens * per_token, experts, 1e15}));
    const Bytes per_expert(c.inputs[w].bytes().count() / count);
    ReadOnly(work, c.inputs[w], per_expert * std::min(used, count));
  }
  work.flops = Flops(flops);
  return work;
}

Work QMoEWork(const CostContext& c) {
  const int64_t bits = c.node != nullptr ? c.node->Int("expert_weight_bits", 4) : 4;
  return MoEWork(c, {2, 5, 8}, bits > 0 && bits <= 8 ? 8.0 / static_cast<double>(bits) : 1.0);
}

// A [M, K], B [N, K] -> [M, N].
Status CDistShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape a, RequireRank(c, 0, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape b, RequireRank(c, 1, 2));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, MatMulOutputShape(a, b, {.trans_b = true}));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

Status InverseShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 2));
  if (x.dim(-1).is_known() && x.dim(-2).is_known() && x.dim(-1).value() != x.dim(-2).value()) {
    return ModelError(fmt::format("{} is not a square matrix", x.ToString()));
  }
  c.set_output(0, c.input(0));
  return OkStatus();
}

// Characters' embeddings, a convolution over each word, the maximum: Sequence [..., words, chars], W [filters, ...].
Status WordConvShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, RequireRankAtLeast(c, 0, 1));
  if (out.has_rank()) out.dims().back() = c.input(1).shape.dim(0);
  c.set_output(0, Tensor(c.input(1).dtype, std::move(out)));
  return OkStatus();
}

Work WordConvWork(const CostContext& c) {
  Work work = TrafficOf(c);
  work.flops = Flops(InputElements(c) * InputElements(c, 1) * cost::kMultiplyAdd);
  return work;
}

void AddConvolutions(Registry& r) {
  MicrosoftFamily f(r, OperatorClass::kConvolution, "as ONNX Conv, with the addition and activation fused into it");
  const ConvLayout nhwc{.channels_last = true};
  f.Add("FusedConv", ConvShapeRule({}), FusedConvWork);
  f.Add("NhwcConv", ConvShapeRule(nhwc), ConvCostRule(nhwc));
  f.Add("NhwcFusedConv", ConvShapeRule(nhwc), FusedConvWork);
  f.Add("QLinearConv", QLinearConvShape, ConvCostRule({.x = 0, .w = 3, .bias = 8}, cost::kQuantize));
  f.Add("ConvTransposeWithDynamicPads", DynamicPadsShape, ConvCostRule({.bias = 3, .transposed = true}));
  f.Add("WordConvEmbedding", WordConvShape, WordConvWork);
  if (const OperatorRule* standard = r.Find("", "CausalConvWithState")) {
    f.Add("CausalConvWithState", standard->shape, standard->cost);
  }
}

}  // namespace

void RegisterMicrosoftProducts(Registry& r) {
  AddConvolutions(r);
  MicrosoftFamily f(r, OperatorClass::kMatMul, "2 * batch * M * N * K, with what is fused into the product");
  const CostRule plain = ActivatedMatMul();
  f.Add("FusedGemm", GemmShapeRule(0, 1, 2), ActivatedMatMul(2));
  f.Add("GemmFastGelu", MatMulShapeRule(0, 1), GemmCostRule(0, 2, cost::kGeluTanh));
  f.Add("GemmFloat8", GemmFloat8Shape, ActivatedMatMul(2));
  for (const char* type : {"FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", "SparseToDenseMatMul"}) {
    f.Add(type, MatMulShapeRule(0, 1), plain);
  }
  f.Add("MatMulInteger16", MatMulShapeRule(0, 1, DataType::kInt32), plain);
  f.Add("MatMulIntegerToFloat", MatMulShapeRule(0, 1, DataType::kFloat32), GemmCostRule(0, 6, cost::kDequantize));
  f.Add("DynamicQuantizeMatMul", MatMulShapeRule(0, 1), [](const CostContext& c) {
    Work work = MatMulWork(c, 0, cost::kDequantize + (IsPresent(c, 4) ? cost::kAdd : 0));
    work.flops += Flops(InputElements(c) * (cost::kQuantize + 2 * cost::kAdd));  // with its minimum and maximum
    return work;
  });
  f.Add("QGemm", QGemmShape, GemmCostRule(0, 6, cost::kQuantize));
  f.Add("QOrderedMatMul", MatMulShapeRule(0, 2), GemmCostRule(0, 5, cost::kQuantize));
  f.Add("MatMulNBits", PackedShape, PackedWork);
  f.Add("MatMulBnb4", PackedShape, PackedWork);
  f.Add("MatMulFpQ4", MatMulFpQ4Shape, MatMulCostRule(0));
  f.Add("MoE", SameAsInput(), [](const CostContext& c) { return MoEWork(c, {2, 4, 6}, 1); });
  f.Add("QMoE", SameAsInput(), QMoEWork);
  f.Add("CDist", CDistShape, [](const CostContext& c) { return MatMulWork(c, 0, cost::kSqrt + cost::kMultiplyAdd); });
  // Gauss-Jordan elimination: 2 M^3 operations for each matrix.
  f.Add("Inverse", InverseShape, [](const CostContext& c) {
    Work work = TrafficOf(c);
    if (!c.inputs.empty() && !c.inputs[0].dims.empty()) {
      work.flops = Flops(2 * InputElements(c) * static_cast<double>(c.inputs[0].dims.back()));
    }
    return work;
  });
}

}  // namespace simpred
