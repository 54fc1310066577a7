#include "operators/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>

namespace simpred {
namespace {

// Larger than any tensor's side; products of two still fit 64 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 30;

// An attribute of one number per axis, or `fallback` for each.
Result<std::vector<int64_t>> PerAxis(const Node& node, std::string_view key, size_t count, int64_t fallback,
                                     int64_t least) {
  std::optional<std::vector<int64_t>> given = node.Ints(key);
  if (!given || given->empty()) return std::vector<int64_t>(count, fallback);
  if (given->size() != count) {
    return ModelError(fmt::format("{} needs {} numbers, has {}", key, count, given->size()));
  }
  for (int64_t v : *given) {
    if (v < least || v > kMaxExtent) return ModelError(fmt::format("{} must not contain {}", key, v));
  }
  return *given;
}

Result<Window::AutoPad> ReadAutoPad(const Node& node) {
  const std::string text = node.String("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return Window::AutoPad::kNotSet;
  if (text == "SAME_UPPER") return Window::AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return Window::AutoPad::kSameLower;
  if (text == "VALID") return Window::AutoPad::kValid;
  return ModelError(fmt::format("auto_pad '{}' is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID", text));
}

Result<std::vector<int64_t>> ReadKernel(const Node& node, size_t axes, const std::vector<int64_t>& of_weights) {
  const std::optional<std::vector<int64_t>> given = node.Ints("kernel_shape");
  if (!given || given->empty()) {
    if (of_weights.empty() && axes > 0) return ModelError("attribute kernel_shape is missing");
    return of_weights;
  }
  SIMPRED_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, PerAxis(node, "kernel_shape", axes, 1, 1));
  for (size_t i = 0; i < of_weights.size() && i < kernel.size(); ++i) {
    if (of_weights[i] > 0 && of_weights[i] != kernel[i]) {
      return ModelError(fmt::format("kernel_shape [{}] contradicts the weights' [{}]", fmt::join(kernel, ", "),
                                    fmt::join(of_weights, ", ")));
    }
  }
  return kernel;
}

bool IsSame(Window::AutoPad p) { return p == Window::AutoPad::kSameUpper || p == Window::AutoPad::kSameLower; }

}  // namespace

double Window::KernelPoints() const {
  double points = 1;
  for (int64_t k : kernel) points *= static_cast<double>(k);
  return points;
}

Result<Window> ReadWindow(const Node& node, int spatial_rank, const std::vector<int64_t>& kernel_of_weights) {
  const size_t axes = static_cast<size_t>(spatial_rank < 0 ? 0 : spatial_rank);
  Window w;
  SIMPRED_ASSIGN_OR_RETURN(w.auto_pad, ReadAutoPad(node));
  SIMPRED_ASSIGN_OR_RETURN(w.kernel, ReadKernel(node, axes, kernel_of_weights));
  SIMPRED_ASSIGN_OR_RETURN(w.strides, PerAxis(node, "strides", axes, 1, 1));
  SIMPRED_ASSIGN_OR_RETURN(w.dilations, PerAxis(node, "dilations", axes, 1, 1));
  SIMPRED_ASSIGN_OR_RETURN(w.output_padding, PerAxis(node, "output_padding", axes, 0, 0));
  SIMPRED_ASSIGN_OR_RETURN(std::vector<int64_t> pads, PerAxis(node, "pads", 2 * axes, 0, -kMaxExtent));
  if (w.auto_pad != Window::AutoPad::kNotSet) pads.assign(2 * axes, 0);
  w.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  if (node.Ints("output_shape")) {
    std::vector<int64_t> shape = *node.Ints("output_shape");
    // Some exporters write the batch and channel sizes too.
    if (shape.size() == axes + 2) shape.erase(shape.begin(), shape.begin() + 2);
    if (!shape.empty() && shape.size() != axes) {
      return ModelError(fmt::format("output_shape needs {} numbers, has {}", axes, shape.size()));
    }
    for (int64_t v : shape) {
      if (v < 0 || v > kMaxExtent) return ModelError(fmt::format("output_shape must not contain {}", v));
    }
    w.output_shape = std::move(shape);
  }
  w.ceil_mode = node.Int("ceil_mode", 0) != 0;
  return w;
}

Result<Dim> OutputSize(const Window& window, int axis, const Dim& input) {
  const size_t i = static_cast<size_t>(axis);
  const int64_t stride = window.strides[i];
  if (IsSame(window.auto_pad)) return CeilDiv(input, Dim(stride));
  if (i >= window.kernel.size() || window.kernel[i] <= 0) return Dim::Unknown();
  const Dim reach((window.kernel[i] - 1) * window.dilations[i] + 1);
  const Dim padded = input + Dim(window.pads_begin[i]) + Dim(window.pads_end[i]);
  const Dim free = padded - reach;
  if (free.is_known() && free.value() < 0) {
    if (input.value() == 0) return Dim(0);
    return ModelError(fmt::format("a window of {} is larger than its input of {} with padding {} and {}", reach.value(),
                                  input.value(), window.pads_begin[i], window.pads_end[i]));
  }
  if (!window.ceil_mode) return FloorDiv(free, Dim(stride)) + Dim(1);
  // No window may start in the padding at the end: (out - 1) * stride < input + begin.
  return Min(CeilDiv(free, Dim(stride)) + Dim(1), CeilDiv(input + Dim(window.pads_begin[i]), Dim(stride)));
}

Result<Dim> TransposedOutputSize(const Window& window, int axis, const Dim& input) {
  const size_t i = static_cast<size_t>(axis);
  if (!window.output_shape.empty()) return Dim(window.output_shape[i]);
  if (input == Dim(0)) return Dim(0);
  const Dim stride(window.strides[i]);
  if (IsSame(window.auto_pad)) return input * stride;
  if (i >= window.kernel.size() || window.kernel[i] <= 0) return Dim::Unknown();
  const Dim reach((window.kernel[i] - 1) * window.dilations[i] + 1);
  const Dim out = stride * (input - Dim(1)) + Dim(window.output_padding[i]) + reach - Dim(window.pads_begin[i]) -
                  Dim(window.pads_end[i]);
  if (out.is_known() && out.value() < 0) {
    return ModelError(
        fmt::format("padding {} and {} leaves nothing of an output", window.pads_begin[i], window.pads_end[i]));
  }
  return out;
}

}  // namespace simpred
