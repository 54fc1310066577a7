#include "operators/normalization.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

// Input `i` is a vector of one number per channel of the data tensor.
Status CheckPerChannel(const InferenceContext& c, int i, const Dim& channels, std::string_view what) {
  if (!c.has_input(i)) return OkStatus();
  const Shape& s = c.input(i).shape;
  if (!s.has_rank()) return OkStatus();
  if (s.rank() != 1) return ModelError(fmt::format("{} needs 1 dimension, has shape {}", what, s.ToString()));
  if (s.dim(0).is_known() && channels.is_known() && s.dim(0).value() != channels.value()) {
    return ModelError(fmt::format("{} {} does not fit {} channels of input {}", what, s.ToString(), channels.value(),
                                  c.input(0).shape.ToString()));
  }
  return OkStatus();
}

Dim ChannelsOf(const Shape& x) {
  if (!x.has_rank()) return {};
  return x.rank() < 2 ? Dim(1) : x.dim(1);
}

// X, scale, B, mean, var -> Y, and running or saved statistics.
Status BatchNormShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 5));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 1));
  const Dim channels = ChannelsOf(x);
  const char* const names[] = {"scale", "bias", "mean", "variance"};
  for (int i = 1; i < 5; ++i) {
    // Operator set 1 to 8 could normalise each element (spatial = 0).
    if (c.node().Int("spatial", 1) == 0) break;
    SIMPRED_RETURN_IF_ERROR(CheckPerChannel(c, i, channels, names[i - 1]));
  }
  c.set_output(0, c.input(0));
  for (int i = 1; i < c.output_count(); ++i) c.set_output(i, Tensor(c.input(3).dtype, Shape({channels})));
  return OkStatus();
}

Status InstanceNormShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 3));
  SIMPRED_RETURN_IF_ERROR(CheckPerChannel(c, 1, ChannelsOf(x), "scale"));
  SIMPRED_RETURN_IF_ERROR(CheckPerChannel(c, 2, ChannelsOf(x), "bias"));
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status GroupNormShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 3));
  const int64_t groups = c.node().Int("num_groups", 0);
  if (groups < 1) return ModelError(fmt::format("num_groups must not be {}", groups));
  const Dim channels = ChannelsOf(x);
  if (channels.is_known() && channels.value() % groups != 0) {
    return ModelError(fmt::format("{} channels of input {} cannot be divided into {} groups", channels.value(),
                                  x.ToString(), groups));
  }
  c.set_output(0, c.input(0));
  return OkStatus();
}

// Softmax and its kin: an axis, the input's shape.
Status AxisShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  // Before operator set 13 the default was 1, on a tensor flattened there; a vector then means its only axis.
  const int64_t fallback = c.opset() != 0 && c.opset() < 13 && !c.node().Is("LpNormalization") ? 1 : -1;
  const int64_t axis = c.node().Int("axis", fallback);
  if (x.has_rank() && x.rank() > 0) SIMPRED_RETURN_IF_ERROR(ResolveAxis(axis, x.rank(), true).status());
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status LrnShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_RETURN_IF_ERROR(RequireRankAtLeast(c, 0, 3).status());
  const int64_t size = c.node().Int("size", 0);
  if (size < 1) return ModelError(fmt::format("size must not be {}", size));
  c.set_output(0, c.input(0));
  return OkStatus();
}

// A running sum of squares over the channels, and a power (beta is 0.75 in practice) and a division per element.
Work LrnWork(const CostContext& c) {
  Work work = TrafficOf(c);
  work.flops =
      Flops(OutputElements(c) * (cost::kMultiplyAdd + cost::kAdd + cost::kMultiplyAdd + cost::kPow + cost::kDivide));
  return work;
}

Status MeanVarianceShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  const std::vector<int64_t> axes = c.node().Ints("axes").value_or(std::vector<int64_t>{0, 2, 3});
  if (x.has_rank()) SIMPRED_RETURN_IF_ERROR(ResolveAxes(axes, x.rank()).status());
  c.set_output(0, c.input(0));
  return OkStatus();
}

