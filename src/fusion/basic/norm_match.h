// What the layer normalisation rules share.
#pragma once

#include "fusion/rewriter.h"

namespace simpred {

// A reduction over the last axis only. Gives that axis as the runtime writes it (-1).
bool ReducesLastAxis(Rewriter& r, NodeId reduce);
NodeId ParentOfType(Rewriter& r, NodeId n, std::string_view type);  // the first input made by such a node
NodeId ChildOfType(Rewriter& r, NodeId n, std::string_view type);   // the first reader of such a type
bool IsNormType(DataType t);
// The one-dimensional input of a Mul or Add (the scale, the bias); the last one if both are.
ValueId OneDimensionalInput(Rewriter& r, NodeId n);

}  // namespace simpred
