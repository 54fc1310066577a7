// Which kernels does the runtime make of the graph? One rule per file, named, switchable; one rule set per runtime.
//
//   FusionOptions o{.level = FusionLevel::kAll};
//   Result<FusionReport> r = Fuse(model, OnnxRuntimeRules(), o);    // rewrites model.graph in place
//
// After each pass the graph is verified. A rule that fires says which nodes it replaced. A rule that leaves an
// inconsistent graph is a fault of ours and no reason to have no prediction: the rules run again without it, and the
// model gets a warning.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "operators/infer.h"
#include "operators/registry.h"

namespace simpred {

// ONNX Runtime's graph optimisation levels 0, 1, 2, 99.
enum class FusionLevel : uint8_t { kOff, kBasic, kExtended, kAll };

struct FusionRule {
  std::string name;      // "conv-add-activation"
  FusionLevel level;     // the lowest level at which it runs
  std::string summary;   // before -> after, one line
  std::string source;    // public document or file it was learned from
  bool verified = true;  // confirmed by a real optimised model
  // Possible, but not made by this runtime itself: runs only with FusionOptions::aggressive.
  bool hypothetical = false;
  // Rewrites as often as it matches; gives the number of rewrites.
  std::function<Result<int>(Model&, struct FusionContext&)> apply;
};

struct FusionOptions {
  FusionLevel level = FusionLevel::kAll;
  std::set<std::string> off = {};  // rule names
  bool aggressive = false;         // also what this runtime does not do itself
  int nchwc_block = 16;            // channels per block: 16 with AVX-512, 8 with AVX2; 0: no blocked layout
  int64_t intra_op_threads = 1;
  // What InferShapes was told. With it, dimensions without a name in the file stay open while the rules run, as they
  // do in the runtime (runtime_shapes.h); without it, every shape that is known now counts as known to the runtime.
  const InferOptions* binding = nullptr;
};

struct FusionContext {
  const FusionOptions* options;
  const Registry* registry;
};

struct FusionReport {
  struct Applied {
    std::string rule;
    int rewrites;
  };
  std::vector<Applied> applied;     // in order of execution; rules with no rewrite are left out
  std::vector<std::string> failed;  // rules that were undone
};

// The model must have gone through InferShapes. Types of new values are filled in.
Result<FusionReport> Fuse(Model& model, const std::vector<FusionRule>& rules, const FusionOptions& options,
                          const Registry& registry = Registry::Default());

// What ONNX Runtime's CPU provider does, in its order.
const std::vector<FusionRule>& OnnxRuntimeRules();

}  // namespace simpred
