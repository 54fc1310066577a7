// Shapes and small values of a whole model, in one pass over the nodes in order.
//
//   InferOptions o{.input_shapes = {{"data", Shape{1, 3, 224, 224}}}, .symbols = {{"batch", 1}}};
//   Result<InferReport> r = InferShapes(model, o);     // fills type and constant of every value
//
// Binding is an overlay: the file is never rewritten. What an input_shape says must not contradict the file's declared
// shape (a declared symbol is bound by it); the error names input, both shapes, and the axis.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "operators/registry.h"

namespace simpred {

struct InferOptions {
  std::map<std::string, Shape> input_shapes = {};  // key "" : the model's only input
  SymbolBindings symbols = {};
  std::map<std::string, int64_t> trip_counts = {};  // node name -> iterations
  // Sizes that only the data decides (NonZero, NonMaxSuppression) take their upper bound, with a warning, where the
  // bound is known and the symbol is not given. Otherwise they stay symbols.
  bool assume_upper_bounds = false;
};

struct InferReport {
  std::vector<Warning> warnings;
  std::vector<std::string> operators_without_rule;  // qualified types, sorted
  std::set<std::string> free_symbols;               // with none bound: what the user may bind
  std::map<std::string, Dim> data_dependent;        // symbols made by inference -> upper bound (unknown: none)
  int64_t outputs_total = 0, outputs_ranked = 0, outputs_static = 0;
  struct Stop {  // the first node that lost a shape, for each root cause
    NodeId node;
    std::string reason;  // "needs the value of input 'shape', which is computed by NonZero 'nz'"
  };
  std::vector<Stop> stops;
};

Result<InferReport> InferShapes(Model& model, const InferOptions& options,
                                const Registry& registry = Registry::Default());

}  // namespace simpred
