// What does a kernel's time depend on? A kernel as a vector of numbers, one schema per family of kernels.
//
// Kernels of one group (blocked depthwise convolution, matrix product with weights, elementwise, ...) share a fit. The
// target is log(time / roofline): utilisation, so that physics bounds the extrapolation.
//
//   KernelFeatures f = FeaturesOf(kernel, KernelContext::kInGraph, 1);
//   f.group      // "nchwc-pointwise"
//   f.variant    // "com.microsoft.nchwc.Conv Relu": what has no order, and becomes a learned number in the fit
//   f.values     // parallel to FeatureNames(f.group)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "device/profile.h"
#include "workload/workload.h"

namespace simpred {

struct KernelFeatures {
  std::string group;           // "conv-dense", "nchwc-pointwise", "matmul-weights", "elementwise", ...
  std::string variant;         // type and what of its attributes changes the code that runs
  std::vector<double> values;  // as named by FeatureNames(group); log2 where the quantity is a size
};
std::vector<std::string> FeatureNames(std::string_view group);
KernelFeatures FeaturesOf(const Kernel& k, KernelContext context, int threads);
// Every group that FeaturesOf can give, sorted.
std::vector<std::string> FeatureGroups();

// max(flops / peak, bytes / bandwidth of the level that holds them) for the given number of cores; never below the
// device's smallest kernel.
Duration Roofline(const Kernel& k, const DeviceProfile& d, int threads);
// The same with nothing left in the near caches: bytes come from the outermost cache, or from main memory where that
// cannot hold them. Between kernels of a graph the truth lies between the two.
Duration ColdRoofline(const Kernel& k, const DeviceProfile& d, int threads);
enum class Bound : uint8_t { kCompute, kMemory, kOverhead };
std::string_view Name(Bound b);
Bound BoundOf(const Kernel& k, const DeviceProfile& d, int threads);

}  // namespace simpred
