// Attributes of a kernel as canonical text: what does not change its time is left out, and so is what only repeats a
// default, because runtimes write defaults out and models do not.
#pragma once

#include <map>
#include <string>

#include "workload/workload.h"

namespace simpred {

// Set by rules that do more than the runtime; becomes Kernel::hypothetical.
inline constexpr const char* kHypotheticalAttribute = "simpred_hypothetical";

// `k` has its tensors already: negative axes are counted from the front.
std::map<std::string, std::string> CanonicalAttributes(const Node& node, const Kernel& k);

}  // namespace simpred
