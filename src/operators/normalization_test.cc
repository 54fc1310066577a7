// Norms: shapes pass, statistics keep their axes, scales must fit; work grows with the elements.
#include "operators/normalization.h"

#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

TEST(Normalization, BatchNormIsOneMultiplyAdd) {
  RuleTester t("BatchNormalization");
  t.In({2, 16, 8, 8}).Weights({16}).Weights({16}).Weights({16}).Weights({16});
  EXPECT_EQ(t.Shape0(), "[2, 16, 8, 8]");
  EXPECT_EQ(t.FlopCount(), 2.0 * 2 * 16 * 64);
}

TEST(Normalization, ScaleMustFitTheChannels) {
  RuleTester t("BatchNormalization");
  t.In({2, 16, 8, 8}).Weights({15}).Weights({16}).Weights({16}).Weights({16});
  EXPECT_FALSE(t.Run().ok());
  EXPECT_FALSE(RuleTester("InstanceNormalization").In({2, 16, 8}).In({8}).In({16}).Run().ok());
  EXPECT_FALSE(RuleTester("LayerNormalization").In({2, 16}).In({8}).Run().ok());
}

TEST(Normalization, LayerNormStatistics) {
  RuleTester t("LayerNormalization");
  t.In({2, 128, 768}, DataType::kFloat16).Weights({768}).Weights({768}).Outputs(3);
  EXPECT_EQ(t.Shape0(), "[2, 128, 768]");
  EXPECT_EQ(t.ShapeText(1), "[2, 128, 1]");
  EXPECT_EQ(t.Type(1), DataType::kFloat32);
  t.Attr("axis", 1);
  EXPECT_EQ(t.ShapeText(2), "[2, 1, 1]");
  t.Attr("axis", 3);
  EXPECT_FALSE(t.Run().ok());
}

TEST(Normalization, RuntimeFormsResolveInBothDomains) {
  for (const char* type : {"LayerNormalization", "SimplifiedLayerNormalization"}) {
    for (const char* domain : {"", "ai.onnx", "com.microsoft"}) {
      EXPECT_NE(Registry::Default().Find(domain, type), nullptr) << domain << type;
    }
  }
}

TEST(Normalization, SoftmaxCostsAnExponentialPerElement) {
  RuleTester t("Softmax");
  t.In({4, 1000});
  EXPECT_EQ(t.Shape0(), "[4, 1000]");
  EXPECT_EQ(t.FlopCount(), 4000 * kSoftmaxOperations);
  EXPECT_EQ(t.op_class(), OperatorClass::kNormalization);
  EXPECT_FALSE(t.Attr("axis", 5).Run().ok());
}

TEST(Normalization, GroupsMustDivideTheChannels) {
  EXPECT_TRUE(RuleTester("GroupNormalization").In({1, 6, 4}).In({6}).In({6}).Attr("num_groups", 3).Run().ok());
  EXPECT_FALSE(RuleTester("GroupNormalization").In({1, 6, 4}).In({6}).In({6}).Attr("num_groups", 4).Run().ok());
  EXPECT_FALSE(RuleTester("GroupNormalization").In({1, 6, 4}).In({6}).In({6}).Attr("num_groups", 0).Run().ok());
}

TEST(Normalization, LrnNeedsASize) {
  EXPECT_TRUE(RuleTester("LRN").In({1, 64, 8, 8}).Attr("size", 5).Run().ok());
  EXPECT_FALSE(RuleTester("LRN").In({1, 64, 8, 8}).Run().ok());
}

TEST(Normalization, BatchScalesWork) {
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"}) {
    EXPECT_EQ(RuleTester(type).In({6, 10}).FlopCount(), 2 * RuleTester(type).In({3, 10}).FlopCount()) << type;
  }
}

}  // namespace
}  // namespace simpred
