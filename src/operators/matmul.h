// What shape and work has a matrix product? Shared by MatMul, Gemm, their quantised kin and the runtimes' fused forms.
//
// Work: 2 * batch * M * N * K.
#pragma once

#include <optional>

#include "operators/registry.h"

namespace simpred {

// NumPy's matmul: batches broadcast, vectors are promoted and demoted. The inner dimensions must agree; the error names
// both shapes. trans: the last two axes are swapped before; trans_batch (com.microsoft.FusedMatMul): the first axis is
// moved before the last one before that.
struct MatMulForm {
  bool trans_a = false, trans_b = false;
  bool trans_batch_a = false, trans_batch_b = false;
};
MatMulForm FormOf(const Node& node);  // transA, transB, transBatchA, transBatchB
Result<Shape> MatMulOutputShape(const Shape& a, const Shape& b, const MatMulForm& form = {});
// Output 0 = inputs a and b multiplied; dtype undefined: that of input a.
ShapeRule MatMulShapeRule(int a, int b, DataType dtype = DataType::kUndefined);

// Two matrices and a bias that broadcasts to their product; Gemm's attributes transA, transB.
Result<Shape> GemmOutputShape(const InferenceContext& c, int a, int b, int bias);
ShapeRule GemmShapeRule(int a, int b, int bias, DataType dtype = DataType::kUndefined);

// Traffic and 2 * elements(output 0) * K, with K from input a, plus `per_output` operations on each output element.
Work MatMulWork(const CostContext& c, size_t a, double per_output = 0);
CostRule MatMulCostRule(int a, double per_output = 0);
// As above, and the additions of the bias where input `bias` is there.
CostRule GemmCostRule(int a, int bias, double per_output = 0);

}  // namespace simpred
