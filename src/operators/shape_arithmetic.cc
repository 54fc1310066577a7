// Which operators make, read or change shapes without touching the data? Shape, Reshape, Squeeze, Expand, Cast, Range
// ...
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

constexpr char kSpec[] = "ONNX operator specification: the shape of the output";
constexpr char kViewSource[] = "ONNX operator specification: the same elements in the same order; nothing moves";

// --- Shape, Size ---------------------------------------------------------------------------------------------------

// The dimensions that attributes start and end (opset 15) select.
std::pair<int, int> ShapeRange(const Node& node, int rank) {
  auto position = [rank](int64_t p) { return static_cast<int>(std::clamp<int64_t>(p < 0 ? p + rank : p, 0, rank)); };
  const int start = position(node.Int("start", 0));
  const int end = position(node.Int("end", rank));
  return {start, std::max(start, end)};
}

Status ShapeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& s = c.input(0).shape;
  Dim count;
  if (s.has_rank()) {
    const auto [start, end] = ShapeRange(c.node(), s.rank());
    count = Dim(end - start);
  }
  c.set_output(0, Tensor(DataType::kInt64, Shape{count}));
  return OkStatus();
}

void ShapeValue(InferenceContext& c) {
  const Shape& s = c.input(0).shape;
  if (!s.has_rank()) return;
  const auto [start, end] = ShapeRange(c.node(), s.rank());
  c.set_output_constant(0, IntVector(std::vector<Dim>(s.dims().begin() + start, s.dims().begin() + end)));
}

Status SizeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  c.set_output(0, Tensor(DataType::kInt64, Shape::Scalar()));
  return OkStatus();
}

void SizeValue(InferenceContext& c) {
  const Dim n = c.input(0).shape.ElementCount();
  if (!n.is_unknown()) c.set_output_constant(0, IntScalar(n));
}

// Reads no data, writes a handful of numbers.
Work MetadataCost(const CostContext& c) {
  Work w;
  for (const CostTensor& t : c.outputs) w.written += t.bytes();
  return w;
}

// --- Reshape -------------------------------------------------------------------------------------------------------

struct ReshapeTarget {
  std::vector<Dim> dims;
  std::vector<Dim> given;    // all but the one to be computed, copied ones left out
  std::vector<bool> copied;  // per input axis: its size stands in the target by a zero
  int wildcard = -1;         // -1, or the single element that is not known
  bool computable = true;    // false: two or more elements are not known
};

Result<ReshapeTarget> ReadTarget(const std::vector<Dim>& target, const Shape& in, bool allow_zero) {
  ReshapeTarget t;
  t.copied.assign(static_cast<size_t>(in.rank()), false);
  for (size_t i = 0; i < target.size(); ++i) {
    const Dim& d = target[i];
    const bool minus_one = d.is_known() && d.value() == -1;
    if (d.is_unknown() || minus_one) {
      if (t.wildcard >= 0 && minus_one && target[static_cast<size_t>(t.wildcard)].is_known()) {
        return ModelError("the target shape has more than one -1");
      }
      if (t.wildcard >= 0) t.computable = false;
      t.wildcard = static_cast<int>(i);
      t.dims.push_back(Dim::Unknown());
    } else if (d.is_known() && d.value() == 0 && !allow_zero) {
      if (in.has_rank() && static_cast<int>(i) >= in.rank()) {
        return ModelError(fmt::format("the target shape copies axis {} of input shape {}", i, in.ToString()));
      }
      t.dims.push_back(in.dim(static_cast<int>(i)));
      if (in.has_rank()) t.copied[i] = true;
      if (!in.has_rank()) t.computable = false;
    } else if (d.is_known() && d.value() < 0) {
      return ModelError(fmt::format("the target shape has dimension {}", d.value()));
    } else {
      t.dims.push_back(d);
      t.given.push_back(d);
    }
  }
  return t;
}

