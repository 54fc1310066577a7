// How does a call of one of the model's own functions become nodes? Its body is copied in the place of the call.
//
// Names of copied nodes and values are prefixed with the call's name ("block3/MatMul_1"). Attributes that refer to the
// caller's take its values, or the function's defaults. Recursion is refused, and so is a model that would grow beyond
// a million nodes.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace simpred {

inline constexpr int64_t kMaxInlinedNodes = 1'000'000;
inline constexpr int64_t kMaxInlinedWeight = 4 * kMaxInlinedNodes;  // nodes, values and attributes together

// Replaces every call in the graph and its subgraphs; nothing happens to a model without functions.
Status InlineFunctions(Model& model);

// Every subgraph that the attributes of this node hold.
std::vector<std::shared_ptr<Graph>> SubgraphsOf(const Node& node);

}  // namespace simpred
