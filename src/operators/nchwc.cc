// ONNX Runtime's blocked layout (domain com.microsoft.nchwc): dimensions keep the order N, C, H, W, with C padded to
// whole blocks of 16 channels (8 without AVX-512), in activations and weights. Seen in optimised models saved by ONNX
// Runtime 1.30; its source is onnxruntime/core/optimizer/nchwc_transformer.cc and
// onnxruntime/contrib_ops/cpu/nchwc_ops.cc.
//
// The work counted is that on the padded tensors: the padding is really multiplied.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "operators/activations.h"
#include "operators/convolution.h"
#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/pooling.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

constexpr const char* kDomain = "com.microsoft.nchwc";
constexpr int64_t kLargestBlock = 16;

// The runtime does not write its block into the node; a graph that was blocked here says so in `block_size`.
Result<Dim> BlockOf(const Node& node) {
  const int64_t block = node.Int("block_size", kLargestBlock);
  if (block < 1 || block > 1024) return ModelError(fmt::format("block_size must not be {}", block));
  return Dim(block);
}

// [N, C, H, W], or [N, H, W, C] with channels_last -> [N, C rounded up, H, W].
Status ReorderInputShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 4));
  SIMPRED_ASSIGN_OR_RETURN(const Dim block, BlockOf(c.node()));
  const bool last = c.node().Int("channels_last", 0) != 0;
  const Dim channels = CeilDiv(x.dim(last ? 3 : 1), block) * block;
  c.set_output(0, Tensor(c.input(0).dtype, Shape({x.dim(0), channels, x.dim(last ? 1 : 2), x.dim(last ? 2 : 3)})));
  return OkStatus();
}

Status ReorderOutputShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 4));
  const int64_t channels = c.node().Int("channels", 0);
  if (channels < 1) return ModelError(fmt::format("channels must not be {}", channels));
  if (x.dim(1).is_known() && channels > x.dim(1).value()) {
    return ModelError(fmt::format("channels {} are more than input {} has", channels, x.ToString()));
  }
  Shape out({x.dim(0), Dim(channels), x.dim(2), x.dim(3)});
  if (c.node().Int("channels_last", 0) != 0) out = Shape({x.dim(0), x.dim(2), x.dim(3), Dim(channels)});
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

Status UpsampleShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 4));
  const std::vector<int64_t> scales = c.node().Ints("scales").value_or(std::vector<int64_t>{1, 1, 1, 1});
  if (scales.size() != 4) return ModelError(fmt::format("scales needs 4 numbers, has {}", scales.size()));
  std::vector<Dim> dims;
  for (int i = 0; i < 4; ++i) {
    const int64_t scale = scales[static_cast<size_t>(i)];
    if (scale < 1 || scale > (int64_t{1} << 20)) return ModelError(fmt::format("scales must not contain {}", scale));
    dims.push_back(x.dim(i) * Dim(scale));
  }
  c.set_output(0, Tensor(c.input(0).dtype, Shape(std::move(dims))));
  return OkStatus();
}

Work UpsampleWork(const CostContext& c) {
  const bool linear = c.node != nullptr && c.node->String("mode", "nearest") == "linear";
  Work work = TrafficOf(c);
  work.flops = Flops(linear ? OutputElements(c) * 2 * cost::kLinearPerAxis : 0);
  return work;
}

// X, W, B, and a tensor that is added to the result before the activation.
Work BlockedConvWork(const CostContext& c) {
  const double added = IsPresent(c, 3) ? cost::kAdd : 0;
  return ConvWork(c, {}, added + FusedActivationOperations(c.node));
}

}  // namespace

void RegisterNchwc(Registry& r) {
  const auto add = [&](const char* type, OperatorClass op_class, ShapeRule shape, CostRule cost, const char* source) {
    r.Add({.type = type,
           .domain = kDomain,
           .op_class = op_class,
           .shape = std::move(shape),
           .cost = std::move(cost),
           .source = source});
  };
  const char* const as_onnx = "as the ONNX operator of this name, on padded channels";
  // The first convolution of a model takes its input unblocked; block sizes of 8 and 16 round differently.
  add("Conv", OperatorClass::kConvolution, ConvShapeRule({.channel_slack = kLargestBlock - 1}), BlockedConvWork,
      as_onnx);
  add("MaxPool", OperatorClass::kPooling, PoolShapeRule(), PoolCostRule(cost::kAdd, 0), as_onnx);
  add("AveragePool", OperatorClass::kPooling, PoolShapeRule(), PoolCostRule(cost::kAdd, cost::kMultiply), as_onnx);
  add("GlobalMaxPool", OperatorClass::kPooling, GlobalPoolShapeRule(), GlobalPoolCostRule(cost::kAdd, 0), as_onnx);
  add("GlobalAveragePool", OperatorClass::kPooling, GlobalPoolShapeRule(),
      GlobalPoolCostRule(cost::kAdd, cost::kMultiply), as_onnx);
  const char* const moves = "every element is read once and written once";
  add("ReorderInput", OperatorClass::kDataMovement, ReorderInputShape, TrafficOf, moves);
  add("ReorderOutput", OperatorClass::kDataMovement, ReorderOutputShape, TrafficOf, moves);
  add("Upsample", OperatorClass::kDataMovement, UpsampleShape, UpsampleWork, moves);
}

}  // namespace simpred
