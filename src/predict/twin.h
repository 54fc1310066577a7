// How long does one kernel take? The fitted model of one device with one runtime and one setting of its switches.
//
//   Result<Twin> twin = Twin::Fit(samples, device, options);
//   Estimate e = twin->Predict(kernel, KernelContext::kInGraph);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "device/profile.h"
#include "predict/estimate.h"
#include "predict/features.h"
#include "profile/bias.h"
#include "profile/record.h"

namespace simpred {

// One kernel's measured time, ready for fitting.
struct FitSample {
  const Kernel* kernel = nullptr;
  KernelContext context = KernelContext::kInGraph;
  Duration time;      // corrected, lower envelope
  double spread = 0;  // noise, relative
  std::string group;  // what is held out together in cross-validation: model, generated network, or ""
  std::string family;
};

// One whole model's measured time and its kernels: for the gap term and the graph interval.
struct GraphSample {
  std::string name, family;
  std::vector<const Kernel*> kernels;
  Duration end_to_end;
};

struct FitOptions {
  uint64_t seed = 1;
  int threads = 1;  // of the device's runtime, part of what is predicted
  int folds = 5;    // cross-validation inside the calibration set, grouped by FitSample::group
  double interval = 0.90;
  MeasurementBias bias;
  int fit_threads = 1;  // workers of the fit itself; the result does not depend on it
  std::function<void(double)> progress;
};

struct FitSummary {  // held-out, from cross-validation
  struct Group {
    std::string group;
    int64_t samples = 0;
    double mean_error = 0, median_error = 0, within15 = 0;  // shares 0..1
    std::string learner;                                    // what was chosen
  };
  std::vector<Group> groups;
};

struct GraphEstimate {
  Estimate total;  // end to end
  Duration kernels, gap, run_cost;
  double expected_deviation = 0;  // 90 % quantile of |deviation| on held-out graphs at this distance
  Grade grade = Grade::kReference;
};

class Twin {
 public:
  static Result<Twin> Fit(const std::vector<FitSample>& samples, const std::vector<GraphSample>& graphs,
                          const DeviceProfile& device, const FitOptions& options);
  // With nothing fitted: roofline only, source analytic.
  static Twin Analytic(const DeviceProfile& device, int threads);

  // Interpolated, extrapolated or analytic; measured records are looked up by the caller (predict/predictor.h).
  Estimate Predict(const Kernel& k, KernelContext context = KernelContext::kInGraph) const;
  // Sum of `kernels` estimates + gap + cost of a run, with an interval that does not add as if independent.
  GraphEstimate Total(const std::vector<const Kernel*>& kernels, const std::vector<Estimate>& estimates) const;
  // Multiplies by kernel group (closed loop): name -> factor.
  void SetCorrections(std::map<std::string, double> by_group, double memory, double compute);

  const FitSummary& summary() const;
  const MeasurementBias& bias() const;
  int threads() const;

  std::string Serialize() const;  // compact, versioned, same bytes for the same fit
  static Result<Twin> Deserialize(std::string_view bytes);

  Twin(Twin&&) noexcept;
  Twin& operator=(Twin&&) noexcept;
  ~Twin();

  struct Impl;  // twin_impl.h

 private:
  Twin();
  std::unique_ptr<Impl> impl_;
};

}  // namespace simpred
