// Who judges, who is fitted, who corrects? Drawn first, from the distinct kernels of one model.
//
// The judge is a random part and is never seen by anything else. Of the rest, `sample_ratio` of all distinct kernels
// may be fitted: chosen to cover the shape space (farthest-point order per kernel group in feature space), not at
// random. What remains corrects: the closed loop looks at it and stops on it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "workload/workload.h"

namespace simpred {

struct Split {
  std::set<std::string> judge, fit, correct;  // signatures
};

// `distinct`: one kernel per signature. At least one judge when there are two kernels or more.
Split SplitKernels(const std::vector<const Kernel*>& distinct, double sample_ratio, uint64_t seed);

}  // namespace simpred
