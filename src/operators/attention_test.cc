// Attention: 4 * B * H * Sq * Sk * D in both layouts, caches, rotary tables, and wrong heads.
#include "operators/attention.h"

#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

TEST(Attention, FourDimensions) {
  RuleTester t("Attention");
  t.In({2, 8, 16, 64}).In({2, 2, 32, 64}).In({2, 2, 32, 96}).Outputs(4);
  EXPECT_EQ(t.Shape0(), "[2, 8, 16, 96]");
  EXPECT_EQ(t.ShapeText(1), "[2, 2, 32, 64]");
  EXPECT_EQ(t.ShapeText(2), "[2, 2, 32, 96]");
  EXPECT_EQ(t.ShapeText(3), "[2, 8, 16, 32]");
  const double products = 2.0 * 2 * 8 * 16 * 32 * (64 + 96);
  EXPECT_GE(t.FlopCount(), products);
  EXPECT_LT(t.FlopCount(), 1.3 * products);
}

TEST(Attention, BothLayoutsHaveTheSameWork) {
  RuleTester four("Attention");
  four.In({2, 8, 16, 64}).In({2, 8, 16, 64}).In({2, 8, 16, 64});
  RuleTester three("Attention");
  three.In({2, 16, 512}).In({2, 16, 512}).In({2, 16, 512}).Attr("q_num_heads", 8).Attr("kv_num_heads", 8);
  EXPECT_EQ(three.Shape0(), "[2, 16, 512]");
  EXPECT_EQ(three.FlopCount(), four.FlopCount());
}

TEST(Attention, PastKeysLengthenThePresent) {
  RuleTester t("Attention");
  t.In({1, 8, 1, 64}).In({1, 8, 1, 64}).In({1, 8, 1, 64}).None();
  t.In({1, 8, Dim::Symbol("P"), 64}).In({1, 8, Dim::Symbol("P"), 64}).Outputs(3);
  EXPECT_EQ(t.ShapeText(1), "[1, 8, P + 1, 64]");
}

TEST(Attention, WrongHeads) {
  EXPECT_FALSE(RuleTester("Attention").In({2, 16, 512}).In({2, 16, 512}).In({2, 16, 512}).Run().ok());
  EXPECT_FALSE(RuleTester("Attention").In({2, 8, 16, 64}).In({2, 3, 16, 64}).In({2, 3, 16, 64}).Run().ok());
  EXPECT_FALSE(RuleTester("Attention").In({2, 8, 16, 64}).In({2, 8, 16, 32}).In({2, 8, 16, 64}).Run().ok());
  RuleTester odd("Attention");
  odd.In({2, 16, 512}).In({2, 16, 512}).In({2, 16, 512}).Attr("q_num_heads", 7).Attr("kv_num_heads", 7);
  EXPECT_FALSE(odd.Run().ok());
  EXPECT_FALSE(SplitHeads(Shape({1, 2}), 1, "Q").ok());
  EXPECT_FALSE(SplitHeads(Shape({1, 2, 8}), -4, "Q").ok());
}

TEST(RotaryEmbedding, ReadsOnlyTheRowsOfItsPositions) {
  RuleTester t("RotaryEmbedding");
  t.In({1, 8, 16, 64}).Weights({4096, 32}).Weights({4096, 32}).In({1, 16}, DataType::kInt64);
  EXPECT_EQ(t.Shape0(), "[1, 8, 16, 64]");
  EXPECT_EQ(t.Cost().weights, Bytes(2 * 16 * 32 * 4));
  EXPECT_EQ(t.FlopCount(), 3.0 * 8 * 16 * 64);
}

TEST(LinearAttention, WorkIsLinearInTokens) {
  const auto work = [](int64_t tokens) {
    RuleTester t("LinearAttention", "", 27);
    t.In({1, tokens, 512}).In({1, tokens, 256}).In({1, tokens, 512}).Attr("q_num_heads", 8).Attr("kv_num_heads", 4);
    t.Outputs(2);
    EXPECT_EQ(t.ShapeText(1), "[1, 4, 64, 128]");
    return t.FlopCount();
  };
  EXPECT_EQ(work(20), 2 * work(10));
}

}  // namespace
}  // namespace simpred
