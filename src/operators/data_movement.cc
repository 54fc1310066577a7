// Which operators only move data to another place? Transpose, Concat, Pad, Tile, DepthToSpace, Trilu, ...
#include <fmt/format.h>

#include <algorithm>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/grid.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// --- Transpose -----------------------------------------------------------------------------------------------------

Result<std::vector<int>> Permutation(const Node& node, int rank) {
  std::vector<int> perm;
  const auto given = node.Ints("perm");
  if (!given || given->empty()) {
    for (int i = rank; i-- > 0;) perm.push_back(i);
    return perm;
  }
  if (given->size() != static_cast<size_t>(rank)) {
    return ModelError(fmt::format("perm has {} axes, the input {}", given->size(), rank));
  }
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t p : *given) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(p, rank));
    if (seen[static_cast<size_t>(axis)]) return ModelError(fmt::format("perm names axis {} twice", axis));
    seen[static_cast<size_t>(axis)] = true;
    perm.push_back(axis);
  }
  return perm;
}

Status TransposeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  if (!in.shape.has_rank()) {
    const auto perm = c.node().Ints("perm");
    c.set_output(
        0, Tensor(in.dtype, perm && perm->size() <= 64 ? Shape::OfRank(static_cast<int>(perm->size())) : Shape()));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(std::vector<int> perm, Permutation(c.node(), in.shape.rank()));
  std::vector<Dim> dims;
  for (int p : perm) dims.push_back(in.shape.dim(p));
  c.set_output(0, Tensor(in.dtype, Shape(std::move(dims))));
  return OkStatus();
}

void TransposeValue(InferenceContext& c) {
  auto v = c.has_input(0) ? c.constant(0) : nullptr;
  if (!v) return;
  auto perm = Permutation(c.node(), static_cast<int>(v->dims.size()));
  if (!perm.ok()) return;
  std::vector<int64_t> dims;
  std::vector<size_t> strides(v->dims.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * static_cast<size_t>(v->dims[i]);
  for (int p : *perm) dims.push_back(v->dims[static_cast<size_t>(p)]);
  std::vector<size_t> positions(v->size(), 0);
  size_t repeat = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(dims[axis]);
    const size_t stride = strides[static_cast<size_t>((*perm)[axis])];
    for (size_t i = 0; i < positions.size(); ++i) positions[i] += (i / repeat) % extent * stride;
    repeat *= extent;
  }
  c.set_output_constant(0, TakeElements(*v, positions, std::move(dims)));
}

// --- Concat --------------------------------------------------------------------------------------------------------

Status ConcatShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  DataType dtype = DataType::kUndefined;
  Shape out;
  Dim along(0);
  int axis = -1;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.has_input(i)) continue;
    const TensorType& in = c.input(i);
    if (dtype == DataType::kUndefined) dtype = in.dtype;
    if (!in.shape.has_rank()) {
      along = Dim::Unknown();
      continue;
    }
    if (axis < 0) {
      // Before opset 4 the axis had a default.
      SIMPRED_ASSIGN_OR_RETURN(axis, ResolveAxis(c.node().Int("axis", 1), in.shape.rank()));
    }
    along = along + in.shape.dim(axis);
    Shape rest = in.shape;
    if (rest.rank() > axis) rest.dims()[static_cast<size_t>(axis)] = Dim::Unknown();
    auto merged = Merge(out, rest);
    if (!merged) {
      return ModelError(
          fmt::format("cannot concatenate {} with {} along axis {}", in.shape.ToString(), out.ToString(), axis));
    }
    out = std::move(*merged);
  }
  if (axis >= 0) out.dims()[static_cast<size_t>(axis)] = along;
  c.set_output(0, Tensor(dtype, std::move(out)));
  return OkStatus();
}

// Vectors of integers, of which single ones may be unknown: [N, ?, 768].
void ConcatVectors(InferenceContext& c) {
  ConstantValue r;
  r.dims = {0};
  for (int i = 0; i < c.input_count(); ++i) {
    const TensorType& in = c.input(i);
    const Dim length = in.shape.dim(0);
    if (in.shape.rank() != 1 || !length.is_known() || !IsInteger(in.dtype)) return;
    if (length.value() < 0 || length.value() + r.dims[0] > ConstantValue::kMaxElements) return;
    r.dtype = in.dtype;
    r.dims[0] += length.value();
    auto v = c.constant(i);
    for (size_t k = 0; k < static_cast<size_t>(length.value()); ++k) {
      r.ints.push_back(v && k < v->ints.size() ? v->ints[k] : Dim::Unknown());
    }
  }
  c.set_output_constant(0, std::move(r));
}

