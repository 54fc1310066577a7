// Which part of a tensor does a slice take? Slice in its attribute and input forms, Split.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "operators/families.h"
#include "operators/grid.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// Exporters write the largest int32 or int64 (or something near) for "to the end".
constexpr int64_t kToTheEnd = std::numeric_limits<int32_t>::max();

struct AxisSlice {
  int axis = 0;
  Dim start, end;
  int64_t step = 1;
};

struct SliceArguments {
  bool known = false;  // which axes are sliced, and how many positions are known (bounds may be symbolic)
  std::vector<AxisSlice> slices;
};

Result<SliceArguments> ReadArguments(InferenceContext& c, int rank) {
  SliceArguments a;
  std::optional<std::vector<Dim>> starts;
  std::optional<std::vector<Dim>> ends;
  const Node& node = c.node();
  if (auto attribute = node.Ints("starts")) {  // before opset 10
    starts.emplace(attribute->begin(), attribute->end());
    auto e = node.Ints("ends").value_or(std::vector<int64_t>{});
    ends.emplace(e.begin(), e.end());
  } else {
    starts = DimsOf(c, 1);
    ends = DimsOf(c, 2);
  }
  const IntsArgument axes = AttributeOrInput(c, "axes", 3);
  const IntsArgument steps = AttributeOrInput(c, "steps", 4);
  if ((axes.given && !axes.ints) || (steps.given && !steps.ints)) return a;
  std::optional<size_t> count;
  if (starts) count = starts->size();
  if (axes.ints) count = axes.ints->size();
  if (!count) {
    const Dim n = c.has_input(1) ? c.input(1).shape.dim(0) : Dim::Unknown();
    if (!n.is_known() || n.value() < 0 || n.value() > rank) return a;
    count = static_cast<size_t>(n.value());
  }
  if ((starts && starts->size() != *count) || (ends && ends->size() != *count) ||
      (steps.ints && steps.ints->size() != *count)) {
    return ModelError("starts, ends, axes and steps have different lengths");
  }
  for (size_t i = 0; i < *count; ++i) {
    AxisSlice s;
    const int64_t axis = axes.ints ? (*axes.ints)[i] : static_cast<int64_t>(i);
    SIMPRED_ASSIGN_OR_RETURN(s.axis, ResolveAxis(axis, rank));
    if (starts) s.start = (*starts)[i];
    if (ends) s.end = (*ends)[i];
    if (steps.ints) s.step = (*steps.ints)[i];
    if (s.step == 0) return ModelError("a step of a slice is 0");
    a.slices.push_back(std::move(s));
  }
  a.known = true;
  return a;
}

// The positions of a slice with numbers everywhere, clamped as the specification says.
struct ExactSlice {
  int64_t start = 0;
  int64_t count = 0;
};
ExactSlice Exact(int64_t d, int64_t start, int64_t end, int64_t step) {
  auto wrapped = [d](int64_t p) { return p < 0 ? (p < -d ? -1 : p + d) : p; };
  if (step > 0) {
    const int64_t from = start < -d ? 0 : std::min(wrapped(start), d);
    const int64_t to = std::clamp<int64_t>(wrapped(end), 0, d);
    if (to <= from) return {from, 0};
    const int64_t span = to - from;
    return {from, span / step + (span % step != 0 ? 1 : 0)};
  }
  const int64_t from = std::min(wrapped(start), d - 1);
  const int64_t to = std::clamp<int64_t>(wrapped(end), -1, d - 1);
  if (from <= to) return {std::max<int64_t>(from, 0), 0};
  // -step overflows for the smallest number only; any step of this size takes one element.
  const int64_t stride = step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -step;
  const int64_t span = from - to;
  return {from, span / stride + (span % stride != 0 ? 1 : 0)};
}

// A bound of a forward slice along a symbolic dimension, counted from the front.
Dim SymbolicBound(const Dim& d, const Dim& bound) {
  if (!bound.is_known()) return bound == d ? d : Min(bound, d);
  if (bound.value() >= kToTheEnd) return d;
  if (bound.value() < 0) return bound.value() < -kToTheEnd ? Dim(0) : d + bound;
  return Min(d, bound);
}

Dim SlicedDim(const Dim& d, const AxisSlice& s) {
  if (s.start.is_unknown() || s.end.is_unknown()) return Dim::Unknown();
  const bool numbers = s.start.is_known() && s.end.is_known();
  if (d.is_known() && numbers) return Dim(Exact(d.value(), s.start.value(), s.end.value(), s.step).count);
  if (s.step < 0) {
    // Only the reversal of a whole axis can be told without numbers.
    const bool from_last = s.start.is_known() && (s.start.value() == -1 || s.start.value() >= kToTheEnd);
    const bool to_front = s.end.is_known() && s.end.value() <= -kToTheEnd;
    return from_last && to_front && s.step > -kToTheEnd ? CeilDiv(d, Dim(-s.step)) : Dim::Unknown();
  }
  if (d.is_unknown()) return Dim::Unknown();
  const bool from_front = s.start.is_known() && s.start.value() >= 0;
  const Dim from = from_front ? s.start : s.start.is_known() ? SymbolicBound(d, s.start) : s.start;
  const Dim to = SymbolicBound(d, s.end);
  // [x-2:] of an axis of x elements and its like: both ends count from the same place and the difference is a number.
  const Dim span = to - from;
  if (span.is_known()) return CeilDiv(Max(span, Dim(0)), Dim(s.step));
  return CeilDiv(span, Dim(s.step));
}

