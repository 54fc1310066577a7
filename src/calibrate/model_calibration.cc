// How does one model's own profile make the twin agree with it? The closed loop: predict, compare, correct, predict
// again.
//
// Sample of the log (the loop looks at kernels that it may correct on; the judge sees neither):
//
//   round 0  predict                   end to end  -6.1 %   kernels 11.2 %
//   round 1  correct per kernel group  end to end  -2.0 %   kernels  7.9 %   conv-depthwise x1.12
//
// The loop stops when both deviations are at or below the threshold and the last correction no longer helped.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "calibrate/calibrate.h"
#include "calibrate/split.h"
#include "predict/predictor.h"
#include "predict/prepare.h"

namespace simpred {
namespace {

struct MeasuredKernel {
  const Kernel* kernel;
  Duration time;
  double spread;
};

// One model inside the loop.
struct Subject {
  const ModelToCalibrate* request;
  Prepared prepared;
  GraphMeasurement measured;
  std::map<std::string, MeasuredKernel> kernels;  // by signature
  int64_t places = 0;
  Split split;
  std::vector<NoisyKernel> noisy;
};

std::string NameOf(const MeasureItem& item) { return item.name.empty() ? item.path.stem().string() : item.name; }

class ModelCalibrator {
 public:
  ModelCalibrator(Database& db, const std::vector<ModelToCalibrate>& models, const CalibrateOptions& options)
      : db_(db), models_(models), options_(options) {}

  Result<std::vector<ModelCalibration>> Run() {
    CollectorOptions c;
    c.library = options_.library;
    SIMPRED_ASSIGN_OR_RETURN(runtime_version_, Collector(c).RuntimeVersion());
    SIMPRED_RETURN_IF_ERROR(PrepareAll());
    SIMPRED_RETURN_IF_ERROR(MeasureMissing());
    SIMPRED_RETURN_IF_ERROR(LoadMeasurements());
    SIMPRED_RETURN_IF_ERROR(FitWithoutHidden());
    std::vector<ModelCalibration> out;
    for (const Subject& s : subjects_) {
      SIMPRED_ASSIGN_OR_RETURN(ModelCalibration m, CloseLoop(s));
      out.push_back(std::move(m));
    }
    SIMPRED_ASSIGN_OR_RETURN(const Refit refit, FitAndStore(db_, options_, runtime_version_));
    return out;
  }

 private:
  Status PrepareAll() {
    for (const ModelToCalibrate& m : models_) {
      PrepareOptions p;
      p.path = m.item.path;
      p.binding = m.item.binding;
      p.fusion_mode = m.item.level == FusionLevel::kOff ? "off" : "auto";
      p.device = &options_.device;
      p.threads = options_.threads;
      Subject s;
      s.request = &m;
      SIMPRED_ASSIGN_OR_RETURN(s.prepared, Prepare(p));
      subjects_.push_back(std::move(s));
    }
    return OkStatus();
  }

  RecordFilter FilterOf(const Subject& s) const {
    RecordFilter f;
    f.fingerprint = options_.device.fingerprint;
    f.runtime_version = runtime_version_;
    f.threads = options_.threads;
    f.kinds = {"model"};
    f.models = {s.prepared.workload.structure_sha256};
    return f;
  }

  // Runs of the same model at the same shapes and switches.
  static bool Matches(const Subject& s, const GraphMeasurement& g) {
    return g.fusion_mode == s.prepared.workload.fusion_mode && g.input_shapes == s.prepared.input_shapes;
  }

  Status MeasureMissing() {
    std::vector<MeasureItem> items;
    for (const Subject& s : subjects_) {
      SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db_.Runs(FilterOf(s)));
      bool have = false;
      // A measurement that was stopped half-way is taken up again.
      for (const GraphMeasurement& g : JoinRuns(runs)) have |= Matches(s, g) && g.rounds >= options_.rounds;
      if (!have || s.request->measure_again) items.push_back(s.request->item);
    }
    if (items.empty()) return OkStatus();
    SIMPRED_ASSIGN_OR_RETURN(const MeasureSummary summary, MeasureModels(db_, items, options_));
    if (!summary.failed.empty()) return summary.failed[0].second.With("measuring model " + summary.failed[0].first);
    return OkStatus();
  }

