#include "predict/estimate.h"

namespace simpred {

std::string_view Name(Source s) {
  switch (s) {
    case Source::kExcluded:
      return "excluded";
    case Source::kFixed:
      return "fixed";
    case Source::kMeasured:
      return "measured";
    case Source::kInterpolated:
      return "interpolated";
    case Source::kExtrapolated:
      return "extrapolated";
    case Source::kTransferred:
      return "transferred";
    case Source::kAnalytic:
      return "analytic";
    case Source::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view Name(Grade g) {
  switch (g) {
    case Grade::kBaseline:
      return "baseline";
    case Grade::kUsable:
      return "usable";
    case Grade::kReference:
      break;
  }
  return "reference";
}

Grade GradeOf(double expected_deviation) {
  if (expected_deviation <= 0.10) return Grade::kBaseline;
  return expected_deviation <= 0.20 ? Grade::kUsable : Grade::kReference;
}

std::string_view Advice(Grade g) {
  switch (g) {
    case Grade::kBaseline:
      return "good enough to compare plans";
    case Grade::kUsable:
      return "small differences between plans are doubtful";
    case Grade::kReference:
      break;
  }
  return "look at the calibration first";
}

}  // namespace simpred
