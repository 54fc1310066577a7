#include "operators/rules_common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/value_rules.h"

namespace simpred {

// --- Types ---------------------------------------------------------------------------------------------------------

TensorType Tensor(DataType t, Shape shape) {
  return TensorType{.kind = ValueKind::kTensor, .dtype = t, .shape = std::move(shape)};
}

DataType FromOnnxType(int64_t onnx_number) {
  // The numbers of TensorProto.DataType in onnx.proto.
  static constexpr DataType kTypes[] = {
      DataType::kUndefined,      DataType::kFloat32,      DataType::kUInt8,          DataType::kInt8,
      DataType::kUInt16,         DataType::kInt16,        DataType::kInt32,          DataType::kInt64,
      DataType::kString,         DataType::kBool,         DataType::kFloat16,        DataType::kFloat64,
      DataType::kUInt32,         DataType::kUInt64,       DataType::kComplex64,      DataType::kComplex128,
      DataType::kBFloat16,       DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2,
      DataType::kFloat8E5M2FNUZ, DataType::kUInt4,        DataType::kInt4,           DataType::kFloat4E2M1,
      DataType::kFloat8E8M0,     DataType::kUInt2,        DataType::kInt2,
  };
  if (onnx_number < 0 || onnx_number >= static_cast<int64_t>(std::size(kTypes))) return DataType::kUndefined;
  return kTypes[onnx_number];
}

// --- Inputs --------------------------------------------------------------------------------------------------------

Status RequireInputs(const InferenceContext& c, int n) {
  for (int i = 0; i < n; ++i) {
    if (!c.has_input(i)) {
      return ModelError(fmt::format("input #{} is missing: the operator needs {} input{}", i, n, n == 1 ? "" : "s"));
    }
  }
  return OkStatus();
}

Result<Shape> RequireRank(const InferenceContext& c, int i, int rank) {
  const Shape& s = c.input(i).shape;
  if (!s.has_rank()) return Shape::OfRank(rank);
  if (s.rank() != rank) {
    return ModelError(fmt::format("input #{} must have {} dimensions, has shape {}", i, rank, s.ToString()));
  }
  return s;
}

Result<Shape> RequireRankAtLeast(const InferenceContext& c, int i, int rank) {
  const Shape& s = c.input(i).shape;
  if (s.has_rank() && s.rank() < rank) {
    return ModelError(fmt::format("input #{} must have at least {} dimensions, has shape {}", i, rank, s.ToString()));
  }
  return s;
}

std::optional<std::vector<Dim>> DimsOf(InferenceContext& c, int i) {
  if (!c.has_input(i)) return std::nullopt;
  auto v = c.constant(i);
  if (!v) return std::nullopt;
  if (!v->is_float()) return v->ints;
  std::vector<Dim> dims;
  dims.reserve(v->floats.size());
  for (double f : v->floats) {
    dims.push_back(std::abs(f) < 9e18 ? Dim(static_cast<int64_t>(f)) : Dim::Unknown());
  }
  return dims;
}

std::optional<std::vector<int64_t>> IntsOf(InferenceContext& c, int i) {
  auto dims = DimsOf(c, i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> ints;
  ints.reserve(dims->size());
  for (const Dim& d : *dims) {
    if (!d.is_known()) return std::nullopt;
    ints.push_back(d.value());
  }
  return ints;
}

std::optional<Dim> DimOf(InferenceContext& c, int i) {
  auto dims = DimsOf(c, i);
  if (!dims || dims->size() != 1) return std::nullopt;
  return dims->front();
}

std::optional<int64_t> IntOf(InferenceContext& c, int i) {
  auto d = DimOf(c, i);
  return d ? d->known() : std::nullopt;
}

std::optional<std::vector<double>> FloatsOf(InferenceContext& c, int i) {
  if (!c.has_input(i)) return std::nullopt;
  auto v = c.constant(i);
  if (!v) return std::nullopt;
  if (v->is_float()) return v->floats;
  std::vector<double> floats;
  floats.reserve(v->ints.size());
  for (const Dim& d : v->ints) {
    if (!d.is_known()) return std::nullopt;
    floats.push_back(static_cast<double>(d.value()));
  }
  return floats;
}

const TensorAttribute* TensorOf(const Node& node, std::string_view key) {
  const Attribute* a = node.Find(key);
  return a == nullptr ? nullptr : std::get_if<TensorAttribute>(&a->value);
}

IntsArgument AttributeOrInput(InferenceContext& c, std::string_view attribute, int input) {
  if (auto ints = c.node().Ints(attribute)) return {.given = true, .ints = std::move(ints)};
  if (auto i = c.node().Int(attribute)) return {.given = true, .ints = std::vector<int64_t>{*i}};
  if (!c.has_input(input)) return {};
  return {.given = true, .ints = IntsOf(c, input)};
}

IntsArgument AttributeOrInput(const CostContext& c, std::string_view attribute, int input) {
  if (c.node != nullptr) {
    if (auto ints = c.node->Ints(attribute)) return {.given = true, .ints = std::move(ints)};
    if (auto i = c.node->Int(attribute)) return {.given = true, .ints = std::vector<int64_t>{*i}};
  }
  if (static_cast<size_t>(input) >= c.inputs.size() || !c.inputs[static_cast<size_t>(input)].present) return {};
  IntsArgument argument{.given = true, .ints = std::nullopt};
  auto v = c.constant ? c.constant(input) : nullptr;
  if (!v || v->is_float()) return argument;
  std::vector<int64_t> ints;
  for (const Dim& d : v->ints) {
    if (!d.is_known()) return argument;
    ints.push_back(d.value());
  }
  argument.ints = std::move(ints);
  return argument;
}

// --- Axes ----------------------------------------------------------------------------------------------------------

Result<int> ResolveAxis(int64_t axis, int rank, bool inclusive) {
  const int64_t r = rank;
  const int64_t upper = inclusive ? r : r - 1;
  // A scalar is treated as one dimension by several exporters: axis 0 and -1 of rank 0 pass where inclusive.
  if (axis < -r || axis > upper) {
    return ModelError(fmt::format("axis {} is out of range for {} dimension{}", axis, rank, rank == 1 ? "" : "s"));
  }
  return static_cast<int>(axis < 0 ? axis + r : axis);
}

Result<std::vector<int>> ResolveAxes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> out;
  out.reserve(axes.size());
  for (int64_t a : axes) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(a, rank));
    out.push_back(axis);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Dim Product(const Shape& s, int from, int to) {
  if (!s.has_rank()) return Dim::Unknown();
  Dim p(1);
  for (int i = from; i < to; ++i) p = p * s.dim(i);
  return p;
}

// --- Ready-made shape rules ----------------------------------------------------------------------------------------

ShapeRule SameAsInput(int i) {
  return [i](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, i + 1));
    c.set_output(0, c.input(i));
    return OkStatus();
  };
}

