// Which small values does shape arithmetic compute? Ready-made value rules that let symbols flow.
//
//   r.Add({.type = "Add", ..., .value = ElementwiseValue(ValueOp::kAdd)});
//   r.Add({.type = "ReduceProd", ..., .value = ReduceValue(ValueOp::kMul)});
//
// Each reads its inputs' known elements, broadcasts, and sets output 0. If an input has none, nothing is set. Integers
// and bools are Dims: Shape -> Gather -> Mul -> Concat keeps "2*N". Floats are numbers.
#pragma once

#include <optional>
#include <vector>

#include "operators/registry.h"

namespace simpred {

enum class ValueOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,  // integers: towards zero, as ONNX says
  kMod,  // attribute fmod of the node is respected
  kPow,
  kMin,
  kMax,
  kMean,
  kEqual,  // comparisons give bool; on symbols only if the answer is certain
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kXor,
};
// Two or more inputs, broadcast; more than two are folded from the left (Sum, Min, Max, Mean).
ValueRule ElementwiseValue(ValueOp op);

enum class UnaryOp : uint8_t { kNot, kNeg, kAbs, kFloor, kCeil, kRound, kSqrt, kReciprocal, kExp, kLog, kSign, kRelu };
ValueRule UnaryValue(UnaryOp op);

ValueRule WhereValue();  // condition, x, y
ValueRule ClipValue();   // input, min, max (or attributes)
// Reduces with kAdd, kMul, kMin, kMax or kMean over the axes (attribute or input 1), keepdims respected.
ValueRule ReduceValue(ValueOp op);
ValueRule SameValue(int input = 0);  // output 0 holds the elements of the input (Identity, Reshape; its own dims)

// Elements of every input from `first` on that is there, or nullopt if one is not known. Looks at computed inputs
// before it reads constants from the file, so that a node with one unknown input costs no page of the file.
std::optional<std::vector<std::shared_ptr<const ConstantValue>>> KnownInputs(InferenceContext& c, int first = 0);

// Building blocks.
ConstantValue IntVector(std::vector<Dim> elements);  // int64, rank 1
ConstantValue IntScalar(Dim element);                // int64, rank 0
// Number of elements that dims say; nullopt if negative or beyond ConstantValue::kMaxElements.
std::optional<size_t> SmallElementCount(const std::vector<int64_t>& dims);
// Elements of `v` at the flat positions, as a constant with these dims.
ConstantValue TakeElements(const ConstantValue& v, const std::vector<size_t>& positions, std::vector<int64_t> dims);

}  // namespace simpred
