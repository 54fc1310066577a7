// How is a device calibrated before any model is known? Blocks of generated models, several rounds, then a fit.
//
// A block is kKernelsPerBlock single-kernel models and kNetworksPerBlock networks. A wave is as many blocks as the
// budget allows to be measured `rounds` times; rounds of a wave follow each other (all blocks, all blocks, ...), so
// that the rounds of one kernel are as far apart in time as the budget allows and a busy phase of the machine cannot
// spoil all of them. What is stored tells where a stopped calibration was: the first wave of the next call finishes
// what is unfinished.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/work_folder.h"
#include "calibrate/calibrate.h"
#include "calibrate/generate.h"

namespace simpred {
namespace {

constexpr int64_t kKernelsPerBlock = 128;
constexpr int64_t kNetworksPerBlock = 16;
// A short budget is better spent on more kernels than on three rounds of few.
constexpr int64_t kFewestBlocks = 4;

class Stopwatch {
 public:
  Duration elapsed() const {
    return Nanoseconds(static_cast<double>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count()));
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Plan {  // one kind of generated models and the session that stores them
  explicit Plan(std::string k) : kind(std::move(k)) {}
  std::string kind;
  int64_t session = 0;
  std::set<std::pair<std::string, int>> done;  // model name, round
};

class DeviceCalibrator {
 public:
  DeviceCalibrator(Database& db, const CalibrateOptions& options) : db_(db), options_(options) {}

