// What does an activation cost? One table by name, for the operators themselves and for the fused forms that name one
// in an attribute ("Relu", "HardSwish"; recurrent layers: "Tanh", "ScaledTanh").
#pragma once

#include <span>
#include <string_view>

#include "graph/graph.h"

namespace simpred {

struct Activation {
  std::string_view name;
  double operations;  // per element
  bool is_operator;   // has an operator of this name in ai.onnx
};
std::span<const Activation> Activations();

// Operations per element; case does not matter. An unknown name counts as one exponential function: most are made of
// one. An empty name, and "none", count nothing.
double ActivationOperations(std::string_view name);
// That of the attribute `activation` of a fused node; null counts nothing.
double FusedActivationOperations(const Node* node);

}  // namespace simpred
