// Predicts every model with a twin that has not seen it; see judge.h.
#include "judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "predict/predictor.h"
#include "predict/prepare.h"

namespace simpred::bench {
namespace {

constexpr const char* kGenerated = "generated";
// Leave-one-model-out in four fits instead of one per model: each hides a quarter of every family, which judges a
// little harder.
constexpr int kFolds = 4;

Result<Workload> WorkloadOf(const BenchModel& m, const std::string& fusion_mode, const CalibrateOptions& o) {
  PrepareOptions p;
  p.path = m.path;
  p.binding = m.binding;
  p.fusion_mode = fusion_mode;
  p.device = &o.device;
  p.threads = o.threads;
  SIMPRED_ASSIGN_OR_RETURN(Prepared prepared, Prepare(p));
  return std::move(prepared.workload);
}

// How far two independent halves of the rounds disagree.
double HalvesDisagree(const std::vector<Run>& runs) {
  std::optional<Duration> even, odd;
  for (const Run& r : runs) {
    std::optional<Duration>& half = r.round % 2 == 0 ? even : odd;
    if (!half || r.end_to_end.p10 < *half) half = r.end_to_end.p10;
  }
  return even && odd ? std::abs(*even / *odd - 1) : 0;
}

}  // namespace

double JudgedModel::time_within(double limit) const {
  double all = 0, inside_limit = 0;
  for (const JudgedKernel& k : kernels) {
    all += k.measured_us;
    if (std::abs(k.predicted_us / k.measured_us - 1) <= limit) inside_limit += k.measured_us;
  }
  return all > 0 ? inside_limit / all : 0;
}

Result<Judge> Judge::Load(Database& db, const std::vector<BenchModel>& models, const CalibrateOptions& options) {
  Judge j(options);
  SampleFilter filter;
  filter.records.fingerprint = options.device.fingerprint;
  filter.records.threads = options.threads;
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Session> sessions, db.Sessions());
  std::string version;
  for (const Session& s : sessions) {
    if (s.fingerprint == options.device.fingerprint) version = s.runtime_version;
  }
  filter.records.runtime_version = version;
  SIMPRED_ASSIGN_OR_RETURN(const std::optional<MeasurementBias> bias,
                           db.FindBias(options.device.fingerprint, version, options.threads));
  if (bias) j.bias_ = *bias;
  SIMPRED_ASSIGN_OR_RETURN(j.samples_, CollectSamples(db, filter, j.bias_));
  filter.records.kinds = {"model"};
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db.Runs(filter.records));
  std::map<std::string, std::vector<simpred::Run>> by_model;
  for (const simpred::Run& r : runs) by_model[r.model_name].push_back(r);
  for (const GraphMeasurement& g : JoinRuns(runs)) j.measured_[g.model_name] = g;
  std::map<std::string, int> fold_of_family;
  for (const BenchModel& m : models) {
    const auto found = j.measured_.find(m.name);
    if (found == j.measured_.end()) continue;
    Result<Workload> w = WorkloadOf(m, "auto", options);
    if (!w.ok()) {
      fmt::print(stderr, "not judged: {}: {}\n", m.name, w.status().ToString());
      continue;
    }
    j.subjects_.push_back({m, std::move(*w), found->second.end_to_end / Microseconds(1),
                           HalvesDisagree(by_model[m.name]), fold_of_family[m.family]++ % kFolds});
  }
  return j;
}

// The models of a family are dealt to the folds in turn.
int Judge::FoldOf(const std::string& model) const {
  for (const Subject& s : subjects_) {
    if (s.model.name == model) return s.fold;
  }
  return -1;
}

