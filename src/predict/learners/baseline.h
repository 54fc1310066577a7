// The straight line through the logs: what is left when data is scarce, and what every other learner corrects.
//
// Robust ridge regression (Huber weights, iterated) on standardised features, plus one shrunken constant per variant:
// Sigmoid is slower than Relu by a factor that no size explains. Outside the range of its data a feature is held at the
// edge: utilisation saturates, it does not follow a line for ever.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "predict/learners/byte_stream.h"
#include "predict/learners/matrix.h"

namespace simpred {

class Baseline {
 public:
  void Fit(const Matrix& x, const std::vector<std::string>& variants, const Vector& y, const Vector& noise);
  // Standardised features with the variant's constant appended: what the other learners see.
  Vector Standardize(const Vector& x, const std::string& variant) const;
  double Predict(const Vector& standardized) const;
  Eigen::Index features() const { return mean_.size(); }
  bool Knows(const std::string& variant) const { return effects_.count(variant) > 0; }

  void Write(ByteWriter& w) const;
  static Baseline Read(ByteReader& r);

 private:
  double Effect(const std::string& variant) const;
  Vector mean_, scale_, low_, high_, coefficients_;  // low, high: in standardised units
  double intercept_ = 0;
  std::map<std::string, double> effects_;
};

}  // namespace simpred
