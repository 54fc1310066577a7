// Shapes and costs of shape arithmetic, data movement, indexing, resizing, data-dependent and classical operators.
#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

constexpr int64_t kFloat = 4;

TEST(Reshape, ZerosCopyAndMinusOneTakesTheRest) {
  EXPECT_EQ(RuleTester("Reshape").In({2, 3, 4}).Ints({0, -1}).Shape0(), "[2, 12]");
  EXPECT_EQ(RuleTester("Reshape").In({Dim::Symbol("N"), 3, 4}).Ints({-1, 6}).Shape0(), "[2*N, 6]");
  EXPECT_EQ(RuleTester("Reshape").In({Dim::Unknown(), 3, 4}).Ints({0, -1}).Shape0(), "[?, 12]");
  EXPECT_EQ(RuleTester("Reshape").In({Dim::Symbol("N"), 8, 4}).Ints({Dim::Symbol("N"), -1}).Shape0(), "[N, 32]");
  EXPECT_EQ(RuleTester("Reshape").In({0, 3}).Ints({3, 0}).Attr("allowzero", 1).Shape0(), "[3, 0]");
}

TEST(Reshape, ContradictionsAreErrors) {
  EXPECT_NE(RuleTester("Reshape").In({2, 3}).Ints({-1, -1}).Shape0().find("more than one -1"), std::string::npos);
  EXPECT_NE(RuleTester("Reshape").In({2, 3}).Ints({4, 2}).Shape0().find("cannot reshape"), std::string::npos);
  EXPECT_NE(RuleTester("Reshape").In({2, 3}).Ints({-2}).Shape0().find("dimension -2"), std::string::npos);
  EXPECT_NE(RuleTester("Reshape").In({2}).Ints({1, 0}).Shape0().find("copies axis 1"), std::string::npos);
}

TEST(Reshape, MovesNothing) {
  EXPECT_EQ(RuleTester("Reshape").In({2, 3, 4}).Ints({24}).Cost().total(), Bytes(0));
  EXPECT_EQ(RuleTester("Reshape").op_class(), OperatorClass::kView);
}

TEST(Squeeze, AttributeInputAndDefault) {
  EXPECT_EQ(RuleTester("Squeeze", "", 11).In({1, 3, 1}).Attr("axes", std::vector<int64_t>{-1}).Shape0(), "[1, 3]");
  EXPECT_EQ(RuleTester("Squeeze").In({1, 3, 1}).Ints({0}).Shape0(), "[3, 1]");
  EXPECT_EQ(RuleTester("Squeeze").In({1, 3, 1}).Shape0(), "[3]");
  EXPECT_NE(RuleTester("Squeeze").In({1, 3}).Ints({1}).Shape0().find("cannot squeeze"), std::string::npos);
  EXPECT_EQ(RuleTester("Unsqueeze").In({3}).Ints({0, -1}).Shape0(), "[1, 3, 1]");
  EXPECT_NE(RuleTester("Unsqueeze").In({3}).Ints({0, 0}).Shape0().find("twice"), std::string::npos);
}

TEST(Slice, NumbersClampAsSpecified) {
  auto slice = [](int64_t start, int64_t end, int64_t step) {
    return RuleTester("Slice").In({10}).Ints({start}).Ints({end}).Ints({0}).Ints({step}).Shape0();
  };
  EXPECT_EQ(slice(0, 100, 1), "[10]");
  EXPECT_EQ(slice(-3, INT64_MAX, 1), "[3]");
  EXPECT_EQ(slice(2, 9, 3), "[3]");
  EXPECT_EQ(slice(-1, INT64_MIN, -1), "[10]");
  EXPECT_EQ(slice(8, 2, 1), "[0]");
  EXPECT_EQ(slice(100, 0, -1), "[9]");
  EXPECT_EQ(slice(0, 5, INT64_MAX), "[1]");
  EXPECT_NE(slice(0, 1, 0).find("step"), std::string::npos);
}

