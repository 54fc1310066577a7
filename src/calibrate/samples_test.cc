#include "calibrate/samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/work_folder.h"

namespace simpred {
namespace {

using StoredRun = Run;  // inside a fixture, Run is GoogleTest's

SampleSummary Samples(double microseconds) {
  SampleSummary s;
  s.count = 40;
  s.min = s.p10 = s.median = s.mean = s.p90 = Microseconds(microseconds);
  return s;
}

class CollectSamplesTest : public testing::Test {
 protected:
  void SetUp() override {
    Session s;
    s.device = "cpu";
    s.kind = "model";
    session_ = db_.AddSession(s).value();
  }

  // One process: model "m" at this batch, one kernel that takes as many microseconds as `times` says.
  void Store(int64_t batch, int round, const std::vector<double>& times, double end_to_end,
             const std::string& fusion = "auto") {
    StoredRun run;
    run.session = session_;
    run.round = round;
    run.model_name = "m";
    run.structure_sha256 = "hash";
    run.input_shapes = fmt::format("x={}x8", batch);
    run.fusion_mode = fusion;
    run.end_to_end = Samples(end_to_end);
    std::vector<Record> records;
    for (size_t i = 0; i < times.size(); ++i) {
      Record r;
      r.kernel.name = fmt::format("relu{}", i);
      r.kernel.type = "Relu";
      r.kernel.signature = fmt::format("Relu {}x8", batch);
      r.raw = Samples(times[i]);
      r.corrected = r.raw.p10;
      records.push_back(std::move(r));
    }
    ASSERT_TRUE(db_.AddMeasured(run, records).ok());
  }

  SampleSet Collect(const SampleFilter& filter = {}) { return CollectSamples(db_, filter, {}).value(); }

  std::unique_ptr<WorkFolder> folder_ = WorkFolder::Create().value();
  Database db_ = Database::Open(folder_->path() / "c.db", Database::Mode::kReadWrite).value();
  int64_t session_ = 0;
};

TEST_F(CollectSamplesTest, TheEnvelopeOverTheRoundsCounts) {
  Store(1, 0, {10}, 100);
  Store(1, 1, {10.5}, 90);
  Store(1, 2, {30}, 300);
  const SampleSet set = Collect();
  ASSERT_EQ(set.fit.size(), 1U);
  EXPECT_DOUBLE_EQ(set.fit[0].time / Microseconds(1), 10);
  EXPECT_NEAR(set.fit[0].spread, 0.05, 1e-9);
  ASSERT_EQ(set.graphs.size(), 1U);
  EXPECT_DOUBLE_EQ(set.graphs[0].end_to_end / Microseconds(1), 90);
}

TEST_F(CollectSamplesTest, PlacesOfOneKernelAreAveraged) {
  Store(1, 0, {10, 20}, 100);
  const SampleSet set = Collect();
  ASSERT_EQ(set.fit.size(), 1U);
  EXPECT_DOUBLE_EQ(set.fit[0].time / Microseconds(1), 15);
  ASSERT_EQ(set.graphs.size(), 1U);
  EXPECT_EQ(set.graphs[0].kernels.size(), 2U);
}

TEST_F(CollectSamplesTest, AModelAtTwoShapesOrSwitchesIsTwoGraphs) {
  Store(1, 0, {10, 11}, 100);
  Store(4, 0, {40, 41}, 400);
  Store(1, 0, {12, 13}, 120, "off");
  const SampleSet set = Collect();
  ASSERT_EQ(set.graphs.size(), 3U);
  for (const GraphSample& g : set.graphs) {
    ASSERT_EQ(g.kernels.size(), 2U);
    EXPECT_EQ(g.kernels[0]->signature, g.end_to_end < Microseconds(200) ? "Relu 1x8" : "Relu 4x8");
  }
  EXPECT_EQ(set.fit.size(), 3U);
}

TEST_F(CollectSamplesTest, WhatJudgesIsHiddenWithItsGraph) {
  Store(1, 0, {10}, 100);
  Store(4, 0, {40}, 400);
  SampleFilter filter;
  filter.hide = [](const Record& r) { return r.kernel.signature == "Relu 4x8"; };
  filter.drop_graphs_of_hidden = true;
  const SampleSet set = Collect(filter);
  ASSERT_EQ(set.fit.size(), 1U);
  EXPECT_EQ(set.fit[0].kernel->signature, "Relu 1x8");
  ASSERT_EQ(set.graphs.size(), 1U);
  EXPECT_DOUBLE_EQ(set.graphs[0].end_to_end / Microseconds(1), 100);
}

TEST_F(CollectSamplesTest, NoisyKernelsAreNamedAndLeftOut) {
  Store(1, 0, {10}, 100);
  Store(1, 1, {20}, 100);
  const SampleSet set = Collect();
  EXPECT_TRUE(set.fit.empty());
  ASSERT_EQ(set.noisy.size(), 1U);
  EXPECT_EQ(set.noisy[0].kernel, "relu0");
}

}  // namespace
}  // namespace simpred
