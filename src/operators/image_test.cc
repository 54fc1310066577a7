// Images and signals: sampling grids, column images, transforms, windows.
#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

TEST(Image, GridSample) {
  RuleTester t("GridSample");
  t.In({2, 3, 10, 10}).In({2, 5, 6, 2});
  EXPECT_EQ(t.Shape0(), "[2, 3, 5, 6]");
  const double linear = t.FlopCount();
  EXPECT_GT(t.Attr("mode", "cubic").FlopCount(), linear);
  EXPECT_LT(t.Attr("mode", "nearest").FlopCount(), linear);
  EXPECT_FALSE(RuleTester("GridSample").In({2, 3, 10, 10}).In({2, 5, 6, 3}).Run().ok());
}

TEST(Image, AffineGrid) {
  EXPECT_EQ(RuleTester("AffineGrid").In({2, 2, 3}).Ints({2, 3, 5, 6}).Shape0(), "[2, 5, 6, 2]");
  EXPECT_FALSE(RuleTester("AffineGrid").In({2, 2, 3}).Ints({2}).Run().ok());
}

TEST(Image, ColumnsToImage) {
  EXPECT_EQ(RuleTester("Col2Im").In({1, 5, 5}).Ints({5, 5}).Ints({1, 5}).Shape0(), "[1, 1, 5, 5]");
  EXPECT_FALSE(RuleTester("Col2Im").In({1, 5, 5}).Ints({5, 5}).Ints({0, 5}).Run().ok());
  EXPECT_FALSE(RuleTester("Col2Im").In({1, 5, 5}).Ints({5, 5}).Ints({2, 2}).Run().ok());
}

TEST(Image, CenterCropPad) {
  EXPECT_EQ(RuleTester("CenterCropPad").In({20, 8, 3}).Ints({10, 9}).Attr("axes", {0, 1}).Shape0(), "[10, 9, 3]");
  EXPECT_FALSE(RuleTester("CenterCropPad").In({20, 8, 3}).Ints({10, 9}).Run().ok());
}

TEST(Signal, FourierTransforms) {
  RuleTester t("DFT");
  t.In({1, 1024, 1});
  EXPECT_EQ(t.Shape0(), "[1, 1024, 2]");
  EXPECT_EQ(t.FlopCount(), 2.5 * 1024 * 10);
  EXPECT_EQ(t.Attr("onesided", 1).Shape0(), "[1, 513, 2]");
  EXPECT_EQ(RuleTester("DFT").In({1, 8, 4, 2}).None().Int(1).Shape0(), "[1, 8, 4, 2]");
  EXPECT_FALSE(RuleTester("DFT").In({1, 8, 2}).None().Int(2).Run().ok());
}

TEST(Signal, ShortTimeTransform) {
  RuleTester t("STFT");
  t.In({1, 480000, 1}).Int(160).Weights({400}).Int(400);
  EXPECT_EQ(t.Shape0(), "[1, 2998, 201, 2]");
  EXPECT_FALSE(RuleTester("STFT").In({1, 100, 1}).Int(0).None().Int(10).Run().ok());
  EXPECT_FALSE(RuleTester("STFT").In({1, 100, 1}).Int(10).None().Int(200).Run().ok());
}

TEST(Signal, WindowsAndMel) {
  EXPECT_EQ(RuleTester("HannWindow").Int(400).Shape0(), "[400]");
  EXPECT_FALSE(RuleTester("HammingWindow").Int(-1).Run().ok());
  RuleTester mel("MelWeightMatrix");
  mel.Int(80).Int(400).Int(16000).Float(0).Float(8000);
  EXPECT_EQ(mel.Shape0(), "[201, 80]");
}

TEST(Image, DecoderSizesAreData) {
  RuleTester t("ImageDecoder");
  t.In({Dim::Symbol("n")}, DataType::kUInt8);
  EXPECT_EQ(t.Shape0(), "[height, width, 3]");
  EXPECT_EQ(t.op_class(), OperatorClass::kDataDependent);
}

}  // namespace
}  // namespace simpred
