// Kernels that this runtime does not make itself are marked, and keep the names of what they stand for.
#pragma once

#include "fusion/rules.h"
#include "workload/attributes.h"

namespace simpred {

inline void MarkHypothetical(Rewriter& r, NodeId n) { r.node(n).Set(kHypotheticalAttribute, int64_t{1}); }

// A rule for FusionOptions::aggressive; `source` says where such a kernel is known from.
inline FusionRule MakeHypotheticalRule(std::string name, std::string summary, std::string source,
                                       int (*rewrite)(Rewriter&)) {
  FusionRule rule = MakeRule(std::move(name), FusionLevel::kAll, std::move(summary), rewrite);
  rule.source = std::move(source);
  rule.verified = false;
  rule.hypothetical = true;
  return rule;
}

}  // namespace simpred