// What is left of the input's size for the wildcard. Equal factors cancel, even where nothing else is known of them.
Dim Remaining(const Shape& in, const ReshapeTarget& t) {
  std::vector<Dim> given = t.given;
  Dim numerator(1);
  for (int axis = 0; axis < in.rank(); ++axis) {
    if (t.copied[static_cast<size_t>(axis)]) continue;
    auto same = std::find(given.begin(), given.end(), in.dim(axis));
    if (same != given.end()) {
      given.erase(same);
    } else {
      numerator = numerator * in.dim(axis);
    }
  }
  Dim denominator(1);
  for (const Dim& d : given) denominator = denominator * d;
  return FloorDiv(numerator, denominator);
}

Result<Shape> Reshaped(const Shape& in, const std::vector<Dim>& target, bool allow_zero) {
  SIMPRED_ASSIGN_OR_RETURN(ReshapeTarget t, ReadTarget(target, in, allow_zero));
  const bool has_wildcard = t.wildcard >= 0;
  if (has_wildcard && t.computable && in.has_rank()) t.dims[static_cast<size_t>(t.wildcard)] = Remaining(in, t);
  Shape out(std::move(t.dims));
  const auto from = in.ElementCount().known();
  const auto to = out.ElementCount().known();
  if (in.has_rank() && from && to && *from != *to) {
    std::string shown;
    for (const Dim& d : target) shown += (shown.empty() ? "" : ", ") + d.ToString();
    return ModelError(fmt::format("cannot reshape {} ({} elements) to [{}]", in.ToString(), *from, shown));
  }
  return out;
}

