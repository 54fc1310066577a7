// What folding constants into a Conv needs: constant weights, a bias, a constant that broadcasts over channels.
#pragma once

#include "fusion/rewriter.h"

namespace simpred {

// Weights are constant, and so is the bias if there is one.
bool HasConstantWeights(Rewriter& r, NodeId conv);
// `v` is [C, 1, 1] or [1, C, 1, 1] for a Conv with C output channels and two spatial dimensions (any number alike).
bool BroadcastsOverChannels(Rewriter& r, NodeId conv, ValueId v);
// Replaces weights (and bias, made if there was none and `with_bias`) by constants of the same shape whose elements are
// the runtime's business, and lets the Conv write what `last` wrote.
NodeId FoldIntoConv(Rewriter& r, NodeId conv, NodeId last, bool with_bias);

}  // namespace simpred
