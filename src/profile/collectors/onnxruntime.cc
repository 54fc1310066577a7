// Measures models on this machine's CPU with ONNX Runtime, loaded at run time.
#include "profile/collectors/onnxruntime.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/work_folder.h"
#include "frontend/onnx/onnx.h"
#include "profile/collectors/bias_chains.h"
#include "profile/collectors/machine_state.h"
#include "profile/collectors/ort_inputs.h"
#include "profile/collectors/ort_join.h"
#include "profile/collectors/ort_worker.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

// The runtime keeps all events of a profile in memory and drops what comes after the millionth.
constexpr int64_t kMostEvents = 60'000;
constexpr int64_t kMostRunsOfSmallModel = 4000;
constexpr int64_t kMostProfiledRunsOfSmallModel = 400;
constexpr int64_t kWantedRunsOfSmallModel = 30;

// Together about ten seconds.
constexpr int kBiasRounds = 3;
constexpr double kChainSeconds = 0.02;
constexpr int64_t kProfiledRunsOfChain = 60;

std::string_view ModeName(FusionLevel level) {
  switch (level) {
    case FusionLevel::kOff:
      return "off";
    case FusionLevel::kBasic:
      return "basic";
    case FusionLevel::kExtended:
      return "extended";
    case FusionLevel::kAll:
      break;
  }
  return "auto";
}

std::string NameOf(const MeasureItem& item) { return item.name.empty() ? item.path.stem().string() : item.name; }

ChildOptions ChildOptionsOf(const CollectorOptions& o) {
  return {.silence_seconds = o.silence_seconds, .stop = o.stop};
}

Result<fs::path> LibraryOf(const CollectorOptions& o) {
  if (o.library.empty()) return FindOnnxRuntime();
  return o.library;
}

// One model of a Measure() call: what is to be done, and what is known of it before it runs.
struct Prepared {
  Status status;  // why it cannot be measured
  Job job;
  Run run;                                   // without times
  std::optional<Result<Workload>> workload;  // of the optimised graph, once it is there
};

int64_t ProfiledRuns(int64_t wanted, int32_t nodes) {
  return std::clamp(kMostEvents / std::max<int64_t>(1, nodes), RunBudget::kFewestRuns, wanted);
}

void SetBudgets(const CollectorOptions& o, KernelContext context, int32_t nodes, Job& job) {
  job.budget = {.warmup = o.warmup, .max_runs = o.iters, .seconds = o.max_seconds};
  job.profiled_budget = job.budget;
  if (context == KernelContext::kAloneWarm) {
    job.budget = {.warmup = o.warmup,
                  .wanted_runs = kWantedRunsOfSmallModel,
                  .max_runs = kMostRunsOfSmallModel,
                  .seconds = o.small_model_seconds};
    job.profiled_budget = job.budget;
    job.profiled_budget.max_runs = kMostProfiledRunsOfSmallModel;
  }
  job.profiled_budget.max_runs = ProfiledRuns(job.profiled_budget.max_runs, nodes);
}

Status PrepareJob(const MeasureItem& item, const CollectorOptions& options, Prepared& out) {
  SIMPRED_ASSIGN_OR_RETURN(Model model, ReadOnnx(item.path));
  SIMPRED_ASSIGN_OR_RETURN(InputPlan inputs, PlanInputs(model, item.binding));
  out.job.model = item.path;
  out.job.level = item.level;
  out.job.threads = options.threads;
  out.job.inputs = std::move(inputs.inputs);
  out.job.symbols = std::move(inputs.symbols);
  out.job.profile = item.profile;
  SetBudgets(options, item.context, model.graph.node_count(), out.job);
  out.run.model_name = NameOf(item);
  out.run.structure_sha256 = model.structure_sha256;
  out.run.family = item.family;
  out.run.input_shapes = std::move(inputs.shapes);
  out.run.precision = "model";
  out.run.fusion_mode = ModeName(item.level);
  out.run.source = "onnxruntime";
  return OkStatus();
}

Result<Workload> KernelsOf(const fs::path& optimized, const InferOptions& binding) {
  InferOptions options = binding;
  options.assume_upper_bounds = true;  // a size that the data decides is no reason to lose all kernels
  SIMPRED_ASSIGN_OR_RETURN(Model model, ReadOnnx(optimized));
  SIMPRED_ASSIGN_OR_RETURN(const InferReport report, InferShapes(model, options));
  return Lower(model);
}

// A Measure() call: prepares, runs the rounds, joins, delivers.
class Campaign {
 public:
  using Sink = std::function<Status(Measured)>;
  using Progress = std::function<void(double, const std::string&)>;

  Campaign(const CollectorOptions& options, const std::vector<MeasureItem>& items, const Sink& sink,
           const Progress& progress)
      : options_(options), items_(items), sink_(sink), progress_(progress) {}

