#include "predict/predictor.h"

#include <gtest/gtest.h>

#include "predict/test_kernels.h"

namespace simpred {
namespace {

using testing::Conv;
using testing::Cpu;
using testing::Elementwise;

Workload ThreeKernels() {
  Workload w;
  w.kernels = {Conv(64, 64, 56, 3), Elementwise("Relu", 64 * 56 * 56), Elementwise("TopK", 1000)};
  w.kernels[2].op_class = OperatorClass::kDataDependent;
  for (size_t i = 0; i < w.kernels.size(); ++i) {
    w.kernels[i].name = "k" + std::to_string(i);
    if (i) w.kernels[i].inputs_from = {static_cast<int32_t>(i) - 1};
  }
  w.weights = Bytes(1000);
  w.peak_activations = Bytes(500);
  return w;
}

Prediction MustPredict(const Workload& w, const PredictOptions& o = {}, DeviceProfile d = Cpu()) {
  Result<Prediction> p = Predict(w, Twin::Analytic(d, 1), d, o);
  EXPECT_TRUE(p.ok()) << p.status().ToString();
  return std::move(p).value();
}

TEST(Predictor, SumsTheKernelsInOrder) {
  Workload w = ThreeKernels();
  Prediction p = MustPredict(w);
  ASSERT_EQ(p.kernels.size(), 3U);
  Duration sum;
  for (const KernelPrediction& k : p.kernels) sum += k.estimate.value;
  EXPECT_EQ(p.end_to_end.kernels, sum);
  EXPECT_EQ(p.kernels[1].start_ns, p.kernels[0].end_ns);
  EXPECT_EQ(p.peak_memory, Bytes(1500));
  ASSERT_EQ(p.utilization.size(), 1U);
  EXPECT_GT(p.utilization[0], 0.9);
  EXPECT_NE(p.bottleneck.find("Conv"), std::string::npos) << p.bottleneck;
}

TEST(Predictor, MeasuredComesBeforeTheTwin) {
  Workload w = ThreeKernels();
  PredictOptions o;
  o.measured[w.kernels[0].signature] = {
      .time = Microseconds(123), .spread = 0.01, .rounds = 3, .verdict = NoiseVerdict::kClean};
  Prediction p = MustPredict(w, o);
  EXPECT_EQ(p.kernels[0].estimate.source, Source::kMeasured);
  EXPECT_EQ(p.kernels[0].estimate.value, Microseconds(123));
  EXPECT_LT(p.kernels[0].estimate.low, p.kernels[0].estimate.value);
  EXPECT_EQ(p.by_source.at(Source::kMeasured), Microseconds(123));
}

TEST(Predictor, OverridesAndKnownDeviationsAreFixed) {
  Workload w = ThreeKernels();
  PredictOptions o;
  o.latency_overrides["k1"] = Microseconds(7);
  o.measured[w.kernels[2].signature] = {
      .time = Microseconds(40), .spread = 0.01, .rounds = 3, .verdict = NoiseVerdict::kClean};
  Prediction p = MustPredict(w, o);
  EXPECT_EQ(p.kernels[1].estimate.source, Source::kFixed);
  EXPECT_EQ(p.kernels[1].estimate.value, Microseconds(7));
  EXPECT_EQ(p.kernels[2].estimate.source, Source::kFixed);
  EXPECT_EQ(p.kernels[2].estimate.value, Microseconds(40));
  Prediction never = MustPredict(w);
  EXPECT_EQ(never.kernels[2].estimate.source, Source::kAnalytic);
  EXPECT_NE(never.kernels[2].estimate.reason.find("never recorded"), std::string::npos);
}

TEST(Predictor, ADataDependentKernelOfAnotherShapeIsScaledByBytes) {
  Workload w = ThreeKernels();
  w.kernels.push_back(Elementwise("TopK", 2000));
  w.kernels[3].op_class = OperatorClass::kDataDependent;
  w.kernels[3].name = "k3";
  PredictOptions o;
  o.measured[w.kernels[2].signature] = {
      .time = Microseconds(40), .spread = 0.01, .rounds = 3, .verdict = NoiseVerdict::kClean};
  Prediction p = MustPredict(w, o);
  EXPECT_NEAR(p.kernels[3].estimate.value / Microseconds(80), 1, 1e-9);
  EXPECT_GT(p.kernels[3].estimate.high / p.kernels[3].estimate.low, 2);
}

TEST(Predictor, ExcludedKernelsCountApart) {
  Workload w = ThreeKernels();
  PredictOptions o;
  o.exclude = {"k0"};
  Prediction all = MustPredict(w), p = MustPredict(w, o);
  EXPECT_EQ(p.kernels[0].estimate.source, Source::kExcluded);
  EXPECT_EQ(p.excluded, all.kernels[0].estimate.value);
  EXPECT_EQ(p.end_to_end.kernels + p.excluded, all.end_to_end.kernels);
  EXPECT_EQ(p.by_source.count(Source::kExcluded), 0U);
}

TEST(Predictor, UnknownOperatorsAreTheFirstWarning) {
  Workload w = ThreeKernels();
  w.warnings.push_back({"something else"});
  w.kernels[1].has_rule = false;
  Prediction p = MustPredict(w);
  ASSERT_GE(p.warnings.size(), 2U);
  EXPECT_NE(p.warnings[0].text.find("Relu"), std::string::npos);
  EXPECT_EQ(p.kernels[1].estimate.source, Source::kUnknown);
  EXPECT_GT(p.kernels[1].estimate.value, Duration());
}

TEST(Predictor, APlanThatDoesNotFitSaysSo) {
  DeviceProfile d = Cpu();
  d.memory_capacity = Bytes(1000);
  Prediction p = MustPredict(ThreeKernels(), {}, d);
  EXPECT_FALSE(p.fits);
}

TEST(Predictor, CorrectionsScaleTheirBound) {
  Workload w = ThreeKernels();
  PredictOptions o;
  o.memory_correction = 2;
  Prediction a = MustPredict(w), b = MustPredict(w, o);
  EXPECT_EQ(a.kernels[0].estimate.value, b.kernels[0].estimate.value);
  EXPECT_NEAR(b.kernels[1].estimate.value / a.kernels[1].estimate.value, 2, 1e-9);
}

TEST(Predictor, AnEmptyWorkloadIsFine) { EXPECT_EQ(MustPredict(Workload{}).kernels.size(), 0U); }

}  // namespace
}  // namespace simpred
