// com.microsoft: operators on quantised tensors. Data stand between scales and zero points; each element is
// dequantised, worked on, and quantised again.
#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "operators/activations.h"
#include "operators/cost_constants.h"
#include "operators/microsoft.h"
#include "operators/normalization.h"
#include "operators/pooling.h"
#include "operators/recurrent.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

constexpr double kRequantize = cost::kDequantize + cost::kQuantize;

// A, A_scale, A_zero_point, B, B_scale, B_zero_point, ...
Status QuantizedBinaryShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  if (!c.has_input(3)) return ModelError("input B is missing");
  const std::optional<Shape> out = Broadcast(c.input(0).shape, c.input(3).shape);
  if (!out) {
    return ModelError(
        fmt::format("{} and {} do not broadcast", c.input(0).shape.ToString(), c.input(3).shape.ToString()));
  }
  c.set_output(0, Tensor(c.input(0).dtype, *out));
  return OkStatus();
}

// condition, X, x_scale, x_zero_point, Y, ...
Status QuantizedWhereShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 5));
  SIMPRED_ASSIGN_OR_RETURN(const Shape branches, BroadcastOf(c, 0, 2));
  const std::optional<Shape> out = Broadcast(branches, c.input(4).shape);
  if (!out) {
    return ModelError(fmt::format("{} and {} do not broadcast", branches.ToString(), c.input(4).shape.ToString()));
  }
  c.set_output(0, Tensor(c.input(1).dtype, *out));
  return OkStatus();
}

Status QuantizedPoolShape(InferenceContext& c) {
  return PoolShapeRule({.channels_last = c.node().Int("channels_last", 0) != 0})(c);
}

Status QuantizedGlobalPoolShape(InferenceContext& c) {
  return GlobalPoolShapeRule({.channels_last = c.node().Int("channels_last", 0) != 0})(c);
}

// Y_scale, Y_zero_point, then data, scale and zero point of each input.
Status QuantizedConcatShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  Shape out;
  int axis = 0;
  for (int i = 2; i < c.input_count(); i += 3) {
    const Shape& s = c.input(i).shape;
    if (!s.has_rank()) {
      c.set_output(0, Tensor(c.input(2).dtype));
      return OkStatus();
    }
    if (!out.has_rank()) {
      out = s;
      SIMPRED_ASSIGN_OR_RETURN(axis, ResolveAxis(c.node().Int("axis", 0), s.rank()));
      continue;
    }
    if (s.rank() != out.rank()) {
      return ModelError(fmt::format("{} and {} have different ranks", out.ToString(), s.ToString()));
    }
    const size_t at = static_cast<size_t>(axis);
    const Dim joined = out.dims()[at] + s.dims()[at];
    Shape aligned = s;
    aligned.dims()[at] = out.dims()[at];
    const std::optional<Shape> both = Merge(out, aligned);
    if (!both) {
      return ModelError(fmt::format("{} and {} cannot be joined along axis {}", out.ToString(), s.ToString(), axis));
    }
    out = *both;
    out.dims()[at] = joined;
  }
  c.set_output(0, Tensor(c.input(2).dtype, std::move(out)));
  return OkStatus();
}

// Attributes axes and keepdims, as ReduceSum before operator set 13.
Result<Shape> ReducedShape(const InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  if (!x.has_rank()) return Shape();
  std::vector<int64_t> axes = c.node().Ints("axes").value_or(std::vector<int64_t>{});
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(x.rank()));
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<int> folded, ResolveAxes(axes, x.rank()));
  const bool keep = c.node().Int("keepdims", 1) != 0;
  std::vector<Dim> dims;
  size_t next = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const bool fold = next < folded.size() && folded[next] == i;
    if (fold) ++next;
    if (!fold) dims.push_back(x.dim(i));
    if (fold && keep) dims.emplace_back(1);
  }
  return Shape(std::move(dims));
}

ShapeRule ReducedShapeRule(DataType type) {
  return [type](InferenceContext& c) -> Status {
    SIMPRED_ASSIGN_OR_RETURN(Shape out, ReducedShape(c));
    c.set_output(0, Tensor(type == DataType::kUndefined ? c.input(0).dtype : type, std::move(out)));
    return OkStatus();
  };
}

