#include "operators/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/window.h"

namespace simpred {

Result<Shape> PoolOutputShape(const InferenceContext& c, const PoolLayout& layout) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 3));
  if (!x.has_rank()) return Shape();
  const int spatial = x.rank() - 2;
  SIMPRED_ASSIGN_OR_RETURN(const Window window, ReadWindow(c.node(), spatial, {}));
  std::vector<Dim> dims = {x.dim(0)};
  if (!layout.channels_last) dims.push_back(x.dim(1));
  for (int i = 0; i < spatial; ++i) {
    Result<Dim> out = OutputSize(window, i, x.dim(i + (layout.channels_last ? 1 : 2)));
    if (!out.ok()) return out.status().With(fmt::format("spatial axis {} of input {}", i, x.ToString()));
    dims.push_back(*out);
  }
  if (layout.channels_last) dims.push_back(x.dim(-1));
  return Shape(std::move(dims));
}

Result<Shape> GlobalPoolOutputShape(const InferenceContext& c, const PoolLayout& layout) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 2));
  if (!x.has_rank()) return Shape();
  std::vector<Dim> dims(static_cast<size_t>(x.rank()), Dim(1));
  dims.front() = x.dim(0);
  if (layout.channels_last) {
    dims.back() = x.dim(-1);
  } else {
    dims[1] = x.dim(1);
  }
  return Shape(std::move(dims));
}

ShapeRule PoolShapeRule(PoolLayout layout) {
  return [layout](InferenceContext& c) -> Status {
    SIMPRED_ASSIGN_OR_RETURN(Shape out, PoolOutputShape(c, layout));
    if (c.output_count() > 1) c.set_output(1, Tensor(DataType::kInt64, out));  // MaxPool's indices
    c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
    return OkStatus();
  };
}

ShapeRule GlobalPoolShapeRule(PoolLayout layout) {
  return [layout](InferenceContext& c) -> Status {
    SIMPRED_ASSIGN_OR_RETURN(Shape out, GlobalPoolOutputShape(c, layout));
    c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
    return OkStatus();
  };
}

CostRule PoolCostRule(double per_point, double per_output) {
  return [per_point, per_output](const CostContext& c) {
    Work work = TrafficOf(c);
    double points = 1;
    if (c.node != nullptr) {
      for (int64_t k : c.node->Ints("kernel_shape").value_or(std::vector<int64_t>{})) {
        points *= static_cast<double>(std::max<int64_t>(1, k));
      }
    }
    work.flops = Flops(OutputElements(c) * (points * per_point + per_output));
    return work;
  };
}

CostRule GlobalPoolCostRule(double per_point, double per_output) {
  return [per_point, per_output](const CostContext& c) {
    Work work = TrafficOf(c);
    work.flops = Flops(InputElements(c) * per_point + OutputElements(c) * per_output);
    return work;
  };
}

namespace {

// The attribute as a size of at least one.
Result<Dim> SizeAttribute(const Node& node, std::string_view key, int64_t fallback) {
  const int64_t v = node.Int(key, fallback);
  if (v < 1) return ModelError(fmt::format("{} must not be {}", key, v));
  return Dim(v);
}

Status MaxUnpoolShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 3));
  const DataType type = c.input(0).dtype;
  if (c.has_input(2)) {
    std::optional<std::vector<Dim>> given = DimsOf(c, 2);
    if (given && x.has_rank() && static_cast<int>(given->size()) != x.rank()) {
      return ModelError(fmt::format("output_shape has {} numbers for an input {}", given->size(), x.ToString()));
    }
    for (const Dim& d : given.value_or(std::vector<Dim>{})) {
      if (d.is_known() && d.value() < 0) return ModelError(fmt::format("output_shape must not contain {}", d.value()));
    }
    c.set_output(0, Tensor(type, given ? Shape(*given) : x.has_rank() ? Shape::OfRank(x.rank()) : Shape()));
    return OkStatus();
  }
  if (!x.has_rank()) {
    c.set_output(0, Tensor(type));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(const Window window, ReadWindow(c.node(), x.rank() - 2, {}));
  std::vector<Dim> dims = {x.dim(0), x.dim(1)};
  for (int i = 0; i + 2 < x.rank(); ++i) {
    SIMPRED_ASSIGN_OR_RETURN(Dim out, TransposedOutputSize(window, i, x.dim(i + 2)));
    dims.push_back(std::move(out));
  }
  c.set_output(0, Tensor(type, Shape(std::move(dims))));
  return OkStatus();
}

