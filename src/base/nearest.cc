#include "base/nearest.h"

#include <algorithm>

namespace simpred {
namespace {

constexpr size_t kLongest = 64;  // what is longer is no misspelt word

}  // namespace

int EditDistance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLongest);
  b = b.substr(0, kLongest);
  const size_t width = b.size() + 1;
  std::vector<int> table((a.size() + 1) * width);
  const auto at = [&](size_t i, size_t j) -> int& { return table[i * width + j]; };
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at(i, j) = static_cast<int>(i + j);
        continue;
      }
      const int substituted = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, substituted});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return table.back();
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  int best_distance = INT32_MAX;
  if (word.size() > kLongest) return best;
  for (const std::string& candidate : known) {
    const int distance = EditDistance(word, candidate);
    const auto longer = static_cast<int>(std::max(candidate.size(), word.size()));
    if (distance < best_distance && distance * 2 <= longer) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace simpred
