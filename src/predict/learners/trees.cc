#include "predict/learners/trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "base/random.h"

namespace simpred {
namespace {

constexpr int kBins = 64;
constexpr double kNoiseFloor = 0.05;

// Features as small integers: bin b of feature f holds the values in (edges[f][b-1], edges[f][b]].
struct Binned {
  std::vector<std::vector<float>> edges;
  std::vector<std::vector<uint8_t>> bins;  // [feature][sample]
};

Binned Bin(const Matrix& x) {
  Binned b;
  const auto n = static_cast<size_t>(x.rows());
  for (Eigen::Index f = 0; f < x.cols(); ++f) {
    std::vector<double> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = x(static_cast<Eigen::Index>(i), f);
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> distinct = sorted;
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    const std::vector<double>& from = distinct.size() <= kBins ? distinct : sorted;
    std::vector<float> edges;
    for (size_t k = 1; k < kBins && from.size() > 1; ++k) {
      size_t at = distinct.size() <= kBins ? k : k * from.size() / kBins;
      if (at >= from.size()) break;
      auto edge = static_cast<float>((from[at - 1] + from[at]) / 2);
      if (edges.empty() || edge > edges.back()) edges.push_back(edge);
    }
    std::vector<uint8_t> bins(n);
    for (size_t i = 0; i < n; ++i) {
      auto at = std::lower_bound(edges.begin(), edges.end(), static_cast<float>(values[i])) - edges.begin();
      bins[i] = static_cast<uint8_t>(at);
    }
    b.edges.push_back(std::move(edges));
    b.bins.push_back(std::move(bins));
  }
  return b;
}

struct Split {
  double gain = 0;
  int32_t feature = -1;
  int bin = 0;  // left: bins up to and with this one
};

struct Sum {
  double weight = 0, value = 0;
  int count = 0;
  void Add(double w, double y) {
    weight += w;
    value += w * y;
    ++count;
  }
  double Score(double prior) const { return value * value / (weight + prior); }
};

}  // namespace

ForestOptions ExtraTrees() { return {}; }
ForestOptions BoostedTrees() {
  return {.boosted = true, .trees = 220, .min_leaf = 4, .max_leaves = 12, .feature_share = 0.5};
}

class TreeGrower {
 public:
  TreeGrower(const Binned& binned, const Vector& y, const Vector& weight, const ForestOptions& o, Random& random)
      : binned_(binned),
        y_(y),
        weight_(weight),
        o_(o),
        random_(random),
        prior_(o.boosted ? o.leaf_prior * weight.mean() : 1e-12) {}

  // Appends a tree to the forest; its root is the first node appended.
  void Grow(std::vector<Forest::Node>& nodes, std::vector<float>& fitted) {
    samples_.resize(static_cast<size_t>(y_.size()));
    std::iota(samples_.begin(), samples_.end(), 0);
    Best(nodes, 0, samples_.size(), fitted);
  }

