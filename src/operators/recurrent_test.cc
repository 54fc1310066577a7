// Recurrent layers: shapes in both layouts and directions, work linear in time steps, and weights that do not fit.
#include <gtest/gtest.h>

#include "operators/rule_tester.h"

namespace simpred {
namespace {

RuleTester Lstm(int64_t steps, int64_t directions = 1) {
  RuleTester t("LSTM");
  t.In({steps, 2, 10}).Weights({directions, 80, 10}).Weights({directions, 80, 20}).Attr("hidden_size", 20).Outputs(3);
  if (directions == 2) t.Attr("direction", "bidirectional");
  return t;
}

TEST(Recurrent, ShapesOfBothDirections) {
  EXPECT_EQ(Lstm(5).Shape0(), "[5, 1, 2, 20]");
  EXPECT_EQ(Lstm(5).ShapeText(1), "[1, 2, 20]");
  EXPECT_EQ(Lstm(5, 2).Shape0(), "[5, 2, 2, 20]");
  EXPECT_EQ(Lstm(5, 2).ShapeText(2), "[2, 2, 20]");
}

TEST(Recurrent, BatchFirstLayout) {
  RuleTester t("GRU");
  t.In({2, 5, 10}).Weights({1, 60, 10}).Weights({1, 60, 20}).Attr("layout", 1).Outputs(2);
  EXPECT_EQ(t.Shape0(), "[2, 5, 1, 20]");
  EXPECT_EQ(t.ShapeText(1), "[2, 1, 20]");
}

TEST(Recurrent, WorkIsLinearInStepsAndDirections) {
  const double base = Lstm(7).FlopCount();
  EXPECT_GE(base, 7.0 * 2 * 2 * 80 * (10 + 20));
  EXPECT_EQ(Lstm(14).FlopCount(), 2 * base);
  EXPECT_EQ(Lstm(7, 2).FlopCount(), 2 * base);
}

TEST(Recurrent, GatesOrderTheWork) {
  const auto work = [](const char* type, int64_t gates) {
    RuleTester t(type);
    t.In({4, 1, 16}).Weights({1, gates * 32, 16}).Weights({1, gates * 32, 32});
    return t.FlopCount();
  };
  EXPECT_LT(work("RNN", 1), work("GRU", 3));
  EXPECT_LT(work("GRU", 3), work("LSTM", 4));
}

TEST(Recurrent, SymbolicStepsFlow) {
  RuleTester t("RNN");
  t.In({Dim::Symbol("T"), Dim::Symbol("B"), 8}).Weights({1, 4, 8}).Weights({1, 4, 4});
  EXPECT_EQ(t.Shape0(), "[T, 1, B, 4]");
}

TEST(Recurrent, WrongWeights) {
  EXPECT_FALSE(RuleTester("LSTM").In({5, 2, 10}).Weights({1, 60, 10}).Weights({1, 80, 20}).Run().ok());
  EXPECT_FALSE(RuleTester("LSTM").In({5, 2, 10}).Weights({1, 80, 11}).Weights({1, 80, 20}).Run().ok());
  EXPECT_FALSE(RuleTester("LSTM").In({5, 10}).Weights({1, 80, 10}).Weights({1, 80, 20}).Run().ok());
  EXPECT_FALSE(Lstm(5).Attr("hidden_size", 0).Run().ok());
  EXPECT_FALSE(Lstm(5).Attr("direction", "sideways").Run().ok());
  EXPECT_FALSE(Lstm(5).Attr("direction", "bidirectional").Run().ok());
}

}  // namespace
}  // namespace simpred