  Status LoadMeasurements() {
    SIMPRED_ASSIGN_OR_RETURN(const std::optional<MeasurementBias> bias,
                             db_.FindBias(options_.device.fingerprint, runtime_version_, options_.threads));
    if (bias) bias_ = *bias;
    for (Subject& s : subjects_) {
      SampleFilter filter;
      filter.records = FilterOf(s);
      SIMPRED_ASSIGN_OR_RETURN(SampleSet set, CollectSamples(db_, filter, bias_));
      SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db_.Runs(filter.records));
      std::optional<GraphMeasurement> found;
      for (GraphMeasurement& g : JoinRuns(runs)) {
        if (Matches(s, g)) found = std::move(g);
      }
      if (!found) {
        return UnavailableError(fmt::format("model {} was measured, but no run was stored", NameOf(s.request->item)),
                                "run calibrate again; `db check` tells whether the database is sound");
      }
      s.measured = std::move(*found);
      s.noisy = set.noisy;
      sets_.push_back(std::move(set));
      std::vector<const Kernel*> distinct;
      for (const FitSample& f : sets_.back().fit) {
        if (s.kernels.emplace(f.kernel->signature, MeasuredKernel{f.kernel, f.time, f.spread}).second)
          distinct.push_back(f.kernel);
      }
      s.split = SplitKernels(distinct, s.request->sample_ratio, options_.seed);
    }
    return OkStatus();
  }

  // One fit for all subjects: what any of them hides is hidden from all.
  Status FitWithoutHidden() {
    std::set<std::string> hidden;
    std::set<std::string> structures;
    for (const Subject& s : subjects_) {
      hidden.insert(s.split.judge.begin(), s.split.judge.end());
      hidden.insert(s.split.correct.begin(), s.split.correct.end());
      structures.insert(s.prepared.workload.structure_sha256);
    }
    SampleFilter filter;
    filter.records = FilterOf(subjects_[0]);
    filter.records.models.clear();
    filter.records.kinds.clear();
    // A signature that judges is hidden wherever it was measured, in generated models too: nothing may give the answer
    // away.
    filter.hide = [hidden](const Record& r) { return hidden.contains(r.kernel.signature); };
    filter.drop_graphs_of_hidden = true;
    SIMPRED_ASSIGN_OR_RETURN(const SampleSet set, CollectSamples(db_, filter, bias_));
    FitOptions fit;
    fit.seed = options_.seed;
    fit.threads = options_.threads;
    fit.bias = bias_;
    fit.fit_threads = std::max(1, options_.device.cores);
    fit.progress = [&](double f) {
      if (options_.progress) options_.progress(f, "fitting without the judge");
    };
    SIMPRED_ASSIGN_OR_RETURN(Twin twin, Twin::Fit(set.fit, set.graphs, options_.device, fit));
    twin_.emplace(std::move(twin));
    return OkStatus();
  }

  struct Residual {  // one kernel of the part that is looked at
    std::string group;
    Bound bound;
    double log_ratio;  // log(measured / predicted)
    double weight;     // measured time
    const MeasuredKernel* kernel;
    Estimate estimate;
  };
  std::vector<Residual> Residuals(const Subject& s, const std::set<std::string>& part) const {
    std::vector<Residual> out;
    for (const std::string& signature : part) {
      const MeasuredKernel& m = s.kernels.at(signature);
      const Estimate e = twin_->Predict(*m.kernel);
      out.push_back({FeaturesOf(*m.kernel, KernelContext::kInGraph, options_.threads).group,
                     BoundOf(*m.kernel, options_.device, options_.threads), std::log(m.time / e.value),
                     m.time / Microseconds(1), &m, e});
    }
    return out;
  }

