// Which operators give the same elements another shape? Reshape, Squeeze, Unsqueeze, Flatten, Identity.
#include <fmt/format.h>

#include <algorithm>

#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

constexpr char kViewSource[] = "ONNX operator specification: the same elements in the same order; nothing moves";

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

}  // namespace

void RegisterViews(Registry& r) {
  auto view = [&r](const char* type, ShapeRule shape) {
    r.Add({.type = type,
           .op_class = OperatorClass::kView,
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
}

}  // namespace simpred
