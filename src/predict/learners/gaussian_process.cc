#include "predict/learners/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace simpred {
namespace {

constexpr double kSqrt3 = 1.7320508075688772;
constexpr int kSteps = 45;
// Priors on the logarithms, wide: a feature is irrelevant until the data says otherwise.
constexpr double kPriorRelevance = -3.5, kPriorPrecision = 0.15;
constexpr double kLogLow = -10, kLogHigh = 2.5;

struct Likelihood {
  double value = 0;
  Vector gradient;
};

// Negative log posterior of log relevances, log signal, log noise, and its gradient.
bool Evaluate(const Dataset& s, const std::vector<Eigen::MatrixXd>& squared, const Vector& p, Likelihood& out) {
  const Eigen::Index n = s.x.rows(), d = static_cast<Eigen::Index>(squared.size());
  double signal = std::exp(p(d)), noise = std::exp(p(d + 1));
  Eigen::MatrixXd q = Eigen::MatrixXd::Constant(n, n, 1e-12);
  for (Eigen::Index k = 0; k < d; ++k) q += std::exp(p(k)) * squared[static_cast<size_t>(k)];
  Eigen::MatrixXd r = q.cwiseSqrt();
  Eigen::MatrixXd decay = (-kSqrt3 * r.array()).exp();
  Eigen::MatrixXd kernel = signal * (1 + kSqrt3 * r.array()) * decay.array();
  Eigen::MatrixXd total = kernel;
  total.diagonal() += (s.noise.array().square() + noise).matrix();
  Eigen::LLT<Eigen::MatrixXd> llt(total);
  if (llt.info() != Eigen::Success) return false;
  Eigen::MatrixXd inverse = llt.solve(Eigen::MatrixXd::Identity(n, n));
  Vector alpha = inverse * s.y;
  out.value = 0.5 * s.y.dot(alpha) + Eigen::MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  Eigen::MatrixXd g = inverse - alpha * alpha.transpose();
  Eigen::MatrixXd slope = -1.5 * signal * decay.array() * g.array();  // d kernel / d r^2, weighted
  out.gradient.resize(d + 2);
  for (Eigen::Index k = 0; k < d; ++k) {
    double off = p(k) - kPriorRelevance;
    out.value += 0.5 * kPriorPrecision * off * off;
    out.gradient(k) =
        0.5 * std::exp(p(k)) * slope.cwiseProduct(squared[static_cast<size_t>(k)]).sum() + kPriorPrecision * off;
  }
  out.gradient(d) = 0.5 * g.cwiseProduct(kernel).sum();
  out.gradient(d + 1) = 0.5 * noise * g.trace();
  return true;
}

Dataset Subsample(const Dataset& data, Eigen::Index limit, uint64_t seed) {
  std::vector<Eigen::Index> order(static_cast<size_t>(data.x.rows()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  Random random(seed);
  random.Shuffle(order);
  if (static_cast<Eigen::Index>(order.size()) > limit) order.resize(static_cast<size_t>(limit));
  std::sort(order.begin(), order.end());
  return {data.x(order, Eigen::all), data.y(order), data.noise(order)};
}

}  // namespace

GaussianProcessSettings GaussianProcess::Tune(const Dataset& all, uint64_t seed) {
  Dataset s = Subsample(all, kSubsample, seed);
  const Eigen::Index n = s.x.rows();
  std::vector<Eigen::Index> varying;
  std::vector<Eigen::MatrixXd> squared;
  for (Eigen::Index k = 0; k < s.x.cols(); ++k) {
    if (s.x.col(k).maxCoeff() - s.x.col(k).minCoeff() < 1e-6) continue;
    Eigen::MatrixXd difference = s.x.col(k).replicate(1, n) - s.x.col(k).transpose().replicate(n, 1);
    varying.push_back(k);
    squared.push_back(difference.cwiseAbs2());
  }
  const Eigen::Index d = static_cast<Eigen::Index>(varying.size());
  Vector p = Vector::Constant(d + 2, -3.0), step = Vector::Constant(d + 2, 0.4), last = Vector::Zero(d + 2), best;
  p(d) = std::log(std::max(0.02, s.y.array().square().mean()));
  p(d + 1) = std::log(0.003);
  double best_value = 0;
  for (int i = 0; i < kSteps; ++i) {
    Likelihood l;
    if (!Evaluate(s, squared, p, l)) break;
    if (best.size() == 0 || l.value < best_value) {
      best = p;
      best_value = l.value;
    }
    for (Eigen::Index k = 0; k < d + 2; ++k) {
      double sign = l.gradient(k) * last(k);
      step(k) = std::clamp(sign > 0 ? step(k) * 1.2 : sign < 0 ? step(k) * 0.5 : step(k), 1e-3, 1.0);
      last(k) = sign < 0 ? 0 : l.gradient(k);
      if (last(k) != 0) p(k) = std::clamp(p(k) - std::copysign(step(k), last(k)), kLogLow, kLogHigh);
    }
  }
  GaussianProcessSettings out;
  out.relevance = Vector::Zero(s.x.cols());
  if (best.size() == 0) return out;
  for (Eigen::Index k = 0; k < d; ++k) {
    double relevance = std::exp(best(k));
    out.relevance(varying[static_cast<size_t>(k)]) = relevance < 2e-4 ? 0 : relevance;
  }
  out.signal = std::exp(best(d));
  out.noise = std::exp(best(d + 1));
  return out;
}

void GaussianProcess::Fit(const Dataset& all, const GaussianProcessSettings& settings) {
  // Beyond the limit a fixed pseudo-random part: the cost is cubic.
  Dataset s = Subsample(all, kMaxSamples, 0x6b5);
  used_.clear();
  for (Eigen::Index k = 0; k < settings.relevance.size(); ++k)
    if (settings.relevance(k) > 0) used_.push_back(static_cast<int32_t>(k));
  const Eigen::Index n = s.x.rows(), d = static_cast<Eigen::Index>(used_.size());
  Eigen::MatrixXd points(n, d);
  length_.resize(d);
  for (Eigen::Index k = 0; k < d; ++k) {
    double length = std::sqrt(settings.relevance(used_[static_cast<size_t>(k)]));
    length_(k) = static_cast<float>(length);
    points.col(k) = s.x.col(used_[static_cast<size_t>(k)]) * length;
  }
  Vector squares = points.rowwise().squaredNorm();
  Eigen::MatrixXd r = -2 * points * points.transpose();
  r.colwise() += squares;
  r.rowwise() += squares.transpose();
  r = r.cwiseMax(0).cwiseSqrt();
  Eigen::MatrixXd kernel = settings.signal * (1 + kSqrt3 * r.array()) * (-kSqrt3 * r.array()).exp();
  kernel.diagonal() += (s.noise.array().square() + settings.noise).matrix();
  Vector alpha = kernel.llt().solve(s.y) * settings.signal;
  points_ = points.cast<float>();
  squares_ = points_.rowwise().squaredNorm();
  alpha_ = alpha.cast<float>();
}

GaussianProcess::Answer GaussianProcess::Predict(const Vector& z) const {
  const Eigen::Index d = length_.size();
  if (points_.rows() == 0) return {};
  VectorF at(d);
  for (Eigen::Index k = 0; k < d; ++k) at(k) = static_cast<float>(z(used_[static_cast<size_t>(k)])) * length_(k);
  VectorF r = (squares_ - 2 * (points_ * at)).array() + at.squaredNorm();
  r = r.cwiseMax(0).cwiseSqrt();
  constexpr float kRoot = static_cast<float>(kSqrt3);
  VectorF weight = (1 + kRoot * r.array()) * (-kRoot * r.array()).exp();
  return {static_cast<double>(weight.dot(alpha_)), static_cast<double>(r.minCoeff())};
}

void GaussianProcess::Write(ByteWriter& w) const {
  w.Array(used_);
  w.Array(length_.data(), static_cast<size_t>(length_.size()));
  w.Array(points_.data(), static_cast<size_t>(points_.size()));
  w.Array(alpha_.data(), static_cast<size_t>(alpha_.size()));
}

GaussianProcess GaussianProcess::Read(ByteReader& r, Eigen::Index features) {
  GaussianProcess g;
  g.used_ = r.Array<int32_t>();
  std::vector<float> length = r.Array<float>(), points = r.Array<float>(), alpha = r.Array<float>();
  bool sane = length.size() == g.used_.size() && points.size() == alpha.size() * length.size();
  for (int32_t k : g.used_) sane = sane && k >= 0 && k < features;
  if (!sane) r.Fail();
  if (!r.ok()) return {};
  auto n = static_cast<Eigen::Index>(alpha.size()), d = static_cast<Eigen::Index>(length.size());
  g.length_ = Eigen::Map<const VectorF>(length.data(), d);
  g.points_ = Eigen::Map<const MatrixF>(points.data(), n, d);
  g.alpha_ = Eigen::Map<const VectorF>(alpha.data(), n);
  g.squares_ = g.points_.rowwise().squaredNorm();
  return g;
}

}  // namespace simpred
