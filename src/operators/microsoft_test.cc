// com.microsoft and com.microsoft.nchwc: fused forms cost what their parts cost, packed weights keep their sizes,
// blocked tensors their padding.
#include <gtest/gtest.h>

#include "operators/activations.h"
#include "operators/cost_constants.h"
#include "operators/rule_tester.h"

namespace simpred {
namespace {

RuleTester Microsoft(const char* type) { return RuleTester(type, "com.microsoft"); }
RuleTester Blocked(const char* type) { return RuleTester(type, "com.microsoft.nchwc"); }

TEST(Microsoft, FusedConvAddsItsParts) {
  RuleTester plain("Conv");
  plain.In({1, 8, 10, 10}).Weights({16, 8, 3, 3}).Weights({16});
  RuleTester fused = Microsoft("FusedConv");
  fused.In({1, 8, 10, 10}).Weights({16, 8, 3, 3}).Weights({16}).In({1, 16, 8, 8}).Attr("activation", "Relu");
  EXPECT_EQ(fused.Shape0(), plain.Shape0());
  EXPECT_EQ(fused.FlopCount(), plain.FlopCount() + 16 * 64 * (cost::kAdd + ActivationOperations("Relu")));
}

TEST(Microsoft, FusedMatMulTransposes) {
  RuleTester t = Microsoft("FusedMatMul");
  t.In({12, 128, 64}).In({12, 128, 64}).Attr("transB", 1);
  EXPECT_EQ(t.Shape0(), "[12, 128, 128]");
  EXPECT_EQ(t.FlopCount(), 2.0 * 12 * 128 * 128 * 64);
  RuleTester batch = Microsoft("FusedMatMul");
  batch.In({128, 12, 64}).In({12, 64, 8}).Attr("transBatchA", 1);
  EXPECT_EQ(batch.Shape0(), "[12, 128, 8]");
}

TEST(Microsoft, AttentionWithProjection) {
  RuleTester t = Microsoft("Attention");
  t.In({2, 128, 768}).Weights({768, 2304}).Weights({2304}).Attr("num_heads", 12).Outputs(2);
  EXPECT_EQ(t.Shape0(), "[2, 128, 768]");
  EXPECT_EQ(t.ShapeText(1), "[2, 2, 12, 128, 64]");
  const double products = 2.0 * 2 * 128 * 768 * 2304 + 4.0 * 2 * 128 * 128 * 768;
  EXPECT_GE(t.FlopCount(), products);
  EXPECT_LT(t.FlopCount(), 1.1 * products);
  EXPECT_FALSE(Microsoft("Attention").In({2, 128, 768}).Weights({768, 2304}).Run().ok());
}

TEST(Microsoft, GroupQueryAttentionWithCache) {
  RuleTester t = Microsoft("GroupQueryAttention");
  t.In({1, 1, 32 * 64}).In({1, 1, 8 * 64}).In({1, 1, 8 * 64}).In({1, 8, 127, 64}).In({1, 8, 127, 64});
  t.In({1}, DataType::kInt32).In(Shape::Scalar(), DataType::kInt32);
  t.Attr("num_heads", 32).Attr("kv_num_heads", 8).Outputs(3);
  EXPECT_EQ(t.Shape0(), "[1, 1, 2048]");
  EXPECT_EQ(t.ShapeText(1), "[1, 8, 128, 64]");
  EXPECT_GE(t.FlopCount(), 4.0 * 32 * 128 * 64);
  EXPECT_FALSE(t.Attr("kv_num_heads", 5).Run().ok());
}

TEST(Microsoft, MultiHeadAttention) {
  RuleTester t = Microsoft("MultiHeadAttention");
  t.In({2, 16, 512}).In({2, 32, 512}).In({2, 32, 512}).Attr("num_heads", 8).Outputs(3);
  EXPECT_EQ(t.Shape0(), "[2, 16, 512]");
  EXPECT_EQ(t.ShapeText(1), "[2, 8, 32, 64]");
  EXPECT_GE(t.FlopCount(), 4.0 * 2 * 16 * 32 * 512);
}

TEST(Microsoft, MatMulNBitsReadsPackedWeights) {
  RuleTester t = Microsoft("MatMulNBits");
  t.In({1, 1, 4096}).Weights({11008, 128, 16}, DataType::kUInt8).Weights({11008 * 128});
  t.Attr("K", 4096).Attr("N", 11008).Attr("block_size", 32).Attr("bits", 4);
  EXPECT_EQ(t.Shape0(), "[1, 1, 11008]");
  EXPECT_EQ(t.Cost().weights, Bytes(int64_t{11008} * 2048 + int64_t{11008} * 128 * 4));
  EXPECT_GE(t.FlopCount(), 2.0 * 4096 * 11008);
  EXPECT_FALSE(t.Attr("K", 4095).Run().ok());
  EXPECT_FALSE(t.Attr("K", INT64_MIN).Run().ok());
}

TEST(Microsoft, SkipLayerNormalization) {
  RuleTester t = Microsoft("SkipLayerNormalization");
  t.In({2, 128, 768}).In({2, 128, 768}).Weights({768}).Weights({768}).Outputs(4);
  EXPECT_EQ(t.Shape0(), "[2, 128, 768]");
  EXPECT_EQ(t.ShapeText(3), "[2, 128, 768]");
  EXPECT_FALSE(Microsoft("SkipLayerNormalization").In({2, 8}).In({2, 8}).Weights({7}).Run().ok());
}

TEST(Microsoft, EmbeddingReadsRows) {
  RuleTester t = Microsoft("EmbedLayerNormalization");
  t.In({1, 8}, DataType::kInt32).In({1, 8}, DataType::kInt32).Weights({30522, 768}).Weights({512, 768});
  t.Weights({2, 768}).Weights({768}).Weights({768}).Outputs(2);
  EXPECT_EQ(t.Shape0(), "[1, 8, 768]");
  EXPECT_EQ(t.Cost().weights, Bytes((8 + 8 + 2 + 1 + 1) * 768 * 4));
}

TEST(Microsoft, ExpertsThatNobodyChoseAreNotRead) {
  const auto weights = [](int64_t tokens) {
    RuleTester t = Microsoft("MoE");
    t.In({tokens, 64}).In({tokens, 16}).Weights({16, 256, 64}).None().Weights({16, 64, 256}).Attr("k", 2);
    return t.Cost().weights;
  };
  EXPECT_EQ(weights(1) * 8, weights(100));
}

TEST(Microsoft, QuantizedForms) {
  RuleTester add = Microsoft("QLinearAdd");
  add.In({2, 3}, DataType::kUInt8).In(Shape::Scalar()).None().In({3}, DataType::kUInt8).In(Shape::Scalar()).None();
  EXPECT_EQ(add.Shape0(), "[2, 3]");
  RuleTester pool = Microsoft("NhwcMaxPool");
  pool.In({1, 8, 8, 32}, DataType::kUInt8).Attr("kernel_shape", {2, 2}).Attr("strides", {2, 2});
  EXPECT_EQ(pool.Shape0(), "[1, 4, 4, 32]");
  RuleTester concat = Microsoft("QLinearConcat");
  concat.In(Shape::Scalar()).In(Shape::Scalar(), DataType::kUInt8);
  concat.In({1, 2, 4}, DataType::kUInt8).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kUInt8);
  concat.In({1, 3, 4}, DataType::kUInt8).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kUInt8).Attr("axis", 1);
  EXPECT_EQ(concat.Shape0(), "[1, 5, 4]");
  RuleTester conv = Microsoft("QLinearConv");
  conv.In({1, 8, 8, 3}, DataType::kUInt8).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kUInt8);
  conv.Weights({4, 3, 3, 3}, DataType::kInt8).In(Shape::Scalar()).In(Shape::Scalar(), DataType::kInt8);
  conv.In(Shape::Scalar()).In(Shape::Scalar(), DataType::kUInt8).Attr("channels_last", 1);
  EXPECT_EQ(conv.Shape0(), "[1, 6, 6, 4]");
}

