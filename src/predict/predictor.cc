#include "predict/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

namespace simpred {
namespace {

constexpr double kTwoSided90 = 1.645;          // standard deviations
constexpr double kMeasuredSpreadFloor = 0.03;  // two processes never agree better
constexpr double kFewRoundsWidth = 0.10;
constexpr double kScaledWidth = 0.5;  // of a recorded time that is scaled to another shape, in logs
constexpr double kFixedWidth = 0.15;
constexpr size_t kNamedTypes = 3;  // in the bottleneck sentence

Estimate Around(Duration value, double half_width, Source source, std::string reason) {
  Estimate e;
  e.value = value;
  e.low = value * std::exp(-half_width);
  e.high = value * std::exp(half_width);
  e.source = source;
  e.reason = std::move(reason);
  return e;
}

Estimate FromMeasurement(const KernelMeasurement& m, Source source) {
  double half = std::max(kMeasuredSpreadFloor, kTwoSided90 * m.spread);
  if (m.rounds < 2) half = std::max(half, kFewRoundsWidth);
  return Around(m.time, half, source,
                fmt::format("{} round{}, spread {:.1f} %", m.rounds, m.rounds == 1 ? "" : "s", 100 * m.spread));
}

// Estimates one workload's kernels; equal kernels are estimated once.
class KernelEstimator {
 public:
  KernelEstimator(const Workload& w, const Twin& twin, const DeviceProfile& device, const PredictOptions& o)
      : twin_(twin),
        device_(device),
        options_(o),
        known_(o.known_deviation.begin(), o.known_deviation.end()),
        excluded_(o.exclude.begin(), o.exclude.end()) {
    for (const Kernel& k : w.kernels)
      if (o.measured.count(k.signature)) measured_of_type_.emplace(k.type, &k);
  }

  Estimate Of(const Kernel& k) {
    if (const Duration* fixed = Override(k)) return Around(*fixed, 0, Source::kFixed, "given by overrides");
    auto measured = options_.measured.find(k.signature);
    if (IsKnownDeviation(k)) {
      if (measured != options_.measured.end()) {
        Estimate e = FromMeasurement(measured->second, Source::kFixed);
        e.reason = "time depends on the data, taken as recorded: " + e.reason;
        e.low = std::min(e.low, e.value * std::exp(-kFixedWidth));
        e.high = std::max(e.high, e.value * std::exp(kFixedWidth));
        return e;
      }
      if (auto other = measured_of_type_.find(k.type); other != measured_of_type_.end())
        return Scaled(k, *other->second);
      Estimate e = FromTwin(k);
      e.reason += "; time depends on the data and was never recorded";
      return e;
    }
    if (measured != options_.measured.end()) return FromMeasurement(measured->second, Source::kMeasured);
    return FromTwin(k);
  }

  bool IsExcluded(const Kernel& k) const {
    if (excluded_.empty()) return false;
    if (excluded_.count(k.name)) return true;
    return !k.fused_from.empty() &&
           std::all_of(k.fused_from.begin(), k.fused_from.end(), [&](const auto& n) { return excluded_.count(n) > 0; });
  }

 private:
  const Duration* Override(const Kernel& k) const {
    if (options_.latency_overrides.empty()) return nullptr;
    auto it = options_.latency_overrides.find(k.name);
    for (auto n = k.fused_from.begin(); it == options_.latency_overrides.end() && n != k.fused_from.end(); ++n)
      it = options_.latency_overrides.find(*n);
    if (it == options_.latency_overrides.end()) it = options_.latency_overrides.find(k.type);
    return it == options_.latency_overrides.end() ? nullptr : &it->second;
  }

  bool IsKnownDeviation(const Kernel& k) const {
    return k.op_class == OperatorClass::kDataDependent || known_.count(k.type) || known_.count(k.name);
  }

