// How is a twin fitted? Samples go to their groups, each group is fitted by itself, then the graphs give the gap.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "predict/geometry.h"
#include "predict/twin.h"
#include "predict/twin_impl.h"

namespace simpred {
namespace {

constexpr double kOwnNoise = 0.02;  // relative, of any kernel's time between two processes on a quiet machine
constexpr double kClockUs = 0.3;    // what the profiler's clock of 1 us leaves of uncertainty after averaging
constexpr double kMaxNoise = 1.0;
constexpr int64_t kPooledSamples = 1500;

// FNV-1a: a stable hash, the same on every platform.
uint64_t HashOf(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h ^ (h >> 29);
}

struct Row {
  size_t sample;
  KernelFeatures features;
  Rooflines roofline;
};

struct Job {
  std::string group;
  std::vector<const Row*> rows;
  std::string bytes;
  GroupModel::HeldOut held_out;
  FitSummary::Group summary;
};

int FoldOf(const FitSample& s, size_t index, const FitOptions& o) {
  uint64_t h = HashOf(s.group.empty() ? fmt::format("alone {}", index) : s.group);
  return static_cast<int>((h ^ o.seed) % static_cast<uint64_t>(std::max(2, o.folds)));
}

GroupSamples Collect(const Job& job, const std::vector<FitSample>& samples, const FitOptions& o) {
  const bool pooled = job.group == kPooled;
  GroupSamples g;
  auto n = static_cast<Eigen::Index>(job.rows.size());
  g.data.y.resize(n);
  g.data.noise.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Row& row = *job.rows[static_cast<size_t>(i)];
    const FitSample& s = samples[row.sample];
    Vector x = pooled ? PooledRowOf(row.features, row.roofline) : RowOf(row.features, row.roofline);
    if (i == 0) g.data.x.resize(n, x.size());
    g.data.x.row(i) = x;
    double us = s.time / Microseconds(1);
    g.data.y(i) = std::log(s.time / row.roofline.warm);
    double clock = kClockUs / us;
    g.data.noise(i) = std::min(kMaxNoise, std::sqrt(kOwnNoise * kOwnNoise + clock * clock + s.spread * s.spread / 4));
    g.variants.push_back(pooled ? row.features.group : row.features.variant);
    g.fold.push_back(FoldOf(s, row.sample, o));
    g.in_graph.push_back(s.context == KernelContext::kInGraph);
    g.time_us.push_back(us);
  }
  return g;
}

void Summarise(Job& job, const GroupSamples& g, const std::string& learner) {
  std::vector<double> errors;
  for (Eigen::Index i = 0; i < g.data.y.size(); ++i)
    errors.push_back(std::abs(std::exp(job.held_out.prediction(i) - g.data.y(i)) - 1));
  double sum = 0;
  int64_t near = 0;
  for (double e : errors) {
    sum += std::min(e, 5.0);
    near += e <= 0.15;
  }
  auto n = static_cast<double>(errors.size());
  job.summary = {job.group == kPooled ? "all" : job.group,
                 static_cast<int64_t>(errors.size()),
                 sum / n,
                 Quantile(errors, 0.5),
                 static_cast<double>(near) / n,
                 learner};
}

void Run(Job& job, const std::vector<FitSample>& samples, const FitOptions& o) {
  GroupSamples g = Collect(job, samples, o);
  GroupFitOptions options{o.seed ^ HashOf(job.group), std::max(2, o.folds), o.interval};
  GroupModel model = GroupModel::Fit(g, options, job.held_out);
  Summarise(job, g, model.learner());
  ByteWriter w;
  model.Write(w);
  job.bytes = w.Take();
}

// Largest first, so that the last worker does not start the longest job at the end. Results do not depend on order.
void RunAll(std::vector<Job>& jobs, const std::vector<FitSample>& samples, const FitOptions& o) {
  std::vector<Job*> order;
  for (Job& j : jobs) order.push_back(&j);
  std::stable_sort(order.begin(), order.end(),
                   [](const Job* a, const Job* b) { return a->rows.size() > b->rows.size(); });
  std::atomic<size_t> next{0}, done{0};
  std::mutex mutex;
  auto work = [&] {
    for (size_t i = next++; i < order.size(); i = next++) {
      Run(*order[i], samples, o);
      std::lock_guard<std::mutex> lock(mutex);
      if (o.progress) o.progress(static_cast<double>(++done) / static_cast<double>(order.size()));
    }
  };
  std::vector<std::thread> threads;
  for (int t = 1; t < std::clamp(o.fit_threads, 1, 64); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
}

// A held-out prediction in microseconds by what identifies it.
using HeldOutTimes = std::map<std::pair<std::string, std::string>, double>;  // (group, signature); (any "", signature)

struct GraphPoint {
  double sum_us = 0, end_us = 0;
  double count = 0, spread = 0;
};

Vector SolveGap(const std::vector<GraphPoint>& points, const std::vector<size_t>& use, double run_us) {
  // Relative errors, Huber weights, pulled towards a slope of one (to a few percent) and no cost per kernel (a fraction
  // of a microsecond): with few graphs the prior decides.
  constexpr double kSlopePrior = 0.05, kPerKernelPrior = 0.3, kTypicalError = 0.05;
  Vector solution(2);
  solution << 1, 0;
  for (int round = 0; round < 8; ++round) {
    Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
    normal(0, 0) = std::pow(kTypicalError / kSlopePrior, 2);
    normal(1, 1) = std::pow(kTypicalError / kPerKernelPrior, 2);
    Eigen::Vector2d right(normal(0, 0), 0);
    for (size_t i : use) {
      const GraphPoint& p = points[i];
      Eigen::Vector2d a(p.sum_us / p.end_us, p.count / p.end_us);
      double b = (p.end_us - run_us) / p.end_us, error = std::abs(b - a.dot(solution));
      double w = std::min(1.0, kTypicalError / std::max(1e-9, error));
      normal += w * a * a.transpose();
      right += w * a * b;
    }
    solution = normal.ldlt().solve(right);
  }
  return solution;
}

void FitGap(const std::vector<GraphPoint>& points, double run_us, const FitOptions& o, GapModel& gap) {
  gap.graphs = static_cast<int64_t>(points.size());
  if (points.empty()) return;
  std::vector<size_t> all(points.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  Vector s = SolveGap(points, all, run_us);
  gap.slope = s(0);
  gap.per_kernel_us = s(1);
  const size_t folds = static_cast<size_t>(std::max(2, o.folds));
  std::vector<double> ratios, errors;
  for (size_t f = 0; f < std::min(folds, points.size()); ++f) {
    std::vector<size_t> use;
    for (size_t i : all)
      if (i % folds != f) use.push_back(i);
    Vector part = SolveGap(points, use, run_us);
    for (size_t i = f; i < points.size(); i += folds) {
      const GraphPoint& p = points[i];
      double predicted = std::max(p.sum_us * 0.5, part(0) * p.sum_us + part(1) * p.count) + run_us;
      double error = std::abs(std::log(predicted / p.end_us));
      errors.push_back(error);
      ratios.push_back(error / std::max(1e-3, p.spread));
    }
  }
  auto n = static_cast<double>(points.size());
  double q = std::min(1.0, o.interval * (n + 1) / n), trust = n / (n + 5);
  gap.width_factor = trust * Quantile(ratios, q) + (1 - trust) * gap.width_factor;
  gap.floor = std::max(0.02, trust * Quantile(errors, 0.4) + (1 - trust) * gap.floor);
}

Status CheckSamples(const std::vector<FitSample>& samples) {
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].kernel) return InternalError(fmt::format("fit sample {} has no kernel", i));
    double us = samples[i].time / Microseconds(1);
    if (!(us > 0) || !std::isfinite(us))
      return InternalError(fmt::format("fit sample {} ('{}') has no positive time", i, samples[i].kernel->name));
  }
  return OkStatus();
}

}  // namespace