TEST(Slice, SymbolsStay) {
  const Dim n = Dim::Symbol("N");
  auto slice = [&](Dim start, Dim end) { return RuleTester("Slice").In({n, 4}).Ints({start}).Ints({end}).Shape0(); };
  EXPECT_EQ(slice(0, INT64_MAX), "[N, 4]");
  EXPECT_EQ(slice(1, INT64_MAX), "[N - 1, 4]");
  EXPECT_EQ(slice(0, -1), "[N - 1, 4]");
  EXPECT_EQ(slice(-2, INT64_MAX), "[2, 4]");
  EXPECT_EQ(slice(0, n), "[N, 4]");
}

TEST(Slice, OldFormHasAttributes) {
  RuleTester t("Slice", "", 1);
  t.In({4, 6})
      .Attr("starts", std::vector<int64_t>{1})
      .Attr("ends", std::vector<int64_t>{3})
      .Attr("axes", std::vector<int64_t>{1});
  EXPECT_EQ(t.Shape0(), "[4, 2]");
  EXPECT_EQ(t.Cost().read, Bytes(8 * kFloat));  // what it takes, not all 24
  EXPECT_EQ(t.Cost().written, Bytes(8 * kFloat));
}

TEST(Split, AllForms) {
  EXPECT_EQ(RuleTester("Split", "", 13).In({6, 4}).Outputs(3).ShapeText(2), "[2, 4]");
  EXPECT_EQ(RuleTester("Split", "", 13).In({6, 4}).Ints({1, 5}).Outputs(2).ShapeText(1), "[5, 4]");
  EXPECT_EQ(RuleTester("Split", "", 18).In({7}).Attr("num_outputs", 3).Outputs(3).ShapeText(2), "[1]");
  EXPECT_EQ(RuleTester("Split", "", 13).In({Dim::Symbol("N") * 2}).Outputs(2).ShapeText(0), "[N]");
}

TEST(Concat, AddsAlongItsAxis) {
  RuleTester t("Concat");
  t.In({1, 3, 8}).In({1, Dim::Symbol("C"), 8}).Attr("axis", 1);
  EXPECT_EQ(t.Shape0(), "[1, C + 3, 8]");
  EXPECT_NE(RuleTester("Concat").In({1, 3}).In({2, 3}).Attr("axis", 1).Shape0().find("cannot concatenate"),
            std::string::npos);
}

TEST(Pad, BothEndsOfEachAxis) {
  EXPECT_EQ(RuleTester("Pad").In({1, 3, 5, 5}).Ints({0, 0, 1, 2, 0, 0, 3, 4}).Shape0(), "[1, 3, 9, 11]");
  EXPECT_EQ(RuleTester("Pad").In({5}).Ints({-1, -1}).Shape0(), "[3]");
  EXPECT_NE(RuleTester("Pad").In({5}).Ints({1}).Shape0().find("pads"), std::string::npos);
}

TEST(Gather, ReadsWhatItTakes) {
  RuleTester t("Gather");
  t.Weights({30000, 768}).In({1, 128}, DataType::kInt64);
  EXPECT_EQ(t.Shape0(), "[1, 128, 768]");
  EXPECT_EQ(t.Cost().weights, Bytes(128 * 768 * kFloat));
  EXPECT_EQ(t.Cost().read, Bytes(128 * 8));
  EXPECT_EQ(t.Cost().written, Bytes(128 * 768 * kFloat));
}

TEST(Gather, OtherForms) {
  EXPECT_EQ(RuleTester("Gather").In({5, 4, 3}).In(Shape::Scalar()).Attr("axis", -1).Shape0(), "[5, 4]");
  EXPECT_EQ(RuleTester("GatherND").In({2, 3, 4}).In({5, 2}).Shape0(), "[5, 4]");
  EXPECT_EQ(RuleTester("GatherND").In({2, 3, 4}).In({2, 1}).Attr("batch_dims", 1).Shape0(), "[2, 4]");
  EXPECT_EQ(RuleTester("GatherElements").In({5, 4}).In({2, 4}).Shape0(), "[2, 4]");
  EXPECT_NE(RuleTester("GatherND").In({2}).In({5, 3}).Shape0().find("do not fit"), std::string::npos);
  EXPECT_EQ(RuleTester("OneHot").In({2, 3}).Int(10).In({2}).Shape0(), "[2, 3, 10]");
}

