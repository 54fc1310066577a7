// How do two kernel lists of one model differ?
//
// Lists are compared as multisets: by kernel type, and by signature (everything that a record is keyed by: type,
// attributes, shapes, types and layouts of all tensors). Where a shape is known at run time only there are no
// signatures, and only the types are compared.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/status.h"
#include "fusion/fusion.h"
#include "operators/infer.h"

namespace simpred::bench {

struct KernelList {
  std::map<std::string, int> types, signatures;
  bool has_signatures = false;
  int size() const;
};

struct Comparison {
  int ours = 0, theirs = 0, matched = 0;       // kernels; matched by type
  int signed_kernels = 0, same_signature = 0;  // of the longer list; zero without signatures
  bool Equal() const { return matched == ours && matched == theirs; }
  std::string differences;            // "Conv:5/6 Relu:3/2", ours/theirs
  std::string signature_differences;  // one per line, "+" ours only, "-" theirs only
};

Comparison Compare(const KernelList& ours, const KernelList& theirs);
// What the rules make of a model.
Result<KernelList> PredictedKernels(const std::filesystem::path& model, const InferOptions& binding,
                                    FusionOptions options);
// What a saved optimised model contains.
Result<KernelList> SavedKernels(const std::filesystem::path& optimized, const InferOptions& binding);

}  // namespace simpred::bench
