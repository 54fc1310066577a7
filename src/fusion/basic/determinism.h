// Operators whose result two equal calls need not share: never folded, never merged.
#pragma once

#include "graph/graph.h"

namespace simpred {

bool IsDeterministic(const Node& node);
bool HasSubgraph(const Node& node);

}  // namespace simpred
