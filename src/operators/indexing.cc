// Which elements do indices pick, and where do they go? Gather, Scatter, OneHot, Compress and their kin.
#include <fmt/format.h>

#include <algorithm>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/grid.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// --- Gather --------------------------------------------------------------------------------------------------------

Status GatherShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const TensorType& data = c.input(0);
  const Shape& indices = c.input(1).shape;
  if (!data.shape.has_rank() || !indices.has_rank()) {
    c.set_output(0, Tensor(data.dtype));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", 0), data.shape.rank()));
  std::vector<Dim> dims(data.shape.dims().begin(), data.shape.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), data.shape.dims().begin() + axis + 1, data.shape.dims().end());
  c.set_output(0, Tensor(data.dtype, Shape(std::move(dims))));
  return OkStatus();
}

void GatherValue(InferenceContext& c) {
  // Computed indices first: a large embedding table is not looked at for them.
  auto in = KnownInputs(c);
  if (!in || in->size() != 2 || !(*in)[0] || !(*in)[1]) return;
  const ConstantValue& data = *(*in)[0];
  const ConstantValue& indices = *(*in)[1];
  auto axis = ResolveAxis(c.node().Int("axis", 0), static_cast<int>(data.dims.size()));
  if (!axis.ok() || indices.is_float()) return;
  const auto a = static_cast<size_t>(*axis);
  std::vector<int64_t> along;
  for (const Dim& d : indices.ints) {
    if (!d.is_known()) return;
    along.push_back(d.value() < 0 ? d.value() + data.dims[a] : d.value());
  }
  auto grid = FullGrid(data.dims);
  grid[a] = std::move(along);
  std::vector<int64_t> dims(data.dims.begin(), data.dims.begin() + *axis);
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), data.dims.begin() + *axis + 1, data.dims.end());
  if (auto r = TakeGrid(data, grid, std::move(dims))) c.set_output_constant(0, std::move(*r));
}

Status GatherElementsShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const Shape& data = c.input(0).shape;
  const Shape& indices = c.input(1).shape;
  if (data.has_rank() && indices.has_rank() && data.rank() != indices.rank()) {
    return ModelError(fmt::format("data {} and indices {} differ in rank", data.ToString(), indices.ToString()));
  }
  c.set_output(0, Tensor(c.input(0).dtype, indices));
  return OkStatus();
}

// Vectors only: what shape arithmetic does.
void GatherElementsValue(InferenceContext& c) {
  auto in = KnownInputs(c);
  if (!in || in->size() != 2 || !(*in)[0] || !(*in)[1]) return;
  const ConstantValue& data = *(*in)[0];
  const ConstantValue& indices = *(*in)[1];
  if (data.dims.size() != 1 || indices.dims.size() != 1 || indices.is_float()) return;
  std::vector<int64_t> along;
  for (const Dim& d : indices.ints) {
    if (!d.is_known()) return;
    along.push_back(d.value() < 0 ? d.value() + data.dims[0] : d.value());
  }
  if (auto r = TakeGrid(data, {std::move(along)})) c.set_output_constant(0, std::move(*r));
}

Status GatherNdShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const TensorType& data = c.input(0);
  const Shape& indices = c.input(1).shape;
  const Dim depth = indices.dim(-1);
  const int64_t batch = c.node().Int("batch_dims", 0);
  if (!data.shape.has_rank() || !indices.has_rank() || indices.rank() == 0 || !depth.is_known()) {
    c.set_output(0, Tensor(data.dtype));
    return OkStatus();
  }
  if (batch < 0 || depth.value() < 0 || depth.value() > data.shape.rank() || batch >= indices.rank() ||
      batch > data.shape.rank() - depth.value()) {
    return ModelError(fmt::format("indices {} with {} batch dimensions do not fit data {}", indices.ToString(), batch,
                                  data.shape.ToString()));
  }
  std::vector<Dim> dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), data.shape.dims().begin() + batch + depth.value(), data.shape.dims().end());
  c.set_output(0, Tensor(data.dtype, Shape(std::move(dims))));
  return OkStatus();
}

// --- Scatter -------------------------------------------------------------------------------------------------------

// The data is copied (its output is another tensor), the updates overwrite part of it.
Work ScatterCost(const CostContext& c) {
  Work w = TrafficOf(c);
  const double updates = InputElements(c, 2);
  w.flops = Flops(cost::kIndexElement * updates);
  return w;
}

// --- OneHot --------------------------------------------------------------------------------------------------------

Status OneHotShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const Shape& indices = c.input(0).shape;
  Shape out;
  if (indices.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", -1), indices.rank() + 1));
    std::vector<Dim> dims = indices.dims();
    dims.insert(dims.begin() + axis, DimOf(c, 1).value_or(Dim::Unknown()));
    out = Shape(std::move(dims));
  }
  c.set_output(0, Tensor(c.input(2).dtype, std::move(out)));
  return OkStatus();
}

// --- Compress ------------------------------------------------------------------------------------------------------

Status CompressShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const TensorType& data = c.input(0);
  const auto axis_given = c.node().Int("axis");
  Dim extent = data.shape.ElementCount();
  int axis = 0;
  if (axis_given && data.shape.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(axis, ResolveAxis(*axis_given, data.shape.rank()));
    extent = data.shape.dim(axis);
  }
  Dim kept;
  if (auto condition = IntsOf(c, 1)) {
    kept = Dim(
        static_cast<int64_t>(std::count_if(condition->begin(), condition->end(), [](int64_t b) { return b != 0; })));
  } else {
    const Dim bound = c.input(1).shape.dim(0);
    kept = c.data_dependent_dim("compress", bound.is_unknown() ? extent : bound);
  }
  Shape out = Shape{kept};
  if (axis_given) {
    out = data.shape;
    if (out.has_rank()) out.dims()[static_cast<size_t>(axis)] = kept;
  }
  c.set_output(0, Tensor(data.dtype, std::move(out)));
  return OkStatus();
}

}  // namespace

void RegisterIndexing(Registry& r) {
  using enum OperatorClass;
  auto add = [&r](const char* type, ShapeRule shape, CostRule cost, const char* source, OperatorClass op_class,
                  ValueRule value = nullptr) {
    r.Add({.type = type,
           .op_class = op_class,
           .shape = std::move(shape),
           .value = std::move(value),
           .cost = std::move(cost),
           .source = source});
  };
  add("Gather", GatherShape, MovesOutput(), "ONNX Gather: the taken slices and the indices, not the whole table",
      kDataMovement, GatherValue);
  const char* per_element = "ONNX operator specification: the taken elements and the indices, one address each";
  add("GatherElements", GatherElementsShape, MovesOutput(cost::kIndexElement), per_element, kDataMovement,
      GatherElementsValue);
  add("GatherND", GatherNdShape, MovesOutput(cost::kIndexElement), per_element, kDataMovement);
  const char* scatter = "ONNX operator specification: the data copied, then each update written at its address";
  for (const char* type : {"Scatter", "ScatterElements", "ScatterND", "TensorScatter"}) {
    add(type, SameAsInput(), ScatterCost, scatter, kDataMovement);
  }
  add("OneHot", OneHotShape, PerElement(cost::kAdd), "ONNX OneHot: one comparison and one write an output element",
      kDataMovement);
  add("Compress", CompressShape, MovesOutput(cost::kIndexElement), per_element, kDataDependent);
  OperatorRule contrib = *r.Find("", "GatherND");
  contrib.domain = "com.microsoft";
  r.Add(std::move(contrib));
}

}  // namespace simpred
