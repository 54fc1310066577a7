// Can a file crash the reader, make it hang, or make it take memory out of proportion?
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/random.h"
#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/tensor.h"
#include "frontend/onnx/test_encoding.h"

namespace simpred {
namespace {

namespace wire = onnx;
using namespace onnx::test;

std::string NestedIfs(int depth) {
  std::string graph = PutBytes(wire::graph::kName, "g");
  for (int i = 0; i < depth; ++i) {
    graph = PutBytes(wire::graph::kNode, PutNode("If", {"c"}, {"y"}, PutGraphAttribute("then_branch", graph)));
  }
  return graph;
}

TEST(Hostile, SubgraphDepthIsLimited) {
  EXPECT_TRUE(ReadOnnxBytes(PutModel(NestedIfs(64))).ok());
  const Result<Model> m = ReadOnnxBytes(PutModel(NestedIfs(65)));
  ASSERT_FALSE(m.ok());
  EXPECT_NE(m.status().message().find("nested deeper than 64"), std::string::npos) << m.status().ToString();
  EXPECT_FALSE(ReadOnnxBytes(PutModel(NestedIfs(2000))).ok());
}

TEST(Hostile, TypeDepthIsLimited) {
  std::string type;
  for (int i = 0; i < 1000; ++i) type = PutBytes(wire::type::kSequence, PutBytes(wire::type::kElemType, type));
  const std::string input = PutBytes(wire::value_info::kName, "x") + PutBytes(wire::value_info::kType, type);
  const Result<Model> m = ReadOnnxBytes(PutModel(PutBytes(wire::graph::kInput, input)));
  ASSERT_FALSE(m.ok());
  EXPECT_NE(m.status().message().find("type is nested deeper"), std::string::npos) << m.status().ToString();
}

TEST(Hostile, FloodOfTinyNodesEndsInAMessage) {
  const std::string node = PutBytes(wire::graph::kNode, PutNode("A", {}, {}));
  std::string graph;
  for (int i = 0; i < 4'200'000; ++i) graph += node;  // a node is one entity
  const Result<Model> m = ReadOnnxBytes(PutModel(graph));
  ASSERT_FALSE(m.ok());
  EXPECT_NE(m.status().message().find("more than 4194304 nodes"), std::string::npos) << m.status().ToString();
}

TEST(Hostile, NodeWithoutATypeIsNamed) {
  const Result<Model> m = ReadOnnxBytes(PutModel(PutBytes(wire::graph::kNode, PutBytes(wire::node::kName, "lost"))));
  ASSERT_FALSE(m.ok());
  EXPECT_NE(m.status().message().find("'lost'"), std::string::npos) << m.status().ToString();
  EXPECT_NE(m.status().message().find("no operator type"), std::string::npos) << m.status().ToString();
}

TEST(Hostile, ElementCountSaturates) {
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(wire::ElementCount({big, big, big}), INT64_MAX);
  EXPECT_EQ(wire::ElementCount({big, big, 0}), 0);
  EXPECT_EQ(wire::ElementCount({}), 1);
  EXPECT_EQ(wire::ElementCount({-1}), -1);
  const std::string w = PutTensor("w", 1, {big, big, big}, PutBytes(wire::tensor::kRawData, "abcd"));
  const Result<Model> m = ReadOnnxBytes(
      PutModel(PutBytes(wire::graph::kInitializer, w) + PutBytes(wire::graph::kNode, PutNode("Relu", {"w"}, {"y"}))));
  ASSERT_TRUE(m.ok());
  const Value& v = m->graph.value(m->graph.node(0).inputs[0]);
  EXPECT_EQ(m->read_constant(v.payload, v.type.dtype, {big, big, big}), nullptr);
  EXPECT_EQ(m->warnings.size(), 1U);
}

// The heaviest thing in a model file stays on disk: reading touches a small part of its pages.
TEST(Hostile, WeightsAreNotRead) {
  const auto path = std::filesystem::path(testing::TempDir()) / "weights.onnx";
  {
    ModelBuilder b;
    auto x = b.Input("x", DataType::kFloat32, {1, 1024});
    for (int i = 0; i < 16; ++i) x = b.Op("MatMul", {x, b.Weight({1024, 1024})});
    b.Output(x);
    ASSERT_TRUE(b.Save(path).ok());
  }
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  const Result<Model> m = ReadOnnx(path);
  getrusage(RUSAGE_SELF, &after);
  ASSERT_TRUE(m.ok());
  EXPECT_GT(m->file_size, 64U << 20);
  // 16,384 pages if all were touched.
  EXPECT_LT(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt, 400);
  std::filesystem::remove(path);
}

// Bytes of valid models changed, removed, inserted and copied around: read or refused, nothing else.
TEST(Hostile, RandomMutations) {
  ModelBuilder b(17);
  auto x = b.Input("x", DataType::kFloat32, {"N", 3, 8, 8});
  x = b.Op("Conv", {x, b.Weight({4, 3, 3, 3})}, {{"pads", ModelBuilder::Ints{1, 1, 1, 1}}});
  x = b.Op("Reshape", {x, b.ConstantInts({0, -1})});
  b.Output(b.Op("Gelu", {x}, {}, "com.microsoft"));
  const std::string inner = PutBytes(wire::graph::kNode, PutNode("Neg", {"x"}, {"z"}));
  const std::vector<std::string> seeds = {
      b.Serialize(), PutModel(NestedIfs(5)),
      PutModel(PutBytes(wire::graph::kNode, PutNode("If", {"c"}, {"y"}, PutGraphAttribute("then_branch", inner))))};
  Random random(11);
  for (int i = 0; i < 5'000; ++i) {
    std::string bytes = random.Pick(seeds);
    for (int64_t edits = random.Int(1, 6); edits > 0; --edits) {
      const auto at = static_cast<size_t>(random.Int(0, static_cast<int64_t>(bytes.size()) - 1));
      const auto n = static_cast<size_t>(random.Int(1, 8));
      if (random.Uniform() < 0.6) {
        bytes[at] = static_cast<char>(random.Int(0, 255));
      } else if (random.Uniform() < 0.5) {
        bytes.erase(at, n);
      } else {
        bytes.insert(at, bytes.substr(static_cast<size_t>(random.Int(0, static_cast<int64_t>(at))), n));
      }
      if (bytes.empty()) break;
    }
    const Result<Model> m = ReadOnnxBytes(bytes);
    if (!m.ok()) {
      ASSERT_EQ(m.status().code(), StatusCode::kModel);
      continue;
    }
    // A mutation may make a cycle, which is the model's fault; an inconsistent graph would be ours.
    ASSERT_NE(m->graph.Verify().code(), StatusCode::kInternal) << m->graph.Verify().ToString();
    for (ValueId v = 0; v < m->graph.value_count(); ++v) {
      const Value& value = m->graph.value(v);
      if (auto dims = value.type.shape.ToVector()) m->read_constant(value.payload, value.type.dtype, *dims);
    }
  }
}

}  // namespace
}  // namespace simpred
