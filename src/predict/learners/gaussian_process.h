// Smooth interpolation between measured sizes: exact Gaussian process regression.
//
// Matern 3/2 kernel with one relevance per feature, k(r) = s (1 + sqrt(3) r) exp(-sqrt(3) r), and each sample's own
// noise. Relevances, signal and noise maximise the marginal likelihood of a subsample (Rasmussen and Williams, Gaussian
// Processes for Machine Learning, 2006, chapter 5), by resilient gradient steps. Far from the data the answer returns
// to zero, that is, to the baseline that it corrects.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/learners/byte_stream.h"
#include "predict/learners/matrix.h"

namespace simpred {

struct GaussianProcessSettings {
  Vector relevance;  // per feature: 1 / length^2; 0: the feature plays no part
  double signal = 0.1, noise = 0.001;
};

class GaussianProcess {
 public:
  static constexpr Eigen::Index kSubsample = 360;
  static constexpr Eigen::Index kMaxSamples = 1600;

  static GaussianProcessSettings Tune(const Dataset& data, uint64_t seed);
  void Fit(const Dataset& data, const GaussianProcessSettings& settings);

  struct Answer {
    double value = 0;
    double nearest = 0;  // distance to the nearest sample in units of the relevances
  };
  Answer Predict(const Vector& z) const;

  void Write(ByteWriter& w) const;
  static GaussianProcess Read(ByteReader& r, Eigen::Index features);

 private:
  std::vector<int32_t> used_;  // features with a relevance
  VectorF length_;             // sqrt(relevance) of the used ones
  MatrixF points_;             // scaled, one row a sample
  VectorF squares_, alpha_;
};

}  // namespace simpred
