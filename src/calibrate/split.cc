// Who judges, who is fitted, who corrects? See split.h.
#include "calibrate/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/random.h"
#include "predict/features.h"

namespace simpred {
namespace {

double SquaredDistance(const std::vector<double>& a, const std::vector<double>& b) {
  double d = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) d += (a[i] - b[i]) * (a[i] - b[i]);
  return d;
}

// Farthest-point order: each next kernel is the one farthest from all that were taken; the first is the largest in
// work, because it is what the model's time hangs on.
std::vector<size_t> CoveringOrder(const std::vector<const Kernel*>& kernels,
                                  const std::vector<KernelFeatures>& features) {
  std::vector<size_t> order;
  std::vector<double> nearest(kernels.size(), std::numeric_limits<double>::infinity());
  std::vector<bool> taken(kernels.size(), false);
  for (size_t step = 0; step < kernels.size(); ++step) {
    size_t best = kernels.size();
    double best_score = -1;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (taken[i]) continue;
      const double score = step == 0
                               ? kernels[i]->work.flops.count() + static_cast<double>(kernels[i]->work.total().count())
                               : nearest[i];
      if (score > best_score) best = i, best_score = score;
    }
    taken[best] = true;
    order.push_back(best);
    for (size_t i = 0; i < kernels.size(); ++i)
      nearest[i] = std::min(nearest[i], SquaredDistance(features[i].values, features[best].values));
  }
  return order;
}

}  // namespace

Split SplitKernels(const std::vector<const Kernel*>& distinct, double sample_ratio, uint64_t seed) {
  Split out;
  const auto n = static_cast<double>(distinct.size());
  std::vector<const Kernel*> shuffled = distinct;
  std::sort(shuffled.begin(), shuffled.end(),
            [](const Kernel* a, const Kernel* b) { return a->signature < b->signature; });
  Random random(seed);
  random.Shuffle(shuffled);
  const double ratio = std::clamp(sample_ratio, 0.0, 1.0);
  const auto judges = static_cast<size_t>(
      std::clamp(std::round(n * std::max(0.1, (1 - ratio) / 2)), distinct.size() > 1 ? 1.0 : 0.0, n));
  const auto fitted = std::min(distinct.size() - judges, static_cast<size_t>(std::round(n * ratio)));
  for (size_t i = 0; i < judges; ++i) out.judge.insert(shuffled[i]->signature);

  std::map<std::string, std::vector<const Kernel*>> groups;
  for (size_t i = judges; i < shuffled.size(); ++i)
    groups[FeaturesOf(*shuffled[i], KernelContext::kInGraph, 1).group].push_back(shuffled[i]);
  // Round-robin over the groups in covering order, so that every group has its share.
  std::vector<std::vector<const Kernel*>> queues;
  for (const auto& [name, members] : groups) {
    std::vector<KernelFeatures> features;
    for (const Kernel* k : members) features.push_back(FeaturesOf(*k, KernelContext::kInGraph, 1));
    std::vector<const Kernel*> queue;
    for (size_t i : CoveringOrder(members, features)) queue.push_back(members[i]);
    queues.push_back(std::move(queue));
  }
  for (size_t depth = 0; out.fit.size() + out.correct.size() + judges < shuffled.size(); ++depth) {
    for (const std::vector<const Kernel*>& q : queues) {
      if (depth >= q.size()) continue;
      (out.fit.size() < fitted ? out.fit : out.correct).insert(q[depth]->signature);
    }
  }
  return out;
}

}  // namespace simpred
