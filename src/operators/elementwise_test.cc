// Elementwise operators: broadcasting, result types, work per element by function, the identity at inference.
#include <gtest/gtest.h>

#include "operators/activations.h"
#include "operators/cost_constants.h"
#include "operators/rule_tester.h"

namespace simpred {
namespace {

RuleTester Binary(const char* type, Shape a, Shape b) {
  RuleTester t(type);
  t.In(std::move(a)).In(std::move(b));
  return t;
}

TEST(Elementwise, Broadcasting) {
  EXPECT_EQ(Binary("Add", {2, 3, 4}, {4}).Shape0(), "[2, 3, 4]");
  EXPECT_EQ(Binary("Mul", {2, 1, 4}, {3, 1}).Shape0(), "[2, 3, 4]");
  EXPECT_EQ(Binary("Sub", {Dim::Symbol("N"), 3}, {1, 3}).Shape0(), "[N, 3]");
  EXPECT_EQ(Binary("Div", Shape::Scalar(), {5}).Shape0(), "[5]");
  const std::string text = Binary("Add", {2, 3}, {2, 4}).Shape0();
  EXPECT_NE(text.find("[2, 3]"), std::string::npos) << text;
  EXPECT_NE(text.find("[2, 4]"), std::string::npos) << text;
}

TEST(Elementwise, BroadcastingIsSymmetricInWork) {
  EXPECT_EQ(Binary("Add", {2, 3, 4}, {4}).FlopCount(), Binary("Add", {4}, {2, 3, 4}).FlopCount());
  EXPECT_EQ(Binary("Add", {2, 3, 4}, {4}).FlopCount(), 24);
  EXPECT_EQ(Binary("Add", {2, 3, 4}, {4}).Cost().read, Bytes((24 + 4) * 4));
}

TEST(Elementwise, OldOperatorSetsAlignByAttribute) {
  RuleTester t("Add", "", 6);
  t.In({2, 3, 4, 5}).In({3}).Attr("broadcast", 1).Attr("axis", 1);
  EXPECT_EQ(t.Shape0(), "[2, 3, 4, 5]");
}

TEST(Elementwise, ComparisonsGiveBool) {
  for (const char* type : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"}) {
    EXPECT_EQ(Binary(type, {2}, {2}).Type(0), DataType::kBool) << type;
  }
  EXPECT_EQ(RuleTester("IsNaN").In({3}).Type(0), DataType::kBool);
  EXPECT_EQ(RuleTester("IsInf").In({3}).Type(0), DataType::kBool);
}

TEST(Elementwise, WhereTakesTheTypeOfItsBranches) {
  RuleTester t("Where");
  t.In({1, 3}, DataType::kBool).In({2, 1}, DataType::kFloat16).In(Shape::Scalar(), DataType::kFloat16);
  EXPECT_EQ(t.Shape0(), "[2, 3]");
  EXPECT_EQ(t.Type(0), DataType::kFloat16);
}

TEST(Elementwise, EveryActivationKeepsTheShapeAndScalesWithTheBatch) {
  for (const Activation& a : Activations()) {
    if (!a.is_operator) continue;
    const std::string name(a.name);
    EXPECT_EQ(RuleTester(name).In({3, 5}).Shape0(), "[3, 5]") << name;
    EXPECT_EQ(RuleTester(name).In({3, 5}).FlopCount(), 15 * a.operations) << name;
    EXPECT_EQ(RuleTester(name).In({6, 5}).FlopCount(), 30 * a.operations) << name;
  }
}

TEST(Elementwise, ActivationNames) {
  EXPECT_EQ(ActivationOperations("relu"), ActivationOperations("Relu"));
  EXPECT_EQ(ActivationOperations(""), 0);
  EXPECT_EQ(ActivationOperations("none"), 0);
  EXPECT_GT(ActivationOperations("SomethingNew"), 0);
}

TEST(Elementwise, PowByAConstantIsCheap) {
  RuleTester square("Pow");
  square.In({10}).Float(2);
  RuleTester any("Pow");
  any.In({10}).In(Shape::Scalar());
  EXPECT_EQ(square.FlopCount(), 10);
  EXPECT_EQ(any.FlopCount(), 10 * cost::kPow);
}

TEST(Elementwise, VariadicCountsItsInputs) {
  RuleTester t("Sum");
  t.In({2, 3}).In({3}).In({2, 1});
  EXPECT_EQ(t.Shape0(), "[2, 3]");
  EXPECT_EQ(t.FlopCount(), 12);
  EXPECT_EQ(RuleTester("Max").In({7}).Shape0(), "[7]");
}

TEST(Elementwise, DropoutIsTheIdentity) {
  RuleTester t("Dropout");
  t.In({2, 3});
  EXPECT_EQ(t.op_class(), OperatorClass::kView);
  EXPECT_EQ(t.Cost().total(), Bytes(0));
  t.Outputs(2);
  EXPECT_EQ(t.Type(1), DataType::kBool);
  EXPECT_EQ(t.Cost().written, Bytes(6));
}

TEST(Elementwise, SlopeBroadcastsOneWay) {
  EXPECT_EQ(Binary("PRelu", {1, 3, 4, 4}, {3, 1, 1}).Shape0(), "[1, 3, 4, 4]");
  EXPECT_FALSE(Binary("PRelu", {1, 3}, {5, 1, 3}).Run().ok());
  EXPECT_FALSE(Binary("SwiGLU", {1, 3}, {1, 4}).Run().ok());
}

TEST(Elementwise, HalfTheWidthIsHalfTheBytes) {
  EXPECT_EQ(RuleTester("Relu").In({64}, DataType::kFloat16).Cost().total() * 2,
            RuleTester("Relu").In({64}).Cost().total());
}

TEST(Elementwise, MissingInputsAreErrors) {
  EXPECT_FALSE(RuleTester("Relu").Run().ok());
  EXPECT_FALSE(RuleTester("Add").In({1}).Run().ok());
  EXPECT_FALSE(RuleTester("Add").None().In({1}).Run().ok());
}

}  // namespace
}  // namespace simpred
