// Numbers of a small network by hand, with and without its batch; and the files follow their schemas.
#include "cli/description.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "frontend/onnx/model_builder.h"
#include "predict/prepare.h"
#include "report/schema_checker.h"

namespace simpred {
namespace {

using Json = nlohmann::json;

// [batch, 3, 8, 8] -> Conv 4x3x3x3 -> Relu
std::filesystem::path SmallModel(const ModelBuilder::DimSpec& batch) {
  ModelBuilder b;
  const std::string x = b.Input("data", DataType::kFloat32, {batch, int64_t{3}, int64_t{8}, int64_t{8}});
  const std::string conv = b.Op("Conv", {x, b.Weight({4, 3, 3, 3})}, {{"pads", ModelBuilder::Ints{1, 1, 1, 1}}});
  b.Output(b.Op("Relu", {conv}));
  const auto path =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("description-") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".onnx");
  EXPECT_TRUE(b.Save(path).ok());
  return path;
}

void ExpectFollows(const std::string& schema_name, const std::string& text) {
  const auto schema = ReadText(std::string(SIMPRED_SOURCE_DIR "/docs/schema/") + schema_name);
  ASSERT_TRUE(schema.ok());
  const Json document = Json::parse(text, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << text;
  for (const std::string& finding : CheckSchema(Json::parse(*schema), document)) ADD_FAILURE() << finding;
}

TEST(Description, Static) {
  const auto d = Describe(SmallModel(int64_t{1}), {});
  ASSERT_TRUE(d.ok()) << d.status().ToString();
  EXPECT_EQ(d->parameters, 4 * 3 * 3 * 3);
  EXPECT_EQ(d->weights, Bytes(4 * 3 * 3 * 3 * 4));
  EXPECT_TRUE(d->is_static);
  EXPECT_EQ(d->operators.size(), 2U);
  EXPECT_EQ(d->operators[1].inputs_from, std::vector<int64_t>{0});
  EXPECT_EQ(d->operators[0].outputs, std::vector<std::string>{"float32[1, 4, 8, 8]"});
  // Two operations for each of 27 products of each of 256 outputs.
  ASSERT_TRUE(d->operators[0].work.has_value());
  EXPECT_EQ(d->operators[0].work->flops, Flops(2.0 * 27 * 256));
  // While the Conv runs, its input and its output live; while the Relu runs, two of 256 elements.
  EXPECT_EQ(*d->peak_activations, Bytes(2 * 256 * 4));
  EXPECT_TRUE(d->free_symbols.empty());
  ExpectFollows("description.schema.json", DescriptionJson(*d));
}

TEST(Description, Symbolic) {
  const auto path = SmallModel("N");
  const auto d = Describe(path, {});
  ASSERT_TRUE(d.ok()) << d.status().ToString();
  EXPECT_FALSE(d->is_static);
  EXPECT_EQ(d->free_symbols, std::vector<std::string>{"N"});
  EXPECT_FALSE(d->peak_activations.has_value());
  EXPECT_EQ(d->operators[0].outputs, std::vector<std::string>{"float32[N, 4, 8, 8]"});
  ExpectFollows("description.schema.json", DescriptionJson(*d));
  InferOptions bound;
  bound.symbols = {{"N", 2}};
  const auto b = Describe(path, bound);
  ASSERT_TRUE(b.ok());
  EXPECT_TRUE(b->is_static);
  EXPECT_EQ(b->operators[0].work->flops, Flops(2.0 * 2 * 27 * 256));
}

TEST(Workload, FollowsItsSchema) {
  PrepareOptions o;
  o.path = SmallModel(int64_t{1});
  const auto p = Prepare(o);
  ASSERT_TRUE(p.ok()) << p.status().ToString();
  ExpectFollows("workload.schema.json", ToJson(p->workload));
}

}  // namespace
}  // namespace simpred
