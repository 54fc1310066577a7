// What shape and work has a pooling? Shared by the ONNX operators and the runtimes' quantised, channels-last and
// blocked forms.
#pragma once

#include "operators/registry.h"

namespace simpred {

struct PoolLayout {
  bool channels_last = false;
};

// Windows slide over input 0; the output has the type of input 0.
Result<Shape> PoolOutputShape(const InferenceContext& c, const PoolLayout& layout);
// All spatial axes become 1.
Result<Shape> GlobalPoolOutputShape(const InferenceContext& c, const PoolLayout& layout);

ShapeRule PoolShapeRule(PoolLayout layout = {});
ShapeRule GlobalPoolShapeRule(PoolLayout layout = {});

// `per_point` operations for each point under the window, `per_output` for each result.
CostRule PoolCostRule(double per_point, double per_output);
CostRule GlobalPoolCostRule(double per_point, double per_output);

}  // namespace simpred
