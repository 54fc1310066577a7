#include "operators/grid.h"

#include <numeric>

#include "operators/value_rules.h"

namespace simpred {

std::vector<std::vector<int64_t>> FullGrid(const std::vector<int64_t>& dims) {
  std::vector<std::vector<int64_t>> grid;
  for (int64_t d : dims) {
    grid.emplace_back(static_cast<size_t>(d));
    std::iota(grid.back().begin(), grid.back().end(), 0);
  }
  return grid;
}

std::optional<ConstantValue> TakeGrid(const ConstantValue& v, const std::vector<std::vector<int64_t>>& positions,
                                      std::optional<std::vector<int64_t>> dims) {
  if (positions.size() != v.dims.size()) return std::nullopt;
  std::vector<int64_t> lengths;
  for (size_t axis = 0; axis < positions.size(); ++axis) {
    lengths.push_back(static_cast<int64_t>(positions[axis].size()));
    for (int64_t p : positions[axis]) {
      if (p < 0 || p >= v.dims[axis]) return std::nullopt;
    }
  }
  const auto count = SmallElementCount(lengths);
  if (!count) return std::nullopt;
  std::vector<size_t> flat(*count, 0);
  size_t repeat = 1;  // output elements per step along the axis
  size_t stride = 1;
  for (size_t axis = positions.size(); axis-- > 0;) {
    const auto& along = positions[axis];
    for (size_t i = 0; i < *count; ++i) flat[i] += static_cast<size_t>(along[(i / repeat) % along.size()]) * stride;
    repeat *= along.size();
    stride *= static_cast<size_t>(v.dims[axis]);
  }
  return TakeElements(v, flat, dims ? std::move(*dims) : lengths);
}

}  // namespace simpred