Status ReshapeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  const bool allow_zero = c.node().Int("allowzero", 0) != 0;
  std::optional<std::vector<Dim>> target;
  if (auto attribute = c.node().Ints("shape")) {  // opset 1
    target.emplace(attribute->begin(), attribute->end());
  } else {
    target = DimsOf(c, 1);
  }
  if (target) {
    SIMPRED_ASSIGN_OR_RETURN(Shape out, Reshaped(in.shape, *target, allow_zero));
    c.set_output(0, Tensor(in.dtype, std::move(out)));
    return OkStatus();
  }
  // Not the target, but its length.
  Shape out;
  const Dim rank = c.has_input(1) ? c.input(1).shape.dim(0) : Dim::Unknown();
  constexpr int64_t kLargestRank = 64;
  if (rank.is_known() && rank.value() >= 0 && rank.value() <= kLargestRank) {
    out = Shape::OfRank(static_cast<int>(rank.value()));
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

// --- Squeeze, Unsqueeze, Flatten -----------------------------------------------------------------------------------

Status SqueezeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  const IntsArgument axes = AttributeOrInput(c, "axes", 1);
  Shape out;
  if (in.shape.has_rank() && axes.given && axes.ints) {
    SIMPRED_ASSIGN_OR_RETURN(std::vector<int> drop, ResolveAxes(*axes.ints, in.shape.rank()));
    std::vector<Dim> dims;
    for (int i = 0; i < in.shape.rank(); ++i) {
      const Dim d = in.shape.dim(i);
      if (!std::binary_search(drop.begin(), drop.end(), i)) {
        dims.push_back(d);
      } else if (d.is_known() && d.value() != 1) {
        return ModelError(fmt::format("cannot squeeze axis {} of {}", i, in.shape.ToString()));
      }
    }
    out = Shape(std::move(dims));
  } else if (in.shape.has_rank() && axes.given) {
    const Dim dropped = c.input(1).shape.ElementCount();
    if (dropped.is_known() && dropped.value() <= in.shape.rank()) {
      out = Shape::OfRank(in.shape.rank() - static_cast<int>(dropped.value()));
    }
  } else if (in.shape.is_static()) {
    std::vector<Dim> dims;
    for (const Dim& d : in.shape.dims()) {
      if (d.value() != 1) dims.push_back(d);
    }
    out = Shape(std::move(dims));
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

Status UnsqueezeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  const IntsArgument axes = AttributeOrInput(c, "axes", 1);
  if (!axes.given) return ModelError("axes are missing");
  Shape out;
  if (in.shape.has_rank() && axes.ints) {
    const int rank = in.shape.rank() + static_cast<int>(std::min<size_t>(axes.ints->size(), 64));
    SIMPRED_ASSIGN_OR_RETURN(std::vector<int> added, ResolveAxes(*axes.ints, rank));
    if (added.size() != axes.ints->size()) return ModelError("an axis is given twice");
    std::vector<Dim> dims;
    int next = 0;
    for (int i = 0; i < rank; ++i) {
      dims.push_back(std::binary_search(added.begin(), added.end(), i) ? Dim(1) : in.shape.dim(next++));
    }
    out = Shape(std::move(dims));
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

Status FlattenShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  Shape out = Shape::OfRank(2);
  if (in.shape.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", 1), std::max(in.shape.rank(), 1), true));
    axis = std::min(axis, in.shape.rank());
    out = Shape{Product(in.shape, 0, axis), Product(in.shape, axis, in.shape.rank())};
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

// --- Expand, ConstantOfShape, Range, EyeLike -----------------------------------------------------------------------

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

const TensorAttribute* TensorOf(const Node& node, std::string_view key) {
  const Attribute* a = node.Find(key);
  return a == nullptr ? nullptr : std::get_if<TensorAttribute>(&a->value);
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
  Work w = MetadataCost(c);
  w.flops = Flops(cost::kAdd * OutputElements(c));
  return w;
}

// --- Constant, Identity --------------------------------------------------------------------------------------------

std::optional<ConstantValue> ConstantAttribute(const Node& node) {
  ConstantValue v;
  if (auto i = node.Int("value_int")) {
    v.dtype = DataType::kInt64;
    v.ints = {Dim(*i)};
  } else if (auto ints = node.Ints("value_ints")) {
    v.dtype = DataType::kInt64;
    v.ints.assign(ints->begin(), ints->end());
    v.dims = {static_cast<int64_t>(ints->size())};
  } else if (auto f = node.Float("value_float")) {
    v.dtype = DataType::kFloat32;
    v.floats = {*f};
  } else if (auto floats = node.Floats("value_floats")) {
    v.dtype = DataType::kFloat32;
    v.dims = {static_cast<int64_t>(floats->size())};
    v.floats = std::move(*floats);
  } else if (const Attribute* a = node.Find("value_string"); a != nullptr) {
    if (!std::holds_alternative<std::string>(a->value)) return std::nullopt;
    v.dtype = DataType::kString;
    v.strings = {std::get<std::string>(a->value)};
  } else if (const Attribute* list = node.Find("value_strings"); list != nullptr) {
    const auto* strings = std::get_if<std::vector<std::string>>(&list->value);
    if (strings == nullptr) return std::nullopt;
    v.dtype = DataType::kString;
    v.strings = *strings;
    v.dims = {static_cast<int64_t>(strings->size())};
  } else {
    return std::nullopt;
  }
  return v;
}

Status ConstantShape(InferenceContext& c) {
  const TensorAttribute* tensor = TensorOf(c.node(), "value");
  if (tensor == nullptr) tensor = TensorOf(c.node(), "sparse_value");
  if (tensor != nullptr) {
    c.set_output(0, Tensor(tensor->dtype, Shape(std::vector<Dim>(tensor->dims.begin(), tensor->dims.end()))));
  } else if (auto v = ConstantAttribute(c.node())) {
    c.set_output(0, Tensor(v->dtype, Shape(std::vector<Dim>(v->dims.begin(), v->dims.end()))));
  }
  return OkStatus();
}

void ConstantNodeValue(InferenceContext& c) {
  if (const TensorAttribute* tensor = TensorOf(c.node(), "value")) {
    if (tensor->constant) c.set_output_constant(0, *tensor->constant);
  } else if (auto v = ConstantAttribute(c.node())) {
    c.set_output_constant(0, std::move(*v));
  }
}

// --- Cast ----------------------------------------------------------------------------------------------------------

DataType CastTarget(const InferenceContext& c) {
  if (auto to = c.node().Int("to")) return FromOnnxType(*to);
  // Before opset 6 the type is a name: "FLOAT", "INT64".
  std::string name = c.node().String("to", "");
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char ch) { return std::tolower(ch); });
  if (name == "float") return DataType::kFloat32;
  if (name == "double") return DataType::kFloat64;
  return DataTypeFromName(name).value_or(DataType::kUndefined);
}

Status CastShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  c.set_output(0, Tensor(CastTarget(c), c.input(0).shape));
  return OkStatus();
}

Status CastLikeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  c.set_output(0, Tensor(c.input(1).dtype, c.input(0).shape));
  return OkStatus();
}

