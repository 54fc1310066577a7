// How large is a resized image, and what does it cost? Resize (opset 10 and later) and Upsample (7, 9, 1).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

// floor(d * scale) in single precision, as runtimes compute it; exact on symbols where the scale is a small fraction.
Dim Scaled(const Dim& d, double scale) {
  if (!(scale > 0) || scale > 1e9) return Dim::Unknown();
  if (d.is_known()) {
    const float scaled = std::floor(static_cast<float>(d.value()) * static_cast<float>(scale));
    return scaled < 9e18F ? Dim(static_cast<int64_t>(scaled)) : Dim::Unknown();
  }
  constexpr int kLargestDenominator = 16;
  for (int q = 1; q <= kLargestDenominator; ++q) {
    const double p = scale * q;
    if (std::abs(p - std::nearbyint(p)) < 1e-6)
      return FloorDiv(d * Dim(static_cast<int64_t>(std::nearbyint(p))), Dim(q));
  }
  return Dim::Unknown();
}

// The axes that scales, sizes and roi are about: all, or the attribute `axes` (opset 18).
Result<std::vector<int>> ResizedAxes(const Node& node, int rank) {
  std::vector<int> axes;
  if (auto given = node.Ints("axes")) {
    for (int64_t a : *given) {
      SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(a, rank));
      axes.push_back(axis);
    }
    return axes;
  }
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

// keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest of those that were asked for.
void KeepAspectRatio(const std::string& policy, const Shape& in, const std::vector<int>& axes, Shape& out) {
  std::optional<double> scale;
  for (int a : axes) {
    const Dim from = in.dim(a);
    const Dim to = out.dim(a);
    if (!from.is_known() || !to.is_known() || from.value() <= 0) {
      scale.reset();
      break;
    }
    const double s = static_cast<double>(to.value()) / static_cast<double>(from.value());
    scale = !scale ? s : policy == "not_larger" ? std::min(*scale, s) : std::max(*scale, s);
  }
  for (int a : axes) {
    Dim& d = out.dims()[static_cast<size_t>(a)];
    const bool known = scale && *scale > 0 && *scale < 1e9;
    d = known ? Dim(static_cast<int64_t>(std::floor(*scale * static_cast<double>(in.dim(a).value()) + 0.5)))
              : Dim::Unknown();
  }
}

Status ApplySizes(const InferenceContext& c, const std::vector<Dim>& sizes, const std::vector<int>& axes, Shape& out) {
  if (sizes.size() != axes.size()) return ModelError(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  const Shape in = out;
  for (size_t i = 0; i < axes.size(); ++i) out.dims()[static_cast<size_t>(axes[i])] = sizes[i];
  const std::string policy = c.node().String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch") KeepAspectRatio(policy, in, axes, out);
  return OkStatus();
}

Status ApplyScales(InferenceContext& c, const std::vector<double>& scales, const std::vector<int>& axes, int roi_input,
                   Shape& out) {
  if (scales.size() != axes.size()) return ModelError(fmt::format("{} scales for {} axes", scales.size(), axes.size()));
  const bool crops = c.node().String("coordinate_transformation_mode", "") == "tf_crop_and_resize";
  const auto roi = crops ? FloatsOf(c, roi_input) : std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& d = out.dims()[static_cast<size_t>(axes[i])];
    double scale = scales[i];
    if (crops) {
      if (!roi || roi->size() != 2 * axes.size()) {
        d = Dim::Unknown();
        continue;
      }
      scale *= (*roi)[i + axes.size()] - (*roi)[i];
    }
    if (scale != 1.0) d = Scaled(d, scale);
  }
  return OkStatus();
}

bool HasElements(InferenceContext& c, int i) {
  return c.has_input(i) && !(c.input(i).shape.has_rank() && c.input(i).shape.dim(0) == Dim(0));
}