  Status Run() {
    SIMPRED_ASSIGN_OR_RETURN(library_, LibraryOf(options_));
    SIMPRED_ASSIGN_OR_RETURN(scratch_, WorkFolder::Create(options_.work_folder));
    SIMPRED_RETURN_IF_ERROR(PrepareAll());
    for (int round = 0; round < options_.rounds; ++round) {
      for (size_t begin = 0; begin < items_.size() && !stopped();) {
        const size_t end = EndOfUnit(begin);
        if (progress_) progress_(DoneFraction(round, begin), What(round, begin));
        SIMPRED_RETURN_IF_ERROR(RunUnit(round, begin, end));
        begin = end;
      }
    }
    return OkStatus();
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }

  double DoneFraction(int round, size_t item) const {
    const auto items = static_cast<double>(items_.size());
    return (round * items + static_cast<double>(item)) / (std::max(1, options_.rounds) * items);
  }

  std::string What(int round, size_t item) const {
    return fmt::format("round {} of {}: {}", round + 1, options_.rounds, NameOf(items_[item]));
  }

  Status PrepareAll() {
    prepared_.resize(items_.size());
    for (size_t i = 0; i < items_.size() && !stopped(); ++i) {
      Prepared& p = prepared_[i];
      p.status = PrepareJob(items_[i], options_, p);
      p.job.optimized = scratch_->path() / fmt::format("{}.onnx", i);
      p.job.profile_file_prefix = scratch_->path() / fmt::format("{}-profile", i);
      if (!p.status.ok()) SIMPRED_RETURN_IF_ERROR(DeliverFailure(i, 0, p.status));
    }
    return OkStatus();
  }

  // [begin, end) are measured by one process.
  size_t EndOfUnit(size_t begin) const {
    const auto is_small = [&](size_t i) { return items_[i].context == KernelContext::kAloneWarm; };
    size_t end = begin + 1;
    if (!is_small(begin)) return end;
    const size_t most = begin + static_cast<size_t>(std::max(1, options_.batch));
    while (end < std::min(items_.size(), most) && is_small(end)) ++end;
    return end;
  }

  Status RunUnit(int round, size_t begin, size_t end) {
    std::vector<size_t> which;
    std::vector<Job> jobs;
    for (size_t i = begin; i < end; ++i) {
      if (!prepared_[i].status.ok()) continue;
      which.push_back(i);
      jobs.push_back(prepared_[i].job);
    }
    std::vector<std::pair<size_t, JobResult>> results;
    const std::optional<ProcessorTicks> ticks = ReadProcessorTicks();
    const WorkerEnd ended = RunJobs(library_, jobs, ChildOptionsOf(options_),
                                    [&](size_t job, JobResult r) { results.emplace_back(which[job], std::move(r)); });
    const std::map<std::string, std::string> facts = MachineFacts(ticks);
    for (auto& [item, result] : results) {
      Measured m = Finish(item, round, std::move(result));
      m.facts = facts;
      SIMPRED_RETURN_IF_ERROR(sink_(std::move(m)));
    }
    return ended.status;
  }

  Status DeliverFailure(size_t item, int round, const Status& why) const {
    Measured m;
    m.item = item;
    m.round = round;
    m.status = why.With(fmt::format("model {}", NameOf(items_[item])));
    return sink_(std::move(m));
  }

  Measured Finish(size_t item, int round, JobResult result) {
    Prepared& p = prepared_[item];
    Measured m;
    m.item = item;
    m.round = round;
    if (!result.status.ok()) {
      p.status = result.status;  // further rounds would fail as well
      m.status = std::move(result.status).With(fmt::format("model {}", NameOf(items_[item])));
      return m;
    }
    m.run = p.run;
    m.run.round = round;
    m.run.end_to_end = result.end_to_end;
    m.run.profiled_end_to_end = result.profiled_end_to_end;
    if (items_[item].profile) AddRecords(item, result, m);
    return m;
  }

  void AddRecords(size_t item, const JobResult& result, Measured& m) {
    Prepared& p = prepared_[item];
    if (!p.workload) p.workload = KernelsOf(p.job.optimized, items_[item].binding);
    if (!p.workload->ok()) {
      m.joined_share = 0;
      m.warnings.push_back(fmt::format("no records: {}", p.workload->status().ToString()));
      return;
    }
    Joined joined = Join(**p.workload, result.nodes);
    if (joined.not_joined > 0) {
      m.joined_share = 1 - joined.time_not_joined / joined.time;
      m.warnings.push_back(fmt::format("{} of {} profiled kernels ({}) are not in the graph", joined.not_joined,
                                       result.nodes.size(), joined.time_not_joined));
    }
    m.records = std::move(joined.records);
    for (Record& r : m.records) {
      r.round = m.round;
      r.context = items_[item].context;
      r.model_name = p.run.model_name;
      r.structure_sha256 = p.run.structure_sha256;
      r.family = p.run.family;
      r.precision = p.run.precision;
      r.fusion_mode = p.run.fusion_mode;
      r.source = p.run.source;
    }
    // Without the profiler's clock of whole microseconds: one kernel and the cost of a run (bias.h).
    if (items_[item].context == KernelContext::kAloneWarm && result.nodes.size() == 1 && m.records.size() == 1) {
      m.records[0].counters["unprofiled_ns"] = result.end_to_end.p10 / Nanoseconds(1);
    }
  }

