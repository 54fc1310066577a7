// What does an Einsum equation mean? Labels, output shape and the work of contracting its operands from left to right.
//
//   Result<Einsum> e = ParseEinsum("bij,bjk->bik", {a_shape, b_shape});
//   e->output                  [b, i, k] of the operands
//
// Grammar: the ONNX operator page of Einsum (NumPy's, with "..." and the implicit output in alphabetical order).
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "graph/shape.h"

namespace simpred {

struct Einsum {
  static constexpr int kMaxLabels = 128;
  std::vector<std::vector<int>> operands;  // labels of each operand's axes, as indices of `sizes`
  std::vector<int> result;                 // labels of the output's axes
  std::vector<Dim> sizes;                  // of each label
  Shape output;
};

// Operands of unknown rank give an output of unknown rank if "..." stands in the equation. A label with two sizes, an
// operand whose rank does not match its term, and an output label that no operand has are errors.
Result<Einsum> ParseEinsum(std::string_view equation, const std::vector<Shape>& operands);

// Every size known. A multiply-add counts two; summing one operand counts one per element; a permutation counts none.
Flops EinsumFlops(const Einsum& e);

}  // namespace simpred
