// Which operators make a tensor of a shape that is given as a value? Expand, ConstantOfShape, Range, EyeLike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// A shape whose dimensions are the elements of input i; its rank alone if they are not known.
Result<Shape> ShapeFromInput(InferenceContext& c, int i) {
  if (auto dims = DimsOf(c, i)) {
    for (const Dim& d : *dims) {
      if (d.is_known() && d.value() < 0)
        return ModelError(fmt::format("input #{} asks for dimension {}", i, d.value()));
    }
    return Shape(std::move(*dims));
  }
  const Dim rank = c.has_input(i) ? c.input(i).shape.dim(0) : Dim::Unknown();
  constexpr int64_t kLargestRank = 64;
  if (rank.is_known() && rank.value() >= 0 && rank.value() <= kLargestRank) {
    return Shape::OfRank(static_cast<int>(rank.value()));
  }
  return Shape();
}

Status ExpandShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const TensorType& in = c.input(0);
  // Exporters write -1 for "as it is".
  Shape target;
  if (auto dims = DimsOf(c, 1)) {
    for (Dim& d : *dims) {
      if (d.is_known() && d.value() == -1) d = Dim(1);
    }
    target = Shape(std::move(*dims));
  } else {
    SIMPRED_ASSIGN_OR_RETURN(target, ShapeFromInput(c, 1));
  }
  if (!in.shape.has_rank() || !target.has_rank()) {
    c.set_output(0, Tensor(in.dtype));
    return OkStatus();
  }
  auto out = Broadcast(in.shape, target);
  if (!out) return ModelError(fmt::format("cannot expand {} to {}", in.shape.ToString(), target.ToString()));
  c.set_output(0, Tensor(in.dtype, std::move(*out)));
  return OkStatus();
}

void ExpandValue(InferenceContext& c) {
  auto v = c.has_input(0) ? c.constant(0) : nullptr;
  auto dims = DimsOf(c, 1);
  if (!v || !dims || v->size() != 1) return;  // a filled tensor; others are no shape arithmetic
  std::vector<int64_t> out;
  for (const Dim& d : *dims) {
    if (!d.is_known()) return;
    out.push_back(d.value() == -1 ? 1 : d.value());
  }
  while (out.size() < v->dims.size()) out.insert(out.begin(), 1);
  if (auto n = SmallElementCount(out)) {
    c.set_output_constant(0, TakeElements(*v, std::vector<size_t>(*n, 0), std::move(out)));
  }
}

Status ConstantOfShapeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorAttribute* fill = TensorOf(c.node(), "value");
  SIMPRED_ASSIGN_OR_RETURN(Shape out, ShapeFromInput(c, 0));
  c.set_output(0, Tensor(fill == nullptr ? DataType::kFloat32 : fill->dtype, std::move(out)));
  return OkStatus();
}

void ConstantOfShapeValue(InferenceContext& c) {
  auto dims = IntsOf(c, 0);
  auto n = dims ? SmallElementCount(*dims) : std::nullopt;
  if (!n) return;
  const TensorAttribute* fill = TensorOf(c.node(), "value");
  ConstantValue one;
  one.dtype = DataType::kFloat32;
  one.floats = {0.0};
  if (fill != nullptr) {
    if (!fill->constant || fill->constant->size() != 1) return;
    one = *fill->constant;
  }
  c.set_output_constant(0, TakeElements(one, std::vector<size_t>(*n, 0), std::move(*dims)));
}

Dim RangeCount(const Dim& start, const Dim& limit, const Dim& delta) {
  if (!delta.is_known() || delta.value() == 0) return Dim::Unknown();
  const bool down = delta.value() < 0;
  const Dim span = down ? start - limit : limit - start;
  const Dim count = CeilDiv(span, down ? Dim(0) - delta : delta);
  // A symbolic span is the size of something; only numbers can be seen to be negative.
  return count.is_known() ? Max(count, Dim(0)) : count;
}

Dim RangeCount(InferenceContext& c) {
  if (IsInteger(c.input(0).dtype)) {
    auto start = DimOf(c, 0);
    auto limit = DimOf(c, 1);
    auto delta = DimOf(c, 2);
    return start && limit && delta ? RangeCount(*start, *limit, *delta) : Dim::Unknown();
  }
  auto start = FloatsOf(c, 0);
  auto limit = FloatsOf(c, 1);
  auto delta = FloatsOf(c, 2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return {};
  const double count = std::ceil((limit->front() - start->front()) / delta->front());
  if (!(std::abs(count) < 9e15)) return {};
  return Dim(std::max<int64_t>(0, static_cast<int64_t>(count)));
}

Status RangeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  c.set_output(0, Tensor(c.input(0).dtype, Shape{RangeCount(c)}));
  return OkStatus();
}

void RangeValue(InferenceContext& c) {
  if (!IsInteger(c.input(0).dtype)) return;
  const Dim count = RangeCount(c);
  if (!count.is_known() || count.value() > ConstantValue::kMaxElements) return;
  const auto start = DimOf(c, 0);
  const auto delta = DimOf(c, 2);
  if (!start || !delta) return;
  ConstantValue v;
  v.dtype = c.input(0).dtype;
  v.dims = {count.value()};
  for (int64_t i = 0; i < count.value(); ++i) v.ints.push_back(*start + Dim(i) * *delta);
  c.set_output_constant(0, std::move(v));
}

Status EyeLikeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape s, RequireRank(c, 0, 2));
  const auto dtype = c.node().Int("dtype");
  c.set_output(0, Tensor(dtype ? FromOnnxType(*dtype) : c.input(0).dtype, std::move(s)));
  return OkStatus();
}

// Only the output is written.
Work FillCost(const CostContext& c) {
  Work w;
  w.written = TrafficOf(c).written;
  w.flops = Flops(cost::kAdd * OutputElements(c));
  return w;
}

}  // namespace

void RegisterFills(Registry& r) {
  using enum OperatorClass;
  r.Add({.type = "Expand",
         .op_class = kDataMovement,
         .shape = ExpandShape,
         .value = ExpandValue,
         .source = "ONNX Expand: the input read once, each output element written once"});
  r.Add({.type = "ConstantOfShape",
         .op_class = kDataMovement,
         .shape = ConstantOfShapeShape,
         .value = ConstantOfShapeValue,
         .cost = FillCost,
         .source = "ONNX ConstantOfShape: each output element written once"});
  r.Add({.type = "Range",
         .op_class = kDataMovement,
         .shape = RangeShape,
         .value = RangeValue,
         .cost = FillCost,
         .source = "ONNX Range: max(ceil((limit - start) / delta), 0) elements, one addition each"});
  r.Add({.type = "EyeLike",
         .op_class = kDataMovement,
         .shape = EyeLikeShape,
         .cost = FillCost,
         .source = "ONNX EyeLike: each output element written once, the input's data unread"});
}

}  // namespace simpred
