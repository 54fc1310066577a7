// Which operators make and read the small values that shapes are computed from? Shape, Size, Constant, Cast.
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
constexpr char kConstantSource[] = "ONNX Constant: its tensor lies in the file; nothing moves";

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

// --- Constant -----------------------------------------------------------------------------------------------------

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
         .source = kConstantSource});
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
