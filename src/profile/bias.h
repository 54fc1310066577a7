// What does measuring itself cost? Found with chains of equal kernels, measured profiled and unprofiled.
//
// A chain of K equal kernels, unprofiled, takes run_cost + K * (t + dispatch). The profiler's kernel_time of each is
// t + kernel_bias. Chains of two lengths give t + dispatch and run_cost; the profile gives the rest. "A kernel's time"
// is t + dispatch here: sequential execution hides none of the dispatch, and a sum over kernels is then what a run
// takes.
#pragma once

#include <vector>

#include "base/units.h"
#include "profile/record.h"

namespace simpred {

struct MeasurementBias {
  Duration kernel_bias;           // to subtract from the profiler's kernel_time
  Duration smallest;              // no kernel takes less (a tiny kernel's true time)
  Duration run_cost;              // of one Run() call
  double kernel_bias_spread = 0;  // over chains of different types: how far they disagree, in ns
  int chains = 0;
  Duration Correct(Duration kernel_time) const;  // max(kernel_time - kernel_bias, smallest)
};

// Sets `corrected` of every record that has samples from the 10th percentile of its raw time.
void ApplyBias(std::vector<Record>& records, const MeasurementBias& bias);

}  // namespace simpred
