// The elements of a small folded constant, where later rules compare them: scales, epsilons, exponents, shapes.
#pragma once

#include "fusion/rewriter.h"

namespace simpred {

// Fills value.constant of n's output if the operator is known and all inputs are small known constants. The output's
// elements stay unknown otherwise; they are then a constant all the same.
void EvaluateSmall(Rewriter& r, NodeId n);

}  // namespace simpred