 private:
  // Best-first growth into a tree of indices, then written in depth-first order.
  void Best(std::vector<Forest::Node>& nodes, size_t begin, size_t end, std::vector<float>& fitted) {
    struct Draft {
      size_t begin, end;
      int left = -1, right = -1;
      Split split;
    };
    std::vector<Draft> drafts{{begin, end, -1, -1, FindSplit(begin, end)}};
    auto less = [&](int a, int b) {
      double ga = drafts[static_cast<size_t>(a)].split.gain, gb = drafts[static_cast<size_t>(b)].split.gain;
      return ga != gb ? ga < gb : a > b;
    };
    std::priority_queue<int, std::vector<int>, decltype(less)> open(less);
    open.push(0);
    int leaves = 1;
    while (!open.empty() && (o_.max_leaves == 0 || leaves < o_.max_leaves)) {
      int at = open.top();
      open.pop();
      Draft d = drafts[static_cast<size_t>(at)];
      if (d.split.feature < 0) continue;
      const std::vector<uint8_t>& bins = binned_.bins[static_cast<size_t>(d.split.feature)];
      auto middle = std::stable_partition(samples_.begin() + static_cast<std::ptrdiff_t>(d.begin),
                                          samples_.begin() + static_cast<std::ptrdiff_t>(d.end),
                                          [&](int i) { return bins[static_cast<size_t>(i)] <= d.split.bin; });
      auto cut = static_cast<size_t>(middle - samples_.begin());
      int left = static_cast<int>(drafts.size()), right = left + 1;
      drafts.push_back({d.begin, cut, -1, -1, FindSplit(d.begin, cut)});
      drafts.push_back({cut, d.end, -1, -1, FindSplit(cut, d.end)});
      drafts[static_cast<size_t>(at)].left = left;
      drafts[static_cast<size_t>(at)].right = right;
      open.push(left);
      open.push(right);
      ++leaves;
    }
    std::vector<std::pair<int, int32_t>> stack{{0, -1}};  // draft, node whose right child this is
    while (!stack.empty()) {
      auto [at, parent] = stack.back();
      stack.pop_back();
      const Draft& d = drafts[static_cast<size_t>(at)];
      auto index = static_cast<int32_t>(nodes.size());
      if (parent >= 0) nodes[static_cast<size_t>(parent)].right = index;
      if (d.left < 0) {
        Sum s;
        for (size_t i = d.begin; i < d.end; ++i) Accumulate(s, samples_[i]);
        auto value = static_cast<float>(s.value / (s.weight + prior_));
        nodes.push_back({value, -1, -1});
        for (size_t i = d.begin; i < d.end; ++i) fitted[static_cast<size_t>(samples_[i])] = value;
        continue;
      }
      const auto& edges = binned_.edges[static_cast<size_t>(d.split.feature)];
      nodes.push_back({edges[static_cast<size_t>(d.split.bin)], -1, d.split.feature});
      stack.emplace_back(d.right, index);
      stack.emplace_back(d.left, -1);
    }
  }

  void Accumulate(Sum& s, int i) const { s.Add(weight_(i), y_(i)); }

  Split FindSplit(size_t begin, size_t end) {
    Split best;
    if (end - begin < static_cast<size_t>(2 * o_.min_leaf)) return best;
    for (size_t f = 0; f < binned_.edges.size(); ++f) {
      if (binned_.edges[f].empty() || random_.Uniform() > o_.feature_share) continue;
      o_.boosted ? HistogramSplit(f, begin, end, best) : RandomSplit(f, begin, end, best);
    }
    return best;
  }

  void Consider(const Sum& left, const Sum& right, size_t feature, int bin, Split& best) const {
    if (left.count < o_.min_leaf || right.count < o_.min_leaf) return;
    Sum all{left.weight + right.weight, left.value + right.value, left.count + right.count};
    double gain = left.Score(prior_) + right.Score(prior_) - all.Score(prior_);
    if (gain > best.gain + 1e-12) best = {gain, static_cast<int32_t>(feature), bin};
  }

  void HistogramSplit(size_t f, size_t begin, size_t end, Split& best) const {
    Sum histogram[kBins];
    Sum all, left;
    for (size_t i = begin; i < end; ++i) {
      int s = samples_[i];
      Accumulate(histogram[binned_.bins[f][static_cast<size_t>(s)]], s);
      Accumulate(all, s);
    }
    for (int b = 0; b < static_cast<int>(binned_.edges[f].size()); ++b) {
      left = {left.weight + histogram[b].weight, left.value + histogram[b].value, left.count + histogram[b].count};
      Consider(left, {all.weight - left.weight, all.value - left.value, all.count - left.count}, f, b, best);
    }
  }