void ConcatValue(InferenceContext& c) {
  if (!c.has_input(0)) return;
  if (c.input(0).shape.rank() == 1 && IsInteger(c.input(0).dtype)) return ConcatVectors(c);
  auto in = KnownInputs(c);
  if (!in || !in->front()) return;
  const int rank = static_cast<int>(in->front()->dims.size());
  auto axis = ResolveAxis(c.node().Int("axis", 1), rank);
  if (!axis.ok()) return;
  ConstantValue r;
  r.dtype = in->front()->dtype;
  r.dims = in->front()->dims;
  auto& along = r.dims[static_cast<size_t>(*axis)];
  along = 0;
  size_t outer = 1;
  for (int i = 0; i < *axis; ++i) outer *= static_cast<size_t>(r.dims[static_cast<size_t>(i)]);
  for (const auto& v : *in) {
    if (!v || v->dims.size() != r.dims.size() || v->dtype != r.dtype) return;
    along += v->dims[static_cast<size_t>(*axis)];
  }
  if (!SmallElementCount(r.dims) || outer == 0) return;
  for (size_t o = 0; o < outer; ++o) {
    for (const auto& v : *in) {
      const size_t block = v->size() / outer;
      for (size_t k = o * block; k < (o + 1) * block; ++k) {
        if (v->is_float()) {
          r.floats.push_back(v->floats[k]);
        } else if (r.dtype == DataType::kString) {
          r.strings.push_back(v->strings[k]);
        } else {
          r.ints.push_back(v->ints[k]);
        }
      }
    }
  }
  c.set_output_constant(0, std::move(r));
}

// --- Pad, Tile -----------------------------------------------------------------------------------------------------

std::optional<std::vector<Dim>> PadsOf(InferenceContext& c) {
  for (const char* key : {"pads", "paddings"}) {  // "paddings": opset 1
    if (auto ints = c.node().Ints(key)) return std::vector<Dim>(ints->begin(), ints->end());
  }
  return DimsOf(c, 1);
}

Status PadShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  if (!in.shape.has_rank()) {
    c.set_output(0, Tensor(in.dtype));
    return OkStatus();
  }
  const IntsArgument axes = AttributeOrInput(c, "axes", 3);
  auto pads = PadsOf(c);
  if (!pads || (axes.given && !axes.ints)) {
    c.set_output(0, Tensor(in.dtype, Shape::OfRank(in.shape.rank())));
    return OkStatus();
  }
  std::vector<int64_t> targets;
  for (int i = 0; i < in.shape.rank(); ++i) targets.push_back(i);
  if (axes.ints) targets = *axes.ints;
  if (pads->size() != 2 * targets.size()) {
    return ModelError(fmt::format("{} pads for {} axes; two an axis are needed", pads->size(), targets.size()));
  }
  Shape out = in.shape;
  for (size_t i = 0; i < targets.size(); ++i) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(targets[i], in.shape.rank()));
    Dim& d = out.dims()[static_cast<size_t>(axis)];
    d = d + (*pads)[i] + (*pads)[i + targets.size()];
    if (d.is_known() && d.value() < 0) return ModelError(fmt::format("the pads leave axis {} negative", axis));
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

