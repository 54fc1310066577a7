// Which elements of a small constant does a slice, gather, tile or split take? A list of positions per axis.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace simpred {

// The elements of `v` at the cross product of the positions per axis (each within the axis), as a constant with `dims`
// (by default the lengths of the lists). nullopt: more than ConstantValue::kMaxElements, or a position out of range.
std::optional<ConstantValue> TakeGrid(const ConstantValue& v, const std::vector<std::vector<int64_t>>& positions,
                                      std::optional<std::vector<int64_t>> dims = std::nullopt);

// All positions of every axis: the identity, to be narrowed.
std::vector<std::vector<int64_t>> FullGrid(const std::vector<int64_t>& dims);

}  // namespace simpred
