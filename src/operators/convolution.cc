#include "operators/convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/window.h"

namespace simpred {
namespace {

// Spatial axes: what X or W says; -1 if neither has a rank.
Result<int> SpatialRank(const Shape& x, const Shape& w) {
  if (x.has_rank() && w.has_rank() && x.rank() != w.rank()) {
    return ModelError(fmt::format("input {} and weights {} have different ranks", x.ToString(), w.ToString()));
  }
  if (!x.has_rank() && !w.has_rank()) return -1;
  const int rank = x.has_rank() ? x.rank() : w.rank();
  if (rank < 3) {
    return ModelError(
        fmt::format("a convolution needs 3 dimensions or more: input {}, weights {}", x.ToString(), w.ToString()));
  }
  return rank - 2;
}

Dim Channels(const Shape& x, const ConvLayout& layout) {
  return x.has_rank() ? x.dim(layout.channels_last ? -1 : 1) : Dim();
}

Status CheckChannels(const Shape& x, const Shape& w, int64_t group, const ConvLayout& layout) {
  if (group < 1) return ModelError(fmt::format("group must not be {}", group));
  if (!x.has_rank() || !w.has_rank()) return OkStatus();
  const Dim expected = layout.transposed ? w.dim(0) : w.dim(1) * Dim(group);
  const Dim channels = Channels(x, layout);
  if (expected.is_known() && channels.is_known()) {
    const int64_t gap = channels.value() - expected.value();
    if (gap < -layout.channel_slack || gap > layout.channel_slack) {
      return ModelError(fmt::format("input {} has {} channels, but weights {} with group {} need {}", x.ToString(),
                                    channels.value(), w.ToString(), group, expected.value()));
    }
  }
  const Dim divided = w.dim(0);  // Cout, or Cin of a transposed one
  if (divided.is_known() && divided.value() % group != 0) {
    return ModelError(fmt::format("{} channels of weights {} cannot be divided into {} groups", divided.value(),
                                  w.ToString(), group));
  }
  return OkStatus();
}

Status CheckBias(const InferenceContext& c, int bias, const Dim& out_channels) {
  if (bias < 0 || !c.has_input(bias)) return OkStatus();
  const Shape& shape = c.input(bias).shape;
  const Dim given = shape.has_rank() && shape.rank() == 1 ? shape.dim(0) : Dim();
  if (shape.has_rank() && shape.rank() > 1) {
    return ModelError(fmt::format("bias needs 1 dimension, has shape {}", shape.ToString()));
  }
  if (given.is_known() && out_channels.is_known() && given.value() != out_channels.value()) {
    return ModelError(fmt::format("bias {} does not fit {} output channels", shape.ToString(), out_channels.value()));
  }
  return OkStatus();
}

std::vector<int64_t> KernelOf(const Shape& w, int spatial) {
  std::vector<int64_t> kernel(static_cast<size_t>(spatial), 0);
  if (w.has_rank()) {
    for (int i = 0; i < spatial; ++i) kernel[static_cast<size_t>(i)] = w.dim(i + 2).known().value_or(0);
  }
  return kernel;
}

}  // namespace

Result<Shape> ConvOutputShape(const InferenceContext& c, const ConvLayout& layout) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, layout.w + 1));
  const Shape& x = c.input(layout.x).shape;
  const Shape& w = c.input(layout.w).shape;
  SIMPRED_ASSIGN_OR_RETURN(const int spatial, SpatialRank(x, w));
  if (spatial < 0) return Shape();
  const int64_t group = c.node().Int("group", 1);
  SIMPRED_RETURN_IF_ERROR(CheckChannels(x, w, group, layout));
  SIMPRED_ASSIGN_OR_RETURN(const Window window, ReadWindow(c.node(), spatial, KernelOf(w, spatial)));
  const Dim out_channels = !w.has_rank() ? Dim() : layout.transposed ? w.dim(1) * Dim(group) : w.dim(0);
  SIMPRED_RETURN_IF_ERROR(CheckBias(c, layout.bias, out_channels));
  std::vector<Dim> dims = {x.has_rank() ? x.dim(0) : Dim()};
  if (!layout.channels_last) dims.push_back(out_channels);
  for (int i = 0; i < spatial; ++i) {
    const Dim in = x.has_rank() ? x.dim(i + (layout.channels_last ? 1 : 2)) : Dim();
    Result<Dim> out = layout.transposed ? TransposedOutputSize(window, i, in) : OutputSize(window, i, in);
    if (!out.ok()) return out.status().With(fmt::format("spatial axis {} of input {}", i, x.ToString()));
    dims.push_back(*out);
  }
  if (layout.channels_last) dims.push_back(out_channels);
  return Shape(std::move(dims));
}

ShapeRule ConvShapeRule(ConvLayout layout, DataType dtype) {
  return [layout, dtype](InferenceContext& c) -> Status {
    SIMPRED_ASSIGN_OR_RETURN(Shape out, ConvOutputShape(c, layout));
    c.set_output(0, Tensor(dtype == DataType::kUndefined ? c.input(layout.x).dtype : dtype, std::move(out)));
    return OkStatus();
  };
}

