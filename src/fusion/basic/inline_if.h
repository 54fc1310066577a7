// If with a condition that is a constant: the branch that runs takes its place.
#pragma once

#include "fusion/rewriter.h"

namespace simpred {

bool InlineIf(Rewriter& r, NodeId n);

}  // namespace simpred