  Status Run(DeviceCalibration& out) {
    SIMPRED_ASSIGN_OR_RETURN(folder_, WorkFolder::Create());
    SIMPRED_RETURN_IF_ERROR(Prepare(out));
    Stopwatch watch;
    int64_t block = FirstUnfinishedBlock();
    while (watch.elapsed() < options_.budget && !stopped()) {
      SIMPRED_ASSIGN_OR_RETURN(const int64_t measured, Wave(block, watch));
      block += measured;
    }
    out.kernels_measured = CountModels(kernels_);
    out.networks_measured = CountModels(networks_);
    out.failed = static_cast<int64_t>(failures_.size());
    for (const auto& [model, why] : failures_) out.failures.push_back(fmt::format("{}: {}", model, why));
    return OkStatus();
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  void Report(double fraction, const std::string& what) const {
    if (options_.progress) options_.progress(std::clamp(fraction, 0.0, 1.0), what);
  }

  CollectorOptions CollectorSettings() const {
    CollectorOptions c;
    c.library = options_.library;
    c.threads = options_.threads;
    c.iters = 40;
    c.max_seconds = 0.25;  // per network and kind of run: envelopes come from the rounds, not from one long process
    c.rounds = 1;
    c.work_folder = folder_->path();
    c.stop = options_.stop;
    return c;
  }

  Status Prepare(DeviceCalibration& out) {
    Collector collector(CollectorSettings());
    SIMPRED_ASSIGN_OR_RETURN(out.runtime_version, collector.RuntimeVersion());
    Session s;
    s.device = options_.device.name;
    s.fingerprint = options_.device.fingerprint;
    s.runtime = "onnxruntime";
    s.runtime_version = out.runtime_version;
    s.threads = options_.threads;
    s.facts["plan"] = fmt::format("generated/2 seed={}", options_.seed);
    for (Plan* plan : {&kernels_, &networks_}) {
      s.kind = plan->kind;
      if (!options_.measure_again) {
        SIMPRED_ASSIGN_OR_RETURN(plan->session, db_.FindResumable(s));
      }
      if (plan->session == 0) {
        SIMPRED_ASSIGN_OR_RETURN(plan->session, db_.AddSession(s));
      }
      SIMPRED_ASSIGN_OR_RETURN(plan->done, db_.RoundsDone(plan->session));
    }
    SIMPRED_ASSIGN_OR_RETURN(const std::optional<MeasurementBias> known,
                             db_.FindBias(s.fingerprint, s.runtime_version, options_.threads));
    if (known && !options_.measure_again) {
      out.bias = *known;
      return OkStatus();
    }
    Report(0, "measuring the profiler's own bias with chains of equal kernels");
    SIMPRED_ASSIGN_OR_RETURN(out.bias, collector.MeasureBias());
    return db_.SetBias(kernels_.session, out.bias);
  }

  // Blocks are measured in order, so that the number of models with all rounds tells the first block to go on with.
  int64_t FirstUnfinishedBlock() const {
    std::map<std::string, int> rounds;
    for (const auto& [model, round] : networks_.done) ++rounds[model];
    int64_t complete = 0;
    for (const auto& [model, n] : rounds) complete += n >= options_.rounds ? 1 : 0;
    return complete / kNetworksPerBlock;
  }

  static int64_t CountModels(const Plan& p) {
    std::set<std::string> models;
    for (const auto& [model, round] : p.done) models.insert(model);
    return static_cast<int64_t>(models.size());
  }

  // Measures blocks [first, first + n) in all rounds; gives n, chosen so that the wave fits into what is left of the
  // budget.
  Result<int64_t> Wave(int64_t first, const Stopwatch& watch) {
    const Duration left = options_.budget - watch.elapsed();
    Stopwatch one;
    const int64_t measured_before = models_measured_;
    SIMPRED_RETURN_IF_ERROR(Block(first, 0, watch));
    // Mostly stored already, by a call that was stopped: the time says nothing of what a block takes. Such a block is
    // finished by itself.
    const bool resumed = models_measured_ - measured_before < (kKernelsPerBlock + kNetworksPerBlock) / 2;
    const Duration per_block = std::max(one.elapsed(), Milliseconds(100));
    int rounds = options_.rounds;
    auto blocks = static_cast<int64_t>(left / (per_block * rounds));
    if (blocks < kFewestBlocks && first == 0) {
      rounds = std::max(2, rounds - 1);
      blocks = static_cast<int64_t>(left / (per_block * rounds));
    }
    blocks = resumed ? 1 : std::max<int64_t>(1, blocks);
    for (int round = 0; round < rounds; ++round) {
      for (int64_t b = first; b < first + blocks; ++b) {
        if (stopped() || watch.elapsed() > options_.budget) return blocks;
        SIMPRED_RETURN_IF_ERROR(Block(b, round, watch));
      }
    }
    return blocks;
  }

  Status Block(int64_t block, int round, const Stopwatch& watch) {
    Report(watch.elapsed() / options_.budget,
           fmt::format("round {}, generated kernels and networks, block {}", round + 1, block + 1));
    std::vector<GeneratedModel> kernels, networks;
    for (int64_t i = 0; i < kKernelsPerBlock; ++i)
      kernels.push_back(GenerateKernel(options_.seed, block * kKernelsPerBlock + i));
    for (int64_t i = 0; i < kNetworksPerBlock; ++i)
      networks.push_back(GenerateNetwork(options_.seed, block * kNetworksPerBlock + i));
    SIMPRED_RETURN_IF_ERROR(MeasureGenerated(kernels, KernelContext::kAloneWarm, kernels_, round));
    return MeasureGenerated(networks, KernelContext::kInGraph, networks_, round);
  }

  Status MeasureGenerated(const std::vector<GeneratedModel>& models, KernelContext context, Plan& plan, int round) {
    std::vector<MeasureItem> items;
    for (const GeneratedModel& g : models) {
      if (plan.done.contains({g.name, round}) || failures_.contains(g.name)) continue;
      MeasureItem item;
      item.path = folder_->path() / (g.name + ".onnx");
      item.name = g.name;
      item.family = "generated";
      item.context = context;
      SIMPRED_RETURN_IF_ERROR(WriteAtomically(item.path, g.onnx));
      items.push_back(std::move(item));
    }
    if (items.empty()) return OkStatus();
    models_measured_ += std::ssize(items);
    Collector collector(CollectorSettings());
    Status status = collector.Measure(items, [&](Measured m) { return Store(items, std::move(m), plan, round); });
    for (const MeasureItem& item : items) std::filesystem::remove(item.path);
    return status;
  }

  Status Store(const std::vector<MeasureItem>& items, Measured m, Plan& plan, int round) {
    const std::string& name = items[m.item].name;
    if (!m.status.ok()) {
      failures_.emplace(name, std::string(m.status.message()));
      return OkStatus();
    }
    m.run.session = plan.session;
    m.run.round = round;
    for (Record& r : m.records) r.session = plan.session, r.round = round;
    SIMPRED_RETURN_IF_ERROR(db_.AddMeasured(m.run, m.records));
    plan.done.insert({name, round});
    return OkStatus();
  }

  Database& db_;
  const CalibrateOptions& options_;
  std::unique_ptr<WorkFolder> folder_;
  Plan kernels_{"generated-kernels"};
  Plan networks_{"generated-networks"};
  int64_t models_measured_ = 0;  // by this call, each round counted
  std::map<std::string, std::string> failures_;
};

}  // namespace

std::string TwinKey(const std::string& fingerprint, const std::string& runtime, const std::string& runtime_version,
                    int threads) {
  return fmt::format("{}|{}|{}|threads={}", fingerprint, runtime, runtime_version, threads);
}

Result<Refit> FitAndStore(Database& db, const CalibrateOptions& options, const std::string& runtime_version) {
  SIMPRED_ASSIGN_OR_RETURN(const std::optional<MeasurementBias> bias,
                           db.FindBias(options.device.fingerprint, runtime_version, options.threads));
  Refit out;
  if (bias) out.bias = *bias;
  SampleFilter filter;
  filter.records.fingerprint = options.device.fingerprint;
  filter.records.runtime_version = runtime_version;
  filter.records.threads = options.threads;
  SIMPRED_ASSIGN_OR_RETURN(out.samples, CollectSamples(db, filter, out.bias));
  FitOptions fit;
  fit.seed = options.seed;
  fit.threads = options.threads;
  fit.bias = out.bias;
  fit.fit_threads = std::max(1, options.device.cores);
  fit.progress = [&](double f) {
    if (options.progress) options.progress(f, "fitting");
  };
  SIMPRED_ASSIGN_OR_RETURN(const Twin twin, Twin::Fit(out.samples.fit, out.samples.graphs, options.device, fit));
  out.summary = twin.summary();
  StoredTwin stored;
  stored.key = TwinKey(options.device.fingerprint, "onnxruntime", runtime_version, options.threads);
  stored.bytes = twin.Serialize();
  stored.summary = fmt::format("{} samples, {} graphs", out.samples.fit.size(), out.samples.graphs.size());
  SIMPRED_RETURN_IF_ERROR(db.PutTwin(stored));
  return out;
}

Result<DeviceCalibration> CalibrateDevice(Database& db, const CalibrateOptions& options) {
  DeviceCalibration out;
  SIMPRED_RETURN_IF_ERROR(DeviceCalibrator(db, options).Run(out));
  SIMPRED_ASSIGN_OR_RETURN(Refit refit, FitAndStore(db, options, out.runtime_version));
  out.records = refit.samples.records;
  out.samples = static_cast<int64_t>(refit.samples.fit.size());
  out.noisy = std::move(refit.samples.noisy);
  out.fit = std::move(refit.summary);
  std::vector<double> spreads;
  for (const FitSample& s : refit.samples.fit) spreads.push_back(s.spread);
  if (!spreads.empty()) {
    const auto middle = spreads.begin() + static_cast<std::ptrdiff_t>(spreads.size() / 2);
    std::nth_element(spreads.begin(), middle, spreads.end());
    out.noise_median = *middle;
  }
  return out;
}

}  // namespace simpred
