// Numbers to text and back, the same under every locale.
//
//   ParseDouble("1.5")  -> 1.5 under de_DE too        ParseDouble("1,5") -> nothing
//   FormatDouble(0.1)   -> "0.1" (shortest text that reads back to the same double)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simpred {

// The whole text must be a number; surrounding blanks are not accepted; inf and nan are not numbers here.
std::optional<double> ParseDouble(std::string_view text);
std::optional<int64_t> ParseInt(std::string_view text);
std::string FormatDouble(double value);
// At most `digits` decimals, trailing zeros removed: FormatFixed(12.5, 3) -> "12.5".
std::string FormatFixed(double value, int digits);

}  // namespace simpred