  Estimate Scaled(const Kernel& k, const Kernel& recorded) const {
    double ratio = std::max(1.0, static_cast<double>(k.work.total().count())) /
                   std::max(1.0, static_cast<double>(recorded.work.total().count()));
    Duration time = options_.measured.at(recorded.signature).time * ratio;
    return Around(
        time, kScaledWidth, Source::kFixed,
        fmt::format("time depends on the data, recorded at another shape and scaled by bytes ({:.2g} times)", ratio));
  }

  Estimate FromTwin(const Kernel& k) {
    auto [it, is_new] = cache_.try_emplace(k.signature);
    if (!is_new && !k.signature.empty()) return it->second;
    Estimate e = twin_.Predict(k, KernelContext::kInGraph);
    bool compute = BoundOf(k, device_, twin_.threads()) == Bound::kCompute;
    double factor = compute ? options_.compute_correction : options_.memory_correction;
    e.value = e.value * factor;
    e.low = e.low * factor;
    e.high = e.high * factor;
    return it->second = e;
  }

  const Twin& twin_;
  const DeviceProfile& device_;
  const PredictOptions& options_;
  std::set<std::string> known_, excluded_;
  std::map<std::string, const Kernel*> measured_of_type_;
  std::unordered_map<std::string, Estimate> cache_;
};

// Writes what the schedule says into the kernels.
class StallListener : public EventListener {
 public:
  explicit StallListener(std::vector<KernelPrediction>& kernels) : kernels_(kernels) {}
  void OnEvent(const SimEvent& e) override {
    if (e.kind != SimEvent::Kind::kStart) return;
    KernelPrediction& k = kernels_[static_cast<size_t>(e.kernel)];
    k.stall = e.cause;
    k.resource = e.resource;
  }

