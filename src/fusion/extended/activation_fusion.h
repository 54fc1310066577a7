// Which activations end up inside a Conv, and the attributes that they leave there.
#pragma once

#include "fusion/rewriter.h"

namespace simpred {

// Relu, Sigmoid, Tanh, LeakyRelu, HardSigmoid, and Clip with constant bounds.
bool IsConvActivation(Rewriter& r, NodeId n);
// Sets "activation" and, where it has any, "activation_params" on `conv`.
void SetActivation(Rewriter& r, NodeId conv, const Node& activation, double clip_min, double clip_max);
// Bounds of a Clip; the defaults where it has none.
std::pair<double, double> ClipBounds(Rewriter& r, NodeId clip);

}  // namespace simpred
