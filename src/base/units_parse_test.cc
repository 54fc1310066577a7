#include "base/units_parse.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

TEST(UnitsParseTest, ReadsEveryUnit) {
  EXPECT_EQ(ParseDuration("250 us").value(), Microseconds(250));
  EXPECT_EQ(ParseDuration("5min").value(), Seconds(300));
  EXPECT_EQ(ParseDuration(" 1.5h ").value(), Seconds(5400));
  EXPECT_EQ(ParseBytes("32 MiB").value(), Bytes(32 << 20));
  EXPECT_EQ(ParseBytes("32 MB").value(), Bytes(32000000));
  EXPECT_EQ(ParseBytesPerSecond("1.6 TB/s").value(), BytesPerSecond(1.6e12));
  EXPECT_EQ(ParseFlopsPerSecond("140 TFLOP/s").value(), FlopsPerSecond(140e12));
  EXPECT_EQ(ParseFlopsPerSecond("140 TOPS").value(), FlopsPerSecond(140e12));
  EXPECT_EQ(ParseFlopsPerSecond("3 FLOPS").value(), FlopsPerSecond(3));
  EXPECT_DOUBLE_EQ(ParseHertz("1.08 GHz").value(), 1.08e9);
}

TEST(UnitsParseTest, RefusesWhatItWouldHaveToGuess) {
  for (const char* text :
       {"", "5", "MiB", "32 mib", "32 M", "32 MiB/s", "-1 MiB", "nan B", "inf B", "1,5 MiB", "9e30 TiB"}) {
    const Result<Bytes> bytes = ParseBytes(text);
    ASSERT_FALSE(bytes.ok()) << text;
    EXPECT_EQ(bytes.status().code(), StatusCode::kUsage);
  }
  EXPECT_FALSE(ParseFlopsPerSecond("1 TB/s").ok());
  EXPECT_FALSE(ParseBytesPerSecond("1 TB").ok());
  EXPECT_FALSE(ParseDuration("5 m").ok());
}

TEST(UnitsParseTest, AMissingUnitNamesTheKnownOnes) {
  const Status status = ParseBytes("32").status();
  EXPECT_EQ(status.message(), "'32': a size needs a unit");
  EXPECT_EQ(status.hint(), "known units: B KB MB GB TB KiB MiB GiB TiB");
}

}  // namespace
}  // namespace simpred