 private:
  std::vector<KernelPrediction>& kernels_;
};

Status Schedule(const Workload& w, const DeviceProfile& device, Prediction& p) {
  SimOptions o;
  o.resources = {device.name.empty() ? "device" : device.name};
  o.asynchronous = device.launch_queue > 0;
  o.queue_depth = device.launch_queue;
  if (o.asynchronous) o.launch_cost = device.launch_cost;
  std::vector<Duration> times;
  for (const KernelPrediction& k : p.kernels)
    times.push_back(k.estimate.source == Source::kExcluded ? Duration() : k.estimate.value);
  StallListener listener(p.kernels);
  SIMPRED_ASSIGN_OR_RETURN(SimResult r, Simulate(w, times, o, {&listener}));
  for (size_t i = 0; i < p.kernels.size(); ++i) {
    p.kernels[i].start_ns = r.start_ns[i];
    p.kernels[i].end_ns = r.stop_ns[i];
  }
  p.resources = o.resources;
  // Busy share of the whole run: gap and cost of a run are time in which the resource waits.
  double end = std::max(p.end_to_end.total.value / Nanoseconds(1), static_cast<double>(r.end_ns));
  for (int64_t busy : r.busy_ns)
    p.utilization.push_back(end > 0 ? std::clamp(static_cast<double>(busy) / end, 0.0, 1.0) : 0);
  return OkStatus();
}

std::string ShareText(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string Bottleneck(const Workload& w, const Prediction& p) {
  std::map<Bound, double> by_bound;
  std::map<std::string, double> by_type;
  double total = 0;
  for (size_t i = 0; i < p.kernels.size(); ++i) {
    const KernelPrediction& k = p.kernels[i];
    if (k.estimate.source == Source::kExcluded) continue;
    double us = k.estimate.value / Microseconds(1);
    by_bound[k.bound] += us;
    by_type[w.kernels[i].type] += us;
    total += us;
  }
  if (!(total > 0)) return "There is no kernel that takes time.";
  auto bound = std::max_element(by_bound.begin(), by_bound.end(), [](auto& a, auto& b) { return a.second < b.second; });
  std::vector<std::pair<std::string, double>> types(by_type.begin(), by_type.end());
  std::stable_sort(types.begin(), types.end(), [](auto& a, auto& b) { return a.second > b.second; });
  std::string top;
  for (size_t i = 0; i < std::min(kNamedTypes, types.size()); ++i)
    top += fmt::format("{}{} {}", i ? ", " : "", types[i].first, ShareText(types[i].second / total));
  const char* what = bound->first == Bound::kCompute  ? "is bound by arithmetic"
                     : bound->first == Bound::kMemory ? "is bound by memory traffic"
                                                      : "goes into kernels so small that only their launch counts";
  double utilization = p.utilization.empty() ? 0 : p.utilization[0];
  return fmt::format("{} of the kernel time {}; {} is busy {} of the run; largest: {}.",
                     ShareText(bound->second / total), what, p.resources.empty() ? "the device" : p.resources[0],
                     ShareText(utilization), top);
}

// Unknown operators first: they lower the trust in everything else.
void AddWarnings(const Workload& w, const DeviceProfile& device, Prediction& p) {
  std::map<std::string, int> unknown;
  Duration hypothetical, extrapolated;
  bool analytic = false;
  for (size_t i = 0; i < p.kernels.size(); ++i) {
    const Estimate& e = p.kernels[i].estimate;
    if (e.source == Source::kUnknown || !w.kernels[i].has_rule) ++unknown[w.kernels[i].type];
    if (e.source == Source::kExtrapolated) extrapolated += e.value;
    if (w.kernels[i].hypothetical) hypothetical += e.value;
    analytic = analytic || e.source == Source::kAnalytic;
  }
  for (const auto& [type, n] : unknown)
    p.warnings.push_back({fmt::format("operator {} ({} kernel{}) has no rule: it costs what its bytes cost", type, n,
                                      n == 1 ? "" : "s")});
  if (analytic)
    p.warnings.push_back({fmt::format(
        "device '{}' is not calibrated: times follow its profile's roofline and show the trend only", device.name)});
  if (extrapolated > p.end_to_end.kernels * 0.2)
    p.warnings.push_back({fmt::format("{} of the kernel time is extrapolated beyond what was calibrated",
                                      ShareText(extrapolated / p.end_to_end.kernels))});
  if (hypothetical > Duration())
    p.warnings.push_back({fmt::format("{} come from fusions that this runtime does not make itself", hypothetical)});
  if (!p.fits)
    p.warnings.push_back({fmt::format("needs {} of memory, the device has {}: this plan cannot run", p.peak_memory,
                                      device.memory_capacity)});
  p.warnings.insert(p.warnings.end(), w.warnings.begin(), w.warnings.end());
}

}  // namespace

Result<Prediction> Predict(const Workload& w, const Twin& twin, const DeviceProfile& device,
                           const PredictOptions& options) {
  Prediction p;
  KernelEstimator estimator(w, twin, device, options);
  std::vector<const Kernel*> kernels;
  std::vector<Estimate> estimates;
  for (const Kernel& k : w.kernels) {
    KernelPrediction out;
    out.estimate = estimator.Of(k);
    out.bound = BoundOf(k, device, twin.threads());
    out.roofline = Roofline(k, device, twin.threads());
    if (estimator.IsExcluded(k)) {
      p.excluded += out.estimate.value;
      out.estimate.source = Source::kExcluded;
      out.estimate.reason = "excluded by the config";
    } else {
      p.by_source[out.estimate.source] += out.estimate.value;
    }
    kernels.push_back(&k);
    estimates.push_back(out.estimate);
    p.kernels.push_back(std::move(out));
  }
  p.end_to_end = twin.Total(kernels, estimates);
  p.peak_memory = w.weights + w.peak_activations;
  p.fits = device.memory_capacity.count() == 0 || p.peak_memory <= device.memory_capacity;
  SIMPRED_RETURN_IF_ERROR(Schedule(w, device, p));
  p.bottleneck = Bottleneck(w, p);
  AddWarnings(w, device, p);
  return p;
}

}  // namespace simpred