TEST(Resize, SizesScalesAndOldForms) {
  const Shape image{1, 3, 10, 10};
  auto sized = [&] { return RuleTester("Resize").In(image).None().None().Ints({1, 3, 20, 30}); };
  EXPECT_EQ(sized().Shape0(), "[1, 3, 20, 30]");
  EXPECT_EQ(RuleTester("Upsample", "", 9).In(image).Ints({1, 1, 2, 3}).Shape0(), "[1, 3, 20, 30]");
  EXPECT_EQ(RuleTester("Resize").In({1, 3, Dim::Symbol("H"), 10}).None().Ints({1, 1, 2, 2}).Shape0(),
            "[1, 3, 2*H, 20]");
  RuleTester smaller("Resize");
  smaller.In({10, 20}).None().None().Ints({5, 5}).Attr("keep_aspect_ratio_policy", "not_larger");
  EXPECT_EQ(smaller.Shape0(), "[3, 5]");
  EXPECT_GT(sized().Attr("mode", "cubic").FlopCount(), sized().Attr("mode", "linear").FlopCount());
  EXPECT_GT(sized().Attr("mode", "linear").FlopCount(), sized().Attr("mode", "nearest").FlopCount());
}

TEST(DataDependent, SizesAndBounds) {
  EXPECT_EQ(RuleTester("NonZero").In({4, 5}).Shape0(), "[2, nonzero]");
  EXPECT_EQ(RuleTester("TopK").In({3, 100}).Ints({10}).Outputs(2).ShapeText(1), "[3, 10]");
  EXPECT_NE(RuleTester("TopK").In({3, 5}).Ints({10}).Shape0().find("k is 10"), std::string::npos);
  EXPECT_EQ(RuleTester("NonMaxSuppression").In({1, 50, 4}).In({1, 2, 50}).Shape0(), "[0, 3]");
  EXPECT_EQ(RuleTester("NonMaxSuppression").In({1, 50, 4}).In({1, 2, 50}).Int(10).Shape0(), "[selected, 3]");
  EXPECT_EQ(RuleTester("Compress").In({4, 5}).Ints({1, 0, 1}).Attr("axis", 1).Shape0(), "[4, 2]");
}

TEST(Quantization, TypesOfResults) {
  EXPECT_EQ(RuleTester("QuantizeLinear").In({4}).In(Shape::Scalar()).Type(0), DataType::kUInt8);
  EXPECT_EQ(RuleTester("QuantizeLinear").In({4}).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kInt8).Type(0),
            DataType::kInt8);
  EXPECT_EQ(RuleTester("DequantizeLinear").In({4}, DataType::kInt8).In(Shape::Scalar(), DataType::kFloat16).Type(0),
            DataType::kFloat16);
}

TEST(MachineLearning, RowsAndClasses) {
  RuleTester t("LinearClassifier", "ai.onnx.ml");
  t.In({7, 4}).Attr("classlabels_ints", {0, 1, 2}).Outputs(2);
  EXPECT_EQ(t.ShapeText(0), "[7]");
  EXPECT_EQ(t.ShapeText(1), "[7, 3]");
}

// --- Properties of every operator that moves data ------------------------------------------------------------------

TEST(Properties, TwiceTheBatchIsTwiceTheTraffic) {
  for (const char* type : {"Transpose", "Trilu", "ReverseSequence"}) {
    auto work = [&](int64_t batch) { return RuleTester(type).In({batch, 8, 16}).Cost(); };
    EXPECT_EQ(work(8).total(), work(4).total() * 2) << type;
    EXPECT_GE(work(8).flops, work(4).flops) << type;
  }
}

TEST(Properties, HalfTheWidthIsHalfTheTraffic) {
  auto bytes = [](DataType t) { return RuleTester("Transpose").In({4, 8, 16}, t).Cost().total(); };
  EXPECT_EQ(bytes(DataType::kFloat32), bytes(DataType::kFloat16) * 2);
  EXPECT_EQ(bytes(DataType::kInt8), bytes(DataType::kInt4) * 2);
}

TEST(Properties, EveryRuleNamesItsSource) {
  for (const OperatorRule* rule : Registry::Default().all()) {
    EXPECT_FALSE(rule->source.empty()) << rule->domain << "." << rule->type;
    EXPECT_TRUE(rule->shape) << rule->domain << "." << rule->type;
  }
}

}  // namespace
}  // namespace simpred
