// No bare number is an estimate: value, interval, source, reason.
#pragma once

#include <string>
#include <string_view>

#include "base/units.h"

namespace simpred {

// In the order in which they are tried (design, section 4).
enum class Source : uint8_t {
  kExcluded,
  kFixed,
  kMeasured,
  kInterpolated,
  kExtrapolated,
  kTransferred,
  kAnalytic,
  kUnknown
};
std::string_view Name(Source s);

struct Estimate {
  Duration value;
  Duration low, high;  // default 90 % interval
  Source source = Source::kUnknown;
  std::string reason;   // "2 records, spread 1.1 %", "nearest calibrated shape 3.2 times smaller"
  double distance = 0;  // from the calibration set in feature space; 1 is the edge of what is covered
};

enum class Grade : uint8_t { kBaseline, kUsable, kReference };  // expected deviation up to 10 %, to 20 %, above
std::string_view Name(Grade g);
Grade GradeOf(double expected_deviation);
std::string_view Advice(Grade g);

}  // namespace simpred
