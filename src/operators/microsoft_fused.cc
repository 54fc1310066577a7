// com.microsoft: normalizations and activations together with the additions around them.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "operators/activations.h"
#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/microsoft.h"
#include "operators/normalization.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

// input + skip (+ bias), normalised over the last axis; outputs: result, mean, inverse deviation, the sum.
Status SkipNormShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const Shape& x = c.input(0).shape;
  SIMPRED_RETURN_IF_ERROR(BroadcastOf(c, 0, 2).status());
  const Shape& gamma = c.input(2).shape;
  if (x.has_rank() && gamma.has_rank() && gamma.dim(-1).is_known() && x.dim(-1).is_known() &&
      gamma.dim(-1).value() != x.dim(-1).value()) {
    return ModelError(fmt::format("gamma {} does not fit input {}", gamma.ToString(), x.ToString()));
  }
  c.set_output(0, c.input(0));
  Shape statistics = x;
  if (x.has_rank() && x.rank() > 0) statistics.dims().back() = Dim(1);
  c.set_output(1, Tensor(DataType::kFloat32, statistics));
  c.set_output(2, Tensor(DataType::kFloat32, std::move(statistics)));
  c.set_output(3, c.input(0));
  return OkStatus();
}

// The norm, one addition for the skip, one for the bias.
CostRule SkipNormCost(double norm, size_t bias) {
  return [norm, bias](const CostContext& c) {
    Work work = TrafficOf(c);
    work.flops = Flops(InputElements(c) * (norm + cost::kAdd + (IsPresent(c, bias) ? cost::kAdd : 0)));
    return work;
  };
}

// input_ids, segment_ids [B, S]; embeddings [vocabulary, H]; gamma, beta; outputs: [B, S, H], mask_index [B], the sum.
Status EmbedNormShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape ids, RequireRank(c, 0, 2));
  if (!c.has_input(2)) return ModelError("input word_embedding is missing");
  SIMPRED_ASSIGN_OR_RETURN(const Shape table, RequireRank(c, 2, 2));
  const bool quantized = c.node().op_type == "QEmbedLayerNormalization";
  const DataType type = quantized ? DataType::kFloat32 : c.input(2).dtype;
  const Shape out({ids.dim(0), ids.dim(1), table.dim(1)});
  c.set_output(0, Tensor(type, out));
  c.set_output(1, Tensor(DataType::kInt32, Shape({ids.dim(0)})));
  c.set_output(2, Tensor(type, out));
  return OkStatus();
}

// Of each embedding table one row per token is read.
Work EmbedNormWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const int64_t tokens = c.inputs.empty() ? 0 : c.inputs[0].elements();
  for (size_t table : {2, 3, 4}) {
    if (!IsPresent(c, table) || c.inputs[table].dims.size() != 2) continue;
    const CostTensor& t = c.inputs[table];
    if (tokens >= t.dims[0]) continue;
    ReadOnly(work, t, StorageSize(t.dtype, t.dims[1]) * tokens);
  }
  work.flops = Flops(OutputElements(c) * (kLayerNormOperations + 2 * cost::kAdd));
  return work;
}

// X and a bias of its last axis.
Status BiasedShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  if (c.has_input(1)) SIMPRED_RETURN_IF_ERROR(BroadcastOf(c, 0, 2).status());
  c.set_output(0, c.input(0));
  return OkStatus();
}

CostRule Biased(double operations) {
  return [operations](const CostContext& c) {
    Work work = TrafficOf(c);
    const double additions = static_cast<double>(IsPresent(c, 1)) + static_cast<double>(IsPresent(c, 2));
    work.flops = Flops(OutputElements(c) * (operations + additions * cost::kAdd));
    return work;
  };
}

// Half of the last axis gates the other half.
Status SplitGeluShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, RequireRankAtLeast(c, 0, 1));
  if (out.has_rank()) out.dims().back() = FloorDiv(out.dim(-1), Dim(2));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

// X, skip and their sum (SkipGroupNorm).
Status GroupNormShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const int64_t groups = c.node().Int("groups", 1);
  if (groups < 1) return ModelError(fmt::format("groups must not be {}", groups));
  c.set_output(0, c.input(0));
  c.set_output(1, c.input(0));
  return OkStatus();
}

Work GroupNormWork(const CostContext& c) {
  const bool activated = c.node != nullptr && c.node->Int("activation", 0) == 1;
  Work work = TrafficOf(c);
  double operations = kLayerNormOperations + (activated ? cost::kSwish : 0);
  for (size_t i = 3; i < c.inputs.size(); ++i) operations += IsPresent(c, i) ? cost::kAdd : 0;
  work.flops = Flops(InputElements(c) * operations);
  return work;
}

// data, bias, residual, ratio, training_mode -> result and mask; a bitmask holds 32 elements in a word.
ShapeRule DropoutShape(bool bitmask) {
  return [bitmask](InferenceContext& c) -> Status {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
    c.set_output(0, c.input(0));
    const Shape& x = c.input(0).shape;
    const Dim words = x.has_rank() ? CeilDiv(x.ElementCount(), Dim(32)) : Dim();
    c.set_output(1, bitmask ? Tensor(DataType::kUInt32, Shape({words})) : Tensor(DataType::kBool, x));
    return OkStatus();
  };
}

void AddActivations(Registry& r) {
  MicrosoftFamily f(r, OperatorClass::kElementwise, "operations per element of the formula in ContribOperators.md");
  f.Add("Gelu", SameAsInput(), PerElement(cost::kGelu));
  f.Add("QuickGelu", SameAsInput(), PerElement(cost::kQuickGelu));
  f.Add("FastGelu", BiasedShape, Biased(cost::kGeluTanh));
  f.Add("BiasGelu", BiasedShape, Biased(cost::kGelu));
  f.Add("BiasAdd", BiasedShape, Biased(0));
  f.Add("BiasSplitGelu", SplitGeluShape, PerElement(cost::kGelu + 2 * cost::kAdd + cost::kMultiply));
  f.Add("BiasDropout", DropoutShape(false), Biased(0));
  f.Add("BitmaskBiasDropout", DropoutShape(true), Biased(0));
  f.Add("BitmaskDropout", DropoutShape(true), TrafficOf);
}

}  // namespace

void RegisterMicrosoftFused(Registry& r) {
  AddActivations(r);
  MicrosoftFamily f(r, OperatorClass::kNormalization,
                    "the ONNX norm's operations per element, and the fused additions");
  f.Add("SkipLayerNormalization", SkipNormShape, SkipNormCost(kLayerNormOperations, 4));
  f.Add("SkipSimplifiedLayerNormalization", SkipNormShape, SkipNormCost(kRmsNormOperations, 3));
  f.Add("SimplifiedLayerNormalization", LayerNormShapeRule(), PerInputElement(kRmsNormOperations));
  f.Add("LayerNormalization", LayerNormShapeRule(), PerInputElement(kLayerNormOperations));
  f.Add("EmbedLayerNormalization", EmbedNormShape, EmbedNormWork);
  f.Add("QEmbedLayerNormalization", EmbedNormShape, EmbedNormWork);
  f.Add("BiasSoftmax", BiasedShape, Biased(kSoftmaxOperations));
  f.Add("GroupNorm", GroupNormShape, GroupNormWork);
  f.Add("SkipGroupNorm", GroupNormShape, GroupNormWork);
}

}  // namespace simpred
