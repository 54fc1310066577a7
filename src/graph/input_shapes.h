// The shapes with which a model is run, as one canonical text: "image=1x3x224x224,mask=1x1".
//
// Records, runs and predictions of one model at other shapes are other records; this text tells them apart.
#pragma once

#include <string>

#include "graph/graph.h"

namespace simpred {

// In the order of the graph's inputs; unbound dimensions as their symbol or "?"; a scalar as "scalar".
std::string InputShapesText(const Graph& graph);

}  // namespace simpred
