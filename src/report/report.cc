#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/numbers.h"

namespace simpred {
namespace {

// The type that decides the peak: of the first floating-point tensor, else of the first tensor.
DataType MainType(const Kernel& k) {
  const auto find = [](const std::vector<KernelTensor>& tensors, bool floats) {
    for (const KernelTensor& t : tensors)
      if (t.present && t.dtype != DataType::kUndefined && (!floats || IsFloat(t.dtype))) return t.dtype;
    return DataType::kUndefined;
  };
  for (const bool floats : {true, false}) {
    if (const DataType t = find(k.inputs, floats); t != DataType::kUndefined) return t;
    if (const DataType t = find(k.outputs, floats); t != DataType::kUndefined) return t;
  }
  return DataType::kUndefined;
}

ReportOperator OperatorOf(const Kernel& k, KernelPrediction p, const std::vector<std::string>& resources) {
  ReportOperator o;
  o.name = k.name;
  o.type = k.type;
  o.op_class = Name(k.op_class);
  o.dtype = Name(MainType(k));
  o.fused_from = k.fused_from;
  o.hypothetical = k.hypothetical;
  o.has_rule = k.has_rule;
  o.latency = p.estimate.value;
  o.low = p.estimate.low;
  o.high = p.estimate.high;
  o.source = p.estimate.source;
  o.reason = std::move(p.estimate.reason);
  o.flops = k.work.flops;
  o.bytes = k.work.total();
  o.bound = p.bound;
  o.roofline = p.roofline;
  o.start = Nanoseconds(static_cast<double>(p.start_ns));
  o.end = Nanoseconds(static_cast<double>(p.end_ns));
  const auto r = static_cast<size_t>(p.resource);
  o.resource = r < resources.size() ? resources[r] : "";
  o.stall = p.stall;
  return o;
}

// The peaks and bandwidths that `threads` of the device's cores can reach together.
void AddCeilings(Report& r, const DeviceProfile& d) {
  const double share = d.kind == "cpu" ? std::min(1.0, static_cast<double>(r.run.threads) / std::max(1, d.cores)) : 1.0;
  const auto add_peaks = [&](const std::map<DataType, FlopsPerSecond>& peaks, std::string_view suffix) {
    for (const auto& [type, peak] : peaks)
      if (peak.count() > 0)
        r.compute_ceilings.push_back({fmt::format("{}{}", Name(type), suffix), peak.count() * share});
  };
  add_peaks(d.peak, "");
  add_peaks(d.peak_matrix, " matrix");
  for (const MemoryLevel& m : d.memory) {
    if (m.bandwidth.count() <= 0) continue;
    const double cores = m.shared ? 1.0 : d.kind == "cpu" ? r.run.threads : d.cores;
    r.memory_ceilings.push_back({m.name, m.bandwidth.count() * cores});
  }
}

}  // namespace

Report BuildReport(RunInfo run, const Workload& workload, Prediction prediction, const DeviceProfile& device) {
  Report r;
  r.run = std::move(run);
  const GraphEstimate& e = prediction.end_to_end;
  r.latency = e.total.value;
  r.low = e.total.low;
  r.high = e.total.high;
  r.source = e.total.source;
  r.reason = e.total.reason;
  r.grade = e.grade;
  r.expected_deviation = e.expected_deviation;
  r.by_source = std::move(prediction.by_source);
  r.kernels = e.kernels;
  r.gap = e.gap;
  r.run_cost = e.run_cost;
  r.excluded = prediction.excluded;
  r.peak_memory = prediction.peak_memory;
  r.weights = workload.weights;
  r.peak_activations = workload.peak_activations;
  r.memory_capacity = device.memory_capacity;
  r.fits = prediction.fits;
  r.bottleneck = std::move(prediction.bottleneck);
  for (size_t i = 0; i < prediction.resources.size(); ++i)
    r.resources.push_back({prediction.resources[i], i < prediction.utilization.size() ? prediction.utilization[i] : 0});
  r.operators.reserve(workload.kernels.size());
  for (size_t i = 0; i < workload.kernels.size() && i < prediction.kernels.size(); ++i)
    r.operators.push_back(OperatorOf(workload.kernels[i], std::move(prediction.kernels[i]), prediction.resources));
  for (const Warning& w : prediction.warnings) r.warnings.push_back(w.text);
  for (const Warning& w : workload.warnings)
    if (std::find(r.warnings.begin(), r.warnings.end(), w.text) == r.warnings.end()) r.warnings.push_back(w.text);
  AddCeilings(r, device);
  return r;
}

Flops Report::flops() const {
  Flops sum;
  for (const ReportOperator& o : operators) sum += o.flops;
  return sum;
}

Bytes Report::bytes() const {
  Bytes sum;
  for (const ReportOperator& o : operators) sum += o.bytes;
  return sum;
}

int64_t Report::without_rule() const {
  return std::count_if(operators.begin(), operators.end(), [](const ReportOperator& o) { return !o.has_rule; });
}

std::string Report::Coverage() const {
  int64_t known = 0;
  Duration known_time, all_time;
  for (const ReportOperator& o : operators) {
    if (o.source == Source::kExcluded) continue;
    all_time += o.latency;
    if (o.source != Source::kMeasured && o.source != Source::kFixed && o.source != Source::kInterpolated) continue;
    ++known;
    known_time += o.latency;
  }
  const double share = all_time > Duration() ? known_time / all_time : 0;
  return fmt::format(
      "{} of {} kernels have a cost rule; {} ({} % of the kernel time) are measured or inside what was calibrated",
      static_cast<int64_t>(operators.size()) - without_rule(), operators.size(), known, FormatFixed(share * 100, 1));
}

double Deviation(Duration predicted, Duration measured) {
  return measured > Duration() ? (predicted - measured) / measured : 0;
}

std::vector<size_t> ByTime(const Report& r) {
  std::vector<size_t> order(r.operators.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return r.operators[a].latency > r.operators[b].latency; });
  return order;
}

std::vector<TypeTotal> TotalsByType(const Report& r) {
  std::map<std::string, TypeTotal> totals;
  for (const ReportOperator& o : r.operators) {
    if (o.source == Source::kExcluded) continue;
    TypeTotal& t = totals[o.type];
    t.type = o.type;
    ++t.count;
    t.latency += o.latency;
    t.flops += o.flops;
    t.bytes += o.bytes;
  }
  std::vector<TypeTotal> sorted;
  sorted.reserve(totals.size());
  for (auto& [type, total] : totals) sorted.push_back(std::move(total));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const TypeTotal& a, const TypeTotal& b) { return a.latency > b.latency; });
  return sorted;
}

}  // namespace simpred