ShapeRule SameShapeWithType(DataType t, int input) {
  return [t, input](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, input + 1));
    c.set_output(0, Tensor(t, c.input(input).shape));
    return OkStatus();
  };
}

Result<Shape> BroadcastOf(const InferenceContext& c, int first, int last) {
  Shape shape = Shape::Scalar();
  bool any_unranked = false;
  for (int i = first; i < last; ++i) {
    if (!c.has_input(i)) continue;
    const Shape& s = c.input(i).shape;
    if (!s.has_rank()) {
      any_unranked = true;
      continue;
    }
    auto merged = Broadcast(shape, s);
    if (!merged) {
      return ModelError(fmt::format("shapes {} and {} cannot be broadcast together", shape.ToString(), s.ToString()));
    }
    shape = std::move(*merged);
  }
  if (any_unranked) return Shape();
  return shape;
}

ShapeRule BroadcastInputs(int first) {
  return [first](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, first + 1));
    SIMPRED_ASSIGN_OR_RETURN(Shape s, BroadcastOf(c, first, c.input_count()));
    c.set_output(0, Tensor(c.input(first).dtype, std::move(s)));
    return OkStatus();
  };
}

ShapeRule BroadcastInputsWithType(DataType t) {
  return [t](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
    SIMPRED_ASSIGN_OR_RETURN(Shape s, BroadcastOf(c, 0, c.input_count()));
    c.set_output(0, Tensor(t, std::move(s)));
    return OkStatus();
  };
}

// --- Ready-made cost rules -----------------------------------------------------------------------------------------

Work TrafficOf(const CostContext& c) {
  Work w;
  for (const CostTensor& t : c.inputs) (t.constant ? w.weights : w.read) += t.bytes();
  for (const CostTensor& t : c.outputs) w.written += t.bytes();
  return w;
}

Bytes ReadOf(const CostContext& c, size_t input) {
  return input < c.inputs.size() ? c.inputs[input].bytes() : Bytes(0);
}

double OutputElements(const CostContext& c, size_t output) {
  if (output >= c.outputs.size() || !c.outputs[output].present) return 0;
  return static_cast<double>(c.outputs[output].elements());
}

double InputElements(const CostContext& c, size_t input) {
  if (input >= c.inputs.size() || !c.inputs[input].present) return 0;
  return static_cast<double>(c.inputs[input].elements());
}

CostRule PerElement(double flops) {
  return [flops](const CostContext& c) {
    Work w = TrafficOf(c);
    w.flops = Flops(flops * OutputElements(c));
    return w;
  };
}

CostRule ViewCost() {
  return [](const CostContext&) { return Work{}; };
}

CostRule MovesOutput(double flops_per_element) {
  return [flops_per_element](const CostContext& c) {
    Work w;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      const CostTensor& t = c.inputs[i];
      // The data tensor: only what the output holds is touched.
      const Bytes touched = i == 0 && !c.outputs.empty() ? StorageSize(t.dtype, c.outputs[0].elements()) : t.bytes();
      (t.constant ? w.weights : w.read) += t.present ? touched : Bytes(0);
    }
    for (const CostTensor& t : c.outputs) w.written += t.bytes();
    w.flops = Flops(flops_per_element * OutputElements(c));
    return w;
  };
}

}  // namespace simpred