Work ConvWork(const CostContext& c, const ConvLayout& layout, double per_output) {
  Work work = TrafficOf(c);
  const size_t w = static_cast<size_t>(layout.w);
  double flops = OutputElements(c) * per_output;
  if (w < c.inputs.size() && !c.inputs[w].dims.empty()) {
    const double per_filter =
        static_cast<double>(c.inputs[w].elements()) / static_cast<double>(std::max<int64_t>(1, c.inputs[w].dims[0]));
    const double places = layout.transposed ? InputElements(c, static_cast<size_t>(layout.x)) : OutputElements(c);
    flops += cost::kMultiplyAdd * places * per_filter;
  }
  const size_t bias = static_cast<size_t>(layout.bias);
  if (layout.bias >= 0 && bias < c.inputs.size() && c.inputs[bias].present) flops += cost::kAdd * OutputElements(c);
  work.flops = Flops(flops);
  return work;
}

CostRule ConvCostRule(ConvLayout layout, double per_output) {
  return [layout, per_output](const CostContext& c) { return ConvWork(c, layout, per_output); };
}

namespace {

// X, W, offset, B, mask. Offsets are [N, offset_group * points * axes, out...].
Work DeformConvWork(const CostContext& c) {
  Work work = ConvWork(c, {.bias = 3});
  if (c.inputs.size() < 2 || c.inputs[0].dims.size() < 3 || c.inputs[1].dims.size() < 3) return work;
  const double out_channels = static_cast<double>(std::max<int64_t>(1, c.inputs[1].dims[0]));
  double points = 1;
  for (size_t i = 2; i < c.inputs[1].dims.size(); ++i) points *= static_cast<double>(c.inputs[1].dims[i]);
  // Each input channel is sampled once at each point of each place: linear interpolation along every axis, and the
  // mask.
  const double samples = OutputElements(c) / out_channels * static_cast<double>(c.inputs[0].dims[1]) * points;
  const double axes = static_cast<double>(c.inputs[0].dims.size() - 2);
  const bool masked = c.inputs.size() > 4 && c.inputs[4].present;
  work.flops += Flops(samples * (cost::kLinearPerAxis * axes + (masked ? cost::kMultiply : 0)));
  return work;
}

// input [N, C, L], weights [C, 1, K], bias [C], past state [N, C, K-1] -> output as the input, state [N, C, K-1].
Status CausalConvShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape w, RequireRankAtLeast(c, 1, 3));
  SIMPRED_RETURN_IF_ERROR(CheckChannels(x, w, 1, {.transposed = true}));
  c.set_output(0, c.input(0));
  Shape state = x.has_rank() ? x : Shape();
  if (state.has_rank()) state.dims().back() = w.has_rank() ? w.dim(-1) - Dim(1) : Dim();
  c.set_output(1, Tensor(c.input(0).dtype, std::move(state)));
  return OkStatus();
}

Work CausalConvWork(const CostContext& c) {
  Work work = ConvWork(c, {});
  if (c.node != nullptr && c.node->String("activation", "none") != "none") {
    work.flops += Flops(OutputElements(c) * cost::kSwish);  // silu and swish are the ones that there are
  }
  return work;
}

}  // namespace

void RegisterConvolution(Registry& r) {
  const char* const source = "ONNX operator page Conv: one dot product of Cin/group * kernel per output element";
  const auto add = [&](const char* type, ShapeRule shape, CostRule cost, const char* from) {
    r.Add({.type = type,
           .op_class = OperatorClass::kConvolution,
           .shape = std::move(shape),
           .cost = std::move(cost),
           .source = from});
  };
  const ConvLayout plain;
  const ConvLayout transposed{.transposed = true};
  const ConvLayout quantized{.x = 0, .w = 3, .bias = 8};
  add("Conv", ConvShapeRule(plain), ConvCostRule(plain), source);
  add("ConvTranspose", ConvShapeRule(transposed), ConvCostRule(transposed),
      "ONNX operator page ConvTranspose: every input element meets Cout/group * kernel weights");
  add("ConvInteger", ConvShapeRule({.bias = -1}, DataType::kInt32), ConvCostRule({.bias = -1}), source);
  add(
      "QLinearConv",
      [quantized](InferenceContext& c) -> Status {
        SIMPRED_ASSIGN_OR_RETURN(Shape out, ConvOutputShape(c, quantized));
        const DataType type = c.has_input(7) ? c.input(7).dtype : c.input(0).dtype;  // that of y_zero_point
        c.set_output(0, Tensor(type, std::move(out)));
        return OkStatus();
      },
      ConvCostRule(quantized, cost::kQuantize), source);
  add("DeformConv", ConvShapeRule({.bias = 3}), DeformConvWork,
      "ONNX operator page DeformConv: Conv plus one linear interpolation per sampled input element");
  add("CausalConvWithState", CausalConvShape, CausalConvWork,
      "ONNX operator page CausalConvWithState: a depthwise convolution of kernel K");
}

}  // namespace simpred