TEST(Microsoft, DynamicQuantizeLstmHasTransposedWeights) {
  RuleTester t = Microsoft("DynamicQuantizeLSTM");
  t.In({5, 2, 10}).Weights({1, 10, 80}, DataType::kInt8).Weights({1, 20, 80}, DataType::kInt8).Attr("hidden_size", 20);
  EXPECT_EQ(t.Shape0(), "[5, 1, 2, 20]");
}

TEST(Nchwc, ConvAsOnnxRuntimeSavesIt) {
  RuleTester first = Blocked("Conv");
  first.In({1, 3, 32, 32}).Weights({32, 3, 3, 3}).Weights({32}).Attr("pads", {1, 1, 1, 1}).Attr("activation", "Relu");
  EXPECT_EQ(first.Shape0(), "[1, 32, 32, 32]");
  RuleTester sum = Blocked("Conv");
  sum.In({1, 32, 32, 32}).Weights({32, 32, 3, 3}).None().In({1, 32, 32, 32}).Attr("pads", {1, 1, 1, 1});
  EXPECT_EQ(sum.FlopCount(), 2.0 * 32 * 1024 * 32 * 9 + 32 * 1024);
  RuleTester depthwise = Blocked("Conv");
  depthwise.In({1, 32, 8, 8}).Weights({32, 1, 3, 3}).Attr("group", 32);
  EXPECT_EQ(depthwise.FlopCount(), 2.0 * 32 * 36 * 9);
}

TEST(Nchwc, ReordersRoundToBlocksAndBack) {
  EXPECT_EQ(Blocked("ReorderInput").In({1, 20, 8, 8}).Shape0(), "[1, 32, 8, 8]");
  EXPECT_EQ(Blocked("ReorderInput").In({1, 20, 8, 8}).Attr("block_size", 8).Shape0(), "[1, 24, 8, 8]");
  EXPECT_EQ(Blocked("ReorderInput").In({1, 8, 9, 20}).Attr("channels_last", 1).Shape0(), "[1, 32, 8, 9]");
  EXPECT_EQ(Blocked("ReorderOutput").In({1, 32, 8, 9}).Attr("channels", 20).Shape0(), "[1, 20, 8, 9]");
  EXPECT_EQ(Blocked("ReorderOutput").In({1, 32, 8, 9}).Attr("channels", 20).Attr("channels_last", 1).Shape0(),
            "[1, 8, 9, 20]");
  EXPECT_EQ(Blocked("ReorderInput").In({1, 16, 8, 8}).FlopCount(), 0);
  EXPECT_FALSE(Blocked("ReorderOutput").In({1, 32, 8, 9}).Attr("channels", 33).Run().ok());
  EXPECT_FALSE(Blocked("ReorderOutput").In({1, 32, 8, 9}).Run().ok());
}

TEST(Nchwc, UpsampleMultipliesTheSides) {
  EXPECT_EQ(Blocked("Upsample").In({1, 32, 4, 5}).Attr("scales", {1, 1, 2, 3}).Shape0(), "[1, 32, 8, 15]");
  EXPECT_FALSE(Blocked("Upsample").In({1, 32, 4, 5}).Attr("scales", {1, 1, 0, 3}).Run().ok());
}

}  // namespace
}  // namespace simpred
