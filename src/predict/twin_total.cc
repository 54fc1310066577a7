// From kernels to a whole run: sum, gap, cost of a run, and an interval that does not add as if independent.
#include <algorithm>
#include <cmath>
#include <map>

#include "predict/geometry.h"
#include "predict/twin.h"
#include "predict/twin_impl.h"

namespace simpred {
namespace {

// Of a kernel's uncertainty, how much its group has in common, and how much is its own.
constexpr double kSharedPart = 0.6, kOwnPart = 0.8;

double HalfWidthOf(const Estimate& e) {
  if (e.low <= Duration() || e.high <= Duration()) return 0;
  return std::log(e.high / e.low) / 2;
}

}  // namespace

double Twin::Impl::Spread(const std::vector<const Kernel*>& kernels, const std::vector<Estimate>& estimates) const {
  std::map<std::string_view, double> shared;
  double own = 0, total = 0;
  for (size_t i = 0; i < std::min(kernels.size(), estimates.size()); ++i) {
    double us = estimates[i].value / Microseconds(1), error = us * HalfWidthOf(estimates[i]);
    total += us;
    if (estimates[i].source == Source::kFixed || estimates[i].source == Source::kExcluded) continue;
    shared[ClassOf(*kernels[i]).group] += kSharedPart * error;
    own += kOwnPart * kOwnPart * error * error;
  }
  double sum = own;
  for (const auto& [group, error] : shared) sum += error * error;
  return total > 0 ? std::sqrt(sum) / total : 0;
}

GraphEstimate Twin::Total(const std::vector<const Kernel*>& kernels, const std::vector<Estimate>& estimates) const {
  const Impl& impl = *impl_;
  GraphEstimate g;
  int64_t counted = 0;
  for (const Estimate& e : estimates) {
    if (e.source == Source::kExcluded) continue;
    g.kernels += e.value;
    g.total.distance = std::max(g.total.distance, e.distance);
    g.total.source = counted == 0 ? e.source : std::max(g.total.source, e.source);
    ++counted;
  }
  g.run_cost = impl.RunCost();
  g.gap = g.kernels * (impl.gap.slope - 1) + Microseconds(impl.gap.per_kernel_us) * static_cast<double>(counted);
  // A negative gap (the sum of kernels over-states) never eats more than half of the kernels.
  g.gap = std::max(g.gap, g.kernels * -0.5);
  g.total.value = g.kernels + g.gap + g.run_cost;
  double half = std::max(impl.gap.floor, impl.gap.width_factor * impl.Spread(kernels, estimates));
  half = std::min(half, 2.5);
  g.total.low = g.total.value * std::exp(-half);
  g.total.high = g.total.value * std::exp(half);
  g.total.reason = "sum of kernels, gap and cost of a run";
  g.expected_deviation = std::exp(half) - 1;
  g.grade = GradeOf(g.expected_deviation);
  return g;
}

}  // namespace simpred
