// Over which operators can a Transpose be pushed, and what does that do to them?
#pragma once

#include <string_view>
#include <vector>

#include "fusion/rewriter.h"

namespace simpred {

using Permutation = std::vector<int64_t>;

// What one push is about: `transpose` with `perm` feeds `node`.
struct PushContext {
  Rewriter& r;
  bool on_cpu;  // after nodes were assigned to the CPU provider: Resize can be pushed over too
  NodeId transpose;
  NodeId node;
  Permutation perm, inverse;
  std::vector<size_t> inputs;  // positions of `node` that must be transposed together
};

struct PushHandler {
  std::vector<size_t> (*inputs)(Rewriter&, NodeId);
  // False, and nothing changed: cannot be pushed.
  bool (*push)(PushContext&);
  bool transposes_outputs = true;
};

// Null: a Transpose stops in front of it.
const PushHandler* FindPushHandler(const Node& node);

// The building blocks of handlers.
void TransposeInput(Rewriter& r, NodeId n, size_t i, const Permutation& perm);
void TransposeOutputs(Rewriter& r, NodeId n, const Permutation& perm);
// Brings the inputs at `positions` to `rank` by Unsqueeze (constants are reshaped). False if a rank is not known or too
// large.
bool NormalizeRanks(Rewriter& r, NodeId n, size_t rank, const std::vector<size_t>& positions);
Shape PermuteShape(const Shape& s, const Permutation& perm);

}  // namespace simpred
