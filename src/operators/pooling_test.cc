// Pooling: shapes with rounding up and padding, work per window, regions, and wrong attributes.
#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

RuleTester Pool(const char* type, Shape x) {
  RuleTester t(type);
  t.In(std::move(x)).Attr("kernel_shape", {3, 3});
  return t;
}

TEST(Pooling, ResNetStem) {
  RuleTester t = Pool("MaxPool", {1, 64, 112, 112});
  t.Attr("strides", {2, 2}).Attr("pads", {1, 1, 1, 1});
  EXPECT_EQ(t.Shape0(), "[1, 64, 56, 56]");
  EXPECT_EQ(t.FlopCount(), 64.0 * 56 * 56 * 9);
}

TEST(Pooling, CeilModeCountsTheLastPartialWindow) {
  EXPECT_EQ(Pool("MaxPool", {1, 1, 112, 112}).Attr("strides", {2, 2}).Shape0(), "[1, 1, 55, 55]");
  EXPECT_EQ(Pool("MaxPool", {1, 1, 112, 112}).Attr("strides", {2, 2}).Attr("ceil_mode", 1).Shape0(), "[1, 1, 56, 56]");
}

TEST(Pooling, CeilModeStartsNoWindowInThePadding) {
  RuleTester t("AveragePool");
  t.In({1, 1, 2, 2}).Attr("kernel_shape", {1, 1}).Attr("strides", {2, 2}).Attr("pads", {0, 0, 1, 1});
  t.Attr("ceil_mode", 1);
  EXPECT_EQ(t.Shape0(), "[1, 1, 1, 1]");
}

TEST(Pooling, IndicesAreInt64) {
  RuleTester t = Pool("MaxPool", {1, 2, 8, 8});
  t.Outputs(2);
  EXPECT_EQ(t.ShapeText(1), "[1, 2, 6, 6]");
  EXPECT_EQ(t.Type(1), DataType::kInt64);
}

TEST(Pooling, GlobalForms) {
  for (const char* type : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    RuleTester t(type);
    t.In({2, 2048, 7, 7});
    EXPECT_EQ(t.Shape0(), "[2, 2048, 1, 1]") << type;
    EXPECT_GE(t.FlopCount(), 2.0 * 2048 * 49) << type;
  }
}

TEST(Pooling, WorkGrowsWithBatchAndKernel) {
  const double base = Pool("AveragePool", {1, 4, 16, 16}).FlopCount();
  EXPECT_EQ(Pool("AveragePool", {3, 4, 16, 16}).FlopCount(), 3 * base);
}

TEST(Pooling, UnpoolGoesBack) {
  RuleTester t("MaxUnpool");
  t.In({1, 1, 2, 2}).In({1, 1, 2, 2}, DataType::kInt64).Attr("kernel_shape", {2, 2}).Attr("strides", {2, 2});
  EXPECT_EQ(t.Shape0(), "[1, 1, 4, 4]");
  t.Ints({1, 1, 5, 5});
  EXPECT_EQ(t.Shape0(), "[1, 1, 5, 5]");
}

TEST(Pooling, Regions) {
  RuleTester align("RoiAlign");
  align.In({1, 256, 50, 68})
      .In({1000, 4})
      .In({1000}, DataType::kInt64)
      .Attr("output_height", 7)
      .Attr("output_width", 7);
  EXPECT_EQ(align.Shape0(), "[1000, 256, 7, 7]");
  EXPECT_EQ(align.Attr("sampling_ratio", 4).FlopCount(), 4 * align.Attr("sampling_ratio", 2).FlopCount());
  RuleTester max("MaxRoiPool");
  max.In({1, 256, 50, 68}).In({Dim::Symbol("R"), 5}).Attr("pooled_shape", {6, 6});
  EXPECT_EQ(max.Shape0(), "[R, 256, 6, 6]");
}

TEST(Pooling, WrongFilesAreErrors) {
  EXPECT_FALSE(RuleTester("MaxPool").In({1, 1, 4, 4}).Run().ok());  // no kernel_shape
  EXPECT_FALSE(Pool("MaxPool", {1, 1, 2, 2}).Run().ok());
  EXPECT_FALSE(Pool("MaxPool", {1, 1, 8}).Run().ok());
  EXPECT_FALSE(Pool("MaxPool", {1, 8}).Run().ok());
  EXPECT_FALSE(RuleTester("MaxRoiPool").In({1, 1, 4, 4}).In({3, 5}).Attr("pooled_shape", {0, 1}).Run().ok());
  EXPECT_FALSE(RuleTester("RoiAlign").In({1, 1, 4, 4}).In({3, 4}).In({4}).Run().ok());
  EXPECT_FALSE(RuleTester("AveragePool").In({1, 1, 4, 4}).Attr("kernel_shape", {INT64_MAX, 1}).Run().ok());
}

}  // namespace
}  // namespace simpred
