// Is what ModelBuilder writes what was asked for, and the same bytes each time?
#include "frontend/onnx/model_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/hash.h"
#include "frontend/onnx/half.h"
#include "frontend/onnx/onnx.h"

namespace simpred {
namespace {

using Ints = ModelBuilder::Ints;

ModelBuilder Conv(uint64_t seed = 1) {
  ModelBuilder b(17, seed);
  const auto x = b.Input("x", DataType::kFloat32, {"N", 64, 56, 56});
  const auto y =
      b.Op("Conv", {x, b.Weight({64, 64, 3, 3}), b.Weight({64})}, {{"pads", Ints{1, 1, 1, 1}}, {"group", 1}});
  b.Output(b.Op("LeakyRelu", {y}, {{"alpha", 0.25}}), DataType::kFloat32, {"N", 64, 56, 56});
  return b;
}

TEST(ModelBuilder, RoundTrip) {
  const Result<Model> model = ReadOnnxBytes(Conv().Serialize());
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_TRUE(model->warnings.empty());
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->opset(""), 17);
  EXPECT_EQ(model->producer, "sim_predict");
  const Graph& g = model->graph;
  ASSERT_EQ(g.inputs.size(), 1U);
  EXPECT_EQ(g.value(g.inputs[0]).type.shape.ToString(), "[N, 64, 56, 56]");
  ASSERT_EQ(g.node_count(), 2);
  const Node& conv = g.node(0);
  EXPECT_TRUE(conv.Is("Conv"));
  EXPECT_EQ(conv.Ints("pads"), (Ints{1, 1, 1, 1}));
  EXPECT_EQ(conv.Int("group"), 1);
  EXPECT_EQ(g.node(1).Float("alpha"), 0.25);
  ASSERT_EQ(conv.inputs.size(), 3U);
  const Value& weight = g.value(conv.inputs[1]);
  EXPECT_TRUE(weight.is_initializer);
  EXPECT_EQ(weight.type.shape.ToString(), "[64, 64, 3, 3]");
  EXPECT_EQ(weight.payload.size, 64U * 64 * 9 * 4);
  EXPECT_EQ(g.node(1).inputs[0], conv.outputs[0]);
  EXPECT_TRUE(g.Verify().ok());
}

TEST(ModelBuilder, SameSeedSameBytesOtherSeedOtherWeights) {
  EXPECT_EQ(Conv(1).Serialize(), Conv(1).Serialize());
  EXPECT_NE(Conv(1).Serialize(), Conv(2).Serialize());
  EXPECT_EQ(ReadOnnxBytes(Conv(1).Serialize())->structure_sha256, ReadOnnxBytes(Conv(2).Serialize())->structure_sha256);
}

TEST(ModelBuilder, BytesStayTheSameOverVersions) {
  ModelBuilder b(17, 7);
  const auto x = b.Input("x", DataType::kFloat32, {1, 4});
  b.Output(b.Op("MatMul", {x, b.Weight({4, 4})}));
  EXPECT_EQ(Sha256Hex(b.Serialize()), "961a3a80203f4265a753e646ef8e75dc1dcae4938a6bd0de82accf09eda56292");
}

TEST(ModelBuilder, WeightsAreNormalAndScaledByFanIn) {
  ModelBuilder b;
  const auto w = b.Weight({16, 64, 2, 2});
  b.Output(b.Op("Relu", {w}));
  const Result<Model> model = ReadOnnxBytes(b.Serialize());
  const Value& v = model->graph.value(model->graph.node(0).inputs[0]);
  const auto constant = model->read_constant(v.payload, v.type.dtype, {16, 64, 2, 2});
  ASSERT_NE(constant, nullptr);
  const auto& f = constant->floats;
  const double mean = std::accumulate(f.begin(), f.end(), 0.0) / 4096;
  const double variance = std::inner_product(f.begin(), f.end(), f.begin(), 0.0) / 4096;
  EXPECT_NEAR(mean, 0, 0.004);
  EXPECT_NEAR(std::sqrt(variance), 1.0 / 16, 0.002);
}

TEST(ModelBuilder, EveryWeightTypeHasItsSize) {
  for (DataType t : {DataType::kFloat64, DataType::kFloat16, DataType::kBFloat16, DataType::kInt8, DataType::kUInt8,
                     DataType::kInt32, DataType::kInt64, DataType::kBool, DataType::kInt4}) {
    ModelBuilder b;
    b.Output(b.Op("Identity", {b.Weight({3, 5}, 0, t)}), t, {3, 5});
    const Result<Model> model = ReadOnnxBytes(b.Serialize());
    ASSERT_TRUE(model.ok());
    EXPECT_TRUE(model->warnings.empty()) << model->warnings[0].text;
    const Value& v = model->graph.value(model->graph.node(0).inputs[0]);
    EXPECT_EQ(v.type.dtype, t);
    EXPECT_EQ(static_cast<int64_t>(v.payload.size), StorageSize(t, 15).count()) << Name(t);
    EXPECT_NE(model->read_constant(v.payload, t, {3, 5}), nullptr) << Name(t);
  }
}

TEST(ModelBuilder, ConstantsKeepTheirValues) {
  ModelBuilder b;
  b.Output(b.Op("Reshape", {b.ConstantFloats({1.5F, -2}, {2}), b.ConstantInts({-1, 1})}));
  b.Output(b.Op("Relu", {b.ConstantScalar(3)}));
  Result<Model> model = ReadOnnxBytes(b.Serialize());
  const Node& reshape = model->graph.node(0);
  const auto floats = ConstantOf(*model, model->graph, reshape.inputs[0]);
  ASSERT_NE(floats, nullptr);
  EXPECT_EQ(floats->floats, (std::vector<double>{1.5, -2}));
  const auto ints = ConstantOf(*model, model->graph, reshape.inputs[1]);
  ASSERT_NE(ints, nullptr);
  EXPECT_EQ(ints->ints, (std::vector<Dim>{-1, 1}));
  const auto scalar = ConstantOf(*model, model->graph, model->graph.node(1).inputs[0]);
  ASSERT_NE(scalar, nullptr);
  EXPECT_TRUE(scalar->dims.empty());
}

TEST(ModelBuilder, SeveralOutputsOmittedInputsOtherDomains) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {4, 6});
  const auto parts = b.OpN("Split", {x, ""}, 2, {{"axis", 1}});
  b.Output(b.Op("Gelu", {parts[1]}, {}, "com.microsoft"));
  const Result<Model> model = ReadOnnxBytes(b.Serialize());
  const Node& split = model->graph.node(0);
  EXPECT_EQ(split.inputs[1], kNoValue);
  EXPECT_EQ(split.outputs.size(), 2U);
  EXPECT_EQ(model->graph.node(1).QualifiedType(), "com.microsoft.Gelu");
  EXPECT_EQ(model->opset("com.microsoft"), 1);
}

TEST(ModelBuilder, SaveIntoAFolderThatIsNotThere) {
  const Status s = Conv().Save("/nonexistent/folder/m.onnx");
  EXPECT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find("/nonexistent/folder"), std::string::npos) << s.ToString();
}

TEST(Half, KnownValuesAndEveryHalfComesBack) {
  EXPECT_EQ(FloatToHalf(1.0F), 0x3C00);
  EXPECT_EQ(FloatToHalf(65504.0F), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0F), 0x7C00);      // first that rounds to infinity
  EXPECT_EQ(FloatToHalf(0x1p-24F), 1);           // smallest subnormal
  EXPECT_EQ(FloatToHalf(0x1p-25F), 0);           // half of it: to even
  EXPECT_EQ(FloatToHalf(1 + 0x1p-11F), 0x3C00);  // tie to even
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = HalfToFloat(static_cast<uint16_t>(h));
    if (std::isnan(f)) continue;
    EXPECT_EQ(FloatToHalf(f), h);
  }
  EXPECT_EQ(FloatToBFloat16(1.0F), 0x3F80);
  EXPECT_EQ(BFloat16ToFloat(0xC000), -2.0F);
}

}  // namespace
}  // namespace simpred
