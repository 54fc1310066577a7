// What shape and work has a normalization? Softmax, layer, RMS, group, batch and instance norms, shared with the
// runtimes' skip and bias forms.
#pragma once

#include "operators/cost_constants.h"
#include "operators/registry.h"

namespace simpred {

// Per element: running maximum, subtraction and exp, sum, multiplication by the reciprocal of the sum.
inline constexpr double kSoftmaxOperations = 2 * cost::kAdd + cost::kExp + cost::kAdd + cost::kMultiply;
// Per element: mean (1), deviation and its square sum (1 + 2), scaling (1), affine (2).
inline constexpr double kLayerNormOperations = 7;
// Per element: square sum (2), scaling (1), weight (1).
inline constexpr double kRmsNormOperations = 4;

// x, scale of the normalised axes (from `axis` on), bias. The statistics outputs (1 and 2) have the normalised axes as
// one; their type is float32 unless stash_type says otherwise.
ShapeRule LayerNormShapeRule();
// `per_element` operations on each element of input 0 and the root of each row.
CostRule PerInputElement(double per_element);

}  // namespace simpred
