#include "graph/data_type.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

TEST(DataTypeTest, EveryNameReadsBack) {
  for (int i = 0; i <= static_cast<int>(DataType::kComplex128); ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(DataTypeFromName(Name(type)), type) << Name(type);
    EXPECT_FALSE(IsFloat(type) && IsInteger(type));
  }
  EXPECT_FALSE(DataTypeFromName("float33"));
}

TEST(DataTypeTest, PackedTypesRoundUpToWholeBytes) {
  EXPECT_EQ(StorageSize(DataType::kInt4, 3), Bytes(2));
  EXPECT_EQ(StorageSize(DataType::kUInt2, 5), Bytes(2));
  EXPECT_EQ(StorageSize(DataType::kFloat32, 3), Bytes(12));
  EXPECT_EQ(StorageSize(DataType::kFloat32, 0), Bytes(0));
  EXPECT_EQ(StorageSize(DataType::kFloat32, -1), Bytes(0));
  EXPECT_EQ(StorageSize(DataType::kFloat64, INT64_MAX), Bytes(INT64_MAX));
  EXPECT_GT(StorageSize(DataType::kInt4, INT64_MAX), Bytes(INT64_MAX / 3));
}

}  // namespace
}  // namespace simpred
