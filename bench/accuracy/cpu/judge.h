// Predicts every model with a twin that has not seen it and compares with what was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "bench_models.h"
#include "calibrate/calibrate.h"

namespace simpred::bench {

enum class Calibration { kSynth, kLomo, kLofo };

struct JudgedKernel {
  std::string type;
  double measured_us = 0, predicted_us = 0;
  bool inside = false;
};

struct JudgedModel {
  std::string name, family;
  double measured_us = 0, predicted_us = 0, low_us = 0, high_us = 0;
  double noise = 0;  // two independent halves of the rounds
  std::vector<JudgedKernel> kernels;
  double deviation() const { return predicted_us / measured_us - 1; }
  bool inside() const { return low_us <= measured_us && measured_us <= high_us; }
  double time_within(double limit) const;  // share of kernel time predicted within limit
};

class Judge {
 public:
  // Loads every sample of this machine once.
  static Result<Judge> Load(Database& db, const std::vector<BenchModel>& models, const CalibrateOptions& options);

  Result<std::vector<JudgedModel>> Run(Calibration calibration);
  // End-to-end truth and synth prediction of all models and variants, nothing-fused runs included.
  Result<std::vector<std::pair<double, double>>> Ranking(const std::vector<BenchModel>& variants);
  size_t equal_kernels_removed() const { return removed_; }  // distinct generated kernels that equal a judged one

 private:
  struct Subject {
    BenchModel model;
    Workload workload;
    double measured_us, noise;
    int fold;  // of leave-one-model-out
  };
  explicit Judge(const CalibrateOptions& options) : options_(options) {}
  int FoldOf(const std::string& model) const;
  Result<Twin> FitFor(Calibration calibration, const Subject* judged, const std::string& family);
  Result<JudgedModel> JudgeOne(const Subject& s, const Twin& twin) const;

  CalibrateOptions options_;
  MeasurementBias bias_;
  SampleSet samples_;
  std::map<std::string, GraphMeasurement> measured_;  // by model name
  std::vector<Subject> subjects_;
  size_t removed_ = 0;
};

}  // namespace simpred::bench
