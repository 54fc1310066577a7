// How are the profiler's bias and the cost of a run found from chains of equal kernels?
//
// With w = 1/T^2, as noise is a share of the time, least squares over all chains of
//   T(unprofiled run of chain c with K kernels) = run_cost + K * t_c
// gives the cost of a run, which all chains share, and each kind's time per kernel t_c (with its dispatch). What the
// profiler says of a kernel of that kind, less t_c, is its bias: the median over the kinds is taken.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "profile/bias.h"

namespace simpred {

struct ChainTimes {
  std::string kind;      // chains of one kind differ in length only
  int length = 0;        // kernels
  Duration run;          // unprofiled
  Duration kernel_time;  // as the profiler says, of the chain's median kernel
};

// Errors: kUnavailable; no kind was measured at two lengths.
Result<MeasurementBias> SolveBias(const std::vector<ChainTimes>& chains);

struct Chain {
  std::string kind;
  int length = 0;
  std::string onnx;  // serialised model
};
// Elementwise kernels, small products and small convolutions of several sizes. Their values stay near one over the
// whole length: denormal numbers are slow.
std::vector<Chain> BiasChains();

}  // namespace simpred
