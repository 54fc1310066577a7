// Convolutions: published work, geometry in every padding form, and files that contradict themselves.
#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

RuleTester Conv(Shape x, Shape w) {
  RuleTester t("Conv");
  t.In(std::move(x)).Weights(std::move(w));
  return t;
}

TEST(Convolution, FirstLayerOfResNetHasItsPublishedWork) {
  RuleTester t = Conv({1, 3, 224, 224}, {64, 3, 7, 7});
  t.Attr("strides", {2, 2}).Attr("pads", {3, 3, 3, 3});
  EXPECT_EQ(t.Shape0(), "[1, 64, 112, 112]");
  // He et al. 2015, table 1: 118 million multiply-adds.
  EXPECT_EQ(t.FlopCount(), 2.0 * 118013952);
  EXPECT_EQ(t.Cost().weights, Bytes(64 * 3 * 49 * 4));
  EXPECT_EQ(t.Cost().read, Bytes(3 * 224 * 224 * 4));
  EXPECT_EQ(t.Cost().written, Bytes(64 * 112 * 112 * 4));
}

TEST(Convolution, BiasAddsOneOperationPerOutput) {
  RuleTester t = Conv({1, 8, 4, 4}, {16, 8, 1, 1});
  const double plain = t.FlopCount();
  t.Weights({16});
  EXPECT_EQ(t.FlopCount(), plain + 16 * 4 * 4);
}

TEST(Convolution, DepthwiseWorkIsDividedByGroups) {
  RuleTester t = Conv({1, 32, 10, 10}, {32, 1, 3, 3});
  t.Attr("group", 32).Attr("pads", {1, 1, 1, 1});
  EXPECT_EQ(t.Shape0(), "[1, 32, 10, 10]");
  EXPECT_EQ(t.FlopCount(), 2.0 * 32 * 100 * 9);
}

TEST(Convolution, AutoPadForms) {
  for (const auto& [form, expected] : {std::pair{"SAME_UPPER", "[1, 4, 4, 4]"}, std::pair{"SAME_LOWER", "[1, 4, 4, 4]"},
                                       std::pair{"VALID", "[1, 4, 3, 3]"}, std::pair{"NOTSET", "[1, 4, 3, 3]"}}) {
    RuleTester t = Conv({1, 3, 7, 7}, {4, 3, 3, 3});
    t.Attr("auto_pad", form).Attr("strides", {2, 2});
    EXPECT_EQ(t.Shape0(), expected) << form;
  }
}

TEST(Convolution, DilationsWidenTheWindow) {
  RuleTester t = Conv({1, 1, 32, 32}, {1, 1, 3, 3});
  t.Attr("dilations", {2, 4});
  EXPECT_EQ(t.Shape0(), "[1, 1, 28, 24]");
}

TEST(Convolution, OneAndThreeDimensions) {
  EXPECT_EQ(Conv({2, 80, 3000}, {384, 80, 3}).Attr("pads", {1, 1}).Shape0(), "[2, 384, 3000]");
  EXPECT_EQ(Conv({1, 3, 16, 112, 112}, {64, 3, 3, 7, 7}).Shape0(), "[1, 64, 14, 106, 106]");
}

TEST(Convolution, SymbolsFlow) {
  const Dim n = Dim::Symbol("N");
  const Dim h = Dim::Symbol("H");
  RuleTester t = Conv({n, 3, h, 8}, {16, 3, 3, 3});
  t.Attr("pads", {1, 1, 1, 1});
  EXPECT_EQ(t.Shape0(), "[N, 16, H, 8]");
}

TEST(Convolution, UnknownRanksStayUnknown) {
  RuleTester t("Conv");
  t.Unknown().Unknown();
  EXPECT_EQ(t.Shape0(), "[...]");
  RuleTester known_weights("Conv");
  known_weights.Unknown().Weights({8, 3, 3, 3});
  EXPECT_EQ(known_weights.Shape0(), "[?, 8, ?, ?]");
}

TEST(Convolution, WorkGrowsWithEveryDimension) {
  const double base = Conv({1, 8, 16, 16}, {8, 8, 3, 3}).FlopCount();
  EXPECT_EQ(Conv({2, 8, 16, 16}, {8, 8, 3, 3}).FlopCount(), 2 * base);
  EXPECT_EQ(Conv({1, 8, 16, 16}, {16, 8, 3, 3}).FlopCount(), 2 * base);
  EXPECT_EQ(Conv({1, 16, 16, 16}, {8, 16, 3, 3}).FlopCount(), 2 * base);
  EXPECT_GT(Conv({1, 8, 17, 16}, {8, 8, 3, 3}).FlopCount(), base);
}