Result<Twin> Twin::Fit(const std::vector<FitSample>& samples, const std::vector<GraphSample>& graphs,
                       const DeviceProfile& device, const FitOptions& options) {
  SIMPRED_RETURN_IF_ERROR(CheckSamples(samples));
  Twin twin = Analytic(device, options.threads);
  Impl& impl = *twin.impl_;
  impl.bias = options.bias;
  if (samples.size() < static_cast<size_t>(GroupModel::kFewest)) return twin;

  std::vector<Row> rows;
  for (size_t i = 0; i < samples.size(); ++i)
    rows.push_back({i, FeaturesOf(*samples[i].kernel, samples[i].context, options.threads),
                    RooflinesOf(*samples[i].kernel, device, options.threads)});
  std::map<std::string, Job> by_group;
  Job pooled;
  pooled.group = kPooled;
  const size_t stride = rows.size() / static_cast<size_t>(kPooledSamples) + 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    Job& job = by_group[rows[i].features.group];
    job.group = rows[i].features.group;
    job.rows.push_back(&rows[i]);
    if (i % stride == 0) pooled.rows.push_back(&rows[i]);
  }
  std::vector<Job> jobs;
  for (auto& [name, job] : by_group)
    if (static_cast<Eigen::Index>(job.rows.size()) >= GroupModel::kFewest) jobs.push_back(std::move(job));
  jobs.push_back(std::move(pooled));
  RunAll(jobs, samples, options);

  HeldOutTimes held_out;
  for (Job& job : jobs) {
    impl.groups[job.group] = std::make_unique<LazyGroup>(std::move(job.bytes));
    impl.summary.groups.push_back(job.summary);
    if (job.group == kPooled) continue;
    for (size_t i = 0; i < job.rows.size(); ++i) {
      const FitSample& s = samples[job.rows[i]->sample];
      if (s.context != KernelContext::kInGraph || s.kernel->signature.empty()) continue;
      double us = job.rows[i]->roofline.warm / Microseconds(1) *
                  std::exp(job.held_out.prediction(static_cast<Eigen::Index>(i)));
      held_out[{s.group, s.kernel->signature}] = us;
      held_out.emplace(std::pair{std::string(), s.kernel->signature}, us);
    }
  }

  std::vector<GraphPoint> points;
  for (const GraphSample& g : graphs) {
    GraphPoint p;
    p.end_us = g.end_to_end / Microseconds(1);
    if (!(p.end_us > 0) || g.kernels.empty()) continue;
    std::vector<Estimate> estimates;
    for (const Kernel* k : g.kernels) {
      Estimate e = twin.Predict(*k);
      auto it = held_out.find({g.name, k->signature});
      if (it == held_out.end()) it = held_out.find({std::string(), k->signature});
      if (it != held_out.end()) {
        double ratio = Microseconds(it->second) / e.value;
        e.value = e.value * ratio;
        e.low = e.low * ratio;
        e.high = e.high * ratio;
      }
      p.sum_us += e.value / Microseconds(1);
      estimates.push_back(std::move(e));
    }
    p.count = static_cast<double>(g.kernels.size());
    p.spread = impl.Spread(g.kernels, estimates);
    points.push_back(p);
  }
  FitGap(points, impl.RunCost() / Microseconds(1), options, impl.gap);
  return twin;
}

}  // namespace simpred