// A, A_zero_point, B, B_zero_point -> int32; without zero points B is still the third input.
Status MulIntegerShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  if (!c.has_input(2)) return ModelError("input B is missing");
  const std::optional<Shape> out = Broadcast(c.input(0).shape, c.input(2).shape);
  if (!out) {
    return ModelError(
        fmt::format("{} and {} do not broadcast", c.input(0).shape.ToString(), c.input(2).shape.ToString()));
  }
  c.set_output(0, Tensor(DataType::kInt32, *out));
  return OkStatus();
}

void AddElementwise(Registry& r) {
  MicrosoftFamily f(r, OperatorClass::kElementwise, "dequantise, the ONNX operator, quantise, per output element");
  f.Add("QLinearAdd", QuantizedBinaryShape, PerElement(kRequantize + cost::kDequantize + cost::kAdd));
  f.Add("QLinearMul", QuantizedBinaryShape, PerElement(kRequantize + cost::kDequantize + cost::kMultiply));
  f.Add("QLinearWhere", QuantizedWhereShape, PerElement(kRequantize + cost::kAdd));
  // ONNX Runtime looks these up in a table of 256 results.
  f.Add("QLinearSigmoid", SameAsInput(), PerElement(cost::kIndexElement));
  f.Add("QLinearLeakyRelu", SameAsInput(), PerElement(cost::kIndexElement));
  f.Add("QOrderedGelu", SameAsInput(), PerElement(kRequantize + cost::kGelu));
  f.Add("MulInteger", MulIntegerShape, PerElement(2 * cost::kAdd + cost::kMultiply));
}

void AddPooling(Registry& r) {
  MicrosoftFamily f(r, OperatorClass::kPooling, "as the ONNX operator, quantised per output element");
  f.Add("QLinearAveragePool", QuantizedPoolShape, PoolCostRule(cost::kAdd, kRequantize));
  f.Add("QLinearGlobalAveragePool", QuantizedGlobalPoolShape, GlobalPoolCostRule(cost::kAdd, kRequantize));
  f.Add("NhwcMaxPool", PoolShapeRule({.channels_last = true}), PoolCostRule(cost::kAdd, 0));
  f.Add("MaxpoolWithMask", PoolShapeRule(), PoolCostRule(2 * cost::kAdd, 0));
}

}  // namespace

void RegisterMicrosoftQuantized(Registry& r) {
  AddElementwise(r);
  AddPooling(r);
  MicrosoftFamily norms(r, OperatorClass::kNormalization, "dequantise, the ONNX norm, quantise, per element");
  norms.Add("QLinearSoftmax", SameAsInput(), PerInputElement(kSoftmaxOperations + kRequantize));
  norms.Add("QOrderedLayerNormalization", SameAsInput(), PerInputElement(kLayerNormOperations + kRequantize));
  MicrosoftFamily reductions(r, OperatorClass::kReduction, "one addition per input element");
  reductions.Add("QLinearReduceMean", ReducedShapeRule(DataType::kUndefined), PerInputElement(cost::kAdd));
  reductions.Add("ReduceSumInteger", ReducedShapeRule(DataType::kInt32), PerInputElement(cost::kAdd));
  MicrosoftFamily movement(r, OperatorClass::kDataMovement, "every element is read once, rescaled and written once");
  movement.Add("QLinearConcat", QuantizedConcatShape, PerElement(kRequantize));
  MicrosoftFamily recurrent(r, OperatorClass::kRecurrent, "as ONNX LSTM; weights [D, I, 4H], the input quantised");
  RecurrentForm lstm = LstmForm();
  recurrent.Add("AttnLSTM", RecurrentShapeRule(lstm), RecurrentCostRule(lstm));
  lstm.weights_transposed = true;
  recurrent.Add("DynamicQuantizeLSTM", RecurrentShapeRule(lstm), RecurrentCostRule(lstm));
}

}  // namespace simpred
