#include "profile/collectors/ort_job.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

TEST(RunBudget, EndsByCountByTimeOrByPatience) {
  const RunBudget b{.wanted_runs = 30, .max_runs = 100, .seconds = 1};
  EXPECT_FALSE(b.IsSpent(99, 0.5));
  EXPECT_TRUE(b.IsSpent(100, 0.5));
  EXPECT_FALSE(b.IsSpent(29, 1.5));  // fewer runs than wanted
  EXPECT_TRUE(b.IsSpent(30, 1.5));
  EXPECT_TRUE(b.IsSpent(5, 5));      // a slow model
  EXPECT_FALSE(b.IsSpent(4, 1000));  // never fewer than five
}

TEST(JobResult, SurvivesThePipe) {
  JobResult r;
  r.end_to_end = Summarize({10.5, 20.25, 30});
  r.profiled_end_to_end = Summarize({100});
  r.nodes.push_back({"conv \xff", "Conv", 7, Summarize({1, 2, 3})});
  const Result<JobResult> back = DecodeJobResult(Encode(r));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_TRUE(back->status.ok());
  EXPECT_EQ(back->end_to_end.count, 3);
  EXPECT_EQ(back->end_to_end.p10, r.end_to_end.p10);
  EXPECT_EQ(back->end_to_end.mad, r.end_to_end.mad);
  ASSERT_EQ(back->nodes.size(), 1U);
  EXPECT_EQ(back->nodes[0].name, "conv \xff");
  EXPECT_EQ(back->nodes[0].index, 7);
  EXPECT_EQ(back->nodes[0].kernel_time.p90, r.nodes[0].kernel_time.p90);
}

TEST(JobResult, AFailureKeepsItsWords) {
  JobResult r;
  r.status = ModelError("broken", "mend it").With("node 'a'");
  const Result<JobResult> back = DecodeJobResult(Encode(r));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->status.ToString(), r.status.ToString());
  EXPECT_EQ(back->status.code(), StatusCode::kModel);
}

TEST(JobResult, WhatIsNoResultIsAnError) {
  const std::string whole = Encode({});
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(DecodeJobResult(whole.substr(0, size)).ok()) << size;
  EXPECT_FALSE(DecodeJobResult("hello").ok());
}

}  // namespace
}  // namespace simpred
