// Steps and thresholds that no smooth curve follows: forests of regression trees over binned features.
//
// Two ways to grow one: extra trees (random thresholds, averaged: Geurts, Ernst, Wehenkel, Extremely randomized trees,
// Machine Learning 63, 2006) and gradient boosting (best split over a histogram, each tree fits what the ones before
// left: Friedman, Annals of Statistics 29, 2001).
#pragma once

#include <cstdint>
#include <vector>

#include "predict/learners/byte_stream.h"
#include "predict/learners/matrix.h"

namespace simpred {

struct ForestOptions {
  bool boosted = false;
  int trees = 40;
  int min_leaf = 2;
  int max_leaves = 0;           // 0: no limit
  double feature_share = 0.6;   // looked at in each split
  double learning_rate = 0.07;  // boosted only
  double leaf_prior = 1;        // mean weights' worth of pull towards zero, boosted only
};
ForestOptions ExtraTrees();
ForestOptions BoostedTrees();

class Forest {
 public:
  void Fit(const Dataset& data, const ForestOptions& options, uint64_t seed);
  double Predict(const Vector& z) const;

  void Write(ByteWriter& w) const;
  static Forest Read(ByteReader& r, Eigen::Index features);

 private:
  struct Node {
    float value = 0;       // threshold (go left if feature <= value), or the leaf's answer
    int32_t right = -1;    // the left child follows its parent; a leaf has none
    int32_t feature = -1;  // a leaf has none
  };
  friend class TreeGrower;
  std::vector<int32_t> roots_;
  std::vector<Node> nodes_;
  double scale_ = 1;
};

}  // namespace simpred
