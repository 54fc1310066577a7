// One group of kernels: how far below the roofline do they run?
//
// A baseline line in the logs, corrected by those learners that grouped cross-validation found best (Gaussian process,
// extra trees, boosted trees, or averages of them). What the cross-validation left is kept as the interval's width, by
// size of the kernel and by distance from the calibration set.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predict/learners/baseline.h"
#include "predict/learners/gaussian_process.h"
#include "predict/learners/trees.h"

namespace simpred {

struct GroupSamples {
  Dataset data;  // y: log(time / roofline)
  std::vector<std::string> variants;
  std::vector<int> fold;       // what is held out together
  std::vector<char> in_graph;  // 1: measured inside a model, the context that is predicted
  std::vector<double> time_us;
};

struct GroupFitOptions {
  uint64_t seed = 1;
  int folds = 5;
  double interval = 0.90;
};

class GroupModel {
 public:
  static constexpr Eigen::Index kFewest = 8;  // samples; below, the pooled model of all groups answers
  // Columns of a row (twin.cc) that are no sizes, for which "outside the range" says nothing: the flag for the context,
  // and the terms that stand last.
  static constexpr Eigen::Index kAloneColumn = 6, kTermColumns = 3;

  struct HeldOut {
    Vector prediction;  // of y, each by a model that did not see its fold
    Vector distance;
  };
  // Sets `held_out`, parallel to the samples.
  static GroupModel Fit(const GroupSamples& samples, const GroupFitOptions& options, HeldOut& held_out);

  struct Answer {
    double log_efficiency = 0;  // log(time / roofline)
    double distance = 0;        // 1 is the edge of the calibration set
    bool known_variant = true;
    int outermost = -1;  // the feature that stands furthest outside its range, and by how much (in its own unit)
    double excess = 0;   // negative: below the range
  };
  Answer Predict(const Vector& x, const std::string& variant) const;
  // Half width of the interval in log time.
  double HalfWidth(double distance, double time_us) const;
  std::string learner() const;

  void Write(ByteWriter& w) const;
  static GroupModel Read(ByteReader& r);

 private:
  static constexpr int kSizes = 2, kBands = 3;
  void FitParts(const GroupSamples& s, const std::vector<Eigen::Index>& rows, const GroupFitOptions& o);
  double Combine(const std::array<double, 4>& parts, int mask) const;
  double NearestToDistance(double nearest) const { return nearest / edge_; }
  void FitWidths(const GroupSamples& s, const HeldOut& h, double interval);

  Baseline baseline_;
  GaussianProcess process_;
  GaussianProcessSettings settings_;
  Forest extra_, boosted_;
  int mask_ = 0;  // bits: 1 Gaussian process, 2 extra trees, 4 boosted trees; 0: the baseline alone
  bool small_ = false;
  double edge_ = 1;
  Vector low_, high_;  // range of each feature
  std::array<double, kSizes * kBands> width_{};
};

// The q-quantile (0..1) of the values; 0 if there are none.
double Quantile(std::vector<double> values, double q);

}  // namespace simpred
