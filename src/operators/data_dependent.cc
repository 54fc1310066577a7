// Which operators do work that only the data decides? NonZero, NonMaxSuppression, TopK, Unique.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

Status NonZeroShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& in = c.input(0).shape;
  Dim count;
  if (auto v = FloatsOf(c, 0)) {
    count = Dim(static_cast<int64_t>(std::count_if(v->begin(), v->end(), [](double x) { return x != 0; })));
  } else {
    count = c.data_dependent_dim("nonzero", in.ElementCount());
  }
  const Dim rank = in.has_rank() && in.rank() > 0 ? Dim(in.rank()) : Dim::Unknown();
  c.set_output(0, Tensor(DataType::kInt64, Shape{rank, count}));
  return OkStatus();
}

// boxes [batch, n, 4], scores [batch, classes, n] -> [selected, 3]
Status NonMaxSuppressionShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(Shape boxes, RequireRank(c, 0, 3));
  SIMPRED_ASSIGN_OR_RETURN(Shape scores, RequireRank(c, 1, 3));
  Dim per_class = scores.dim(2);
  if (!c.has_input(2)) {
    per_class = Dim(0);  // the default of max_output_boxes_per_class selects nothing
  } else if (auto limit = DimOf(c, 2)) {
    per_class = Min(per_class, *limit);
  }
  const Dim bound = scores.dim(0) * scores.dim(1) * per_class;
  const Dim selected = bound == Dim(0) ? bound : c.data_dependent_dim("selected", bound);
  c.set_output(0, Tensor(DataType::kInt64, Shape{selected, Dim(3)}));
  return OkStatus();
}

// Sorting the candidates of each class, then comparing each kept box with the later ones: at most kept * n overlaps.
// One overlap: two maxima, two minima, three products, sums, one division by the union.
Work NonMaxSuppressionCost(const CostContext& c) {
  constexpr double kOverlap = 8 * cost::kAdd + 3 * cost::kMultiply + cost::kDivide;
  Work w = TrafficOf(c);
  if (c.inputs.size() < 2 || c.inputs[1].dims.size() != 3 || c.outputs.empty() || c.outputs[0].dims.empty()) return w;
  const auto candidates = static_cast<double>(c.inputs[1].dims[2]);
  const double lists = InputElements(c, 1) / std::max(candidates, 1.0);
  const auto kept = static_cast<double>(c.outputs[0].dims[0]);
  w.flops = Flops(lists * candidates * std::log2(std::max(candidates, 2.0)) * cost::kSortStep +
                  kept * candidates / 2 * kOverlap);
  return w;
}

Status TopKShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  Shape out = in.shape;
  if (out.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", -1), out.rank()));
    const auto attribute = c.node().Int("k");  // opset 1
    const Dim k = attribute ? Dim(*attribute) : DimOf(c, 1).value_or(Dim::Unknown());
    const Dim extent = out.dim(axis);
    if (k.is_known() && (k.value() < 0 || (extent.is_known() && k.value() > extent.value()))) {
      return ModelError(fmt::format("k is {}, but axis {} of {} has {} elements", k.value(), axis, out.ToString(),
                                    extent.ToString()));
    }
    out.dims()[static_cast<size_t>(axis)] = k;
  }
  c.set_output(0, Tensor(in.dtype, out));
  c.set_output(1, Tensor(DataType::kInt64, std::move(out)));
  return OkStatus();
}

// A heap of k: each of the n elements is compared once, those that enter sift log2(k) levels; bounded by all entering.
Work TopKCost(const CostContext& c) {
  Work w = TrafficOf(c);
  if (c.inputs.empty() || c.outputs.empty()) return w;
  const double n = InputElements(c);
  double k = 2;
  for (size_t i = 0; i < std::min(c.inputs[0].dims.size(), c.outputs[0].dims.size()); ++i) {
    if (c.inputs[0].dims[i] != c.outputs[0].dims[i]) k = std::max(k, static_cast<double>(c.outputs[0].dims[i]));
  }
  w.flops = Flops(n * cost::kAdd + OutputElements(c) * std::log2(k) * cost::kSortStep);
  return w;
}

Status UniqueShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  const auto axis_given = c.node().Int("axis");
  Dim extent = in.shape.ElementCount();
  Shape values;
  if (!axis_given) {
    values = Shape{c.data_dependent_dim("unique", extent)};
  } else if (in.shape.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(*axis_given, in.shape.rank()));
    extent = in.shape.dim(axis);
    values = in.shape;
    values.dims()[static_cast<size_t>(axis)] = c.data_dependent_dim("unique", extent);
  }
  const Dim count = !axis_given ? values.dim(0) : c.data_dependent_dim("unique", extent);
  c.set_output(0, Tensor(in.dtype, std::move(values)));
  c.set_output(1, Tensor(DataType::kInt64, Shape{count}));
  c.set_output(2, Tensor(DataType::kInt64, Shape{extent}));
  c.set_output(3, Tensor(DataType::kInt64, Shape{count}));
  return OkStatus();
}

Work SortCost(const CostContext& c) {
  Work w = TrafficOf(c);
  const double n = InputElements(c);
  w.flops = Flops(n * std::log2(std::max(n, 2.0)) * cost::kSortStep);
  return w;
}

}  // namespace

void RegisterDataDependent(Registry& r) {
  using enum OperatorClass;
  r.Add({.type = "NonZero",
         .op_class = kDataDependent,
         .shape = NonZeroShape,
         .cost =
             [](const CostContext& c) {
               Work w = TrafficOf(c);
               w.flops = Flops(cost::kAdd * InputElements(c) + cost::kIndexElement * OutputElements(c));
               return w;
             },
         .source = "ONNX NonZero: one comparison an input element, one index written an output element"});
  r.Add({.type = "NonMaxSuppression",
         .op_class = kDataDependent,
         .shape = NonMaxSuppressionShape,
         .cost = NonMaxSuppressionCost,
         .source = "ONNX NonMaxSuppression: a sort a class, then overlaps of kept boxes with the later candidates"});
  r.Add({.type = "TopK",
         .op_class = kDataDependent,
         .shape = TopKShape,
         .cost = TopKCost,
         .source = "ONNX TopK: selection with a heap of k elements"});
  r.Add({.type = "Unique",
         .op_class = kDataDependent,
         .shape = UniqueShape,
         .cost = SortCost,
         .source = "ONNX Unique: a sort of all elements"});
}

}  // namespace simpred