Status TileShape(InferenceContext& c) {
  const auto attribute = c.node().Ints("repeats");  // some exporters write the later input as an attribute
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, attribute ? 1 : 2));
  const TensorType& in = c.input(0);
  Shape out = in.shape;
  if (out.has_rank() && c.has_input(2)) {  // opset 1: a count and an axis
    const auto tiles = DimOf(c, 1);
    const auto axis_given = IntOf(c, 2);
    if (!axis_given) {
      out = Shape::OfRank(out.rank());
    } else {
      SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(*axis_given, out.rank()));
      Dim& d = out.dims()[static_cast<size_t>(axis)];
      d = d * tiles.value_or(Dim::Unknown());
    }
  } else if (out.has_rank()) {
    auto repeats = DimsOf(c, 1);
    if (attribute) repeats.emplace(attribute->begin(), attribute->end());
    if (repeats && repeats->size() != static_cast<size_t>(out.rank())) {
      return ModelError(fmt::format("{} repeats for input shape {}", repeats->size(), in.shape.ToString()));
    }
    for (int i = 0; i < out.rank(); ++i) {
      Dim& d = out.dims()[static_cast<size_t>(i)];
      d = repeats ? d * (*repeats)[static_cast<size_t>(i)] : Dim::Unknown();
    }
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

void TileValue(InferenceContext& c) {
  auto v = c.has_input(0) ? c.constant(0) : nullptr;
  auto repeats = v && !c.has_input(2) ? IntsOf(c, 1) : std::nullopt;
  if (!repeats || repeats->size() != v->dims.size()) return;
  std::vector<std::vector<int64_t>> grid;
  for (size_t axis = 0; axis < repeats->size(); ++axis) {
    std::vector<int64_t> along;
    const int64_t d = v->dims[axis];
    int64_t length = 0;
    if (__builtin_mul_overflow(d, (*repeats)[axis], &length) || length > ConstantValue::kMaxElements) return;
    for (int64_t i = 0; i < length; ++i) along.push_back(i % d);
    grid.push_back(std::move(along));
  }
  if (auto r = TakeGrid(*v, grid)) c.set_output_constant(0, std::move(*r));
}

// --- DepthToSpace, SpaceToDepth ------------------------------------------------------------------------------------

ShapeRule BlockRearranged(bool to_space) {
  return [to_space](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
    SIMPRED_ASSIGN_OR_RETURN(Shape in, RequireRank(c, 0, 4));
    const Dim b(c.node().Int("blocksize", 0));
    if (b.value() <= 0) return ModelError(fmt::format("blocksize is {}", b.value()));
    const Dim area = b * b;
    const Shape out = to_space ? Shape{in.dim(0), FloorDiv(in.dim(1), area), in.dim(2) * b, in.dim(3) * b}
                               : Shape{in.dim(0), in.dim(1) * area, FloorDiv(in.dim(2), b), FloorDiv(in.dim(3), b)};
    c.set_output(0, Tensor(c.input(0).dtype, out));
    return OkStatus();
  };
}

// --- CenterCropPad -------------------------------------------------------------------------------------------------

Status CenterCropPadShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const TensorType& in = c.input(0);
  Shape out = in.shape;
  if (out.has_rank()) {
    const auto target = DimsOf(c, 1);
    std::vector<int64_t> axes;
    for (int i = 0; i < out.rank(); ++i) axes.push_back(i);
    if (auto given = c.node().Ints("axes")) axes = *given;
    if (target && target->size() != axes.size()) {
      return ModelError(fmt::format("{} target sizes for {} axes", target->size(), axes.size()));
    }
    for (size_t i = 0; i < axes.size(); ++i) {
      SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(axes[i], out.rank()));
      out.dims()[static_cast<size_t>(axis)] = target ? (*target)[i] : Dim::Unknown();
    }
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

}  // namespace

void RegisterDataMovement(Registry& r) {
  auto moves = [&r](const char* type, ShapeRule shape, ValueRule value, CostRule cost, const char* source) {
    r.Add({.type = type,
           .op_class = OperatorClass::kDataMovement,
           .shape = std::move(shape),
           .value = std::move(value),
           .cost = std::move(cost),
           .source = source});
  };
  const char* all = "ONNX operator specification: every element read once and written once";
  moves("Transpose", TransposeShape, TransposeValue, TrafficOf, all);
  moves("Concat", ConcatShape, ConcatValue, TrafficOf, all);
  moves("DepthToSpace", BlockRearranged(true), nullptr, TrafficOf, all);
  moves("SpaceToDepth", BlockRearranged(false), nullptr, TrafficOf, all);
  moves("ReverseSequence", SameAsInput(), nullptr, TrafficOf, all);
  moves("Pad", PadShape, nullptr, TrafficOf, "ONNX Pad: the input read once, the larger output written once");
  moves("Tile", TileShape, TileValue, TrafficOf, "ONNX Tile: the input read once, the larger output written once");
  moves("CenterCropPad", CenterCropPadShape, nullptr, MovesOutput(),
        "ONNX CenterCropPad: at most what the output holds is read");
  moves("Trilu", SameAsInput(), nullptr, PerElement(cost::kAdd), "ONNX Trilu: one comparison and selection an element");
  for (const char* type : {"Trilu", "Pad"}) {  // the same operators, older
    OperatorRule contrib = *r.Find("", type);
    contrib.domain = "com.microsoft";
    contrib.source = std::string("as ONNX ") + type;
    r.Add(std::move(contrib));
  }
}

}  // namespace simpred