// The scale covers the normalised axes, and broadcasts to them.
Status CheckScale(const InferenceContext& c, int i, const Shape& x, int axis) {
  if (!c.has_input(i) || !c.input(i).shape.has_rank()) return OkStatus();
  const Shape& scale = c.input(i).shape;
  const Shape normalised(std::vector<Dim>(x.dims().begin() + axis, x.dims().end()));
  const std::optional<Shape> both = Broadcast(x, scale);
  if (!both || both->rank() != x.rank()) {
    return ModelError(fmt::format("scale or bias {} does not fit the normalised axes {} of input {}", scale.ToString(),
                                  normalised.ToString(), x.ToString()));
  }
  return OkStatus();
}

}  // namespace

ShapeRule LayerNormShapeRule() {
  return [](InferenceContext& c) -> Status {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
    const Shape& x = c.input(0).shape;
    const DataType stash = FromOnnxType(c.node().Int("stash_type", 1));
    Shape statistics;
    if (x.has_rank()) {
      SIMPRED_ASSIGN_OR_RETURN(const int axis, ResolveAxis(c.node().Int("axis", -1), x.rank()));
      SIMPRED_RETURN_IF_ERROR(CheckScale(c, 1, x, axis));
      SIMPRED_RETURN_IF_ERROR(CheckScale(c, 2, x, axis));
      statistics = x;
      for (int i = axis; i < x.rank(); ++i) statistics.dims()[static_cast<size_t>(i)] = Dim(1);
    }
    for (int i = 1; i < c.output_count(); ++i) {
      c.set_output(i, Tensor(stash == DataType::kUndefined ? DataType::kFloat32 : stash, statistics));
    }
    c.set_output(0, c.input(0));
    return OkStatus();
  };
}

CostRule PerInputElement(double per_element) {
  return [per_element](const CostContext& c) {
    Work work = TrafficOf(c);
    work.flops = Flops(InputElements(c) * per_element);
    return work;
  };
}

void RegisterNormalization(Registry& r) {
  const auto add = [&](const char* type, ShapeRule shape, CostRule cost, const char* source) {
    r.Add({.type = type,
           .op_class = OperatorClass::kNormalization,
           .shape = std::move(shape),
           .cost = std::move(cost),
           .source = source});
  };
  const char* const formula = "the defining formula on the ONNX operator page, operations per element";
  add("BatchNormalization", BatchNormShape, PerInputElement(cost::kMultiplyAdd),
      "inference: one multiply-add per element, scale and shift folded per channel");
  add("InstanceNormalization", InstanceNormShape, PerInputElement(kLayerNormOperations), formula);
  add("LayerNormalization", LayerNormShapeRule(), PerInputElement(kLayerNormOperations), formula);
  add("GroupNormalization", GroupNormShape, PerInputElement(kLayerNormOperations), formula);
  add("RMSNormalization", LayerNormShapeRule(), PerInputElement(kRmsNormOperations), formula);
  // ONNX Runtime keeps this one in the ai.onnx domain.
  add("SimplifiedLayerNormalization", LayerNormShapeRule(), PerInputElement(kRmsNormOperations), formula);
  add("LRN", LrnShape, LrnWork, formula);
  add("MeanVarianceNormalization", MeanVarianceShape, PerInputElement(kLayerNormOperations - 2), formula);
  add("LpNormalization", AxisShape, PerInputElement(cost::kMultiplyAdd + cost::kMultiply), formula);
  add("Softmax", AxisShape, PerInputElement(kSoftmaxOperations), formula);
  // Maximum, exponential sum, and one subtraction of maximum and logarithm.
  add("LogSoftmax", AxisShape, PerInputElement(kSoftmaxOperations), formula);
  add("Hardmax", AxisShape, PerInputElement(2 * cost::kAdd), formula);
}

}  // namespace simpred
