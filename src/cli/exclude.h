// Which kernels does `exclude` of the config leave out?
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/config.h"
#include "workload/workload.h"

namespace simpred {

// Names of kernels, in execution order. A rule names a kernel or a node of the model that went into one.
// `after: a`: what depends on a. `between: [a, b]`: what depends on a and what b depends on, without both.
// Errors: kUsage with the nearest name.
Result<std::vector<std::string>> ExcludedKernels(const Workload& w, const std::vector<ExcludeRule>& rules);

}  // namespace simpred
