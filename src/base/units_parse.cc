// How is "1.6 TB/s" read? A number, blanks, one unit of a closed list.
#include "base/units_parse.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>

namespace simpred {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

constexpr Unit kDurations[] = {{"ns", 1},  {"us", 1e3},   {"µs", 1e3},  {"ms", 1e6},
                               {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
constexpr Unit kBytes[] = {{"B", 1},     {"KB", 1e3},     {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
                           {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
constexpr Unit kHertz[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}};
constexpr Unit kPrefixes[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}};

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> ScaleOf(std::string_view unit, std::span<const Unit> units) {
  for (const Unit& u : units) {
    if (u.name == unit) return u.scale;
  }
  return std::nullopt;
}

std::optional<double> ByteRateScale(std::string_view unit) {
  if (!unit.ends_with("/s")) return std::nullopt;
  return ScaleOf(unit.substr(0, unit.size() - 2), kBytes);
}

std::optional<double> FlopRateScale(std::string_view unit) {
  for (std::string_view stem : {"FLOP/s", "FLOPS", "OP/s", "OPS"}) {
    if (!unit.ends_with(stem)) continue;
    if (auto scale = ScaleOf(unit.substr(0, unit.size() - stem.size()), kPrefixes)) return scale;
  }
  return std::nullopt;
}

// What a kind of quantity is called and which units it knows, for the errors.
struct Kind {
  std::string_view name;
  std::string_view units;
};

template <typename ScaleFunction>
Result<double> Parse(std::string_view text, const Kind& kind, ScaleFunction scale_of) {
  const std::string hint = fmt::format("known units: {}", kind.units);
  const std::string_view trimmed = Trim(text);
  double number = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error != std::errc() || !std::isfinite(number)) {
    return UsageError(fmt::format("'{}' is not a {}: it must begin with a number", text, kind.name), hint);
  }
  if (number < 0) return UsageError(fmt::format("'{}': a {} is not negative", text, kind.name));
  const std::string_view unit = Trim(trimmed.substr(static_cast<size_t>(end - trimmed.data())));
  if (unit.empty()) return UsageError(fmt::format("'{}': a {} needs a unit", text, kind.name), hint);
  const std::optional<double> scale = scale_of(unit);
  if (!scale) return UsageError(fmt::format("'{}': '{}' is not a unit of a {}", text, unit, kind.name), hint);
  const double value = number * *scale;
  if (!std::isfinite(value)) return UsageError(fmt::format("'{}' is too large for a {}", text, kind.name));
  return value;
}

}  // namespace

Result<Duration> ParseDuration(std::string_view text) {
  SIMPRED_ASSIGN_OR_RETURN(const double ns, Parse(text, {"duration", "ns us ms s min h"},
                                                  [](std::string_view unit) { return ScaleOf(unit, kDurations); }));
  return Nanoseconds(ns);
}

Result<Bytes> ParseBytes(std::string_view text) {
  SIMPRED_ASSIGN_OR_RETURN(const double bytes, Parse(text, {"size", "B KB MB GB TB KiB MiB GiB TiB"},
                                                     [](std::string_view unit) { return ScaleOf(unit, kBytes); }));
  if (bytes >= 0x1p63) return UsageError(fmt::format("'{}' is too large for a size", text));
  return Bytes(std::llround(bytes));
}

Result<BytesPerSecond> ParseBytesPerSecond(std::string_view text) {
  SIMPRED_ASSIGN_OR_RETURN(
      const double rate, Parse(text, {"bandwidth", "B/s KB/s MB/s GB/s TB/s KiB/s MiB/s GiB/s TiB/s"}, ByteRateScale));
  return BytesPerSecond(rate);
}

Result<FlopsPerSecond> ParseFlopsPerSecond(std::string_view text) {
  SIMPRED_ASSIGN_OR_RETURN(
      const double rate,
      Parse(text, {"compute rate", "FLOP/s or OP/s (also FLOPS, OPS) with K M G T P before it"}, FlopRateScale));
  return FlopsPerSecond(rate);
}

Result<double> ParseHertz(std::string_view text) {
  return Parse(text, {"frequency", "Hz kHz MHz GHz"}, [](std::string_view unit) { return ScaleOf(unit, kHertz); });
}

}  // namespace simpred