  void RandomSplit(size_t f, size_t begin, size_t end, Split& best) {
    const std::vector<uint8_t>& bins = binned_.bins[f];
    int low = kBins, high = 0;
    for (size_t i = begin; i < end; ++i) {
      int b = bins[static_cast<size_t>(samples_[i])];
      low = std::min(low, b);
      high = std::max(high, b);
    }
    if (low >= high) return;
    int cut = static_cast<int>(random_.Int(low, high - 1));
    Sum left, right;
    for (size_t i = begin; i < end; ++i)
      Accumulate(bins[static_cast<size_t>(samples_[i])] <= cut ? left : right, samples_[i]);
    Consider(left, right, f, cut, best);
  }

  const Binned& binned_;
  const Vector& y_;
  const Vector& weight_;
  const ForestOptions& o_;
  Random& random_;
  double prior_;
  std::vector<int> samples_;
};

void Forest::Fit(const Dataset& data, const ForestOptions& options, uint64_t seed) {
  roots_.clear();
  nodes_.clear();
  Random random(seed);
  Binned binned = Bin(data.x);
  Vector weight = data.noise.cwiseMax(kNoiseFloor).array().square().inverse();
  Vector left = data.y;
  std::vector<float> fitted(static_cast<size_t>(data.y.size()));
  scale_ = options.boosted ? options.learning_rate : 1.0 / options.trees;
  TreeGrower grower(binned, left, weight, options, random);
  for (int t = 0; t < options.trees; ++t) {
    roots_.push_back(static_cast<int32_t>(nodes_.size()));
    grower.Grow(nodes_, fitted);
    if (!options.boosted) continue;
    for (Eigen::Index i = 0; i < left.size(); ++i) left(i) -= scale_ * fitted[static_cast<size_t>(i)];
  }
}

double Forest::Predict(const Vector& z) const {
  double sum = 0;
  for (int32_t root : roots_) {
    auto at = static_cast<size_t>(root);
    while (nodes_[at].feature >= 0) {
      const Node& n = nodes_[at];
      at = static_cast<float>(z(n.feature)) <= n.value ? at + 1 : static_cast<size_t>(n.right);
    }
    sum += static_cast<double>(nodes_[at].value);
  }
  return sum * scale_;
}

void Forest::Write(ByteWriter& w) const {
  w.Double(scale_);
  w.Array(roots_);
  std::vector<float> values;
  std::vector<int32_t> rights;
  std::vector<int8_t> features;
  for (const Node& n : nodes_) {
    values.push_back(n.value);
    features.push_back(static_cast<int8_t>(n.feature));
    if (n.feature >= 0) rights.push_back(n.right);
  }
  w.Array(values);
  w.Array(features);
  w.Array(rights);
}

Forest Forest::Read(ByteReader& r, Eigen::Index feature_count) {
  Forest f;
  f.scale_ = r.Double();
  f.roots_ = r.Array<int32_t>();
  std::vector<float> values = r.Array<float>();
  std::vector<int8_t> features = r.Array<int8_t>();
  std::vector<int32_t> rights = r.Array<int32_t>();
  if (features.size() != values.size()) r.Fail();
  if (!r.ok()) return {};
  auto n = static_cast<int32_t>(values.size());
  size_t next = 0;
  for (int32_t i = 0; i < n && r.ok(); ++i) {
    Node node{values[static_cast<size_t>(i)], -1, features[static_cast<size_t>(i)]};
    if (node.feature >= 0) {
      if (next >= rights.size()) {
        r.Fail();
        break;
      }
      node.right = rights[next++];
      // Children stand after their parent: every walk ends.
      if (node.right <= i + 1 || node.right >= n || node.feature >= feature_count) r.Fail();
    }
    f.nodes_.push_back(node);
  }
  for (int32_t root : f.roots_)
    if (root < 0 || root >= n) r.Fail();
  if (n > 0 && f.nodes_.size() == values.size() && f.nodes_.back().feature >= 0) r.Fail();
  return r.ok() ? f : Forest{};
}

}  // namespace simpred