TEST(Convolution, BytesFollowTheDataType) {
  RuleTester t("Conv");
  t.In({1, 8, 16, 16}, DataType::kFloat16).Weights({8, 8, 3, 3}, DataType::kFloat16);
  const Work full = Conv({1, 8, 16, 16}, {8, 8, 3, 3}).Cost();
  EXPECT_EQ(t.Cost().total() * 2, full.total());
  EXPECT_EQ(t.Cost().flops, full.flops);
}

TEST(Convolution, ChannelMismatchNamesBothShapes) {
  const std::string text = Conv({1, 4, 8, 8}, {8, 3, 3, 3}).Shape0();
  EXPECT_NE(text.find("[1, 4, 8, 8]"), std::string::npos) << text;
  EXPECT_NE(text.find("[8, 3, 3, 3]"), std::string::npos) << text;
}

TEST(Convolution, WrongFilesAreErrorsNotCrashes) {
  const auto fails = [](RuleTester t) { return !t.Run().ok(); };
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("strides", {0, 1})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("strides", std::vector<int64_t>{1})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("dilations", {-1, 1})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("pads", {1, 1})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("pads", {INT64_MAX, 0, INT64_MAX, 0})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("group", 0)));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("group", INT64_MIN)));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("kernel_shape", {5, 5})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Attr("auto_pad", "SIDEWAYS")));
  EXPECT_TRUE(fails(Conv({1, 3, 2, 2}, {8, 3, 3, 3})));
  EXPECT_TRUE(fails(Conv({1, 3}, {8, 3})));
  EXPECT_TRUE(fails(Conv({1, 3, 8}, {8, 3, 3, 3})));
  EXPECT_TRUE(fails(Conv({1, 3, 8, 8}, {8, 3, 3, 3}).Weights({7})));
  EXPECT_TRUE(fails(RuleTester("Conv")));
}

TEST(ConvTranspose, ShapeAndWork) {
  RuleTester t("ConvTranspose");
  t.In({1, 64, 16, 16}).Weights({64, 32, 4, 4}).Attr("strides", {2, 2}).Attr("pads", {1, 1, 1, 1});
  EXPECT_EQ(t.Shape0(), "[1, 32, 32, 32]");
  EXPECT_EQ(t.FlopCount(), 2.0 * 64 * 256 * 32 * 16);
  t.Attr("output_padding", {1, 1});
  EXPECT_EQ(t.Shape0(), "[1, 32, 33, 33]");
  t.Attr("output_shape", {40, 41});
  EXPECT_EQ(t.Shape0(), "[1, 32, 40, 41]");
}

TEST(ConvTranspose, SameMultipliesByTheStride) {
  RuleTester t("ConvTranspose");
  t.In({1, 4, 5, 6}).Weights({4, 2, 3, 3}).Attr("strides", {2, 3}).Attr("auto_pad", "SAME_UPPER").Attr("group", 2);
  EXPECT_EQ(t.Shape0(), "[1, 4, 10, 18]");
}

TEST(QuantizedConvolution, TypesAndWork) {
  RuleTester integer("ConvInteger");
  integer.In({1, 3, 8, 8}, DataType::kUInt8)
      .Weights({4, 3, 3, 3}, DataType::kInt8)
      .In(Shape::Scalar(), DataType::kUInt8);
  EXPECT_EQ(integer.Shape0(), "[1, 4, 6, 6]");
  EXPECT_EQ(integer.Type(0), DataType::kInt32);
  EXPECT_EQ(integer.FlopCount(), 2.0 * 4 * 36 * 27);
  RuleTester linear("QLinearConv");
  linear.In({1, 3, 8, 8}, DataType::kUInt8).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kUInt8);
  linear.Weights({4, 3, 3, 3}, DataType::kInt8).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kInt8);
  linear.In(Shape::Scalar()).In(Shape::Scalar(), DataType::kInt8);
  EXPECT_EQ(linear.Shape0(), "[1, 4, 6, 6]");
  EXPECT_EQ(linear.Type(0), DataType::kInt8);
  EXPECT_GT(linear.FlopCount(), integer.FlopCount());
}

TEST(DeformConvolution, CostsMoreThanPlain) {
  RuleTester t("DeformConv");
  t.In({1, 8, 10, 10}).Weights({16, 8, 3, 3}).In({1, 18, 8, 8});
  EXPECT_EQ(t.Shape0(), "[1, 16, 8, 8]");
  EXPECT_GT(t.FlopCount(), Conv({1, 8, 10, 10}, {16, 8, 3, 3}).FlopCount());
}

TEST(CausalConvolution, KeepsLengthAndState) {
  RuleTester t("CausalConvWithState", "", 27);
  t.In({2, 64, 10}).Weights({64, 1, 4}).Outputs(2);
  EXPECT_EQ(t.Shape0(), "[2, 64, 10]");
  EXPECT_EQ(t.ShapeText(1), "[2, 64, 3]");
  EXPECT_EQ(t.FlopCount(), 2.0 * 2 * 64 * 10 * 4);
}

}  // namespace
}  // namespace simpred
