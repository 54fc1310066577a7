#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "predict/learners/baseline.h"
#include "predict/learners/gaussian_process.h"
#include "predict/learners/trees.h"

namespace simpred {
namespace {

// y = f(x) over [-2, 2]^3 where the third feature plays no part.
template <typename F>
Dataset Sample(int n, uint64_t seed, F f) {
  Dataset d{Matrix(n, 3), Vector(n), Vector::Constant(n, 0.02)};
  Random random(seed);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 3; ++k) d.x(i, k) = 4 * random.Uniform() - 2;
    d.y(i) = f(d.x(i, 0), d.x(i, 1));
  }
  return d;
}

template <typename M>
double MeanError(const Dataset& test, const M& predict) {
  double sum = 0;
  for (Eigen::Index i = 0; i < test.x.rows(); ++i) sum += std::abs(predict(Vector(test.x.row(i))) - test.y(i));
  return sum / static_cast<double>(test.x.rows());
}

double Smooth(double a, double b) { return std::sin(a) + 0.5 * a * b; }
double Steps(double a, double b) { return (a > 0.3 ? 1.0 : 0.0) + (b > -0.5 ? 0.5 : 0.0); }

TEST(GaussianProcess, InterpolatesASmoothSurface) {
  Dataset train = Sample(200, 1, Smooth), test = Sample(100, 2, Smooth);
  GaussianProcess g;
  g.Fit(train, GaussianProcess::Tune(train, 7));
  EXPECT_LT(MeanError(test, [&](const Vector& x) { return g.Predict(x).value; }), 0.05);
}

TEST(GaussianProcess, FarAwayItReturnsToZeroAndSaysHowFar) {
  Dataset train = Sample(100, 1, Smooth);
  GaussianProcess g;
  g.Fit(train, GaussianProcess::Tune(train, 7));
  GaussianProcess::Answer far = g.Predict(Vector::Constant(3, 1000)), near = g.Predict(train.x.row(3));
  EXPECT_NEAR(far.value, 0, 1e-3);
  EXPECT_NEAR(near.nearest, 0, 1e-2);
  EXPECT_GT(far.nearest, 10);
}

TEST(Trees, BothKindsFindSteps) {
  Dataset train = Sample(400, 1, Steps), test = Sample(100, 2, Steps);
  for (const ForestOptions& o : {ExtraTrees(), BoostedTrees()}) {
    Forest f;
    f.Fit(train, o, 3);
    // The mean alone is off by 0.5.
    EXPECT_LT(MeanError(test, [&](const Vector& x) { return f.Predict(x); }), o.boosted ? 0.08 : 0.2) << o.boosted;
  }
}

TEST(Trees, ConstantFeaturesGiveTheMean) {
  Dataset d{Matrix::Ones(20, 2), Vector::Constant(20, 3), Vector::Constant(20, 0.1)};
  Forest f;
  f.Fit(d, ExtraTrees(), 1);
  EXPECT_NEAR(f.Predict(Vector::Ones(2)), 3, 1e-5);
}

TEST(Baseline, FollowsTheLineInsideAndHoldsTheEdgeOutside) {
  Dataset d = Sample(300, 1, [](double a, double b) { return 2 * a - b + 1; });
  std::vector<std::string> variants(300, "Relu");
  Baseline b;
  b.Fit(d.x, variants, d.y, d.noise);
  auto at = [&](double a) { return b.Predict(b.Standardize(Eigen::Vector3d(a, 0, 0), "Relu")); };
  EXPECT_NEAR(at(1), 3, 0.1);
  EXPECT_DOUBLE_EQ(at(50), at(500));
}

TEST(Baseline, VariantsDifferByAConstantAndOutliersDoNotMoveIt) {
  Dataset d = Sample(200, 1, [](double a, double) { return a; });
  std::vector<std::string> variants;
  for (Eigen::Index i = 0; i < 200; ++i) {
    variants.push_back(i % 2 ? "Sigmoid" : "Relu");
    if (i % 2) d.y(i) += 1;
  }
  d.y(10) = 50;
  Baseline b;
  b.Fit(d.x, variants, d.y, d.noise);
  auto at = [&](const char* v) { return b.Predict(b.Standardize(Eigen::Vector3d(0, 0, 0), v)); };
  EXPECT_NEAR(at("Sigmoid") - at("Relu"), 1, 0.1);
  EXPECT_NEAR(at("Relu"), 0, 0.15);
  EXPECT_FALSE(b.Knows("Tanh"));
}

TEST(Learners, SurviveBytesAndRefuseBrokenOnes) {
  Dataset d = Sample(80, 1, Smooth);
  Forest f;
  f.Fit(d, BoostedTrees(), 1);
  GaussianProcess g;
  g.Fit(d, GaussianProcess::Tune(d, 1));
  ByteWriter w;
  f.Write(w);
  g.Write(w);
  std::string bytes = w.Take();
  ByteReader r(bytes);
  Forest f2 = Forest::Read(r, 3);
  GaussianProcess g2 = GaussianProcess::Read(r, 3);
  ASSERT_TRUE(r.ok());
  Vector x = d.x.row(5);
  EXPECT_EQ(f.Predict(x), f2.Predict(x));
  EXPECT_EQ(g.Predict(x).value, g2.Predict(x).value);
  for (size_t cut = 0; cut < bytes.size(); cut += 97) {
    ByteReader broken(std::string_view(bytes).substr(0, cut));
    Forest::Read(broken, 3);
    GaussianProcess::Read(broken, 3);
    EXPECT_FALSE(broken.ok()) << cut;
  }
  ByteReader narrow(bytes);  // fewer features than the trees ask for
  Forest::Read(narrow, 1);
  EXPECT_FALSE(narrow.ok());
}

}  // namespace
}  // namespace simpred
