// Small parts of the simulation description: sizes of tensors, names of layouts, attributes as numbers.
#include <array>

#include "base/numbers.h"
#include "workload/workload.h"

namespace simpred {

std::string_view Name(Layout l) {
  constexpr std::array<std::string_view, 6> kNames = {"plain", "nchwc", "nc1hwc0", "fractal_nz", "fractal_z", "nhwc"};
  return kNames[static_cast<size_t>(l)];
}

std::string_view Name(KernelContext c) { return c == KernelContext::kInGraph ? "in_graph" : "alone_warm"; }

int64_t KernelTensor::elements() const {
  int64_t count = 1;
  for (int64_t d : dims)
    if (__builtin_mul_overflow(count, d, &count)) return INT64_MAX;
  return count;
}

Bytes KernelTensor::bytes() const { return present ? StorageSize(dtype, elements()) : Bytes(0); }

int64_t Kernel::attribute(std::string_view key, int64_t fallback) const {
  const auto it = attributes.find(std::string(key));
  return it == attributes.end() ? fallback : ParseInt(it->second).value_or(fallback);
}

std::vector<int64_t> Kernel::attribute_list(std::string_view key) const {
  const auto it = attributes.find(std::string(key));
  std::vector<int64_t> list;
  if (it == attributes.end()) return list;
  std::string_view rest = it->second;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const auto number = ParseInt(rest.substr(0, comma));
    if (!number) return {};
    list.push_back(*number);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return list;
}

}  // namespace simpred
