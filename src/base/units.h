// Quantities as types: how long, how many bytes, how much work, how fast?
//
//   Duration t = Bytes(1 << 20) / BytesPerSecond::GiB(10);
//   double us  = t / Microseconds(1);       // a number comes only out of a division by a unit
//   fmt::print("{}", t);                    // "97.7 us": printing carries the unit
//
// Nothing converts to or from a bare number by itself; adding bytes to work does not compile
// (tests/compile_fail). Durations are IEEE doubles in nanoseconds: exact for whole nanoseconds up to 104 days.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>

namespace simpred {

// A span of time. Internally nanoseconds. May be fractional and negative (differences).
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration FromNanoseconds(double ns) { return Duration(ns); }

  constexpr Duration operator+(Duration o) const { return Duration(ns_ + o.ns_); }
  constexpr Duration operator-(Duration o) const { return Duration(ns_ - o.ns_); }
  constexpr Duration operator-() const { return Duration(-ns_); }
  constexpr Duration operator*(double k) const { return Duration(ns_ * k); }
  constexpr Duration operator/(double k) const { return Duration(ns_ / k); }
  constexpr double operator/(Duration o) const { return ns_ / o.ns_; }
  constexpr Duration& operator+=(Duration o) { return *this = *this + o; }
  constexpr Duration& operator-=(Duration o) { return *this = *this - o; }
  constexpr auto operator<=>(const Duration&) const = default;

 private:
  explicit constexpr Duration(double ns) : ns_(ns) {}
  double ns_ = 0;
};
constexpr Duration operator*(double k, Duration d) { return d * k; }
constexpr Duration Nanoseconds(double n) { return Duration::FromNanoseconds(n); }
constexpr Duration Microseconds(double n) { return Duration::FromNanoseconds(n * 1e3); }
constexpr Duration Milliseconds(double n) { return Duration::FromNanoseconds(n * 1e6); }
constexpr Duration Seconds(double n) { return Duration::FromNanoseconds(n * 1e9); }

// An amount of memory or traffic in bytes. Sums and products saturate at the largest int64: a hostile
// model gets an absurd but ordered number, never a negative one.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(int64_t n) : n_(n) {}
  constexpr int64_t count() const { return n_; }
  constexpr Bytes operator+(Bytes o) const {
    int64_t r = 0;
    return __builtin_add_overflow(n_, o.n_, &r) ? Bytes(INT64_MAX) : Bytes(r);
  }
  constexpr Bytes operator-(Bytes o) const { return Bytes(n_ - o.n_); }
  constexpr Bytes operator*(int64_t k) const {
    int64_t r = 0;
    return __builtin_mul_overflow(n_, k, &r) ? Bytes(INT64_MAX) : Bytes(r);
  }
  constexpr double operator/(Bytes o) const { return static_cast<double>(n_) / static_cast<double>(o.n_); }
  constexpr Bytes& operator+=(Bytes o) { return *this = *this + o; }
  constexpr auto operator<=>(const Bytes&) const = default;

 private:
  int64_t n_ = 0;
};

// Arithmetic work in floating-point (or integer) operations; a multiply-add counts two. A double: exact to
// 2^53, ordered beyond.
class Flops {
 public:
  constexpr Flops() = default;
  explicit constexpr Flops(double n) : n_(n) {}
  constexpr double count() const { return n_; }
  constexpr Flops operator+(Flops o) const { return Flops(n_ + o.n_); }
  constexpr Flops operator-(Flops o) const { return Flops(n_ - o.n_); }
  constexpr Flops operator*(double k) const { return Flops(n_ * k); }
  constexpr double operator/(Flops o) const { return n_ / o.n_; }
  constexpr Flops& operator+=(Flops o) { return *this = *this + o; }
  constexpr auto operator<=>(const Flops&) const = default;

 private:
  double n_ = 0;
};

class BytesPerSecond {
 public:
  constexpr BytesPerSecond() = default;
  explicit constexpr BytesPerSecond(double v) : v_(v) {}
  constexpr double count() const { return v_; }
  constexpr BytesPerSecond operator*(double k) const { return BytesPerSecond(v_ * k); }
  constexpr auto operator<=>(const BytesPerSecond&) const = default;

 private:
  double v_ = 0;
};

class FlopsPerSecond {
 public:
  constexpr FlopsPerSecond() = default;
  explicit constexpr FlopsPerSecond(double v) : v_(v) {}
  constexpr double count() const { return v_; }
  constexpr FlopsPerSecond operator*(double k) const { return FlopsPerSecond(v_ * k); }
  constexpr auto operator<=>(const FlopsPerSecond&) const = default;

 private:
  double v_ = 0;
};

// A rate of zero means "not known": the quotient is an infinite duration, which no report prints as a number.
constexpr Duration operator/(Bytes b, BytesPerSecond r) { return Seconds(static_cast<double>(b.count()) / r.count()); }
constexpr Duration operator/(Flops f, FlopsPerSecond r) { return Seconds(f.count() / r.count()); }
constexpr BytesPerSecond operator/(Bytes b, Duration t) {
  return BytesPerSecond(static_cast<double>(b.count()) / (t / Seconds(1)));
}
constexpr FlopsPerSecond operator/(Flops f, Duration t) { return FlopsPerSecond(f.count() / (t / Seconds(1))); }

// For people: three significant digits and a fitting unit ("12.3 us", "4.02 MiB", "7.75 GFLOP", "21.4 GB/s").
std::string ToString(Duration d);
std::string ToString(Bytes b);
std::string ToString(Flops f);
std::string ToString(BytesPerSecond r);
std::string ToString(FlopsPerSecond r);

// The other direction, at the edge (device YAML, --budget): "1.6 TB/s", "32 MiB", "1.08 GHz", "5min", "250 us".
// Defined with Result in units_parse.h, so that this header needs nothing.

}  // namespace simpred

template <typename T>
requires(std::same_as<T, simpred::Duration> || std::same_as<T, simpred::Bytes> || std::same_as<T, simpred::Flops> ||
         std::same_as<T, simpred::BytesPerSecond> ||
         std::same_as<T, simpred::FlopsPerSecond>) struct fmt::formatter<T> : fmt::formatter<std::string> {
  template <typename Context>
  auto format(const T& v, Context& context) const {
    return fmt::formatter<std::string>::format(simpred::ToString(v), context);
  }
};
