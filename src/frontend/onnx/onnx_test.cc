// Is the graph that is read the graph that stands in the file?
#include "frontend/onnx/onnx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/test_encoding.h"

namespace simpred {
namespace {

namespace wire = onnx;
using namespace onnx::test;

constexpr int32_t kFloat = 1;
constexpr int32_t kInt64 = 7;

Model MustRead(std::string_view bytes) {
  Result<Model> model = ReadOnnxBytes(bytes, "test.onnx");
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  return model.ok() ? *std::move(model) : Model();
}

bool HasWarning(const Model& m, std::string_view part) {
  return std::any_of(m.warnings.begin(), m.warnings.end(),
                     [&](const Warning& w) { return w.text.find(part) != std::string::npos; });
}

std::string GraphNode(const std::string& node) { return PutBytes(wire::graph::kNode, node); }
std::string GraphInput(std::string_view name, const std::vector<std::string>& dims = {}) {
  return PutBytes(wire::graph::kInput, PutTensorValue(name, kFloat, dims));
}
std::string GraphOutput(std::string_view name) {
  return PutBytes(wire::graph::kOutput, PutTensorValue(name, kFloat, {}));
}

TEST(ReadOnnx, DimensionsNumberSymbolEmptyNegative) {
  const std::string dims =
      GraphInput("x", {PutInt(wire::shape::kDimValue, 3), PutBytes(wire::shape::kDimParam, "batch"),
                       PutBytes(wire::shape::kDimParam, ""), "", PutInt(wire::shape::kDimValue, -1)});
  const Model m = MustRead(PutModel(dims));
  EXPECT_EQ(m.graph.value(m.graph.inputs[0]).type.shape.ToString(), "[3, batch, ?, ?, ?]");
  EXPECT_TRUE(HasWarning(m, "'x': dimension -1 is negative"));
}

TEST(ReadOnnx, WhatStandsForNoNameIsNoSymbol) {
  const std::string dims =
      GraphInput("x", {PutBytes(wire::shape::kDimParam, "?"), PutBytes(wire::shape::kDimParam, "-1"),
                       PutBytes(wire::shape::kDimParam, "None"), PutBytes(wire::shape::kDimParam, "N")});
  const Model m = MustRead(PutModel(dims));
  EXPECT_EQ(m.graph.value(m.graph.inputs[0]).type.shape.ToString(), "[?, ?, ?, N]");
}

TEST(ReadOnnx, InitializerListedAsInput) {
  const std::string graph = PutBytes(wire::graph::kInitializer,
                                     PutTensor("w", kFloat, {2}, PutBytes(wire::tensor::kRawData, std::string(8, 0)))) +
                            GraphInput("x") + GraphInput("w") + GraphNode(PutNode("Add", {"x", "w"}, {"y"})) +
                            GraphOutput("y");
  const Model old = MustRead(PutModel(graph, 3));
  ASSERT_EQ(old.graph.inputs.size(), 1U);
  const Value& constant = old.graph.value(old.graph.node(0).inputs[1]);
  EXPECT_TRUE(constant.is_initializer);
  EXPECT_FALSE(constant.is_graph_input);
  EXPECT_EQ(constant.type.shape.ToString(), "[2]");
  const Model fresh = MustRead(PutModel(graph, 8));
  EXPECT_EQ(fresh.graph.inputs.size(), 1U);
  EXPECT_TRUE(fresh.graph.value(fresh.graph.node(0).inputs[1]).is_graph_input);
}

TEST(ReadOnnx, UnsortedNodesBindToLaterDefinitions) {
  const Model m = MustRead(PutModel(GraphInput("x") + GraphNode(PutNode("Relu", {"a"}, {"y"})) +
                                    GraphNode(PutNode("Neg", {"x"}, {"a"})) + GraphOutput("y")));
  EXPECT_TRUE(m.warnings.empty());
  EXPECT_EQ(m.graph.node(0).inputs[0], m.graph.node(1).outputs[0]);
  EXPECT_EQ(*m.graph.TopologicalOrder(), (std::vector<NodeId>{1, 0}));
}

TEST(ReadOnnx, RepeatedNamesBindToTheLastDefinitionBeforeTheUse) {
  const Model m = MustRead(PutModel(GraphInput("x") + GraphNode(PutNode("Neg", {"x"}, {"a"})) +
                                    GraphNode(PutNode("Relu", {"a"}, {"b"})) + GraphNode(PutNode("Exp", {"x"}, {"a"})) +
                                    GraphNode(PutNode("Add", {"a", "b"}, {"y"})) + GraphOutput("y")));
  EXPECT_TRUE(HasWarning(m, "'a' is defined more than once"));
  EXPECT_EQ(m.graph.value(m.graph.node(1).inputs[0]).producer, 0);
  EXPECT_EQ(m.graph.value(m.graph.node(3).inputs[0]).producer, 2);
}

TEST(ReadOnnx, UndefinedInputIsUnknownAndSaid) {
  const Model m = MustRead(PutModel(GraphNode(PutNode("Relu", {"ghost"}, {"y"})) + GraphOutput("y")));
  EXPECT_EQ(m.graph.value(m.graph.node(0).inputs[0]).type.kind, ValueKind::kUnknown);
  EXPECT_TRUE(HasWarning(m, "'ghost' is used, but nothing defines it"));
}

TEST(ReadOnnx, SubgraphsReachThroughTwoLevels) {
  const std::string inner = GraphNode(PutNode("Add", {"x", "later"}, {"z"})) + GraphOutput("z");
  const std::string middle =
      GraphNode(PutNode("If", {"c"}, {"i"}, PutGraphAttribute("then_branch", inner))) + GraphOutput("i");
  const Model m = MustRead(PutModel(GraphInput("x") + GraphInput("c") +
                                    GraphNode(PutNode("If", {"c"}, {"y"}, PutGraphAttribute("then_branch", middle))) +
                                    GraphNode(PutNode("Neg", {"x"}, {"later"})) + GraphOutput("y")));
  EXPECT_TRUE(m.warnings.empty());
  const auto middle_graph = m.graph.node(0).Subgraph("then_branch");
  ASSERT_NE(middle_graph, nullptr);
  const auto inner_graph = middle_graph->node(0).Subgraph("then_branch");
  ASSERT_NE(inner_graph, nullptr);
  const Node& add = inner_graph->node(0);
  const ValueId in_middle = inner_graph->value(add.inputs[1]).outer_scope;
  ASSERT_NE(in_middle, kNoValue);
  EXPECT_EQ(middle_graph->value(in_middle).name, "later");
  EXPECT_EQ(middle_graph->value(in_middle).outer_scope, m.graph.node(1).outputs[0]);
  EXPECT_TRUE(m.graph.Verify().ok()) << m.graph.Verify().ToString();
  EXPECT_EQ(*m.graph.TopologicalOrder(), (std::vector<NodeId>{1, 0}));
}

TEST(ReadOnnx, SubgraphNameHidesTheOuterOne) {
  const std::string body =
      GraphNode(PutNode("Neg", {"x"}, {"a"})) + GraphNode(PutNode("Exp", {"a"}, {"b"})) + GraphOutput("b");
  const Model m = MustRead(PutModel(GraphInput("x") + GraphNode(PutNode("Abs", {"x"}, {"a"})) +
                                    GraphNode(PutNode("If", {"a"}, {"y"}, PutGraphAttribute("then_branch", body)))));
  const auto graph = m.graph.node(1).Subgraph("then_branch");
  EXPECT_EQ(graph->node(1).inputs[0], graph->node(0).outputs[0]);
  EXPECT_EQ(graph->value(graph->node(1).inputs[0]).outer_scope, kNoValue);
}

TEST(ReadOnnx, AttributesOfEveryKind) {
  using namespace wire::attribute;
  const auto attribute = [](std::string_view name, int32_t type, const std::string& value) {
    return PutBytes(wire::node::kAttribute, PutBytes(kName, name) + value + PutInt(kType, type));
  };
  std::string floats;
  protozero::pbf_writer writer(floats);
  writer.add_float(kFloats, 0.5F);
  writer.add_float(kFloats, 2.0F);
  const std::string packed_ints("\x01\x02\x03", 3);
  const std::string tensor = PutTensor("", kInt64, {2}, PutBytes(wire::tensor::kInt64Data, std::string("\x05\x06", 2)));
  const std::string sparse =
      PutBytes(wire::sparse::kValues, PutTensor("", kFloat, {1}, {})) + PutInt(wire::sparse::kDims, 8);
  const std::string sequence =
      PutBytes(wire::type::kSequence,
               PutBytes(wire::type::kElemType, PutBytes(wire::type::kTensor, PutInt(wire::type::kElemType, 9))));
  const std::string more =
      attribute("i", kTypeInt, PutInt(kInt, -4)) + attribute("zero", kTypeInt, "") +
      attribute("s", kTypeString, PutBytes(kString, "same")) + attribute("floats", kTypeFloats, floats) +
      attribute("packed", kTypeInts, PutBytes(kInts, packed_ints)) + attribute("none", kTypeInts, "") +
      attribute("strings", kTypeStrings, PutBytes(kStrings, "a") + PutBytes(kStrings, "b")) +
      attribute("t", kTypeTensor, PutBytes(kTensor, tensor)) +
      attribute("ts", kTypeTensors, PutBytes(kTensors, tensor) + PutBytes(kTensors, tensor)) +
      attribute("sparse", kTypeSparseTensor, PutBytes(kSparseTensor, sparse)) +
      attribute("gs", kTypeGraphs, PutBytes(kGraphs, "") + PutBytes(kGraphs, "")) +
      attribute("tp", kTypeTypeProto, PutBytes(kTypeProto, sequence)) +
      PutBytes(wire::node::kAttribute, PutBytes(kName, "untyped") + PutInt(kInt, 7));
  const Model m = MustRead(PutModel(GraphNode(PutNode("Op", {}, {"y"}, more))));
  const Node& n = m.graph.node(0);
  EXPECT_EQ(n.Int("i"), -4);
  EXPECT_EQ(n.Int("zero"), 0);
  EXPECT_EQ(n.Int("untyped"), 7);
  EXPECT_EQ(n.String("s", ""), "same");
  EXPECT_EQ(n.Floats("floats"), (std::vector<double>{0.5, 2}));
  EXPECT_EQ(n.Ints("packed"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(n.Ints("none"), (std::vector<int64_t>{}));
  EXPECT_EQ(std::get<std::vector<std::string>>(n.Find("strings")->value), (std::vector<std::string>{"a", "b"}));
  const auto& t = std::get<TensorAttribute>(n.Find("t")->value);
  ASSERT_NE(t.constant, nullptr);
  EXPECT_EQ(t.constant->ints, (std::vector<Dim>{5, 6}));
  EXPECT_EQ(std::get<std::vector<TensorAttribute>>(n.Find("ts")->value).size(), 2U);
  EXPECT_EQ(std::get<TensorAttribute>(n.Find("sparse")->value).dims, (std::vector<int64_t>{8}));
  EXPECT_EQ(std::get<std::vector<std::shared_ptr<Graph>>>(n.Find("gs")->value).size(), 2U);
  const auto& tp = std::get<TensorType>(n.Find("tp")->value);
  EXPECT_EQ(tp.kind, ValueKind::kSequence);
  EXPECT_EQ(tp.dtype, DataType::kBool);
}

TEST(ReadOnnx, FunctionsKeepReferencesAndDefaults) {
  const std::string ref =
      PutBytes(wire::node::kAttribute, PutBytes(wire::attribute::kName, "alpha") +
                                           PutBytes(wire::attribute::kRefAttrName, "slope") +
                                           PutInt(wire::attribute::kType, wire::attribute::kTypeFloat));
  std::string fallback = PutBytes(wire::attribute::kName, "k") + PutInt(wire::attribute::kInt, 5);
  const std::string function = PutBytes(wire::function::kName, "Act") + PutBytes(wire::function::kDomain, "local") +
                               PutBytes(wire::function::kInput, "in") + PutBytes(wire::function::kOutput, "out") +
                               PutBytes(wire::function::kAttribute, "slope") +
                               PutBytes(wire::function::kAttributeProto, fallback) +
                               PutBytes(wire::function::kNode, PutNode("LeakyRelu", {"in"}, {"out"}, ref)) +
                               PutBytes(wire::function::kOpsetImport,
                                        PutBytes(wire::opset::kDomain, "ai.onnx") + PutInt(wire::opset::kVersion, 16));
  const std::string call = PutNode("Act", {"x"}, {"y"}, PutBytes(wire::node::kDomain, "local"));
  const Model m = MustRead(PutModel(GraphInput("x") + GraphNode(call) + GraphOutput("y")) +
                           PutBytes(wire::model::kFunctions, function) + PutOpsetImport("local", 1));
  EXPECT_TRUE(m.warnings.empty());
  ASSERT_EQ(m.functions.size(), 1U);
  const FunctionDef& f = m.functions[0];
  EXPECT_EQ(f.name, "Act");
  EXPECT_EQ(f.domain, "local");
  EXPECT_EQ(f.opset_imports.at(""), 16);
  EXPECT_EQ(f.attributes, (std::vector<std::string>{"slope", "k"}));
  EXPECT_EQ(std::get<int64_t>(f.attribute_defaults.at("k").value), 5);
  ASSERT_EQ(f.body->node_count(), 1);
  EXPECT_EQ(f.body->node(0).Find("alpha")->reference, "slope");
  EXPECT_EQ(f.body->node(0).outputs[0], f.body->outputs[0]);
}

TEST(ReadOnnx, SparseInitializerIsADenseConstantWithoutBytes) {
  const std::string sparse = PutBytes(wire::sparse::kValues, PutTensor("w", kFloat, {3}, {})) +
                             PutBytes(wire::sparse::kIndices, PutTensor("", kInt64, {3}, {})) +
                             PutInt(wire::sparse::kDims, 100) + PutInt(wire::sparse::kDims, 20);
  const Model m = MustRead(PutModel(PutBytes(wire::graph::kSparseInitializer, sparse) +
                                    GraphNode(PutNode("MatMul", {"x", "w"}, {"y"})) + GraphInput("x")));
  const Value& w = m.graph.value(m.graph.node(0).inputs[1]);
  EXPECT_TRUE(w.is_initializer);
  EXPECT_EQ(w.type.shape.ToString(), "[100, 20]");
  EXPECT_EQ(w.payload.where, Payload::Where::kNone);
}

TEST(ReadOnnx, OpsetsBothSpellingsAndMissing) {
  const std::string graph = GraphInput("x") + GraphNode(PutNode("Relu", {"x"}, {"y"}));
  const std::string bare = PutInt(wire::model::kIrVersion, 7) + PutBytes(wire::model::kGraph, graph);
  EXPECT_EQ(MustRead(bare + PutOpsetImport("ai.onnx", 12)).opset(""), 12);
  EXPECT_EQ(MustRead(bare + PutOpsetImport("", 9) + PutOpsetImport("ai.onnx", 11)).opset(""), 11);
  const Model m = MustRead(bare);
  EXPECT_EQ(m.opset(""), 14);
  EXPECT_TRUE(HasWarning(m, "imports no operator set of domain 'ai.onnx' (used by Relu); version 14 is assumed"));
}

TEST(ReadOnnx, ValueInfoDeclaresTypesOfInnerValues) {
  const std::string info =
      PutBytes(wire::graph::kValueInfo, PutTensorValue("a", kInt64, {PutInt(wire::shape::kDimValue, 5)}));
  const Model m = MustRead(PutModel(GraphInput("x") + GraphNode(PutNode("Neg", {"x"}, {"a"})) + info +
                                    PutBytes(wire::graph::kValueInfo, PutTensorValue("gone", kFloat, {}))));
  const Value& a = m.graph.value(m.graph.node(0).outputs[0]);
  EXPECT_EQ(a.declared.shape.ToString(), "[5]");
  EXPECT_EQ(a.type.dtype, DataType::kInt64);
}

TEST(ReadOnnx, NamesThatAreNoTextBecomeText) {
  const Model m =
      MustRead(PutModel(GraphInput("a\xFF\n\xC3\xA9") + GraphNode(PutNode("Relu", {"a\xFF\n\xC3\xA9"}, {"y"}))));
  EXPECT_TRUE(m.warnings.empty());  // identity is by the bytes of the file
  EXPECT_EQ(m.graph.value(m.graph.inputs[0]).name, "a??\xC3\xA9");
}

TEST(ReadOnnx, StructureHashIgnoresLargeWeightsOnly) {
  const auto with = [](size_t bytes, char fill) {
    const auto count = static_cast<int64_t>(bytes);
    return MustRead(PutModel(PutBytes(
                        wire::graph::kInitializer,
                        PutTensor("w", 3, {count}, PutBytes(wire::tensor::kRawData, std::string(bytes, fill))))))
        .structure_sha256;
  };
  EXPECT_EQ(with(65, 'a'), with(65, 'b'));
  EXPECT_NE(with(64, 'a'), with(64, 'b'));
  EXPECT_NE(with(65, 'a'), with(66, 'a'));
  const auto typed = [](char fill) {
    return MustRead(PutModel(PutBytes(
                        wire::graph::kInitializer,
                        PutTensor("w", kFloat, {20}, PutBytes(wire::tensor::kFloatData, std::string(80, fill))))))
        .structure_sha256;
  };
  EXPECT_EQ(typed('a'), typed('b'));
  EXPECT_EQ(typed('a').size(), 64U);
}

TEST(ReadOnnx, FromAFileAndMissing) {
  const auto folder = std::filesystem::path(testing::TempDir());
  ModelBuilder b;
  b.Output(b.Op("Relu", {b.Input("x", DataType::kFloat32, {1, 2})}));
  ASSERT_TRUE(b.Save(folder / "relu.onnx").ok());
  const Result<Model> m = ReadOnnx(folder / "relu.onnx");
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->path, folder / "relu.onnx");
  EXPECT_EQ(m->file_size, std::filesystem::file_size(folder / "relu.onnx"));
  const Result<Model> missing = ReadOnnx(folder / "no_such.onnx");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kModel);
  EXPECT_NE(missing.status().ToString().find("no_such.onnx"), std::string::npos);
}

// Every file of the collection is read or refused with a reason; what is read is consistent.
TEST(ReadOnnx, Corpus) {
  const std::filesystem::path corpus = SIMPRED_SOURCE_DIR "/../shared/models/corpus";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no models at " << corpus;
  int read = 0;
  int refused = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
    if (entry.path().extension() != ".onnx") continue;
    const Result<Model> m = ReadOnnx(entry.path());
    if (m.ok()) {
      ++read;
      EXPECT_TRUE(m->graph.Verify().ok()) << entry.path() << ": " << m->graph.Verify().ToString();
    } else {
      ++refused;
      EXPECT_EQ(m.status().code(), StatusCode::kModel) << entry.path();
      std::cout << m.status().ToString() << "\n";
    }
  }
  std::cout << read << " read, " << refused << " refused\n";
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace simpred