Status SliceShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  if (!in.shape.has_rank()) {
    c.set_output(0, Tensor(in.dtype));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(SliceArguments a, ReadArguments(c, in.shape.rank()));
  Shape out = a.known ? in.shape : Shape::OfRank(in.shape.rank());
  for (const AxisSlice& s : a.slices) out.dims()[static_cast<size_t>(s.axis)] = SlicedDim(in.shape.dim(s.axis), s);
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

void SliceValue(InferenceContext& c) {
  auto v = c.has_input(0) ? c.constant(0) : nullptr;
  if (!v) return;
  auto a = ReadArguments(c, static_cast<int>(v->dims.size()));
  if (!a.ok() || !a->known) return;
  auto grid = FullGrid(v->dims);
  for (const AxisSlice& s : a->slices) {
    if (!s.start.is_known() || !s.end.is_known()) return;
    const int64_t d = v->dims[static_cast<size_t>(s.axis)];
    const ExactSlice e = Exact(d, s.start.value(), s.end.value(), s.step);
    std::vector<int64_t> along;
    for (int64_t i = 0; i < e.count; ++i) along.push_back(e.start + i * s.step);
    grid[static_cast<size_t>(s.axis)] = std::move(along);
  }
  if (auto r = TakeGrid(*v, grid)) c.set_output_constant(0, std::move(*r));
}

// --- Split ---------------------------------------------------------------------------------------------------------

// The length of each part; unknown ones where the file does not say.
Result<std::vector<Dim>> SplitLengths(InferenceContext& c, const Dim& d) {
  const int parts = c.output_count();
  if (parts == 0) return std::vector<Dim>{};
  const IntsArgument given = AttributeOrInput(c, "split", 1);
  if (given.ints) {
    if (given.ints->size() < static_cast<size_t>(parts)) {
      return ModelError(fmt::format("{} outputs, but {} split lengths", parts, given.ints->size()));
    }
    return std::vector<Dim>(given.ints->begin(), given.ints->begin() + parts);
  }
  if (given.given) {
    auto symbolic = DimsOf(c, 1);
    if (symbolic && symbolic->size() >= static_cast<size_t>(parts)) return std::move(*symbolic);
    return std::vector<Dim>(static_cast<size_t>(parts));
  }
  const int64_t wanted = c.node().Int("num_outputs", parts);
  if (wanted < parts) return ModelError(fmt::format("{} outputs, but num_outputs is {}", parts, wanted));
  // Opset 18: all parts alike but a smaller last one. Before, the axis must be divisible.
  const Dim part = CeilDiv(d, Dim(wanted));
  const bool exact = c.opset() < 18 || (d.is_known() && d.value() % wanted == 0);
  std::vector<Dim> lengths(static_cast<size_t>(parts), exact ? FloorDiv(d, Dim(wanted)) : part);
  if (!exact && wanted == parts) {
    const Dim last = d - part * Dim(wanted - 1);
    lengths.back() = last.is_known() ? Max(last, Dim(0)) : last;
  }
  return lengths;
}

Status SplitShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  if (!in.shape.has_rank()) {
    for (int i = 0; i < c.output_count(); ++i) c.set_output(i, Tensor(in.dtype));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", 0), in.shape.rank()));
  SIMPRED_ASSIGN_OR_RETURN(std::vector<Dim> lengths, SplitLengths(c, in.shape.dim(axis)));
  for (int i = 0; i < c.output_count(); ++i) {
    Shape out = in.shape;
    out.dims()[static_cast<size_t>(axis)] = lengths[static_cast<size_t>(i)];
    c.set_output(i, Tensor(in.dtype, std::move(out)));
  }
  return OkStatus();
}

void SplitValue(InferenceContext& c) {
  auto v = c.has_input(0) ? c.constant(0) : nullptr;
  if (!v) return;
  auto axis = ResolveAxis(c.node().Int("axis", 0), static_cast<int>(v->dims.size()));
  if (!axis.ok()) return;
  auto lengths = SplitLengths(c, Dim(v->dims[static_cast<size_t>(*axis)]));
  if (!lengths.ok()) return;
  int64_t position = 0;
  for (int i = 0; i < c.output_count(); ++i) {
    const Dim& length = (*lengths)[static_cast<size_t>(i)];
    if (!length.is_known() || length.value() < 0 || length.value() > ConstantValue::kMaxElements) return;
    auto grid = FullGrid(v->dims);
    auto& along = grid[static_cast<size_t>(*axis)];
    along.clear();
    for (int64_t k = 0; k < length.value(); ++k) along.push_back(position + k);
    position += length.value();
    if (auto part = TakeGrid(*v, grid)) c.set_output_constant(i, std::move(*part));
  }
}

}  // namespace

void RegisterSlice(Registry& r) {
  r.Add({.type = "Slice",
         .op_class = OperatorClass::kDataMovement,
         .shape = SliceShape,
         .value = SliceValue,
         .cost = MovesOutput(),
         .source = "ONNX Slice: only the elements that it takes are read and written"});
  r.Add({.type = "Split",
         .op_class = OperatorClass::kDataMovement,
         .shape = SplitShape,
         .value = SplitValue,
         .cost = TrafficOf,
         .source = "ONNX Split: the input read once, the parts written once"});
}

}  // namespace simpred
