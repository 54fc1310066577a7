// Matrix products: shapes as NumPy has them, 2 * M * N * K, Einsum equations, and wrong shapes.
#include <gtest/gtest.h>

#include "operators/einsum.h"
#include "operators/rule_tester.h"

namespace simpred {
namespace {

RuleTester MatMul(Shape a, Shape b) {
  RuleTester t("MatMul");
  t.In(std::move(a)).In(std::move(b));
  return t;
}

TEST(MatMul, ShapesAsNumPy) {
  EXPECT_EQ(MatMul({2, 3}, {3, 4}).Shape0(), "[2, 4]");
  EXPECT_EQ(MatMul({3}, {3}).Shape0(), "[]");
  EXPECT_EQ(MatMul({3}, {3, 4}).Shape0(), "[4]");
  EXPECT_EQ(MatMul({5, 2, 3}, {3}).Shape0(), "[5, 2]");
  EXPECT_EQ(MatMul({8, 1, 2, 3}, {7, 3, 4}).Shape0(), "[8, 7, 2, 4]");
}

TEST(MatMul, WorkIsTwiceTheProductOfTheSizes) {
  EXPECT_EQ(MatMul({128, 768}, {768, 3072}).FlopCount(), 2.0 * 128 * 768 * 3072);
  EXPECT_EQ(MatMul({12, 128, 64}, {12, 64, 128}).FlopCount(), 2.0 * 12 * 128 * 64 * 128);
  EXPECT_EQ(MatMul({3}, {3}).FlopCount(), 6);
}

TEST(MatMul, SymbolsFlow) {
  EXPECT_EQ(MatMul({Dim::Symbol("B"), Dim::Symbol("S"), 768}, {768, 10}).Shape0(), "[B, S, 10]");
}

TEST(MatMul, MismatchNamesBothShapes) {
  const std::string text = MatMul({2, 3}, {4, 5}).Shape0();
  EXPECT_NE(text.find("[2, 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("[4, 5]"), std::string::npos) << text;
  EXPECT_FALSE(MatMul({2, 4, 5}, {3, 5, 6}).Run().ok());
  EXPECT_FALSE(MatMul(Shape::Scalar(), {3}).Run().ok());
}

TEST(Gemm, TransposesAndBias) {
  RuleTester t("Gemm");
  t.In({1, 2048}).Weights({1000, 2048}).Weights({1000}).Attr("transB", 1);
  EXPECT_EQ(t.Shape0(), "[1, 1000]");
  EXPECT_EQ(t.FlopCount(), 2.0 * 2048 * 1000 + 1000);
  RuleTester a("Gemm");
  a.In({64, 8}).In({64, 16}).Attr("transA", 1);
  EXPECT_EQ(a.Shape0(), "[8, 16]");
  EXPECT_EQ(a.FlopCount(), 2.0 * 8 * 16 * 64);
}

TEST(Gemm, WrongShapes) {
  EXPECT_FALSE(RuleTester("Gemm").In({2, 3}).In({4, 5}).Run().ok());
  EXPECT_FALSE(RuleTester("Gemm").In({2, 3, 4}).In({4, 5}).Run().ok());
  EXPECT_FALSE(RuleTester("Gemm").In({2, 3}).In({3, 5}).In({6}).Run().ok());
  EXPECT_FALSE(RuleTester("Gemm").In({1, 3}).In({3, 5}).In({2, 5}).Run().ok());
}

TEST(QuantizedMatMul, Types) {
  RuleTester t("MatMulInteger");
  t.In({4, 8}, DataType::kUInt8).In({8, 2}, DataType::kInt8);
  EXPECT_EQ(t.Type(0), DataType::kInt32);
  EXPECT_EQ(t.FlopCount(), 2.0 * 4 * 8 * 2);
}

std::string EinsumShapeOf(const char* equation, std::vector<Shape> operands) {
  Result<Einsum> e = ParseEinsum(equation, operands);
  return e.ok() ? e->output.ToString() : "error";
}

TEST(Einsum, Shapes) {
  EXPECT_EQ(EinsumShapeOf("bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}), "[2, 3, 5]");
  EXPECT_EQ(EinsumShapeOf("bhwc,hkc->bhwk", {{1, 64, 64, 80}, {64, 127, 80}}), "[1, 64, 64, 127]");
  EXPECT_EQ(EinsumShapeOf("ii->i", {{3, 3}}), "[3]");
  EXPECT_EQ(EinsumShapeOf("ba", {{2, 3}}), "[3, 2]");
  EXPECT_EQ(EinsumShapeOf("...ij,...jk->...ik", {{7, 1, 2, 3}, {5, 3, 4}}), "[7, 5, 2, 4]");
  EXPECT_EQ(EinsumShapeOf("i,i->", {{9}, {9}}), "[]");
}

TEST(Einsum, Work) {
  RuleTester t("Einsum");
  t.In({2, 3, 4}).In({2, 4, 5}).Attr("equation", "bij,bjk->bik");
  EXPECT_EQ(t.FlopCount(), 2.0 * 2 * 3 * 4 * 5);
  RuleTester outer("Einsum");
  outer.In({3}).In({4}).Attr("equation", "i,j->ij");
  EXPECT_EQ(outer.FlopCount(), 12);
  RuleTester transpose("Einsum");
  transpose.In({3, 4}).Attr("equation", "ij->ji");
  EXPECT_EQ(transpose.FlopCount(), 0);
}

TEST(Einsum, WrongEquations) {
  EXPECT_EQ(EinsumShapeOf("ij,jk->ik", {{2, 3}, {4, 5}}), "error");
  EXPECT_EQ(EinsumShapeOf("ij->ijk", {{2, 3}}), "error");
  EXPECT_EQ(EinsumShapeOf("ij,jk->ik", {{2, 3}}), "error");
  EXPECT_EQ(EinsumShapeOf("i..j", {{2, 3}}), "error");
  EXPECT_EQ(EinsumShapeOf("i1", {{2, 3}}), "error");
  EXPECT_EQ(EinsumShapeOf("ijk", {{2, 3}}), "error");
  EXPECT_EQ(EinsumShapeOf(std::string(100000, 'a').c_str(), {{2, 3}}), "error");
}

TEST(Det, BatchesRemain) {
  EXPECT_EQ(RuleTester("Det").In({4, 3, 3}).Shape0(), "[4]");
  EXPECT_FALSE(RuleTester("Det").In({4, 3, 2}).Run().ok());
}

}  // namespace
}  // namespace simpred
