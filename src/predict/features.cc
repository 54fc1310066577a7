#include "predict/features.h"

#include <algorithm>
#include <cmath>

#include "predict/geometry.h"

namespace simpred {
namespace {

// Every group starts with these: the work, and where and how it runs.
constexpr std::string_view kWorkNames[] = {"flops", "read",      "weights", "written",
                                           "total", "intensity", "alone",   "threads"};

double LogOf(double n) { return std::log2(1.0 + std::max(n, 0.0)); }
double LogOf(Bytes b) { return LogOf(static_cast<double>(b.count())); }

// The rate of the whole device for the kernel's type of number: a matrix unit's where there is one.
FlopsPerSecond PeakFor(const Kernel& k, const DeviceProfile& d) {
  DataType t = DataType::kFloat32;
  if (!k.inputs.empty() && k.inputs[0].present) t = k.inputs[0].dtype;
  bool matrix = k.op_class == OperatorClass::kConvolution || k.op_class == OperatorClass::kMatMul;
  if (matrix) {
    if (auto it = d.peak_matrix.find(t); it != d.peak_matrix.end()) return it->second;
  }
  if (auto it = d.peak.find(t); it != d.peak.end()) return it->second;
  if (auto it = d.peak.find(DataType::kFloat32); it != d.peak.end()) return it->second;
  return d.peak.empty() ? FlopsPerSecond() : d.peak.begin()->second;
}

double CoreShare(const DeviceProfile& d, int threads) {
  if (d.kind != "cpu" || d.cores <= 0) return 1;
  return std::clamp(static_cast<double>(threads) / d.cores, 1.0 / d.cores, 1.0);
}

Duration ComputeTime(const Kernel& k, const DeviceProfile& d, int threads) {
  FlopsPerSecond peak = PeakFor(k, d);
  if (peak.count() <= 0) return {};
  const double done = SkipsPadding(k) ? TapsInside(k) : 1.0;
  return k.work.flops * done / (peak * CoreShare(d, threads));
}

// From the nearest level that holds all bytes, no nearer than `nearest`.
Duration MemoryTime(const Kernel& k, const DeviceProfile& d, int threads, size_t nearest = 0) {
  Bytes total = k.work.total();
  const MemoryLevel* level = nullptr;
  double cores = d.kind == "cpu" ? std::clamp(threads, 1, std::max(1, d.cores)) : d.cores;
  for (size_t i = nearest; i < d.memory.size(); ++i) {
    const MemoryLevel& m = d.memory[i];
    if (m.bandwidth.count() <= 0) continue;
    level = &m;
    double capacity = static_cast<double>(m.capacity.count()) * (m.shared ? 1.0 : cores);
    if (m.capacity.count() == 0 || static_cast<double>(total.count()) <= capacity) break;
  }
  if (!level) return {};
  return total / (level->bandwidth * (level->shared ? 1.0 : cores));
}

// Where the profile does not say what a launch costs: a kernel of one element on a current processor.
constexpr Duration kSmallestKernel = Nanoseconds(250);

Duration SmallestKernel(const DeviceProfile& d) { return d.launch_cost > Duration() ? d.launch_cost : kSmallestKernel; }

}  // namespace

std::vector<std::string> FeatureNames(std::string_view group) {
  const std::vector<GroupInfo>& all = AllGroups();
  auto it = std::find_if(all.begin(), all.end(), [&](const GroupInfo& g) { return g.group == group; });
  std::vector<std::string> names(std::begin(kWorkNames), std::end(kWorkNames));
  const auto& geometry = GeometryNames(it == all.end() ? KernelFamily::kGeneric : it->family);
  names.insert(names.end(), geometry.begin(), geometry.end());
  return names;
}

std::vector<std::string> FeatureGroups() {
  std::vector<std::string> names;
  for (const GroupInfo& g : AllGroups()) names.emplace_back(g.group);
  return names;
}

KernelFeatures FeaturesOf(const Kernel& k, KernelContext context, int threads) {
  KernelClass c = ClassOf(k);
  KernelFeatures f;
  f.group = std::string(c.group);
  f.variant = std::move(c.variant);
  double total = static_cast<double>(k.work.total().count());
  f.values = {LogOf(k.work.flops.count()),
              LogOf(k.work.read),
              LogOf(k.work.weights),
              LogOf(k.work.written),
              LogOf(total),
              LogOf(k.work.flops.count() / std::max(1.0, total)),
              context == KernelContext::kAloneWarm ? 1.0 : 0.0,
              static_cast<double>(threads)};
  AppendGeometry(k, c.family, f.values);
  return f;
}

Duration Roofline(const Kernel& k, const DeviceProfile& d, int threads) {
  return std::max({ComputeTime(k, d, threads), MemoryTime(k, d, threads), SmallestKernel(d)});
}

Duration ColdRoofline(const Kernel& k, const DeviceProfile& d, int threads) {
  size_t outermost_cache = d.memory.size() < 2 ? 0 : d.memory.size() - 2;
  return std::max({ComputeTime(k, d, threads), MemoryTime(k, d, threads, outermost_cache), SmallestKernel(d)});
}

std::string_view Name(Bound b) {
  switch (b) {
    case Bound::kCompute:
      return "compute";
    case Bound::kMemory:
      return "memory";
    case Bound::kOverhead:
      break;
  }
  return "overhead";
}

Bound BoundOf(const Kernel& k, const DeviceProfile& d, int threads) {
  Duration compute = ComputeTime(k, d, threads), memory = MemoryTime(k, d, threads), smallest = SmallestKernel(d);
  if (smallest >= compute && smallest >= memory) return Bound::kOverhead;
  return compute >= memory ? Bound::kCompute : Bound::kMemory;
}

}  // namespace simpred
