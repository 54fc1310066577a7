#include "graph/shape.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

const Dim n = Dim::Symbol("N");

TEST(ShapeTest, PrintsAndCounts) {
  EXPECT_EQ(Shape({1, 3, n * 2, Dim()}).ToString(), "[1, 3, 2*N, ?]");
  EXPECT_EQ(Shape().ToString(), "[...]");
  EXPECT_EQ(Shape::Scalar().ToString(), "[]");
  EXPECT_EQ(Shape({2, n, 3}).ElementCount(), n * 6);
  EXPECT_EQ(Shape::Scalar().ElementCount().known(), 1);
  EXPECT_TRUE(Shape().ElementCount().is_unknown());
  EXPECT_TRUE(Shape({int64_t{1} << 40, int64_t{1} << 40}).ElementCount().IsHuge());
}

TEST(ShapeTest, IndexesFromBothEnds) {
  const Shape shape = {1, 2, 3};
  EXPECT_EQ(shape.dim(-1).known(), 3);
  EXPECT_EQ(shape.dim(0).known(), 1);
  EXPECT_TRUE(shape.dim(3).is_unknown());
  EXPECT_TRUE(shape.dim(-4).is_unknown());
}

TEST(ShapeTest, BindsToNumbers) {
  EXPECT_FALSE(Shape({n, 2}).ToVector());
  EXPECT_EQ(Shape({n, 2}).Bind({{"N", 7}}).ToVector(), (std::vector<int64_t>{7, 2}));
}

TEST(ShapeTest, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(Broadcast({8, 1, 6, 1}, {7, 1, 5}), (Shape{8, 7, 6, 5}));
  EXPECT_EQ(Broadcast({3}, Shape::Scalar()), (Shape{3}));
  EXPECT_EQ(Broadcast({n, 1}, {1, 4}), (Shape{n, 4}));
  EXPECT_EQ(Broadcast({n}, {5}), (Shape{5}));
  EXPECT_EQ(Broadcast({0}, {1}), (Shape{0}));
  EXPECT_FALSE(Broadcast({2}, {3}));
  EXPECT_FALSE(Broadcast({5, 2}, {4, 2}));
  EXPECT_FALSE(Broadcast(Shape(), {4})->has_rank());
}

TEST(ShapeTest, MergeKeepsThePreciseSide) {
  EXPECT_EQ(Merge({n, Dim(), 3}, {4, 5, Dim()}), (Shape{4, 5, 3}));
  EXPECT_EQ(Merge(Shape(), {4}), (Shape{4}));
  EXPECT_FALSE(Merge({4}, {5}));
  EXPECT_FALSE(Merge({4}, {4, 1}));
}

TEST(ShapeTest, JoinKeepsWhatIsCommon) {
  const Shape joined = Join({1, 4, n}, {1, 5, n});
  EXPECT_EQ(joined.dim(0).known(), 1);
  EXPECT_TRUE(joined.dim(1).is_unknown());
  EXPECT_EQ(joined.dim(2), n);
  EXPECT_FALSE(Join({1}, {1, 1}).has_rank());
}

}  // namespace
}  // namespace simpred
