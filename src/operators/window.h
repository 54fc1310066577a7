// How far does a sliding window go? The geometry that convolution, pooling and their fused, quantised and blocked kin
// share: kernel, strides, dilations, padding in all its forms.
//
//   Result<Window> w = ReadWindow(node, 2, {3, 3});       // attributes, checked
//   Result<Dim> h = OutputSize(*w, 0, Dim::Symbol("H"));  // "floor((H - 3)/2) + 1"
//
// Formulas: the ONNX operator pages of Conv, ConvTranspose, MaxPool and AveragePool.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "graph/shape.h"

namespace simpred {

struct Window {
  enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };
  std::vector<int64_t> kernel;  // a number of zero or less: not known
  std::vector<int64_t> strides, dilations, pads_begin, pads_end;
  std::vector<int64_t> output_padding;  // ConvTranspose
  std::vector<int64_t> output_shape;    // ConvTranspose; empty if not given
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;

  int rank() const { return static_cast<int>(strides.size()); }
  // Points that one output element sees.
  double KernelPoints() const;
};

// The attributes of `node` for `spatial_rank` axes. `kernel_of_weights` is what the weights' shape says (empty: there
// are no weights, and kernel_shape is required); kernel_shape must not contradict it. Wrong lengths, strides below one
// and numbers no machine could hold are errors that name the attribute.
Result<Window> ReadWindow(const Node& node, int spatial_rank, const std::vector<int64_t>& kernel_of_weights);

// How many places the window takes along spatial axis `axis` of size `input`. An unknown kernel gives an unknown size;
// a window larger than its padded input is an error.
Result<Dim> OutputSize(const Window& window, int axis, const Dim& input);
// The other direction: ConvTranspose and MaxUnpool.
Result<Dim> TransposedOutputSize(const Window& window, int axis, const Dim& input);

}  // namespace simpred
