#include "profile/record.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "profile/bias.h"

namespace simpred {
namespace {

double Ns(Duration d) { return d / Nanoseconds(1); }

Record Round(Duration corrected, int64_t count = 20) {
  Record r;
  r.raw.count = count;
  r.raw.p10 = corrected;
  r.raw.median = corrected;
  r.corrected = corrected;
  return r;
}

TEST(Summarize, NothingGivesNothing) {
  const SampleSummary s = Summarize({});
  EXPECT_EQ(s.count, 0);
  EXPECT_EQ(s.p10, Duration());
}

TEST(Summarize, OneSampleIsEveryStatistic) {
  const SampleSummary s = Summarize({7});
  EXPECT_EQ(s.count, 1);
  for (const Duration d : {s.min, s.p10, s.median, s.mean, s.p90}) EXPECT_EQ(Ns(d), 7);
  EXPECT_EQ(Ns(s.mad), 0);
}

TEST(Summarize, InterpolatesLinearly) {
  // Positions 0..4: the 10th percentile lies at 0.4, the 90th at 3.6.
  const SampleSummary s = Summarize({50, 10, 40, 20, 30});
  EXPECT_DOUBLE_EQ(Ns(s.min), 10);
  EXPECT_DOUBLE_EQ(Ns(s.p10), 14);
  EXPECT_DOUBLE_EQ(Ns(s.median), 30);
  EXPECT_DOUBLE_EQ(Ns(s.mean), 30);
  EXPECT_DOUBLE_EQ(Ns(s.p90), 46);
  EXPECT_DOUBLE_EQ(Ns(s.mad), 10);
}

TEST(Summarize, IsOrderedAndIgnoresTheOrderOfSamples) {
  Random random(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<double> values(static_cast<size_t>(random.Int(1, 60)));
    for (double& v : values) v = random.LogUniform(100, 1e9);
    const SampleSummary a = Summarize(values);
    random.Shuffle(values);
    const SampleSummary b = Summarize(values);
    EXPECT_LE(a.min, a.p10);
    EXPECT_LE(a.p10, a.median);
    EXPECT_LE(a.median, a.p90);
    EXPECT_EQ(a.p10, b.p10);
    EXPECT_EQ(a.mean, b.mean);
    EXPECT_EQ(a.mad, b.mad);
  }
}

TEST(Summarize, GivesEachStatisticByName) {
  const SampleSummary s = Summarize({10, 20, 30, 80});
  EXPECT_EQ(s.get(Statistic::kMin), s.min);
  EXPECT_EQ(s.get(Statistic::kP10), s.p10);
  EXPECT_EQ(s.get(Statistic::kMedian), s.median);
  EXPECT_EQ(s.get(Statistic::kMean), s.mean);
  EXPECT_EQ(Name(Statistic::kP10), "p10");
}

TEST(Envelope, TakesTheBestRoundAndTheGapToTheSecond) {
  const Record a = Round(Microseconds(130)), b = Round(Microseconds(100)), c = Round(Microseconds(104));
  const KernelMeasurement m = Envelope({&a, &b, &c});
  EXPECT_EQ(m.time, Microseconds(100));
  EXPECT_DOUBLE_EQ(m.spread, 0.04);
  EXPECT_EQ(m.rounds, 3);
  EXPECT_EQ(m.verdict, NoiseVerdict::kClean);
}

TEST(Envelope, NamesABusyMachine) {
  const Record a = Round(Microseconds(100)), b = Round(Microseconds(150));
  EXPECT_EQ(Envelope({&a, &b}).verdict, NoiseVerdict::kNoisy);
}

TEST(Envelope, DoesNotTakeATickOfTheClockForNoise) {
  const Record a = Round(Microseconds(2)), b = Round(Microseconds(3));
  EXPECT_EQ(Envelope({&a, &b}).verdict, NoiseVerdict::kClean);
  const Record c = Round(Microseconds(4.5));
  EXPECT_EQ(Envelope({&a, &c}).verdict, NoiseVerdict::kNoisy);
}

TEST(Envelope, JudgesARoundAloneByItsOwnSamples) {
  Record a = Round(Microseconds(100));
  a.raw.median = Microseconds(120);
  EXPECT_DOUBLE_EQ(Envelope({&a}).spread, 0.2);
  EXPECT_EQ(Envelope({&a}).verdict, NoiseVerdict::kClean);
  a.raw.median = Microseconds(140);
  EXPECT_EQ(Envelope({&a}).verdict, NoiseVerdict::kNoisy);
}

TEST(Envelope, FewSamplesAreSaidToBeFew) {
  const Record a = Round(Microseconds(100), 2), b = Round(Microseconds(101), 2), empty = Round(Duration(), 0);
  EXPECT_EQ(Envelope({&a, &b}).verdict, NoiseVerdict::kFewSamples);
  EXPECT_EQ(Envelope({}).verdict, NoiseVerdict::kFewSamples);
  EXPECT_EQ(Envelope({&empty}).rounds, 0);
  EXPECT_EQ(Envelope({&empty, &a}).time, Microseconds(100));
}

TEST(Envelope, DoesNotDependOnTheOrderOfRounds) {
  Random random(9);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::vector<Record> rounds;
    for (int i = 0; i < 5; ++i) rounds.push_back(Round(Nanoseconds(random.LogUniform(500, 1e6))));
    std::vector<const Record*> order;
    order.reserve(rounds.size());
    for (const Record& r : rounds) order.push_back(&r);
    const KernelMeasurement before = Envelope(order);
    random.Shuffle(order);
    const KernelMeasurement after = Envelope(order);
    EXPECT_EQ(before.time, after.time);
    EXPECT_EQ(before.spread, after.spread);
    EXPECT_EQ(before.verdict, after.verdict);
  }
}

TEST(MeasurementBias, TakesItsShareOutButNeverBelowTheSmallest) {
  MeasurementBias bias;
  bias.kernel_bias = Microseconds(2.5);
  bias.smallest = Microseconds(0.25);
  EXPECT_EQ(bias.Correct(Microseconds(102.5)), Microseconds(100));
  EXPECT_EQ(bias.Correct(Microseconds(1)), Microseconds(0.25));

  std::vector<Record> records = {Round(Microseconds(12.5)), Round(Duration(), 0)};
  ApplyBias(records, bias);
  EXPECT_EQ(records[0].corrected, Microseconds(10));
  EXPECT_EQ(records[1].corrected, Duration());
}

}  // namespace
}  // namespace simpred
