// What is a kernel's own time, once the profiler's share is taken out?
#include "profile/bias.h"

#include <algorithm>

namespace simpred {

Duration MeasurementBias::Correct(Duration kernel_time) const { return std::max(kernel_time - kernel_bias, smallest); }

void ApplyBias(std::vector<Record>& records, const MeasurementBias& bias) {
  for (Record& r : records) {
    if (r.raw.count > 0) r.corrected = bias.Correct(r.raw.p10);
  }
}

}  // namespace simpred