// X [N, C, H, W], rois [R, 5] -> [R, C, pooled...].
Status MaxRoiPoolShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 4));
  SIMPRED_ASSIGN_OR_RETURN(const Shape rois, RequireRank(c, 1, 2));
  const std::vector<int64_t> pooled = c.node().Ints("pooled_shape").value_or(std::vector<int64_t>{});
  if (pooled.size() != 2 || pooled[0] < 1 || pooled[1] < 1) {
    return ModelError("attribute pooled_shape needs two numbers of at least one");
  }
  c.set_output(0, Tensor(c.input(0).dtype, Shape({rois.dim(0), x.dim(1), Dim(pooled[0]), Dim(pooled[1])})));
  return OkStatus();
}

// A region may cover the whole map: every element is compared once for each region.
Work MaxRoiPoolWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const bool known = c.inputs.size() > 1 && !c.inputs[0].dims.empty() && !c.inputs[1].dims.empty();
  if (!known) return work;
  const double image = InputElements(c) / static_cast<double>(std::max<int64_t>(1, c.inputs[0].dims[0]));
  work.flops = Flops(image * static_cast<double>(c.inputs[1].dims[0]) * cost::kAdd);
  return work;
}

// X [N, C, H, W], rois [R, 4], batch_indices [R] -> [R, C, output_height, output_width].
Status RoiAlignShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 4));
  SIMPRED_ASSIGN_OR_RETURN(const Shape rois, RequireRank(c, 1, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape batch, RequireRank(c, 2, 1));
  SIMPRED_ASSIGN_OR_RETURN(Dim height, SizeAttribute(c.node(), "output_height", 1));
  SIMPRED_ASSIGN_OR_RETURN(Dim width, SizeAttribute(c.node(), "output_width", 1));
  const Dim count = rois.dim(0).is_unknown() ? batch.dim(0) : rois.dim(0);
  if (rois.dim(0).is_known() && batch.dim(0).is_known() && rois.dim(0).value() != batch.dim(0).value()) {
    return ModelError(fmt::format("rois {} and batch_indices {} differ", rois.ToString(), batch.ToString()));
  }
  c.set_output(0, Tensor(c.input(0).dtype, Shape({count, x.dim(1), std::move(height), std::move(width)})));
  return OkStatus();
}

Work RoiAlignWork(const CostContext& c) {
  // sampling_ratio 0 means as many samples as the region is larger than its output; two along each axis is what
  // detectors set or meet.
  constexpr int64_t kUsualSamples = 2;
  Work work = TrafficOf(c);
  int64_t samples = c.node != nullptr ? c.node->Int("sampling_ratio", 0) : 0;
  if (samples < 1) samples = kUsualSamples;
  const double per_output =
      static_cast<double>(samples) * static_cast<double>(samples) * (2 * cost::kLinearPerAxis + cost::kAdd);
  work.flops = Flops(OutputElements(c) * per_output);
  return work;
}

}  // namespace

void RegisterPooling(Registry& r) {
  const auto add = [&](const char* type, ShapeRule shape, CostRule cost, const char* source) {
    r.Add({.type = type,
           .op_class = OperatorClass::kPooling,
           .shape = std::move(shape),
           .cost = std::move(cost),
           .source = source});
  };
  const char* const window = "ONNX operator page: one operation per point under each window";
  const char* const whole = "ONNX operator page: every input element once";
  add("MaxPool", PoolShapeRule(), PoolCostRule(cost::kAdd, 0), window);
  add("AveragePool", PoolShapeRule(), PoolCostRule(cost::kAdd, cost::kMultiply), window);
  // p is 2 in practice: square, sum, root.
  add("LpPool", PoolShapeRule(), PoolCostRule(cost::kMultiplyAdd, cost::kSqrt), window);
  add("GlobalMaxPool", GlobalPoolShapeRule(), GlobalPoolCostRule(cost::kAdd, 0), whole);
  add("GlobalAveragePool", GlobalPoolShapeRule(), GlobalPoolCostRule(cost::kAdd, cost::kMultiply), whole);
  add("GlobalLpPool", GlobalPoolShapeRule(), GlobalPoolCostRule(cost::kMultiplyAdd, cost::kSqrt), whole);
  add(
      "MaxUnpool", MaxUnpoolShape,
      [](const CostContext& c) {
        Work work = TrafficOf(c);
        work.flops = Flops(InputElements(c) * cost::kIndexElement);
        return work;
      },
      "ONNX operator page MaxUnpool: every input element goes to its index");
  add("MaxRoiPool", MaxRoiPoolShape, MaxRoiPoolWork,
      "ONNX operator page MaxRoiPool: each region compares at most the whole map");
  add("RoiAlign", RoiAlignShape, RoiAlignWork,
      "He et al., Mask R-CNN, section 3: bilinear samples averaged per output element");
}

}  // namespace simpred