std::optional<ConstantValue> CastConstant(const ConstantValue& v, DataType to) {
  ConstantValue r;
  r.dtype = to;
  r.dims = v.dims;
  const bool to_bool = to == DataType::kBool;
  if (!IsFloat(to) && !IsInteger(to) && !to_bool) return std::nullopt;
  for (const Dim& d : v.ints) {
    if (IsFloat(to)) {
      if (!d.is_known()) return std::nullopt;
      r.floats.push_back(static_cast<double>(d.value()));
    } else if (to_bool) {
      r.ints.push_back(d.is_known() ? Dim(d.value() != 0 ? 1 : 0) : Dim::Unknown());
    } else {
      r.ints.push_back(d);
    }
  }
  for (double f : v.floats) {
    if (IsFloat(to)) {
      r.floats.push_back(f);
    } else if (to_bool) {
      r.ints.emplace_back(f != 0 ? 1 : 0);
    } else {
      r.ints.push_back(std::abs(f) < 9e18 ? Dim(static_cast<int64_t>(f)) : Dim::Unknown());
    }
  }
  return r;
}

ValueRule CastValue(bool like) {
  return [like](InferenceContext& c) {
    auto v = c.has_input(0) ? c.constant(0) : nullptr;
    if (!v || v->dtype == DataType::kString) return;
    if (auto r = CastConstant(*v, like ? c.input(1).dtype : CastTarget(c))) c.set_output_constant(0, std::move(*r));
  };
}

bool IsSmallFloat(DataType t) { return IsFloat(t) && BitWidth(t) < 32; }

Work CastCost(const CostContext& c) {
  Work w;
  if (c.inputs.empty() || c.outputs.empty()) return w;
  (c.inputs[0].constant ? w.weights : w.read) += c.inputs[0].bytes();  // CastLike does not read its second input
  w.written += c.outputs[0].bytes();
  const bool small = IsSmallFloat(c.inputs[0].dtype) || IsSmallFloat(c.outputs[0].dtype);
  w.flops = Flops((small ? cost::kCastSmallFloat : cost::kCast) * OutputElements(c));
  return w;
}

}  // namespace

void RegisterShapeArithmetic(Registry& r) {
  using enum OperatorClass;
  auto view = [&r](const char* type, ShapeRule shape) {
    r.Add({.type = type,
           .op_class = kView,
           .shape = std::move(shape),
           .value = SameValue(),
           .cost = ViewCost(),
           .source = kViewSource});
  };
  view("Reshape", ReshapeShape);
  view("Squeeze", SqueezeShape);
  view("Unsqueeze", UnsqueezeShape);
  view("Flatten", FlattenShape);
  view("Identity", SameAsInput());
  r.Add({.type = "Shape",
         .op_class = kView,
         .shape = ShapeShape,
         .value = ShapeValue,
         .cost = MetadataCost,
         .source = kSpec});
  r.Add({.type = "Size",
         .op_class = kView,
         .shape = SizeShape,
         .value = SizeValue,
         .cost = MetadataCost,
         .source = kSpec});
  r.Add({.type = "Constant",
         .op_class = kView,
         .shape = ConstantShape,
         .value = ConstantNodeValue,
         .cost = ViewCost(),
         .source = kViewSource});
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
  const std::string cast_source = "ONNX Cast: one conversion an element";
  r.Add({.type = "Cast",
         .op_class = kElementwise,
         .shape = CastShape,
         .value = CastValue(false),
         .cost = CastCost,
         .source = cast_source});
  r.Add({.type = "CastLike",
         .op_class = kElementwise,
         .shape = CastLikeShape,
         .value = CastValue(true),
         .cost = CastCost,
         .source = cast_source});
  r.Add({.type = "BitCast",
         .op_class = kView,
         .shape = CastShape,
         .cost = ViewCost(),
         .source = "ONNX BitCast: the same bits under a type of the same width"});
}

}  // namespace simpred
