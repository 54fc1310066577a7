// How does a cost rule see a tensor with the eyes of its shape rule? Static dimensions as a Shape, and back to numbers.
#pragma once

#include <algorithm>
#include <vector>

#include "operators/registry.h"

namespace simpred {

// Input `i` as a shape; unknown rank if it is absent.
inline Shape ShapeOf(const CostContext& c, size_t i) {
  if (i >= c.inputs.size() || !c.inputs[i].present) return {};
  return Shape(std::vector<Dim>(c.inputs[i].dims.begin(), c.inputs[i].dims.end()));
}

// 0 if not known.
inline double Number(const Dim& d) { return d.is_known() ? static_cast<double>(d.value()) : 0; }

// Of tensor `t`, which is counted whole in `work`, only `taken` is read. Sums of hostile sizes saturate: never
// negative.
inline void ReadOnly(Work& work, const CostTensor& t, Bytes taken) {
  Bytes& from = t.constant ? work.weights : work.read;
  from = std::max(Bytes(0), from - t.bytes()) + std::min(taken, t.bytes());
}

inline bool IsPresent(const CostContext& c, size_t i) { return i < c.inputs.size() && c.inputs[i].present; }

}  // namespace simpred
