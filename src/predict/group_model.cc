#include "predict/group_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace simpred {
namespace {

constexpr Eigen::Index kTreesFrom = 60;  // samples
constexpr double kSmallKernelUs = 20;    // below, the clock of the profiler shows
constexpr double kAloneWeight = 0.3;     // of a kernel measured alone when learners are compared
constexpr double kWorstError = 1.0;      // in logs; one absurd sample must not decide
constexpr double kRangeSlack = 0.25;     // log2 units beyond the range that still count as inside
constexpr double kWidthCap = 2.5;

std::vector<Eigen::Index> RowsWhere(const std::vector<int>& fold, int held_out, bool equal) {
  std::vector<Eigen::Index> rows;
  for (size_t i = 0; i < fold.size(); ++i)
    if ((fold[i] == held_out) == equal) rows.push_back(static_cast<Eigen::Index>(i));
  return rows;
}

}  // namespace

double Quantile(std::vector<double> v, double q) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  double at = q * static_cast<double>(v.size() - 1);
  auto low = static_cast<size_t>(at);
  size_t high = std::min(low + 1, v.size() - 1);
  return v[low] + (v[high] - v[low]) * (at - static_cast<double>(low));
}

void GroupModel::FitParts(const GroupSamples& s, const std::vector<Eigen::Index>& rows, const GroupFitOptions& o) {
  Dataset d{s.data.x(rows, Eigen::all), s.data.y(rows), s.data.noise(rows)};
  std::vector<std::string> variants;
  for (Eigen::Index r : rows) variants.push_back(s.variants[static_cast<size_t>(r)]);
  low_ = d.x.colwise().minCoeff();
  high_ = d.x.colwise().maxCoeff();
  baseline_.Fit(d.x, variants, d.y, d.noise);
  Matrix z(d.x.rows(), d.x.cols() + 1);
  for (Eigen::Index i = 0; i < d.x.rows(); ++i) {
    Vector row = baseline_.Standardize(d.x.row(i), variants[static_cast<size_t>(i)]);
    z.row(i) = row;
    d.y(i) -= baseline_.Predict(row);
  }
  d.x = std::move(z);
  if (settings_.relevance.size() == 0) settings_ = GaussianProcess::Tune(d, o.seed);
  process_.Fit(d, settings_);
  small_ = d.x.rows() < kTreesFrom;
  if (small_) return;
  extra_.Fit(d, ExtraTrees(), o.seed + 1);
  boosted_.Fit(d, BoostedTrees(), o.seed + 2);
}

double GroupModel::Combine(const std::array<double, 4>& parts, int mask) const {
  double sum = 0;
  int n = 0;
  for (int bit = 0; bit < 3; ++bit) {
    if (!(mask & (1 << bit))) continue;
    sum += parts[static_cast<size_t>(bit) + 1];
    ++n;
  }
  return parts[0] + (n ? sum / n : 0);
}

GroupModel GroupModel::Fit(const GroupSamples& s, const GroupFitOptions& o, HeldOut& held_out) {
  const Eigen::Index n = s.data.x.rows();
  GroupModel all;
  std::vector<Eigen::Index> rows(static_cast<size_t>(n));
  std::iota(rows.begin(), rows.end(), Eigen::Index{0});
  all.FitParts(s, rows, o);

  std::vector<std::array<double, 4>> parts(static_cast<size_t>(n));
  Vector nearest = Vector::Zero(n);
  for (int f = 0; f < o.folds; ++f) {
    std::vector<Eigen::Index> test = RowsWhere(s.fold, f, true), train = RowsWhere(s.fold, f, false);
    if (test.empty()) continue;
    if (train.size() < 4) train = rows;  // nothing to learn from otherwise: too few samples to be honest
    GroupModel part;
    part.settings_ = all.settings_;
    part.FitParts(s, train, o);
    for (Eigen::Index i : test) {
      Vector z = part.baseline_.Standardize(s.data.x.row(i), s.variants[static_cast<size_t>(i)]);
      GaussianProcess::Answer g = part.process_.Predict(z);
      nearest(i) = g.nearest;
      parts[static_cast<size_t>(i)] = {part.baseline_.Predict(z), g.value, part.small_ ? 0 : part.extra_.Predict(z),
                                       part.small_ ? 0 : part.boosted_.Predict(z)};
    }
  }

  // The best average of learners; the full one wins unless another is better by more than chance.
  auto error = [&](int mask) {
    double sum = 0, of = 0;
    for (Eigen::Index i = 0; i < n; ++i) {
      auto k = static_cast<size_t>(i);
      double w = (s.in_graph[k] ? 1.0 : kAloneWeight) / std::max(0.1, s.data.noise(i));
      sum += w * std::min(kWorstError, std::abs(all.Combine(parts[k], mask) - s.data.y(i)));
      of += w;
    }
    return sum / of;
  };
  const std::vector<int> masks = all.small_ ? std::vector<int>{1, 0} : std::vector<int>{7, 3, 5, 1, 6, 2, 4, 0};
  all.mask_ = masks[0];
  double best = error(masks[0]) * 0.99;
  for (int mask : masks) {
    double e = error(mask);
    if (e < best) {
      best = e;
      all.mask_ = mask;
    }
  }

  std::vector<double> distances;
  for (Eigen::Index i = 0; i < n; ++i) distances.push_back(nearest(i));
  all.edge_ = std::max(1e-6, Quantile(distances, 0.95));
  held_out.prediction.resize(n);
  held_out.distance.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    held_out.prediction(i) = all.Combine(parts[static_cast<size_t>(i)], all.mask_);
    held_out.distance(i) = all.NearestToDistance(nearest(i));
  }
  all.FitWidths(s, held_out, o.interval);
  return all;
}

