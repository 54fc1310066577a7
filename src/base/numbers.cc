// How are numbers read and written so that no locale changes them? With <charconv> alone.
#include "base/numbers.h"

#include <array>
#include <charconv>
#include <cmath>

namespace simpred {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> ParseDouble(std::string_view text) {
  const std::optional<double> value = ParseWhole<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

std::optional<int64_t> ParseInt(std::string_view text) { return ParseWhole<int64_t>(text); }

std::string FormatDouble(double value) {
  std::array<char, 32> buffer{};  // the longest shortest form has 24 characters
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

std::string FormatFixed(double value, int digits) {
  // 309 digits before the point, and then as many as are asked for.
  std::string text(static_cast<size_t>(320 + digits), '\0');
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
  text.resize(static_cast<size_t>(end - text.data()));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

}  // namespace simpred
