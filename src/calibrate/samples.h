// Which measured times does a fit see? Records of the database, joined over rounds, with noisy ones named and left out.
//
// A kernel occurs several times: in several rounds (processes) of one model, and at several places of one model. Rounds
// are joined by the lower envelope, places by the mean; one sample is one distinct kernel of one model in one context.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "calibrate/database.h"
#include "predict/twin.h"

namespace simpred {

struct NoisyKernel {
  std::string model, kernel;
  double spread;
  Duration time;
};

// Owns the kernels that its samples point to; moves keep the pointers valid.
struct SampleSet {
  std::deque<Kernel> kernels;
  std::vector<FitSample> fit;
  std::vector<GraphSample> graphs;
  std::vector<NoisyKernel> noisy;  // left out of the fit
  int64_t records = 0;
};

struct SampleFilter {
  RecordFilter records;
  // Kernels for which this is true are not given to the fit (judge data); graphs that hold one keep their end-to-end
  // time out of the fit too if `drop_graphs_of_hidden` is set.
  std::function<bool(const Record&)> hide;
  bool drop_graphs_of_hidden = false;
};

// `bias`: what is taken out of the profiler's times.
Result<SampleSet> CollectSamples(Database& db, const SampleFilter& filter, const MeasurementBias& bias);

// The end-to-end time of a model over its rounds: lower envelope, and how far the two best rounds disagree.
struct GraphMeasurement {
  std::string model_name, structure_sha256, family, input_shapes, fusion_mode;
  Duration end_to_end;
  double spread = 0;
  int rounds = 0;
};
std::vector<GraphMeasurement> JoinRuns(const std::vector<Run>& runs);

}  // namespace simpred
