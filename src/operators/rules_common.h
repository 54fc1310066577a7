// What do most rules need? Reading inputs and attributes, axes, broadcasting, ready-made shape and cost rules.
//
//   Status ConcatShape(InferenceContext& c) {
//     SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
//     ...
//     SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", 0), rank));
//
// Ready-made value rules (shape arithmetic on symbols) stand in value_rules.h.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "operators/registry.h"

namespace simpred {

// --- Types ---------------------------------------------------------------------------------------------------------

TensorType Tensor(DataType t, Shape shape = {});

// The data type that an ONNX TensorProto.DataType number (attributes `to`, `dtype`) stands for; undefined if none.
DataType FromOnnxType(int64_t onnx_number);

// --- Inputs --------------------------------------------------------------------------------------------------------

// kModel if fewer than n leading inputs are there; a rule that calls this may use input(0..n-1).
Status RequireInputs(const InferenceContext& c, int n);
// The shape of input i, known to have this rank (or unknown rank: OfRank(rank)); kModel if it has another.
Result<Shape> RequireRank(const InferenceContext& c, int i, int rank);
// As above with at least this rank; a shape of unknown rank is returned as it is: check has_rank().
Result<Shape> RequireRankAtLeast(const InferenceContext& c, int i, int rank);

// Elements of an integer (or bool) constant input; single elements may be symbolic or unknown. nullopt: not known.
std::optional<std::vector<Dim>> DimsOf(InferenceContext& c, int i);
// All of them numbers.
std::optional<std::vector<int64_t>> IntsOf(InferenceContext& c, int i);
std::optional<int64_t> IntOf(InferenceContext& c, int i);                 // a one-element input
std::optional<Dim> DimOf(InferenceContext& c, int i);                     // the same, possibly symbolic
std::optional<std::vector<double>> FloatsOf(InferenceContext& c, int i);  // of floats or known integers

// A tensor in an attribute of the node; null if there is none.
const TensorAttribute* TensorOf(const Node& node, std::string_view key);

// Operators whose attribute became an input (axes of Squeeze, ReduceSum, pads of Pad, ...).
struct IntsArgument {
  bool given = false;                        // false: neither attribute nor input is there, the default applies
  std::optional<std::vector<int64_t>> ints;  // nullopt although given: computed at run time
};
IntsArgument AttributeOrInput(InferenceContext& c, std::string_view attribute, int input);
// The same for cost rules.
IntsArgument AttributeOrInput(const CostContext& c, std::string_view attribute, int input);

// --- Axes ----------------------------------------------------------------------------------------------------------

// -rank..rank-1 -> 0..rank-1; kModel names axis and rank. (axis == rank passes ResolveAxis with inclusive = true.)
Result<int> ResolveAxis(int64_t axis, int rank, bool inclusive = false);
// All of them, ascending, each once.
Result<std::vector<int>> ResolveAxes(const std::vector<int64_t>& axes, int rank);
// Saturating product of dims[from..to).
Dim Product(const Shape& s, int from, int to);

// --- Ready-made shape rules ----------------------------------------------------------------------------------------

ShapeRule SameAsInput(int i = 0);                        // output 0: type and shape of input i
ShapeRule SameShapeWithType(DataType t, int input = 0);  // output 0: shape of the input, another type
ShapeRule BroadcastInputs(int first = 0);       // output 0: broadcast of all inputs from `first`, type of the first
ShapeRule BroadcastInputsWithType(DataType t);  // the same, another type (comparisons: kBool)
// The broadcast of the shapes of inputs [first, last); kModel names both shapes on contradiction.
Result<Shape> BroadcastOf(const InferenceContext& c, int first, int last);

// --- Ready-made cost rules -----------------------------------------------------------------------------------------

// Every input once, every output once, `flops` per element of output 0.
CostRule PerElement(double flops);
// Nothing moves: a view. What a runtime pays for starting it is no work of the operator.
CostRule ViewCost();
// What output 0 holds is read once from input 0 and written once; the other inputs (indices, pads) are read whole.
CostRule MovesOutput(double flops_per_element = 0);
// Sum over inputs into read and weights, over outputs into written, no flops.
Work TrafficOf(const CostContext& c);
Bytes ReadOf(const CostContext& c, size_t input);  // 0 if absent; for both activations and constants
double OutputElements(const CostContext& c, size_t output = 0);
double InputElements(const CostContext& c, size_t input = 0);

}  // namespace simpred
