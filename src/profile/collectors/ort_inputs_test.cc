#include "profile/collectors/ort_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/onnx.h"

namespace simpred {
namespace {

Model Read(const ModelBuilder& b) {
  Result<Model> m = ReadOnnxBytes(b.Serialize());
  EXPECT_TRUE(m.ok());
  return *std::move(m);
}

TEST(PlanInputs, BindsShapesAndNamesWhatIsFree) {
  ModelBuilder b;
  b.Output(b.Op("Relu", {b.Input("x", DataType::kFloat32, {"batch", 3})}));
  Model model = Read(b);
  const auto free = PlanInputs(model, {});
  EXPECT_EQ(free.status().code(), StatusCode::kUsage);
  EXPECT_NE(free.status().ToString().find("'x'"), std::string::npos);

  InferOptions binding;
  binding.symbols = {{"batch", 4}};
  const auto bound = PlanInputs(model, binding);
  ASSERT_TRUE(bound.ok()) << bound.status().ToString();
  EXPECT_EQ(bound->shapes, "x=4x3");
  EXPECT_EQ(bound->inputs[0].dims, (std::vector<int64_t>{4, 3}));
}

TEST(PlanInputs, IndicesStayInsideTheirTable) {
  ModelBuilder b;
  const auto ids = b.Input("ids", DataType::kInt32, {1, 5});
  const auto mask = b.Input("attention_mask", DataType::kInt64, {1, 5});
  b.Output(b.Op("Gather", {b.Weight({17, 4}), b.Op("Cast", {ids}, {{"to", int64_t{7}}})}));
  b.Output(b.Op("Neg", {mask}), DataType::kInt64, {1, 5});
  Model model = Read(b);
  const auto plan = PlanInputs(model, {});
  ASSERT_TRUE(plan.ok()) << plan.status().ToString();
  EXPECT_EQ(plan->inputs[0].high, 16);
  EXPECT_EQ(plan->inputs[1].low, 1);
  EXPECT_EQ(plan->inputs[1].high, 1);
  EXPECT_EQ(plan->shapes, "ids=1x5,attention_mask=1x5");
}

TEST(RandomTensor, FillsEachTypeInsideItsRange) {
  Random random(1);
  const RuntimeInput ints{.name = "i", .dtype = DataType::kInt64, .dims = {1000}, .low = 3, .high = 5};
  const auto bytes = RandomTensor(ints, random);
  ASSERT_TRUE(bytes.ok());
  ASSERT_EQ(bytes->size(), 8000U);
  for (size_t i = 0; i < bytes->size(); i += 8) {
    int64_t v = 0;
    std::memcpy(&v, bytes->data() + i, 8);
    EXPECT_TRUE(v >= 3 && v <= 5) << v;
  }
  const auto floats = RandomTensor({.name = "f", .dims = {4000}}, random);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < floats->size(); i += 4) {
    float v = 0;
    std::memcpy(&v, floats->data() + i, 4);
    sum += v;
    squares += v * v;
  }
  EXPECT_NEAR(sum / 4000, 0, 0.06);
  EXPECT_NEAR(squares / 4000, 1, 0.1);
  EXPECT_EQ(RandomTensor({.name = "h", .dtype = DataType::kFloat16, .dims = {7}}, random)->size(), 14U);
}

TEST(RandomTensor, RefusesWhatItCannotFill) {
  Random random(1);
  EXPECT_FALSE(RandomTensor({.name = "s", .dtype = DataType::kString, .dims = {1}}, random).ok());
  EXPECT_FALSE(RandomTensor({.name = "huge", .dims = {1 << 30, 1 << 30, 1 << 30}}, random).ok());
  EXPECT_FALSE(RandomTensor({.name = "negative", .dims = {-1}}, random).ok());
}

}  // namespace
}  // namespace simpred
