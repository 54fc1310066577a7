#include "base/status.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

TEST(StatusTest, PrintsMessageContextAndHint) {
  const Status status = ModelError("tensor 'x': needs 4 dimensions, has 3", "give input_shape with 4 numbers")
                            .With("node 'conv1' (Conv)")
                            .With("model resnet50.onnx");
  EXPECT_EQ(status.ToString(),
            "tensor 'x': needs 4 dimensions, has 3\n  in node 'conv1' (Conv)\n  in model resnet50.onnx\n"
            "  hint: give input_shape with 4 numbers");
  EXPECT_EQ(static_cast<int>(status.code()), 3);
}

TEST(StatusTest, AddingContextLeavesOtherCopiesAlone) {
  const Status inner = UsageError("bad");
  const Status outer = inner.With("config");
  EXPECT_TRUE(inner.context().empty());
  ASSERT_EQ(outer.context().size(), 1U);
  Status copy = outer;
  EXPECT_EQ(std::move(copy).WithHint("h").hint(), "h");
  EXPECT_EQ(outer.hint(), "");
}

TEST(StatusTest, OkStaysOk) {
  EXPECT_TRUE(OkStatus().With("x").ok());
  EXPECT_TRUE(OkStatus().WithHint("x").ok());
  EXPECT_TRUE(Status(StatusCode::kOk, "ignored").ok());
}

Result<int> Half(int n) {
  if (n % 2 != 0) return UsageError("odd");
  return n / 2;
}

Result<int> Quarter(int n) {
  SIMPRED_ASSIGN_OR_RETURN(const int half, Half(n));
  SIMPRED_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(ResultTest, MacrosHandTheErrorOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_TRUE(Quarter(12).status().ok());
}

}  // namespace
}  // namespace simpred
