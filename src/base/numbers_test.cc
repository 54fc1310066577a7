#include "base/numbers.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>

#include "base/random.h"

namespace simpred {
namespace {

TEST(NumbersTest, AWholeTextIsANumberOrNothing) {
  EXPECT_EQ(ParseDouble("1.5"), 1.5);
  EXPECT_EQ(ParseDouble("-2e3"), -2000);
  for (const char* text : {"", " 1", "1 ", "1,5", "1.5x", "nan", "inf", "1e999", "0x10", "--1"}) {
    EXPECT_FALSE(ParseDouble(text)) << text;
  }
  EXPECT_EQ(ParseInt("-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(ParseInt("9223372036854775808"));
  EXPECT_FALSE(ParseInt("1.0"));
}

TEST(NumbersTest, EveryDoubleReadsBackExactly) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random.Next());
    if (!std::isfinite(value)) continue;
    const std::string text = FormatDouble(value);
    ASSERT_EQ(ParseDouble(text), value) << text;
  }
  EXPECT_EQ(FormatDouble(0.1), "0.1");
}

TEST(NumbersTest, FixedDropsTrailingZeros) {
  EXPECT_EQ(FormatFixed(12.5, 3), "12.5");
  EXPECT_EQ(FormatFixed(100, 3), "100");
  EXPECT_EQ(FormatFixed(100, 0), "100");
  EXPECT_EQ(FormatFixed(-0.0001, 3), "0");
  EXPECT_EQ(FormatFixed(2.0 / 3, 3), "0.667");
  EXPECT_EQ(FormatFixed(1e300, 2).size(), 301U);
}

TEST(NumbersTest, NoLocaleChangesThem) {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) GTEST_SKIP() << "the locale de_DE.UTF-8 is not installed";
  EXPECT_EQ(ParseDouble("1.5"), 1.5);
  EXPECT_FALSE(ParseDouble("1,5"));
  EXPECT_EQ(FormatDouble(1.5), "1.5");
  EXPECT_EQ(FormatFixed(1.25, 2), "1.25");
  std::setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace simpred
