// x -> Slice(starts 0, ends "to the end", steps 1) -> y    ==>    x -> y
#include <cstdint>
#include <limits>

#include "fusion/rules.h"

namespace simpred {
namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

bool TakesAll(Rewriter& r, NodeId n) {
  const bool inputs = r.opset() >= 10;
  const auto starts = inputs ? r.ConstantInts(r.input(n, 1)) : r.node(n).Ints("starts");
  const auto ends = inputs ? r.ConstantInts(r.input(n, 2)) : r.node(n).Ints("ends");
  if (!starts || !ends || starts->size() != ends->size()) return false;
  if (inputs && r.input(n, 3) != kNoValue && !r.ConstantInts(r.input(n, 3))) return false;
  if (inputs && r.input(n, 4) != kNoValue) {
    const auto steps = r.ConstantInts(r.input(n, 4));
    if (!steps) return false;
    for (int64_t s : *steps)
      if (s != 1) return false;
  }
  for (size_t i = 0; i < starts->size(); ++i)
    if ((*starts)[i] != 0 || (*ends)[i] < kToTheEnd) return false;
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"Slice"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "Slice") && TakesAll(r, n) && r.Bypass(n)) ++count;
  return count;
}

}  // namespace

FusionRule SliceElimination() {
  return MakeRule("slice-elimination", FusionLevel::kBasic, "a Slice that takes everything is dropped", Rewrite);
}

}  // namespace simpred
