// Figures over many deviations.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace simpred::bench {

double Mean(const std::vector<double>& v);                       // 0 for none
double MedianOf(std::vector<double> v);                          // 0 for none
double ShareWithin(const std::vector<double>& v, double limit);  // of values <= limit, 0..1

// Of all pairs whose truths differ by more than `margin` (0.1: 10 %), the share that is predicted in the right order.
struct Ranking {
  size_t pairs = 0;
  double right = 0;
};
Ranking RankPairs(const std::vector<std::pair<double, double>>& truth_and_prediction, double margin);

}  // namespace simpred::bench
