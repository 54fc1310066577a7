#include "cli/nearest.h"

#include <algorithm>

namespace simpred {

int EditDistance(std::string_view a, std::string_view b) {
  // Long words are hostile or not words: what differs beyond 64 letters does not matter.
  a = a.substr(0, 64);
  b = b.substr(0, 64);
  std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = static_cast<int>(i + j);
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  int best_distance = 1 << 20;
  for (const std::string& k : known) {
    const int distance = EditDistance(word, k);
    if (distance < best_distance && distance * 2 <= static_cast<int>(std::max(k.size(), word.size()))) {
      best = k;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace simpred
