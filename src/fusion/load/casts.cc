// CastLike(x, y)            ==>    Cast(x)          (the runtime has no kernel for it, it expands its definition)
// x -> Cast(same type) -> y  ==>    x -> y
//
// Both happen at every level, off included; there the second only in chains of Cast, from the basic level on anywhere.
#include <algorithm>

#include "fusion/rules.h"

namespace simpred {
namespace {

int RewriteCastLike(Rewriter& r) {
  if (!r.Has({"CastLike"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "CastLike")) continue;
    r.Fuse({n}, "Cast", kOnnx, {r.input(n, 0)});
    ++count;
  }
  return count;
}

bool StandsBesideACast(Rewriter& r, NodeId n) {
  if (r.Is(r.InputNode(n, 0), "Cast")) return true;
  const std::vector<NodeId>& readers = r.Uses(r.output(n));
  return std::any_of(readers.begin(), readers.end(), [&](NodeId u) { return r.Is(u, "Cast"); });
}

int RewriteDuplicates(Rewriter& r, bool chains_only) {
  if (!r.Has({"Cast"})) return 0;
  int count = 0;
  std::vector<NodeId> candidates;
  for (NodeId n : r.order())
    if (r.Is(n, "Cast") && r.input(n, 0) != kNoValue && (!chains_only || StandsBesideACast(r, n)))
      candidates.push_back(n);
  for (NodeId n : candidates) {
    const DataType from = r.dtype(r.input(n, 0));
    if (from != DataType::kUndefined && from == r.dtype(r.output(n)) && r.Bypass(n)) ++count;
  }
  return count;
}

int RewriteAtLoad(Rewriter& r) { return RewriteDuplicates(r, true); }
int RewriteBasic(Rewriter& r) { return RewriteDuplicates(r, false); }

}  // namespace

FusionRule CastLikeToCast() { return MakeRule("cast-like", FusionLevel::kOff, "CastLike is a Cast", RewriteCastLike); }

FusionRule DuplicateCasts(FusionLevel level) {
  return MakeRule("duplicate-casts", level, "a Cast to the same type is dropped",
                  level == FusionLevel::kOff ? RewriteAtLoad : RewriteBasic);
}

}  // namespace simpred