  Result<Duration> EndToEnd(const Subject& s, bool use_fitted) const {
    PredictOptions p;
    if (use_fitted) {
      for (const std::string& signature : s.split.fit) {
        const MeasuredKernel& m = s.kernels.at(signature);
        p.measured[signature] = {
            .time = m.time, .spread = m.spread, .rounds = options_.rounds, .verdict = NoiseVerdict::kClean};
      }
    }
    SIMPRED_ASSIGN_OR_RETURN(const Prediction prediction, Predict(s.prepared.workload, *twin_, options_.device, p));
    return prediction.end_to_end.total.value;
  }

  Result<LoopRound> Look(const Subject& s, int round, std::string action,
                         const std::map<std::string, double>& factors) const {
    LoopRound r;
    r.round = round;
    r.action = std::move(action);
    r.factors = factors;
    SIMPRED_ASSIGN_OR_RETURN(const Duration predicted, EndToEnd(s, true));
    r.end_to_end_deviation = predicted / s.measured.end_to_end - 1;
    double sum = 0;
    std::map<std::string, std::pair<double, double>> by_group;
    const std::vector<Residual> residuals = Residuals(s, s.split.correct);
    for (const Residual& x : residuals) {
      sum += std::abs(std::exp(-x.log_ratio) - 1);
      by_group[x.group].first += x.weight * (std::exp(-x.log_ratio) - 1);
      by_group[x.group].second += x.weight;
    }
    r.kernel_deviation = residuals.empty() ? 0 : sum / static_cast<double>(residuals.size());
    for (const auto& [group, v] : by_group) r.by_group[group] = v.first / v.second;
    return r;
  }

  // Time-weighted mean of the log residuals of a group, shrunk towards no correction: two kernels' worth of prior.
  static std::map<std::string, double> GroupFactors(const std::vector<Residual>& residuals,
                                                    const std::map<std::string, double>& before) {
    std::map<std::string, std::vector<const Residual*>> groups;
    for (const Residual& r : residuals) groups[r.group].push_back(&r);
    std::map<std::string, double> out = before;
    for (const auto& [group, members] : groups) {
      double sum = 0, weight = 0;
      for (const Residual* r : members) sum += r->weight * r->log_ratio, weight += r->weight;
      const auto n = static_cast<double>(members.size());
      const double correction = std::exp(sum / weight * n / (n + 2));
      out[group] = (before.contains(group) ? before.at(group) : 1.0) * correction;
    }
    return out;
  }

  Result<ModelCalibration> CloseLoop(const Subject& s) {
    ModelCalibration out;
    out.model = NameOf(s.request->item);
    out.measured = s.measured;
    out.noise = s.measured.spread;
    out.noisy = s.noisy;
    out.kernels = static_cast<int64_t>(s.prepared.workload.kernels.size());
    out.distinct = static_cast<int64_t>(s.kernels.size());
    out.fitted = static_cast<int64_t>(s.split.fit.size());
    out.corrected_on = static_cast<int64_t>(s.split.correct.size());
    out.judged = static_cast<int64_t>(s.split.judge.size());

    twin_->SetCorrections({}, 1, 1);
    std::map<std::string, double> factors;
    SIMPRED_ASSIGN_OR_RETURN(LoopRound best, Look(s, 0, "predict", factors));
    out.log.push_back(best);
    constexpr int kMostRounds = 6;
    for (int round = 1; round <= kMostRounds && !s.split.correct.empty(); ++round) {
      const std::map<std::string, double> next = GroupFactors(Residuals(s, s.split.correct), factors);
      twin_->SetCorrections(next, 1, 1);
      SIMPRED_ASSIGN_OR_RETURN(const LoopRound now, Look(s, round, "correct per kernel group", next));
      out.log.push_back(now);
      const bool better = now.kernel_deviation < best.kernel_deviation * 0.98;
      if (!better) {
        twin_->SetCorrections(factors, 1, 1);
        break;
      }
      factors = next;
      best = now;
    }
    SIMPRED_ASSIGN_OR_RETURN(out.predicted, EndToEnd(s, true));
    out.deviation = out.predicted / s.measured.end_to_end - 1;
    Judge(s, out);
    out.bias_analysis = AnalyseBias(s);
    const double worst = std::max(std::abs(out.deviation), out.judged > 0 ? out.judge_mean : 0.0);
    out.within_threshold = worst <= s.request->threshold;
    twin_->SetCorrections({}, 1, 1);
    return out;
  }

