#include "predict/twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predict/geometry.h"
#include "predict/twin_impl.h"

namespace simpred {
namespace {

// With nothing measured: what share of the roofline a tuned library reaches on the whole, and how far off that is.
constexpr double kAnalyticEfficiency = 0.6;
constexpr double kAnalyticHalfWidth = 1.1;  // in logs: a factor of three
constexpr double kUnknownVariantWidth = 0.35;
constexpr double kWidest = 2.5;
constexpr double kEdge = 1.0;

Estimate MakeEstimate(double us, double half_width, Source source, std::string reason, double distance) {
  Estimate e;
  e.value = Microseconds(us);
  e.low = Microseconds(us * std::exp(-half_width));
  e.high = Microseconds(us * std::exp(half_width));
  e.source = source;
  e.reason = std::move(reason);
  e.distance = distance;
  return e;
}

// Most features are log2 of a size; a small step may also be one of a flag or a count, and then has no factor to state.
std::string HowFar(double excess) {
  std::string direction = excess > 0 ? "larger" : "smaller";
  return std::abs(excess) > 1 ? fmt::format("{:.1f} times {}", std::exp2(std::abs(excess)), direction) : direction;
}

constexpr Eigen::Index kWorkFeatures = 8;  // the work, which stands first in every group (features.cc)
constexpr Eigen::Index kRooflineTerms = 1 + GroupModel::kTermColumns;

// log2 of the roofline; how much a fixed cost of a microsecond weighs beside it; the same where the kernel ran alone
// (what a graph around it costs matters to small kernels more than to large ones); in a graph, how much colder caches
// could make it.
Vector WithRoofline(const std::vector<double>& features, Eigen::Index count, const Rooflines& r) {
  Vector v(count + kRooflineTerms);
  std::copy_n(features.begin(), count, v.begin());
  double us = std::max(1e-3, r.warm / Microseconds(1)), small = std::log2(1 + 1 / us);
  double alone = v(GroupModel::kAloneColumn), colder = std::log2(std::max(1.0, r.cold / r.warm));
  v.tail(kRooflineTerms) << std::log2(us), small, alone * small, (1 - alone) * colder;
  return v;
}

}  // namespace

Rooflines RooflinesOf(const Kernel& k, const DeviceProfile& d, int threads) {
  return {Roofline(k, d, threads), ColdRoofline(k, d, threads)};
}
Vector RowOf(const KernelFeatures& f, const Rooflines& r) {
  return WithRoofline(f.values, static_cast<Eigen::Index>(f.values.size()), r);
}
Vector PooledRowOf(const KernelFeatures& f, const Rooflines& r) { return WithRoofline(f.values, kWorkFeatures, r); }

Twin::Twin() : impl_(std::make_unique<Impl>()) {}
Twin::Twin(Twin&&) noexcept = default;
Twin& Twin::operator=(Twin&&) noexcept = default;
Twin::~Twin() = default;

Twin Twin::Analytic(const DeviceProfile& device, int threads) {
  Twin t;
  t.impl_->device = device;
  t.impl_->threads = threads;
  t.impl_->bias.run_cost = device.run_cost;
  t.impl_->gap.width_factor = 1;
  return t;
}

Twin::Impl::Raw Twin::Impl::PredictRaw(const Kernel& k, KernelContext context) const {
  KernelFeatures f = FeaturesOf(k, context, threads);
  Rooflines roofline = RooflinesOf(k, device, threads);
  Raw raw;
  auto it = k.has_rule ? groups.find(f.group) : groups.end();
  raw.pooled = it == groups.end();
  if (raw.pooled) it = groups.find(kPooled);
  const GroupModel& model = it->second->get();
  raw.answer =
      raw.pooled ? model.Predict(PooledRowOf(f, roofline), f.group) : model.Predict(RowOf(f, roofline), f.variant);
  raw.time_us = roofline.warm / Microseconds(1) * std::exp(raw.answer.log_efficiency);
  raw.distance = raw.answer.distance;
  raw.half_width = model.HalfWidth(raw.distance, raw.time_us);
  if (!raw.answer.known_variant) raw.half_width = std::min(kWidest, raw.half_width + kUnknownVariantWidth);
  return raw;
}

namespace {

std::string ReasonFor(const KernelFeatures& f, const Twin::Impl::Raw& raw) {
  if (raw.pooled) return fmt::format("no calibrated kernels of group {}: from work and bytes of all kernels", f.group);
  std::string reason = f.group;
  if (!raw.answer.known_variant) reason += fmt::format(", variant '{}' not calibrated", f.variant);
  std::vector<std::string> names = FeatureNames(f.group);
  auto at = static_cast<size_t>(std::max(0, raw.answer.outermost));
  if (raw.distance > kEdge && raw.answer.outermost >= 0 && std::abs(raw.answer.excess) > 0.25)
    return reason + fmt::format(", {} is {} than calibrated", at < names.size() ? names[at] : "roofline",
                                HowFar(raw.answer.excess));
  return reason + fmt::format(", {:.1f} of the way to the edge of what is calibrated", raw.distance);
}

}  // namespace

Estimate Twin::Predict(const Kernel& k, KernelContext context) const {
  const Impl& impl = *impl_;
  Duration roofline = Roofline(k, impl.device, impl.threads);
  bool compute = BoundOf(k, impl.device, impl.threads) == Bound::kCompute;
  double correction = compute ? impl.compute_correction : impl.memory_correction;
  if (!impl.fitted()) {
    Source source = k.has_rule ? Source::kAnalytic : Source::kUnknown;
    std::string reason = k.has_rule ? "nothing measured: roofline of the device profile, trend only"
                                    : "no rule for this operator: costs what its bytes cost";
    return MakeEstimate(roofline / Microseconds(1) / kAnalyticEfficiency * correction, kAnalyticHalfWidth, source,
                        std::move(reason), 0);
  }
  Impl::Raw raw = impl.PredictRaw(k, context);
  KernelFeatures f = FeaturesOf(k, context, impl.threads);
  if (auto it = impl.corrections.find(f.group); it != impl.corrections.end()) correction *= it->second;
  double us = raw.time_us * correction;
  if (!k.has_rule)
    return MakeEstimate(us, std::max(raw.half_width, kAnalyticHalfWidth), Source::kUnknown,
                        "no rule for this operator: costs what its bytes cost", raw.distance);
  bool outside = raw.pooled || raw.distance > kEdge;
  return MakeEstimate(us, raw.half_width, outside ? Source::kExtrapolated : Source::kInterpolated, ReasonFor(f, raw),
                      raw.distance);
}

void Twin::SetCorrections(std::map<std::string, double> by_group, double memory, double compute) {
  impl_->corrections = std::move(by_group);
  impl_->memory_correction = memory;
  impl_->compute_correction = compute;
}

const FitSummary& Twin::summary() const { return impl_->summary; }
const MeasurementBias& Twin::bias() const { return impl_->bias; }
int Twin::threads() const { return impl_->threads; }

}  // namespace simpred
