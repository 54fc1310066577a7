#include "predict/learners/baseline.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

namespace simpred {
namespace {

constexpr double kRidge = 5;          // in units of the mean weight: five samples' worth of prior on each slope
constexpr double kEffectShrink = 2;   // samples' worth of prior on a variant's constant
constexpr double kEffectScale = 4;    // how far apart variants stand in standardised units
constexpr double kMargin = 0.5;       // standard deviations beyond the data over which the line is still followed
constexpr double kNoiseFloor = 0.05;  // no sample counts more than this noise allows
constexpr int kHuberRounds = 4;

Vector Weights(const Vector& noise) { return noise.cwiseMax(kNoiseFloor).array().square().inverse(); }

void WriteVector(ByteWriter& w, const Vector& v) { w.Array(v.data(), static_cast<size_t>(v.size())); }
Vector ReadVector(ByteReader& r) {
  std::vector<double> v = r.Array<double>();
  return Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size()));
}

}  // namespace

void Baseline::Fit(const Matrix& x, const std::vector<std::string>& variants, const Vector& y, const Vector& noise) {
  const Eigen::Index n = x.rows(), d = x.cols();
  mean_ = x.colwise().mean();
  scale_ = ((x.rowwise() - mean_.transpose()).array().square().colwise().mean()).sqrt();
  for (double& s : scale_) s = s < 1e-9 ? 1 : s;
  Matrix z = (x.rowwise() - mean_.transpose()).array().rowwise() / scale_.transpose().array();
  low_ = z.colwise().minCoeff();
  high_ = z.colwise().maxCoeff();

  Vector weight = Weights(noise), w = weight, residual(n);
  Matrix a(n, d + 1);
  a << Vector::Ones(n), z;
  for (int round = 0; round < kHuberRounds; ++round) {
    double mean_weight = w.mean();
    Matrix normal = a.transpose() * w.asDiagonal() * a;
    for (Eigen::Index i = 1; i <= d; ++i) normal(i, i) += kRidge * mean_weight;
    normal(0, 0) += 1e-9 * mean_weight;
    Vector solution = normal.ldlt().solve(a.transpose() * (w.asDiagonal() * y));
    intercept_ = solution(0);
    coefficients_ = solution.tail(d);
    residual = y - a * solution;
    std::vector<double> size(static_cast<size_t>(n));
    for (Eigen::Index i = 0; i < n; ++i) size[static_cast<size_t>(i)] = std::abs(residual(i));
    std::nth_element(size.begin(), size.begin() + n / 2, size.end());
    double limit = 2 * std::max(0.02, size[static_cast<size_t>(n / 2)]);
    for (Eigen::Index i = 0; i < n; ++i)
      w(i) = weight(i) * std::min(1.0, limit / std::max(1e-9, std::abs(residual(i))));
  }

  std::map<std::string, std::pair<double, double>> sums;  // weighted residual, weight
  for (Eigen::Index i = 0; i < n; ++i) {
    auto& [sum, of] = sums[variants[static_cast<size_t>(i)]];
    sum += w(i) * residual(i);
    of += w(i);
  }
  effects_.clear();
  for (const auto& [variant, s] : sums) effects_[variant] = s.first / (s.second + kEffectShrink * w.mean());
}

double Baseline::Effect(const std::string& variant) const {
  auto it = effects_.find(variant);
  return it == effects_.end() ? 0 : it->second;
}

Vector Baseline::Standardize(const Vector& x, const std::string& variant) const {
  Vector z(x.size() + 1);
  z.head(x.size()) = (x - mean_).cwiseQuotient(scale_);
  z(x.size()) = Effect(variant) * kEffectScale;
  return z;
}

double Baseline::Predict(const Vector& z) const {
  const Eigen::Index d = coefficients_.size();
  Vector held = z.head(d).cwiseMax((low_.array() - kMargin).matrix()).cwiseMin((high_.array() + kMargin).matrix());
  return intercept_ + coefficients_.dot(held) + z(d) / kEffectScale;
}

void Baseline::Write(ByteWriter& w) const {
  for (const Vector* v : {&mean_, &scale_, &low_, &high_, &coefficients_}) WriteVector(w, *v);
  w.Double(intercept_);
  w.Int(static_cast<int64_t>(effects_.size()));
  for (const auto& [variant, effect] : effects_) {
    w.Text(variant);
    w.Double(effect);
  }
}

Baseline Baseline::Read(ByteReader& r) {
  Baseline b;
  for (Vector* v : {&b.mean_, &b.scale_, &b.low_, &b.high_, &b.coefficients_}) *v = ReadVector(r);
  for (const Vector* v : {&b.scale_, &b.low_, &b.high_, &b.coefficients_})
    if (v->size() != b.mean_.size()) r.Fail();
  b.intercept_ = r.Double();
  for (size_t n = r.Count(16); n > 0 && r.ok(); --n) {
    std::string variant(r.Text());
    b.effects_[variant] = r.Double();
  }
  return b;
}

}  // namespace simpred
