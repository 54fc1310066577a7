// What any machine has, measured in the same run, so that figures of different machines can be compared.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace simpred::bench {

inline double Seconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
}

// Copy bandwidth in GB/s (bytes read plus bytes written) over 64 MiB, best of five.
inline double CopyBandwidth() {
  const std::vector<char> from(64 << 20, 1);
  std::vector<char> to(from.size());
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), from.size());
    best = std::min(best, Seconds(start));
  }
  return 2.0 * static_cast<double>(from.size()) / best / 1e9 + (to[1] == 1 ? 0 : 1);
}

// A fixed chain of 10,000,000 dependent multiply-adds: nanoseconds for one, best of three.
inline double LoopTime() {
  double best = 1e9;
  constexpr int kSteps = 10'000'000;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    volatile double sink = 0.5;
    double x = sink;  // not known to the compiler
    for (int k = 0; k < kSteps; ++k) x = x * 0.999999 + 1e-6;
    sink = x;
    static_cast<void>(sink);
    best = std::min(best, Seconds(start));
  }
  return best / kSteps * 1e9;
}

}  // namespace simpred::bench
