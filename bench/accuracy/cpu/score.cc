// Figures over many deviations; see score.h.
#include "score.h"

#include <algorithm>

namespace simpred::bench {

double Mean(const std::vector<double>& v) {
  if (v.empty()) return 0;
  double sum = 0;
  for (double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}

double MedianOf(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const size_t n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double ShareWithin(const std::vector<double>& v, double limit) {
  if (v.empty()) return 0;
  return static_cast<double>(std::count_if(v.begin(), v.end(), [&](double x) { return x <= limit; })) /
         static_cast<double>(v.size());
}

Ranking RankPairs(const std::vector<std::pair<double, double>>& items, double margin) {
  Ranking out;
  size_t right = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t j = i + 1; j < items.size(); ++j) {
      const auto [low, high] = std::minmax(items[i].first, items[j].first);
      if (high / low - 1 <= margin) continue;
      ++out.pairs;
      right += (items[i].first < items[j].first) == (items[i].second < items[j].second) ? 1 : 0;
    }
  }
  out.right = out.pairs == 0 ? 0 : static_cast<double>(right) / static_cast<double>(out.pairs);
  return out;
}

}  // namespace simpred::bench
