// CastLike(x, y)            ==>    Cast(x)          (the runtime has no kernel for it, it expands its definition)
// x -> Cast(same type) -> y  ==>    x -> y
//
// Both happen at every level, off included; the second again among the basic rules, which make new cases.
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

int RewriteDuplicates(Rewriter& r) {
  if (!r.Has({"Cast"})) return 0;
  int count = 0;
  for (NodeId n : r.order()) {
    if (!r.Is(n, "Cast") || r.input(n, 0) == kNoValue) continue;
    const DataType from = r.dtype(r.input(n, 0));
    if (from != DataType::kUndefined && from == r.dtype(r.output(n)) && r.Bypass(n)) ++count;
  }
  return count;
}

}  // namespace

FusionRule CastLikeToCast() { return MakeRule("cast-like", FusionLevel::kOff, "CastLike is a Cast", RewriteCastLike); }

FusionRule DuplicateCasts(FusionLevel level) {
  return MakeRule("duplicate-casts", level, "a Cast to the same type is dropped", RewriteDuplicates);
}

}  // namespace simpred
