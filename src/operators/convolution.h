// What shape and work has a convolution? Shared by Conv, its transposed and quantised kin, and the runtimes' fused,
// channels-last and blocked forms.
//
// Work: 2 * N * Cout * prod(out) * Cin/groups * prod(kernel): every output element is one dot product over the weights
// of its channel (ONNX operator page Conv).
#pragma once

#include "operators/registry.h"

namespace simpred {

// Where a convolution's tensors stand among the node's inputs (quantised forms put scales between them).
struct ConvLayout {
  int x = 0;
  int w = 1;
  int bias = 2;
  bool channels_last = false;  // X and Y; weights stay [Cout, Cin/group, kernel...]
  bool transposed = false;     // weights are [Cin, Cout/group, kernel...]
  int channel_slack = 0;       // by how many channels X may differ from the weights (blocked layouts pad)
};

// Output shape; unknown rank if nothing tells it. Contradictions name both shapes.
Result<Shape> ConvOutputShape(const InferenceContext& c, const ConvLayout& layout);
// Sets output 0. `dtype` undefined: that of X.
ShapeRule ConvShapeRule(ConvLayout layout, DataType dtype = DataType::kUndefined);

// Traffic, the dot products, the bias, and `per_output` further operations on each output element.
Work ConvWork(const CostContext& c, const ConvLayout& layout, double per_output = 0);
CostRule ConvCostRule(ConvLayout layout, double per_output = 0);

}  // namespace simpred
