#include "base/nearest.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

TEST(NearestTest, CountsEdits) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("itesr", "iters"), 1);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("same", "same"), 0);
}

TEST(NearestTest, NamesTheClosestOrNothing) {
  const std::vector<std::string> known = {"Ascend310", "Ascend310P", "A100"};
  EXPECT_EQ(Nearest("Ascend310p", known), "Ascend310");
  EXPECT_EQ(Nearest("A10", known), "A100");
  EXPECT_EQ(Nearest("toaster", known), "");
  EXPECT_EQ(Nearest(std::string(100000, 'x'), known), "");
}

}  // namespace
}  // namespace simpred
