// How does a quantity read for people? Three significant digits and a fitting unit.
#include "base/units.h"

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

namespace simpred {
namespace {

constexpr std::string_view kUnknown = "unknown";

// Three significant digits of a non-negative value without an exponent, down to 0.001.
std::string Digits(double v) {
  if (v == 0) return "0";
  if (v < 0.0009995 || v >= 1e15) return fmt::format("{:.2e}", v);
  const int decimals = v < 0.009995 ? 5 : v < 0.09995 ? 4 : v < 0.9995 ? 3 : v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", v, decimals);
}

// One step of a ladder of units: from `scale` on, values are given in this unit.
struct Step {
  double scale;
  std::string_view unit;
};

// 999.7 of a unit rounds to 1000 in three digits, so it is shown in the next one.
template <typename Steps>
std::string Climb(double v, const Steps& steps) {
  if (!std::isfinite(v)) return std::string(kUnknown);
  const double magnitude = std::abs(v);
  auto step = std::begin(steps);
  while (std::next(step) != std::end(steps) && magnitude >= std::next(step)->scale * 0.9995) ++step;
  return fmt::format("{}{} {}", v < 0 ? "-" : "", Digits(magnitude / step->scale), step->unit);
}

}  // namespace

std::string ToString(Duration d) {
  // Minutes from two of them on: "90.0 s" says more than "1.50 min".
  static constexpr std::array<Step, 4> kSteps = {{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  static constexpr std::array<Step, 2> kLongSteps = {{{60e9, "min"}, {3600e9, "h"}}};
  const double ns = d / Nanoseconds(1);
  return std::abs(ns) >= 120e9 ? Climb(ns, kLongSteps) : Climb(ns, kSteps);
}

std::string ToString(Bytes b) {
  static constexpr std::array<Step, 6> kSteps = {
      {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}, {0x1p50, "PiB"}}};
  if (b.count() > -1024 && b.count() < 1024) return fmt::format("{} B", b.count());
  return Climb(static_cast<double>(b.count()), kSteps);
}

std::string ToString(Flops f) {
  static constexpr std::array<Step, 7> kSteps = {
      {{1, "FLOP"}, {1e3, "KFLOP"}, {1e6, "MFLOP"}, {1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}, {1e18, "EFLOP"}}};
  const double n = f.count();
  if (n == std::floor(n) && std::abs(n) < 1000) return fmt::format("{:.0f} FLOP", n);
  return Climb(n, kSteps);
}

std::string ToString(BytesPerSecond r) {
  static constexpr std::array<Step, 6> kSteps = {
      {{1, "B/s"}, {1e3, "KB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}, {1e15, "PB/s"}}};
  return Climb(r.count(), kSteps);
}

std::string ToString(FlopsPerSecond r) {
  static constexpr std::array<Step, 6> kSteps = {
      {{1, "FLOP/s"}, {1e3, "KFLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}, {1e15, "PFLOP/s"}}};
  return Climb(r.count(), kSteps);
}

}  // namespace simpred