Status ResizeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  Shape out = in.shape;
  if (!out.has_rank()) {
    c.set_output(0, Tensor(in.dtype));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(std::vector<int> axes, ResizedAxes(c.node(), out.rank()));
  // Opset 10: X, scales. Later: X, roi, scales, sizes, where an empty tensor counts as omitted.
  const bool opset10 = c.opset() == 10 || c.input_count() == 2;
  const int scales_input = opset10 ? 1 : 2;
  Status applied;
  if (!opset10 && HasElements(c, 3)) {
    auto sizes = DimsOf(c, 3);
    applied = ApplySizes(c, sizes.value_or(std::vector<Dim>(axes.size())), axes, out);
  } else if (auto scales = FloatsOf(c, scales_input)) {
    applied = ApplyScales(c, *scales, axes, 1, out);
  } else {
    for (int a : axes) out.dims()[static_cast<size_t>(a)] = Dim::Unknown();
  }
  SIMPRED_RETURN_IF_ERROR(applied);
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

Status UpsampleShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const TensorType& in = c.input(0);
  std::optional<std::vector<double>> scales = c.node().Floats("scales");
  if (!scales && c.node().Float("height_scale")) {  // opset 1
    scales = {1, 1, c.node().Float("height_scale", 1), c.node().Float("width_scale", 1)};
  }
  if (!scales) scales = FloatsOf(c, 1);
  Shape out = in.shape;
  if (out.has_rank()) {
    if (scales && scales->size() != static_cast<size_t>(out.rank())) {
      return ModelError(fmt::format("{} scales for input shape {}", scales->size(), in.shape.ToString()));
    }
    for (int i = 0; i < out.rank(); ++i) {
      Dim& d = out.dims()[static_cast<size_t>(i)];
      d = scales ? Scaled(d, (*scales)[static_cast<size_t>(i)]) : Dim::Unknown();
    }
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

Work ResizeCost(const CostContext& c) {
  Work w;
  if (c.inputs.empty() || c.outputs.empty() || c.node == nullptr) return w;
  const CostTensor& in = c.inputs[0];
  const CostTensor& out = c.outputs[0];
  int resized = 0;
  for (size_t i = 0; i < std::min(in.dims.size(), out.dims.size()); ++i) resized += in.dims[i] != out.dims[i] ? 1 : 0;
  const std::string mode = c.node->String("mode", "nearest");
  double flops_per_element = cost::kIndexElement;
  int64_t samples = 1;  // input elements behind one output element
  for (int i = 0; i < std::min(resized, 8); ++i) {
    if (mode == "linear" || mode == "bilinear") {
      flops_per_element += cost::kLinearPerAxis;
      samples *= 2;
    } else if (mode == "cubic") {
      flops_per_element += cost::kCubicPerAxis;
      samples *= 4;
    }
  }
  const Bytes touched = std::min(in.bytes(), StorageSize(in.dtype, out.elements()) * samples);
  (in.constant ? w.weights : w.read) += c.node->Int("antialias", 0) != 0 ? in.bytes() : touched;
  for (size_t i = 1; i < c.inputs.size(); ++i) (c.inputs[i].constant ? w.weights : w.read) += c.inputs[i].bytes();
  w.written = out.bytes();
  w.flops = Flops(flops_per_element * OutputElements(c));
  return w;
}

}  // namespace

void RegisterResize(Registry& r) {
  const char* source =
      "ONNX Resize: 1, 2^d or 4^d samples an output element (nearest, linear, cubic over d resized axes), one "
      "interpolation an axis; never more input than there is";
  r.Add({.type = "Resize",
         .op_class = OperatorClass::kDataMovement,
         .shape = ResizeShape,
         .cost = ResizeCost,
         .source = source});
  r.Add({.type = "Upsample",
         .op_class = OperatorClass::kDataMovement,
         .shape = UpsampleShape,
         .cost = ResizeCost,
         .source = source});
}

}  // namespace simpred
