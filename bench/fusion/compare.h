// How do two kernel lists of one model differ?
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/status.h"
#include "fusion/fusion.h"
#include "operators/infer.h"
#include "workload/workload.h"

namespace simpred {

struct Comparison {
  int ours = 0, theirs = 0, matched = 0;  // kernels; matched by type
  int same_signature = 0;                 // matched by everything that a record is keyed by
  bool equal() const { return matched == ours && matched == theirs; }
  std::string differences;  // "Relu:3/2 Conv:5/6", ours/theirs
};

Comparison Compare(const Workload& ours, const Workload& theirs);
// Our list of a model.
Result<Workload> OurKernels(const std::filesystem::path& model, const InferOptions& binding, FusionLevel level);
// The list that a saved optimised model contains.
Result<Workload> SavedKernels(const std::filesystem::path& optimised, const InferOptions& binding);

}  // namespace simpred
