// How are samples summarised, and when is a kernel's time too noisy to learn from?
#include "profile/record.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace simpred {
namespace {

// Fewer samples than this say nothing about their own spread. The collector never makes fewer.
constexpr int64_t kFewestSamples = 5;
// Rounds are summarised by their 10th percentile, whose spread between processes is 1 to 3 % on a quiet machine and
// about 6 % on a busy one; a busy phase slows small kernels by up to 1.5 times. 15 % lets the former pass and stops
// the latter.
constexpr double kSpreadOfRounds = 0.15;
// One round alone has only its own samples, whose median lies further from their 10th percentile than two 10th
// percentiles lie apart.
constexpr double kSpreadInsideRound = 0.25;
// Profilers of this kind count whole microseconds: a difference of one tick is not noise.
constexpr Duration kClockTick = Microseconds(1);

// `sorted` is not empty. Linear interpolation between the two nearest order statistics.
double Quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

double MedianAbsoluteDeviation(const std::vector<double>& values, double median) {
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double v : values) deviations.push_back(std::abs(v - median));
  std::sort(deviations.begin(), deviations.end());
  return Quantile(deviations, 0.5);
}

NoiseVerdict Judge(const KernelMeasurement& m, int64_t samples) {
  if (samples < kFewestSamples) return NoiseVerdict::kFewSamples;
  const double relative = m.rounds > 1 ? kSpreadOfRounds : kSpreadInsideRound;
  return m.time * m.spread > m.time * relative + kClockTick ? NoiseVerdict::kNoisy : NoiseVerdict::kClean;
}

}  // namespace

std::string_view Name(Statistic s) {
  switch (s) {
    case Statistic::kMin:
      return "min";
    case Statistic::kP10:
      return "p10";
    case Statistic::kMedian:
      return "median";
    case Statistic::kMean:
      return "mean";
  }
  return "p10";
}

std::string_view Name(NoiseVerdict v) {
  switch (v) {
    case NoiseVerdict::kClean:
      return "clean";
    case NoiseVerdict::kFewSamples:
      return "few samples";
    case NoiseVerdict::kNoisy:
      return "noisy";
  }
  return "noisy";
}

Duration SampleSummary::get(Statistic s) const {
  switch (s) {
    case Statistic::kMin:
      return min;
    case Statistic::kP10:
      return p10;
    case Statistic::kMedian:
      return median;
    case Statistic::kMean:
      return mean;
  }
  return p10;
}

SampleSummary Summarize(std::vector<double> nanoseconds) {
  SampleSummary s;
  if (nanoseconds.empty()) return s;
  std::sort(nanoseconds.begin(), nanoseconds.end());
  const double median = Quantile(nanoseconds, 0.5);
  s.count = std::ssize(nanoseconds);
  s.min = Nanoseconds(nanoseconds.front());
  s.p10 = Nanoseconds(Quantile(nanoseconds, 0.1));
  s.median = Nanoseconds(median);
  s.mean = Nanoseconds(MeanOf(nanoseconds));
  s.p90 = Nanoseconds(Quantile(nanoseconds, 0.9));
  s.mad = Nanoseconds(MedianAbsoluteDeviation(nanoseconds, median));
  return s;
}

KernelMeasurement Envelope(const std::vector<const Record*>& rounds_of_one_kernel) {
  std::vector<Duration> times;
  int64_t samples = 0;
  const Record* only = nullptr;
  for (const Record* r : rounds_of_one_kernel) {
    if (r->raw.count == 0) continue;
    times.push_back(r->corrected);
    samples += r->raw.count;
    only = r;
  }
  KernelMeasurement m;
  m.rounds = static_cast<int>(times.size());
  if (!times.empty()) {
    std::sort(times.begin(), times.end());
    m.time = times[0];
    const Duration gap = times.size() > 1 ? times[1] - times[0] : only->raw.median - only->raw.p10;
    const Duration base = times.size() > 1 ? times[0] : only->raw.p10;
    if (base > Duration()) m.spread = gap / base;
  }
  m.verdict = Judge(m, samples);
  return m;
}

}  // namespace simpred
