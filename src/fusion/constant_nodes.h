// Constant nodes are initializers that were written as nodes; a runtime makes initializers of them when it loads.
#pragma once

#include "graph/graph.h"

namespace simpred {

void MakeInitializersOfConstantNodes(Graph& graph);

}  // namespace simpred
