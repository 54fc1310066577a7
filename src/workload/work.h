// The work of one node, subgraphs included.
#pragma once

#include "graph/graph.h"
#include "operators/registry.h"

namespace simpred {

// Dimensions that are not known count as one (inside a subgraph only: the nodes of the main graph are static).
Work WorkOfNode(Model& model, Graph& graph, const Node& node, const Registry& registry);

}  // namespace simpred
