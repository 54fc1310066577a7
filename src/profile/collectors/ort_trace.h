// What does ONNX Runtime's profile file say about each kernel?
//
// The file is a JSON array of events. Of interest are
//   {"cat":"Node","name":"conv1_kernel_time","ts":4251,"dur":81,"args":{"op_name":"Conv","node_index":"7",...}}
//   {"cat":"Session","name":"model_run","ts":4240,"dur":900,...}         // after the events of its kernels
// with times in whole microseconds. A kernel without a name is called by its type and index ("Add_2"). Kernels inside
// If, Loop or Scan have events of their own, although the node that holds them counts their time: only the holder is
// kept. A profile that was cut off keeps its complete runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace simpred {

struct TraceNode {
  std::string name;                 // as the profiler says
  std::string op;                   // type without domain
  int64_t index = -1;               // of the node in the session's graph; -1: the profile does not say
  std::vector<double> nanoseconds;  // one for each run that is kept
};

struct Trace {
  std::vector<TraceNode> nodes;         // in order of execution
  std::vector<double> run_nanoseconds;  // whole runs, as the profiler saw them
  int64_t inside_control_flow = 0;      // events left out because their holder counts them
  int64_t in_incomplete_run = 0;        // events after the last complete run
  bool cut_off = false;                 // the text ends in the middle
};

// The first `skip_runs` runs are warm-up. Errors: kModel; not a profile of ONNX Runtime.
Result<Trace> ParseOrtTrace(std::string_view json, int skip_runs = 0);

// The profiler's clock ticks in microseconds; equal samples are spread evenly over their tick, so that quantiles of
// kernels of a few ticks are not themselves whole ticks: {2,2,3} us -> {1.75, 2.25, 3}.
std::vector<double> SpreadTicks(std::vector<double> nanoseconds);

}  // namespace simpred
