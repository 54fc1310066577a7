// What does a kernel's time depend on? A kernel as a vector of numbers, one schema per kernel group.
//
// Kernels of one group (dense convolution, pointwise convolution, depthwise convolution, matrix product, elementwise,
// ...) share a fit. The target is log(time / roofline): utilisation, so that physics bounds the extrapolation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "device/profile.h"
#include "workload/workload.h"

namespace simpred {

struct KernelFeatures {
  std::string group;           // "conv-dense", "conv-pointwise", "matmul", "elementwise", ...
  std::vector<double> values;  // as named by FeatureNames(group); logs where the quantity is a size
};
std::vector<std::string> FeatureNames(std::string_view group);
KernelFeatures FeaturesOf(const Kernel& k, KernelContext context, int threads);

// max(flops / peak, bytes / bandwidth of the level that holds them) for the given number of cores; never below the
// device's smallest kernel.
Duration Roofline(const Kernel& k, const DeviceProfile& d, int threads);
enum class Bound : uint8_t { kCompute, kMemory, kOverhead };
std::string_view Name(Bound b);
Bound BoundOf(const Kernel& k, const DeviceProfile& d, int threads);

}  // namespace simpred