  const CollectorOptions& options_;
  const std::vector<MeasureItem>& items_;
  const Sink& sink_;
  const Progress& progress_;
  fs::path library_;
  std::unique_ptr<WorkFolder> scratch_;
  std::vector<Prepared> prepared_;
};

// Each chain runs as it was written: an optimiser would shorten it.
Result<std::vector<Job>> ChainJobs(const std::vector<Chain>& chains, const CollectorOptions& options,
                                   const fs::path& folder) {
  std::vector<Job> jobs;
  for (const Chain& c : chains) {
    Job job;
    job.model = folder / fmt::format("chain-{}.onnx", jobs.size());
    SIMPRED_RETURN_IF_ERROR(WriteAtomically(job.model, c.onnx));
    SIMPRED_ASSIGN_OR_RETURN(Model model, ReadOnnx(job.model));
    SIMPRED_ASSIGN_OR_RETURN(InputPlan inputs, PlanInputs(model, {}));
    job.threads = options.threads;
    job.inputs = std::move(inputs.inputs);
    job.profile_file_prefix = folder / fmt::format("chain-{}-profile", jobs.size());
    job.budget = {.warmup = options.warmup, .wanted_runs = 30, .max_runs = 2000, .seconds = kChainSeconds};
    job.profiled_budget = {.warmup = options.warmup, .max_runs = kProfiledRunsOfChain, .seconds = kChainSeconds};
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void KeepBest(const Chain& chain, const JobResult& r, std::optional<ChainTimes>& best) {
  std::vector<double> kernel_times;
  for (const NodeSamples& n : r.nodes) kernel_times.push_back(n.kernel_time.p10 / Nanoseconds(1));
  const Duration run = r.end_to_end.p10, kernel = Summarize(std::move(kernel_times)).median;
  if (!best) best = ChainTimes{chain.kind, chain.length, run, kernel};
  best->run = std::min(best->run, run);
  best->kernel_time = std::min(best->kernel_time, kernel);
}

}  // namespace

Collector::Collector(CollectorOptions options) : options_(std::move(options)) {}

Status Collector::Measure(const std::vector<MeasureItem>& items, const std::function<Status(Measured)>& sink,
                          const std::function<void(double, const std::string&)>& progress) const {
  return Campaign(options_, items, sink, progress).Run();
}

Result<MeasurementBias> Collector::MeasureBias() const {
  SIMPRED_ASSIGN_OR_RETURN(const fs::path library, LibraryOf(options_));
  SIMPRED_ASSIGN_OR_RETURN(const std::unique_ptr<WorkFolder> scratch, WorkFolder::Create(options_.work_folder));
  const std::vector<Chain> chains = BiasChains();
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Job> jobs, ChainJobs(chains, options_, scratch->path()));
  std::vector<std::optional<ChainTimes>> best(chains.size());
  for (int round = 0; round < kBiasRounds; ++round) {
    const WorkerEnd end = RunJobs(library, jobs, ChildOptionsOf(options_), [&](size_t i, const JobResult& r) {
      if (r.status.ok()) KeepBest(chains[i], r, best[i]);
    });
    SIMPRED_RETURN_IF_ERROR(end.status);
    if (end.stopped) return UnavailableError("stopped while the profiler's bias was measured");
  }
  std::vector<ChainTimes> measured;
  for (const std::optional<ChainTimes>& c : best) {
    if (c) measured.push_back(*c);
  }
  return SolveBias(measured);
}

Result<std::string> Collector::RuntimeVersion() const {
  SIMPRED_ASSIGN_OR_RETURN(const fs::path library, LibraryOf(options_));
  SIMPRED_ASSIGN_OR_RETURN(const RuntimeIdentity identity, IdentifyRuntime(library, ChildOptionsOf(options_)));
  return identity.version;
}

Status Collector::SaveOptimized(const MeasureItem& item, const fs::path& to) const {
  SIMPRED_ASSIGN_OR_RETURN(const fs::path library, LibraryOf(options_));
  Prepared p;
  SIMPRED_RETURN_IF_ERROR(PrepareJob(item, options_, p));
  p.job.optimized = to;
  return SaveOptimizedModel(library, p.job, ChildOptionsOf(options_)).With(fmt::format("model {}", NameOf(item)));
}

}  // namespace simpred
