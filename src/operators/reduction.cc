// Operators that fold axes of a tensor into one value, or run along an axis: Reduce*, ArgMax, CumSum, losses.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/normalization.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// `axes` folded: kept as one, or removed.
Shape Fold(const Shape& x, const std::vector<int>& axes, bool keep) {
  std::vector<bool> folded(static_cast<size_t>(x.rank()), false);
  for (int a : axes) folded[static_cast<size_t>(a)] = true;
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    if (!folded[static_cast<size_t>(i)]) {
      dims.push_back(x.dim(i));
    } else if (keep) {
      dims.emplace_back(1);
    }
  }
  return Shape(std::move(dims));
}

// Axes come from the attribute (before operator set 18, ReduceSum 13) or from input 1; none: all of them, unless
// noop_with_empty_axes.
Status ReduceShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  const bool keep = c.node().Int("keepdims", 1) != 0;
  const IntsArgument axes = AttributeOrInput(c, "axes", 1);
  const DataType type = c.input(0).dtype;
  if (axes.given && !axes.ints) {  // computed at run time: only their number may be known
    const Shape& given = c.input(1).shape;
    const Dim count = given.has_rank() && given.rank() == 1 ? given.dim(0) : Dim();
    Shape out;
    if (x.has_rank() && keep) out = Shape::OfRank(x.rank());
    if (x.has_rank() && !keep && count.is_known() && count.value() > 0 && count.value() <= x.rank()) {
      out = Shape::OfRank(x.rank() - static_cast<int>(count.value()));
    }
    c.set_output(0, Tensor(type, std::move(out)));
    return OkStatus();
  }
  const std::vector<int64_t> list = axes.ints.value_or(std::vector<int64_t>{});
  if (list.empty() && c.node().Int("noop_with_empty_axes", 0) != 0) {
    c.set_output(0, c.input(0));
    return OkStatus();
  }
  if (!x.has_rank()) {
    c.set_output(0, Tensor(type, list.empty() && !keep ? Shape::Scalar() : Shape()));
    return OkStatus();
  }
  std::vector<int> folded;
  if (list.empty()) {
    for (int i = 0; i < x.rank(); ++i) folded.push_back(i);
  } else {
    SIMPRED_ASSIGN_OR_RETURN(folded, ResolveAxes(list, x.rank()));
  }
  c.set_output(0, Tensor(type, Fold(x, folded, keep)));
  return OkStatus();
}

// `per_input` operations for each element that is folded, `per_output` for each result.
CostRule ReduceCost(double per_input, double per_output = 0) {
  return [per_input, per_output](const CostContext& c) {
    Work work = TrafficOf(c);
    work.flops = Flops(InputElements(c) * per_input + OutputElements(c) * per_output);
    return work;
  };
}

Status ArgShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  Shape out;
  if (x.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(const int axis, ResolveAxis(c.node().Int("axis", 0), x.rank()));
    out = Fold(x, {axis}, c.node().Int("keepdims", 1) != 0);
  }
  c.set_output(0, Tensor(DataType::kInt64, std::move(out)));
  return OkStatus();
}

// x and an axis.
Status CumulativeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const Shape& x = c.input(0).shape;
  const std::optional<int64_t> axis = IntOf(c, 1);
  if (axis && x.has_rank()) SIMPRED_RETURN_IF_ERROR(ResolveAxis(*axis, x.rank()).status());
  c.set_output(0, c.input(0));
  return OkStatus();
}

// scores [N, C, d...], labels [N, d...] -> [N, d...] or a scalar.
Result<Shape> LossOutputShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape scores, RequireRankAtLeast(c, 0, 2));
  const Shape& labels = c.input(1).shape;
  Shape expected = scores;
  if (scores.has_rank()) {
    expected.dims().erase(expected.dims().begin() + 1);
    if (!Merge(expected, labels)) {
      return ModelError(fmt::format("labels {} do not fit scores {}", labels.ToString(), scores.ToString()));
    }
  }
  const std::string reduction = c.node().String("reduction", "mean");
  if (reduction == "none") return expected.has_rank() ? expected : labels;
  if (reduction != "mean" && reduction != "sum") {
    return ModelError(fmt::format("reduction '{}' is not one of none, mean, sum", reduction));
  }
  return Shape::Scalar();
}

Status LossShape(InferenceContext& c) {
  SIMPRED_ASSIGN_OR_RETURN(Shape out, LossOutputShape(c));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  if (c.output_count() > 1) c.set_output(1, c.input(0));  // SoftmaxCrossEntropyLoss: log probabilities
  return OkStatus();
}

// Of the scores only one per label is read.
Work NegativeLogLikelihoodWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const double labels = InputElements(c, 1);
  work.flops = Flops(labels * (cost::kIndexElement + cost::kMultiplyAdd));
  if (c.inputs.size() > 1) ReadOnly(work, c.inputs[0], StorageSize(c.inputs[0].dtype, c.inputs[1].elements()));
  return work;
}

}  // namespace

void RegisterReduction(Registry& r) {
  const auto add = [&](const char* type, ShapeRule shape, CostRule cost, ValueRule value = nullptr) {
    r.Add({.type = type,
           .op_class = OperatorClass::kReduction,
           .shape = std::move(shape),
           .value = std::move(value),
           .cost = std::move(cost),
           .source = "the defining formula on the ONNX operator page, operations per input element"});
  };
  add("ReduceSum", ReduceShape, ReduceCost(cost::kAdd), ReduceValue(ValueOp::kAdd));
  add("ReduceMean", ReduceShape, ReduceCost(cost::kAdd, cost::kMultiply), ReduceValue(ValueOp::kMean));
  add("ReduceMax", ReduceShape, ReduceCost(cost::kAdd), ReduceValue(ValueOp::kMax));
  add("ReduceMin", ReduceShape, ReduceCost(cost::kAdd), ReduceValue(ValueOp::kMin));
  add("ReduceProd", ReduceShape, ReduceCost(cost::kMultiply), ReduceValue(ValueOp::kMul));
  add("ReduceL1", ReduceShape, ReduceCost(cost::kAbs + cost::kAdd));
  add("ReduceL2", ReduceShape, ReduceCost(cost::kMultiplyAdd, cost::kSqrt));
  add("ReduceSumSquare", ReduceShape, ReduceCost(cost::kMultiplyAdd));
  add("ReduceLogSum", ReduceShape, ReduceCost(cost::kAdd, cost::kLog));
  // The maximum first, then the shifted exponentials.
  add("ReduceLogSumExp", ReduceShape, ReduceCost(3 * cost::kAdd + cost::kExp, cost::kLog));
  add("ArgMax", ArgShape, ReduceCost(2 * cost::kAdd));
  add("ArgMin", ArgShape, ReduceCost(2 * cost::kAdd));
  add("CumSum", CumulativeShape, ReduceCost(cost::kAdd));
  add("CumProd", CumulativeShape, ReduceCost(cost::kMultiply));
  add("NegativeLogLikelihoodLoss", LossShape, NegativeLogLikelihoodWork);
  add("SoftmaxCrossEntropyLoss", LossShape, ReduceCost(kSoftmaxOperations, cost::kLog));
}

}  // namespace simpred