  void Judge(const Subject& s, ModelCalibration& out) const {
    std::vector<Residual> judged = Residuals(s, s.split.judge);
    if (judged.empty()) return;
    double sum = 0, total = 0, within = 0;
    for (const Residual& r : judged) {
      // By share of time: a kernel of half a microsecond must not outvote the convolution that takes half of the run.
      const double deviation = std::abs(std::exp(-r.log_ratio) - 1);
      sum += r.weight * deviation;
      total += r.weight;
      within += deviation <= 0.15 ? r.weight : 0;
    }
    out.judge_mean = sum / total;
    out.judge_within15 = within / total;
    std::sort(judged.begin(), judged.end(), [](const Residual& a, const Residual& b) {
      return a.weight * std::abs(std::exp(-a.log_ratio) - 1) > b.weight * std::abs(std::exp(-b.log_ratio) - 1);
    });
    for (size_t i = 0; i < std::min<size_t>(5, judged.size()); ++i) {
      const Residual& r = judged[i];
      out.to_blame.push_back(fmt::format("{} ({}): predicted {}, measured {}", r.kernel->kernel->name,
                                         r.kernel->kernel->type, r.estimate.value, r.kernel->time));
    }
  }

  // In words: signed residuals of everything that is not judge, by what bounds the kernel. Two standard errors decide.
  std::vector<std::string> AnalyseBias(const Subject& s) const {
    std::map<Bound, std::vector<double>> by_bound;
    for (const Residual& r : Residuals(s, s.split.correct)) by_bound[r.bound].push_back(r.log_ratio);
    std::vector<std::string> out;
    for (const auto& [bound, values] : by_bound) {
      const auto n = static_cast<double>(values.size());
      double mean = 0, variance = 0;
      for (double v : values) mean += v / n;
      for (double v : values) variance += (v - mean) * (v - mean) / std::max(1.0, n - 1);
      const double error = std::sqrt(variance / n);
      if (values.size() < 3 || std::abs(mean) < 2 * error) {
        out.push_back(fmt::format("{}-bound kernels: no bias that {} kernels could show", Name(bound), values.size()));
        continue;
      }
      const char* meaning =
          bound == Bound::kMemory ? (mean < 0 ? "the memory model is too careful" : "memory traffic is underestimated")
          : bound == Bound::kCompute ? (mean < 0 ? "compute is overestimated" : "compute is underestimated")
                                     : (mean < 0 ? "the cost of small kernels is overestimated"
                                                 : "the cost of small kernels is underestimated");
      out.push_back(fmt::format("{}-bound kernels are predicted {:.1f} % too {}: {}", Name(bound),
                                100 * std::abs(std::exp(-mean) - 1), mean < 0 ? "high" : "low", meaning));
    }
    return out;
  }

  Database& db_;
  const std::vector<ModelToCalibrate>& models_;
  const CalibrateOptions& options_;
  std::string runtime_version_;
  MeasurementBias bias_;
  std::vector<Subject> subjects_;
  std::deque<SampleSet> sets_;  // own the kernels that the subjects point to
  std::optional<Twin> twin_;
};

}  // namespace

Result<std::vector<ModelCalibration>> CalibrateModels(Database& db, const std::vector<ModelToCalibrate>& models,
                                                      const CalibrateOptions& options) {
  if (models.empty())
    return UsageError("no model to calibrate", "give model_path in the config or a model on the command line");
  return ModelCalibrator(db, models, options).Run();
}

}  // namespace simpred
