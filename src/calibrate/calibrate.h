// How does the twin come to agree with the device? Two calibrations and one loop.
//
//   CalibrateDevice   before any model is known: generated kernels and networks are measured, the twin is fitted
//   CalibrateModel    one model's own kernels: part of them refine the twin, the rest judge it (closed loop)
//
// Everything measured goes to the database at once, process by process; a calibration that is stopped goes on where it
// was.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "calibrate/database.h"
#include "calibrate/samples.h"
#include "device/profile.h"
#include "predict/twin.h"
#include "profile/collectors/onnxruntime.h"

namespace simpred {

struct CalibrateOptions {
  DeviceProfile device;
  int threads = 1;
  uint64_t seed = 1;               // of the generators and of the fit
  Duration budget = Seconds(240);  // of measuring, for CalibrateDevice
  int rounds = 3;                  // processes per model, spread over the budget
  int iters = 128;
  double max_seconds = 2.0;       // per model, process and kind of run, whatever iters says
  std::filesystem::path library;  // ONNX Runtime; empty: search
  bool measure_again = false;     // CalibrateDevice: the whole plan from its start, in a new session
  const std::atomic<bool>* stop = nullptr;
  // Fraction done (0..1) of the phase, and what is being done.
  std::function<void(double, const std::string&)> progress;
};

struct DeviceCalibration {
  MeasurementBias bias;
  std::string runtime_version;
  int64_t kernels_measured = 0, networks_measured = 0, failed = 0;  // generated models, all sessions of this plan
  int64_t records = 0, samples = 0;
  std::vector<NoisyKernel> noisy;
  double noise_median = 0;  // spread between the two best rounds, over samples
  FitSummary fit;
  std::vector<std::string> failures;  // of models that the runtime refused, with its words
};

// Measures for `budget` (what earlier calls measured is kept and extended), then fits and stores the twin.
Result<DeviceCalibration> CalibrateDevice(Database& db, const CalibrateOptions& options);

// Fits the twin again from what the database holds for this device, runtime version and thread count, and stores it.
struct Refit {
  SampleSet samples;
  MeasurementBias bias;
  FitSummary summary;
};
Result<Refit> FitAndStore(Database& db, const CalibrateOptions& options, const std::string& runtime_version);

// The key under which the twin of this device, runtime and setting is stored.
std::string TwinKey(const std::string& fingerprint, const std::string& runtime, const std::string& runtime_version,
                    int threads);

struct ModelToCalibrate {
  MeasureItem item;
  double sample_ratio = 0.5;
  double threshold = 0.15;
  bool measure_again = false;  // although the database holds records of it
};

// One round of the closed loop, as it is logged.
struct LoopRound {
  int round = 0;
  std::string action;  // "predict", "correct per kernel group", "correct memory and compute", "correct the gap"
  double end_to_end_deviation = 0;         // signed, of the whole model
  double kernel_deviation = 0;             // mean absolute, of the kernels that the loop corrects on
  std::map<std::string, double> by_group;  // signed, per kernel group
  std::map<std::string, double> factors;   // corrections in force after this round
};

struct ModelCalibration {
  std::string model;
  int64_t kernels = 0, distinct = 0, fitted = 0, corrected_on = 0, judged = 0;
  double noise = 0;  // between the two best rounds, end to end
  GraphMeasurement measured;
  Duration predicted;                         // end to end, judge kernels by prediction, none of them seen
  double deviation = 0;                       // signed, end to end
  double judge_mean = 0, judge_within15 = 0;  // judge kernels, absolute
  std::vector<LoopRound> log;
  std::vector<std::string> bias_analysis;  // in words
  std::vector<std::string> to_blame;       // kernels, worst first, with predicted and measured
  std::vector<NoisyKernel> noisy;
  bool within_threshold = false;
};

// Measures what is missing, runs the closed loop, stores the refitted twin. The deviation that is reported comes from
// judge kernels that neither the fit nor a correction has seen.
Result<std::vector<ModelCalibration>> CalibrateModels(Database& db, const std::vector<ModelToCalibrate>& models,
                                                      const CalibrateOptions& options);

// Measures models and stores runs and records; no fit. For `measure` and the benches.
struct MeasureSummary {
  int64_t session = 0;
  std::vector<std::pair<std::string, Status>> failed;  // model, why
};
Result<MeasureSummary> MeasureModels(Database& db, const std::vector<MeasureItem>& items,
                                     const CalibrateOptions& options);

}  // namespace simpred
