// How much memory do weights and living activations take?
#pragma once

#include <functional>
#include <vector>

#include "base/units.h"
#include "graph/graph.h"

namespace simpred {

// Every value that a node reads, by itself or from inside its subgraphs.
void ForEachRead(const Node& node, const std::function<void(ValueId)>& f);
// Each constant that a living node reads, once.
Bytes WeightsOf(const Graph& graph, const std::vector<NodeId>& order);
// The largest sum of activations that live at the same time: from their maker to their last reader, inputs from the
// start, outputs to the end.
Bytes PeakActivationsOf(const Graph& graph, const std::vector<NodeId>& order);

}  // namespace simpred
