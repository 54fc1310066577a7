#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace simpred {
namespace {

TEST(UnitsTest, DivisionByAUnitGivesTheNumber) {
  EXPECT_DOUBLE_EQ(Milliseconds(2) / Microseconds(1), 2000);
  EXPECT_DOUBLE_EQ((Bytes(3000) / BytesPerSecond(1000)) / Seconds(1), 3);
  EXPECT_DOUBLE_EQ((Flops(10) / Seconds(2)).count(), 5);
  EXPECT_DOUBLE_EQ((Bytes(10) / Seconds(2)).count(), 5);
}

TEST(UnitsTest, BytesSaturateInsteadOfTurningNegative) {
  const Bytes most(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(most + Bytes(1), most);
  EXPECT_EQ(Bytes(int64_t{1} << 40) * (int64_t{1} << 40), most);
}

TEST(UnitsTest, PrintsThreeSignificantDigits) {
  EXPECT_EQ(ToString(Microseconds(97.66)), "97.7 us");
  EXPECT_EQ(ToString(Nanoseconds(12.34)), "12.3 ns");
  EXPECT_EQ(ToString(Milliseconds(1)), "1.00 ms");
  EXPECT_EQ(ToString(Bytes(4215276)), "4.02 MiB");
  EXPECT_EQ(ToString(Bytes(1023)), "1023 B");
  EXPECT_EQ(ToString(Flops(7.75e9)), "7.75 GFLOP");
  EXPECT_EQ(ToString(Flops(12)), "12 FLOP");
  EXPECT_EQ(ToString(BytesPerSecond(21.4e9)), "21.4 GB/s");
  EXPECT_EQ(ToString(FlopsPerSecond(140e12)), "140 TFLOP/s");
}

TEST(UnitsTest, RoundingNeverGivesFourDigits) {
  EXPECT_EQ(ToString(Nanoseconds(999.6)), "1.00 us");
  EXPECT_EQ(ToString(Nanoseconds(9.996)), "10.0 ns");
  EXPECT_EQ(ToString(Nanoseconds(99.96)), "100 ns");
  EXPECT_EQ(ToString(Nanoseconds(0.9996)), "1.00 ns");
}

TEST(UnitsTest, PrintsSignsZeroAndLongTimes) {
  EXPECT_EQ(ToString(Duration()), "0 ns");
  EXPECT_EQ(ToString(Microseconds(-3.5)), "-3.50 us");
  EXPECT_EQ(ToString(Seconds(90)), "90.0 s");
  EXPECT_EQ(ToString(Seconds(300)), "5.00 min");
  EXPECT_EQ(ToString(Seconds(7200)), "2.00 h");
  EXPECT_EQ(ToString(Nanoseconds(0.0123)), "0.0123 ns");
}

TEST(UnitsTest, WhatIsNotKnownIsNotPrintedAsANumber) {
  EXPECT_EQ(ToString(Bytes(1) / BytesPerSecond()), "unknown");
  EXPECT_EQ(ToString(Bytes(0) / BytesPerSecond()), "unknown");
}

TEST(UnitsTest, FormatsWithFmt) { EXPECT_EQ(fmt::format("{:>9}|", Microseconds(1.5)), "  1.50 us|"); }

}  // namespace
}  // namespace simpred