Result<Twin> Judge::FitFor(Calibration calibration, const Subject* judged, const std::string& family) {
  // Without a judged model (synth) every real model is judged with the same twin.
  const auto hidden_model = [&](const std::string& model, const std::string& of_family) {
    if (calibration == Calibration::kSynth) return of_family != kGenerated;
    if (calibration == Calibration::kLomo) return FoldOf(model) == judged->fold;
    return of_family == family;
  };
  std::set<std::string> signatures;
  for (const FitSample& s : samples_.fit) {
    if (hidden_model(s.group, s.family)) signatures.insert(s.kernel->signature);
  }
  std::vector<FitSample> fit;
  size_t removed = 0;
  for (const FitSample& s : samples_.fit) {
    if (hidden_model(s.group, s.family)) continue;
    if (s.family == kGenerated && signatures.contains(s.kernel->signature)) {
      ++removed;
      continue;
    }
    fit.push_back(s);
  }
  if (calibration == Calibration::kSynth) removed_ = removed;
  std::vector<GraphSample> graphs;
  for (const GraphSample& g : samples_.graphs) {
    if (!hidden_model(g.name, g.family)) graphs.push_back(g);
  }
  FitOptions o;
  o.seed = options_.seed;
  o.threads = options_.threads;
  o.bias = bias_;
  o.fit_threads = std::max(1, options_.device.cores);
  return Twin::Fit(fit, graphs, options_.device, o);
}

Result<JudgedModel> Judge::JudgeOne(const Subject& s, const Twin& twin) const {
  JudgedModel out;
  out.name = s.model.name;
  out.family = s.model.family;
  out.measured_us = s.measured_us;
  out.noise = s.noise;
  SIMPRED_ASSIGN_OR_RETURN(const Prediction p, Predict(s.workload, twin, options_.device, {}));
  out.predicted_us = p.end_to_end.total.value / Microseconds(1);
  out.low_us = p.end_to_end.total.low / Microseconds(1);
  out.high_us = p.end_to_end.total.high / Microseconds(1);
  for (const FitSample& k : samples_.fit) {
    if (k.group != s.model.name) continue;
    const Estimate e = twin.Predict(*k.kernel);
    out.kernels.push_back(
        {k.kernel->type, k.time / Microseconds(1), e.value / Microseconds(1), e.low <= k.time && k.time <= e.high});
  }
  return out;
}

Result<std::vector<JudgedModel>> Judge::Run(Calibration calibration) {
  std::vector<JudgedModel> out;
  std::map<std::string, Twin> twins;  // by what is hidden
  for (const Subject& s : subjects_) {
    const std::string key = calibration == Calibration::kSynth  ? ""
                            : calibration == Calibration::kLomo ? std::to_string(s.fold)
                                                                : s.model.family;
    auto found = twins.find(key);
    if (found == twins.end()) {
      SIMPRED_ASSIGN_OR_RETURN(Twin twin, FitFor(calibration, &s, s.model.family));
      found = twins.emplace(key, std::move(twin)).first;
    }
    SIMPRED_ASSIGN_OR_RETURN(JudgedModel judged, JudgeOne(s, found->second));
    out.push_back(std::move(judged));
  }
  return out;
}

Result<std::vector<std::pair<double, double>>> Judge::Ranking(const std::vector<BenchModel>& variants) {
  SIMPRED_ASSIGN_OR_RETURN(const Twin twin, FitFor(Calibration::kSynth, nullptr, ""));
  std::vector<std::pair<double, double>> out;
  const auto add = [&](const std::string& name, const Workload& w) -> Status {
    const auto found = measured_.find(name);
    if (found == measured_.end()) return OkStatus();
    SIMPRED_ASSIGN_OR_RETURN(const Prediction p, Predict(w, twin, options_.device, {}));
    out.emplace_back(found->second.end_to_end / Microseconds(1), p.end_to_end.total.value / Microseconds(1));
    return OkStatus();
  };
  for (const Subject& s : subjects_) {
    SIMPRED_RETURN_IF_ERROR(add(s.model.name, s.workload));
    if (!measured_.contains(s.model.name + "_off")) continue;
    SIMPRED_ASSIGN_OR_RETURN(const Workload off, WorkloadOf(s.model, "off", options_));
    SIMPRED_RETURN_IF_ERROR(add(s.model.name + "_off", off));
  }
  for (const BenchModel& v : variants) {
    if (!measured_.contains(v.name)) continue;
    SIMPRED_ASSIGN_OR_RETURN(const Workload w, WorkloadOf(v, "auto", options_));
    SIMPRED_RETURN_IF_ERROR(add(v.name, w));
  }
  return out;
}

}  // namespace simpred::bench
