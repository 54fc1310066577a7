// From a workload to a prediction: measured where it was measured, else the twin; then the schedule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "predict/estimate.h"
#include "predict/twin.h"
#include "simulate/simulate.h"
#include "workload/workload.h"

namespace simpred {

struct PredictOptions {
  std::map<std::string, KernelMeasurement> measured;  // by signature, in graph
  std::vector<std::string> known_deviation;           // kernel types or node names: recorded time as it is
  std::vector<std::string> exclude;                   // node names
  std::map<std::string, Duration> latency_overrides;  // node name or type
  double memory_correction = 1.0, compute_correction = 1.0;
};

struct KernelPrediction {
  Estimate estimate;
  Bound bound = Bound::kMemory;
  Duration roofline;
  int64_t start_ns = 0, end_ns = 0;
  StallCause stall = StallCause::kNone;
  int32_t resource = 0;
};

struct Prediction {
  GraphEstimate end_to_end;
  std::vector<KernelPrediction> kernels;  // parallel to Workload::kernels
  std::map<Source, Duration> by_source;
  std::vector<std::string> resources;
  std::vector<double> utilization;  // 0..1 per resource
  std::string bottleneck;           // one sentence
  std::vector<Warning> warnings;
  Bytes peak_memory;
  bool fits = true;
  Duration excluded;  // what the excluded kernels would take
};

Result<Prediction> Predict(const Workload& w, const Twin& twin, const DeviceProfile& device,
                           const PredictOptions& options);

}  // namespace simpred
