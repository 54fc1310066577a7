// Reductions: axes from attribute or input, kept or dropped, all of them by default; losses.
#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

TEST(Reduction, AxesAsAttribute) {
  RuleTester t("ReduceMean", "", 13);
  t.In({2, 3, 4}).Attr("axes", {1, -1});
  EXPECT_EQ(t.Shape0(), "[2, 1, 1]");
  EXPECT_EQ(t.Attr("keepdims", 0).Shape0(), "[2]");
}

TEST(Reduction, AxesAsInput) {
  RuleTester t("ReduceSum");
  t.In({2, 3, Dim::Symbol("N")}).Ints({0});
  EXPECT_EQ(t.Shape0(), "[1, 3, N]");
}

TEST(Reduction, NoAxesMeansAll) {
  EXPECT_EQ(RuleTester("ReduceMax").In({2, 3}).Shape0(), "[1, 1]");
  EXPECT_EQ(RuleTester("ReduceMax").In({2, 3}).Attr("keepdims", 0).Shape0(), "[]");
  EXPECT_EQ(RuleTester("ReduceMax").In({2, 3}).Attr("noop_with_empty_axes", 1).Shape0(), "[2, 3]");
}

TEST(Reduction, AxesComputedAtRunTimeKeepTheRank) {
  EXPECT_EQ(RuleTester("ReduceSum").In({2, 3, 4}).In({1}, DataType::kInt64).Shape0(), "[?, ?, ?]");
  EXPECT_EQ(RuleTester("ReduceSum").In({2, 3, 4}).In({1}, DataType::kInt64).Attr("keepdims", 0).Shape0(), "[?, ?]");
}

TEST(Reduction, EveryInputElementCounts) {
  EXPECT_EQ(RuleTester("ReduceSum").In({10, 20}).FlopCount(), 200);
  EXPECT_EQ(RuleTester("ReduceSumSquare").In({10, 20}).FlopCount(), 400);
  for (const char* type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceProd", "ReduceMin"}) {
    EXPECT_GE(RuleTester(type).In({10, 20}).FlopCount(), 200) << type;
  }
}

TEST(Reduction, ArgMaxGivesIndices) {
  RuleTester t("ArgMax");
  t.In({2, 1000}).Attr("axis", -1).Attr("keepdims", 0);
  EXPECT_EQ(t.Shape0(), "[2]");
  EXPECT_EQ(t.Type(0), DataType::kInt64);
}

TEST(Reduction, WrongAxes) {
  EXPECT_FALSE(RuleTester("ReduceSum").In({2, 3}).Ints({2}).Run().ok());
  EXPECT_FALSE(RuleTester("ReduceMean", "", 13).In({2, 3}).Attr("axes", {0, INT64_MIN}).Run().ok());
  EXPECT_FALSE(RuleTester("ArgMin").In({2, 3}).Attr("axis", 2).Run().ok());
  EXPECT_FALSE(RuleTester("CumSum").In({2, 3}).Int(5).Run().ok());
}

TEST(Reduction, Losses) {
  RuleTester t("SoftmaxCrossEntropyLoss");
  t.In({8, 10}).In({8}, DataType::kInt64).Outputs(2);
  EXPECT_EQ(t.Shape0(), "[]");
  EXPECT_EQ(t.ShapeText(1), "[8, 10]");
  EXPECT_EQ(t.Attr("reduction", "none").Shape0(), "[8]");
  EXPECT_FALSE(t.Attr("reduction", "most").Run().ok());
  EXPECT_FALSE(RuleTester("NegativeLogLikelihoodLoss").In({8, 10}).In({9}, DataType::kInt64).Run().ok());
}

}  // namespace
}  // namespace simpred