void GroupModel::FitWidths(const GroupSamples& s, const HeldOut& h, double interval) {
  std::array<std::vector<double>, kSizes * kBands> residuals;
  std::array<std::vector<double>, kSizes> by_size;
  std::vector<double> everything;
  size_t inside = static_cast<size_t>(std::count(s.in_graph.begin(), s.in_graph.end(), 1));
  for (Eigen::Index i = 0; i < s.data.y.size(); ++i) {
    auto k = static_cast<size_t>(i);
    if (inside >= 30 && !s.in_graph[k]) continue;
    double r = std::abs(h.prediction(i) - s.data.y(i));
    size_t size = s.time_us[k] < kSmallKernelUs ? 0 : 1;
    size_t band = h.distance(i) < 0.4 ? 0 : h.distance(i) < 1 ? 1 : 2;
    residuals[size * kBands + band].push_back(r);
    by_size[size].push_back(r);
    everything.push_back(r);
  }
  // Conformal: with n residuals the quantile (n + 1) q / n holds for the next one. Few: pulled towards the wider set.
  auto quantile = [&](const std::vector<double>& v, double prior) {
    double n = static_cast<double>(v.size());
    double q = Quantile(v, std::min(1.0, interval * (n + 1) / std::max(n, 1.0)));
    return (n * q + 15 * prior) / (n + 15);
  };
  double whole = std::max(0.03, Quantile(everything, interval));
  if (everything.size() < 15) whole = std::max(whole, 0.4);
  for (size_t size = 0; size < kSizes; ++size) {
    double base = quantile(by_size[size], whole), last = 0;
    for (size_t band = 0; band < kBands; ++band) {
      last = std::max(last, quantile(residuals[size * kBands + band], base));
      width_[size * kBands + band] = std::clamp(last, 0.02, kWidthCap);
    }
  }
}

double GroupModel::HalfWidth(double distance, double time_us) const {
  const double* w = &width_[time_us < kSmallKernelUs ? 0 : kBands];
  if (distance <= 1) {
    double t = std::clamp(distance, 0.0, 1.0);
    return t < 0.4 ? w[0] : w[0] + (w[1] - w[0]) * std::min(1.0, (t - 0.4) / 0.3);
  }
  double grown = std::max(w[2], w[1] * (1 + 0.3 * (distance - 1)));
  return std::min(kWidthCap, grown);
}

GroupModel::Answer GroupModel::Predict(const Vector& x, const std::string& variant) const {
  Answer a;
  a.known_variant = baseline_.Knows(variant);
  Vector z = baseline_.Standardize(x, variant);
  GaussianProcess::Answer g = process_.Predict(z);
  std::array<double, 4> parts{baseline_.Predict(z), g.value, (mask_ & 2) ? extra_.Predict(z) : 0,
                              (mask_ & 4) ? boosted_.Predict(z) : 0};
  a.log_efficiency = Combine(parts, mask_);
  a.distance = NearestToDistance(g.nearest);
  for (Eigen::Index k = 0; k + kTermColumns < x.size(); ++k) {
    if (k == kAloneColumn) continue;
    double over = x(k) - high_(k), under = low_(k) - x(k);
    double excess = std::max(over, under);
    if (excess <= std::abs(a.excess)) continue;
    a.excess = over > under ? over : -under;
    a.outermost = static_cast<int>(k);
  }
  if (std::abs(a.excess) > kRangeSlack) a.distance = std::max(a.distance, 1 + std::abs(a.excess) - kRangeSlack);
  return a;
}

std::string GroupModel::learner() const {
  std::string s;
  for (auto [bit, name] : {std::pair{1, "gaussian process"}, {2, "extra trees"}, {4, "boosted trees"}}) {
    if (!(mask_ & bit)) continue;
    s += s.empty() ? name : std::string(" + ") + name;
  }
  return s.empty() ? "baseline" : s;
}

void GroupModel::Write(ByteWriter& w) const {
  baseline_.Write(w);
  w.Int(mask_);
  w.Double(edge_);
  w.Array(low_.data(), static_cast<size_t>(low_.size()));
  w.Array(high_.data(), static_cast<size_t>(high_.size()));
  w.Array(width_.data(), width_.size());
  process_.Write(w);
  if (mask_ & 2) extra_.Write(w);
  if (mask_ & 4) boosted_.Write(w);
}

GroupModel GroupModel::Read(ByteReader& r) {
  GroupModel m;
  m.baseline_ = Baseline::Read(r);
  m.mask_ = static_cast<int>(r.Int()) & 7;
  m.edge_ = r.Double();
  std::vector<double> low = r.Array<double>(), high = r.Array<double>(), width = r.Array<double>();
  if (low.size() != high.size() || width.size() != m.width_.size() || !(m.edge_ > 0)) r.Fail();
  if (!r.ok()) return {};
  auto d = static_cast<Eigen::Index>(low.size());
  if (d != m.baseline_.features()) r.Fail();
  m.low_ = Eigen::Map<const Vector>(low.data(), d);
  m.high_ = Eigen::Map<const Vector>(high.data(), d);
  std::copy(width.begin(), width.end(), m.width_.begin());
  m.process_ = GaussianProcess::Read(r, d + 1);
  if (m.mask_ & 2) m.extra_ = Forest::Read(r, d + 1);
  if (m.mask_ & 4) m.boosted_ = Forest::Read(r, d + 1);
  return m;
}

}  // namespace simpred
