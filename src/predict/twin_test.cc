#include "predict/twin.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predict/test_kernels.h"

namespace simpred {
namespace {

using testing::Conv;
using testing::Cpu;
using testing::Elementwise;
using testing::MakeWorld;
using testing::Truth;
using testing::World;

FitOptions Options(int fit_threads = 1) {
  FitOptions o;
  o.bias.run_cost = Microseconds(1.5);
  o.fit_threads = fit_threads;
  return o;
}

struct Fitted {
  World world = MakeWorld(1, 300, 20);
  Twin twin = std::move(Twin::Fit(world.samples, world.graphs, Cpu(), Options()).value());
};
const Fitted& Shared() {
  static const Fitted* f = new Fitted;
  return *f;
}

TEST(Twin, PredictsKernelsThatItNeverSaw) {
  World other = MakeWorld(99, 0, 10);
  double error = 0;
  int inside = 0, n = 0;
  for (const FitSample& s : other.samples) {
    Estimate e = Shared().twin.Predict(*s.kernel);
    error += std::abs(e.value / s.time - 1);
    inside += e.low <= s.time && s.time <= e.high;
    ++n;
  }
  EXPECT_LT(error / n, 0.05);
  EXPECT_GE(inside, 0.85 * n);
}

TEST(Twin, PredictsWholeGraphsWithGapAndRunCost) {
  World other = MakeWorld(98, 0, 20);
  int inside = 0;
  for (const GraphSample& g : other.graphs) {
    std::vector<Estimate> estimates;
    for (const Kernel* k : g.kernels) estimates.push_back(Shared().twin.Predict(*k));
    GraphEstimate total = Shared().twin.Total(g.kernels, estimates);
    EXPECT_NEAR(total.total.value / g.end_to_end, 1, 0.06) << g.name;
    EXPECT_NEAR((total.kernels + total.gap + total.run_cost) / total.total.value, 1, 1e-9);
    EXPECT_EQ(total.run_cost, Microseconds(1.5));
    EXPECT_GT(total.gap, Duration());
    inside += total.total.low <= g.end_to_end && g.end_to_end <= total.total.high;
  }
  EXPECT_GE(inside, 17);
}

TEST(Twin, FarOutsideIsExtrapolatedAndWider) {
  Estimate near = Shared().twin.Predict(Elementwise("Relu", 100000));
  Estimate far = Shared().twin.Predict(Elementwise("Relu", 4000000000));
  EXPECT_EQ(near.source, Source::kInterpolated);
  EXPECT_EQ(far.source, Source::kExtrapolated);
  EXPECT_GT(far.distance, 1);
  EXPECT_GT(far.high / far.low, near.high / near.low);
  EXPECT_NE(far.reason.find("larger"), std::string::npos) << far.reason;
  double ratio = far.value / Truth(Elementwise("Relu", 4000000000));
  EXPECT_GT(ratio, 0.3);  // physics bounds it
  EXPECT_LT(ratio, 3);
}

TEST(Twin, UnknownVariantAndUnknownOperatorAreSaid) {
  Estimate tanh = Shared().twin.Predict(Elementwise("Tanh", 100000)),
           relu = Shared().twin.Predict(Elementwise("Relu", 100000));
  EXPECT_NE(tanh.reason.find("Tanh"), std::string::npos);
  EXPECT_GT(tanh.high / tanh.low, relu.high / relu.low);
  Kernel strange = Elementwise("Strange", 1000);
  strange.has_rule = false;
  Estimate e = Shared().twin.Predict(strange);
  EXPECT_EQ(e.source, Source::kUnknown);
  EXPECT_GT(e.value, Duration());
}

TEST(Twin, SameBytesForAnyNumberOfWorkersAndBack) {
  const Fitted& f = Shared();
  std::string bytes = f.twin.Serialize();
  Result<Twin> two = Twin::Fit(f.world.samples, f.world.graphs, Cpu(), Options(3));
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->Serialize(), bytes);
  Result<Twin> back = Twin::Deserialize(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->Serialize(), bytes);
  EXPECT_EQ(back->Predict(Conv(40, 40, 20, 3)).value, f.twin.Predict(Conv(40, 40, 20, 3)).value);
  EXPECT_EQ(back->summary().groups.size(), f.twin.summary().groups.size());
}

TEST(Twin, BrokenBytesAreAnErrorWithARemedy) {
  std::string bytes = Shared().twin.Serialize();
  for (const std::string& broken :
       {std::string(), std::string("nonsense"), bytes.substr(0, 18), bytes.substr(0, bytes.size() / 2)})
    EXPECT_FALSE(Twin::Deserialize(broken).ok());
  for (size_t at = 20; at < bytes.size(); at += bytes.size() / 23) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    Result<Twin> r = Twin::Deserialize(flipped);
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(r.status().code(), StatusCode::kDatabase);
    EXPECT_FALSE(r.status().hint().empty());
  }
}

TEST(Twin, AnalyticGivesTheTrend) {
  Twin t = Twin::Analytic(Cpu(), 1);
  Estimate small = t.Predict(Conv(16, 16, 16, 3)), big = t.Predict(Conv(256, 256, 64, 3));
  EXPECT_EQ(small.source, Source::kAnalytic);
  EXPECT_GT(big.value, small.value);
  Kernel k = Conv(256, 256, 64, 3);
  GraphEstimate g = t.Total({&k}, {big});
  EXPECT_EQ(g.grade, Grade::kReference);
  EXPECT_EQ(g.total.value, big.value + g.run_cost);
  Result<Twin> back = Twin::Deserialize(t.Serialize());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->Predict(k).value, big.value);
}

TEST(Twin, FewSamplesFallBackInsteadOfFailing) {
  World w = MakeWorld(5, 3, 0);
  Result<Twin> t = Twin::Fit(w.samples, {}, Cpu(), Options());
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->Predict(Conv(8, 8, 8, 3)).source, Source::kAnalytic);
  World twelve = MakeWorld(5, 12, 0);
  Result<Twin> some = Twin::Fit(twelve.samples, {}, Cpu(), Options());
  ASSERT_TRUE(some.ok());
  Kernel unseen = Elementwise("Softmax", 1000);
  unseen.op_class = OperatorClass::kNormalization;
  EXPECT_EQ(some->Predict(unseen).source, Source::kExtrapolated);
}

TEST(Twin, SamplesWithoutTimeAreRefused) {
  World w = MakeWorld(5, 20, 0);
  w.samples[3].time = Duration();
  EXPECT_FALSE(Twin::Fit(w.samples, {}, Cpu(), Options()).ok());
}

TEST(Twin, CorrectionsMultiply) {
  World w = MakeWorld(7, 60, 0);
  Twin t = std::move(Twin::Fit(w.samples, {}, Cpu(), Options()).value());
  Kernel k = Conv(128, 128, 32, 3);
  Duration before = t.Predict(k).value;
  t.SetCorrections({{"conv-dense", 1.2}}, 5.0, 1.1);
  EXPECT_NEAR(t.Predict(k).value / before, 1.32, 1e-9);
}

TEST(Twin, GradesFollowTheExpectedDeviation) {
  EXPECT_EQ(GradeOf(0.10), Grade::kBaseline);
  EXPECT_EQ(GradeOf(0.15), Grade::kUsable);
  EXPECT_EQ(GradeOf(0.21), Grade::kReference);
}

}  // namespace
}  // namespace simpred
