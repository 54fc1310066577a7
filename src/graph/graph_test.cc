#include "graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "base/random.h"

namespace simpred {
namespace {

ValueId Named(Graph& graph, const std::string& name) {
  Value value;
  value.name = name;
  return graph.AddValue(std::move(value));
}

ValueId Input(Graph& graph, const std::string& name) {
  const ValueId v = Named(graph, name);
  graph.value(v).is_graph_input = true;
  graph.inputs.push_back(v);
  return v;
}

NodeId Add(Graph& graph, const std::string& name, std::vector<ValueId> inputs, std::vector<ValueId> outputs) {
  Node node;
  node.name = name;
  node.op_type = "Add";
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return graph.AddNode(std::move(node));
}

// x -> a -> t -> b -> y, with b first in the file.
struct Backwards {
  Graph graph;
  ValueId x = Input(graph, "x"), t = Named(graph, "t"), y = Named(graph, "y");
  NodeId b = Add(graph, "b", {t, kNoValue}, {y});
  NodeId a = Add(graph, "a", {x, x}, {t});
  Backwards() { graph.outputs = {y}; }
};

// A node whose body reads `outer` through one more level of nesting.
NodeId AddNested(Graph& graph, ValueId outer, ValueId output) {
  auto inner = std::make_shared<Graph>();
  auto body = std::make_shared<Graph>();
  Value through;
  through.name = "through";
  through.outer_scope = outer;
  const ValueId in_body = body->AddValue(through);
  through.outer_scope = in_body;
  inner->AddValue(through);
  Node holder;
  holder.op_type = "If";
  holder.attributes["then_branch"].value = inner;
  body->AddNode(std::move(holder));
  Node node;
  node.name = "nested";
  node.op_type = "If";
  node.outputs = {output};
  node.attributes["then_branch"].value = body;
  return graph.AddNode(std::move(node));
}

TEST(GraphTest, OrdersByDependency) {
  Backwards g;
  EXPECT_EQ(*g.graph.TopologicalOrder(), (std::vector<NodeId>{g.a, g.b}));
  EXPECT_TRUE(g.graph.Verify().ok());
}

TEST(GraphTest, KeepsTheOrderOfTheFileAmongReadyNodes) {
  Graph graph;
  const ValueId x = Input(graph, "x");
  const ValueId late = Named(graph, "late");
  const NodeId waits = Add(graph, "waits", {late}, {Named(graph, "o")});
  const NodeId first = Add(graph, "first", {x}, {Named(graph, "p")});
  const NodeId makes = Add(graph, "makes", {x}, {late});
  const NodeId last = Add(graph, "last", {x}, {Named(graph, "q")});
  EXPECT_EQ(*graph.TopologicalOrder(), (std::vector<NodeId>{first, makes, waits, last}));
}

TEST(GraphTest, ACycleIsPrinted) {
  Graph graph;
  const ValueId p = Named(graph, "p");
  const ValueId q = Named(graph, "q");
  Add(graph, "reads", {p}, {Named(graph, "r")});
  Add(graph, "one", {q}, {p});
  Add(graph, "two", {p}, {q});
  const Status status = graph.TopologicalOrder().status();
  EXPECT_EQ(status.code(), StatusCode::kModel);
  EXPECT_EQ(status.message(), "the graph has a cycle: node 'one' (Add) -> node 'two' (Add) -> node 'one' (Add)");
}

TEST(GraphTest, ANodeThatReadsItselfIsACycle) {
  Graph graph;
  const ValueId p = Named(graph, "p");
  Add(graph, "", {p}, {p});
  EXPECT_EQ(graph.TopologicalOrder().status().message(), "the graph has a cycle: node #0 (Add) -> node #0 (Add)");
}

TEST(GraphTest, SubgraphsReadForTheNodeThatHoldsThem) {
  Graph graph;
  const ValueId x = Input(graph, "x");
  const ValueId t = Named(graph, "t");
  const NodeId nested = AddNested(graph, t, Named(graph, "y"));
  const NodeId maker = Add(graph, "maker", {x}, {t});
  EXPECT_EQ(*graph.TopologicalOrder(), (std::vector<NodeId>{maker, nested}));
  EXPECT_EQ(graph.Consumers()[static_cast<size_t>(t)], std::vector<NodeId>{nested});
  EXPECT_TRUE(graph.Verify().ok()) << graph.Verify().ToString();
  graph.ReplaceUses(t, x);
  EXPECT_TRUE(graph.Consumers()[static_cast<size_t>(t)].empty());
  EXPECT_EQ(graph.node(nested).Subgraph("then_branch")->value(0).outer_scope, x);
}

TEST(GraphTest, ConsumersCountEveryRead) {
  Backwards g;
  EXPECT_EQ(g.graph.Consumers()[static_cast<size_t>(g.x)], (std::vector<NodeId>{g.a, g.a}));
  g.graph.RemoveNode(g.a);
  EXPECT_TRUE(g.graph.Consumers()[static_cast<size_t>(g.x)].empty());
}

TEST(GraphTest, ReplaceUsesReachesInputsAndOutputs) {
  for (const bool readers_known : {false, true}) {
    Backwards g;
    if (readers_known) {
      g.graph.ReplaceUses(g.t, g.x, g.graph.Consumers()[static_cast<size_t>(g.t)]);
    } else {
      g.graph.ReplaceUses(g.t, g.x);
    }
    EXPECT_EQ(g.graph.node(g.b).inputs[0], g.x);
    g.graph.ReplaceUses(g.y, g.t);
    EXPECT_TRUE(g.graph.IsOutput(g.t));
    EXPECT_FALSE(g.graph.IsOutput(g.y));
    EXPECT_TRUE(g.graph.Verify().ok());
  }
}

TEST(GraphTest, VerifyNamesWhatIsWrong) {
  Backwards g;
  g.graph.RemoveNode(g.a);
  EXPECT_EQ(g.graph.Verify().message(), "graph is inconsistent: node 'b' (Add) reads value 't', which nobody makes");
  Backwards h;
  h.graph.value(h.y).producer = h.a;
  EXPECT_NE(h.graph.Verify().message().find("value 'y'"), std::string::npos);
  Backwards i;
  i.graph.node(i.a).inputs[0] = 99;
  EXPECT_NE(i.graph.Verify().message().find("is not there"), std::string::npos);
  Backwards j;
  j.graph.outputs = {-5};
  EXPECT_FALSE(j.graph.Verify().ok());
  Backwards k;
  k.graph.value(k.x).outer_scope = -7;
  EXPECT_FALSE(k.graph.Verify().ok());
}

TEST(GraphTest, ANameThatTheFileDoesNotDefineIsNoFaultOfARewrite) {
  Graph graph;
  Value value;
  value.name = "undefined";
  value.type.kind = ValueKind::kUnknown;
  Add(graph, "reads", {graph.AddValue(std::move(value))}, {Named(graph, "y")});
  EXPECT_TRUE(graph.Verify().ok());
}

TEST(GraphTest, VerifyLooksIntoSubgraphs) {
  Graph graph;
  const ValueId x = Input(graph, "x");
  const NodeId nested = AddNested(graph, x, Named(graph, "y"));
  graph.node(nested).Subgraph("then_branch")->value(0).outer_scope = 77;
  const Status status = graph.Verify();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.context().size(), 1U);
}

TEST(GraphTest, CloneIsDeep) {
  Graph graph;
  const ValueId x = Input(graph, "x");
  const NodeId nested = AddNested(graph, x, Named(graph, "y"));
  Graph copy = graph.Clone();
  copy.node(nested).name = "other";
  copy.node(nested).Subgraph("then_branch")->name = "changed";
  copy.node(nested).Subgraph("then_branch")->node(0).Subgraph("then_branch")->name = "changed";
  EXPECT_EQ(graph.node(nested).name, "nested");
  EXPECT_EQ(graph.node(nested).Subgraph("then_branch")->name, "");
  EXPECT_EQ(graph.node(nested).Subgraph("then_branch")->node(0).Subgraph("then_branch")->name, "");
}

TEST(GraphTest, AWrongKindOfAttributeReadsAsAbsent) {
  Node node;
  node.Set("axis", int64_t{-1});
  node.Set("epsilon", 1e-5);
  node.Set("mode", std::string("linear"));
  node.Set("pads", std::vector<int64_t>{1, 2});
  EXPECT_EQ(node.Int("axis"), -1);
  EXPECT_FALSE(node.Int("epsilon"));
  EXPECT_FALSE(node.Float("axis"));
  EXPECT_EQ(node.Int("none", 3), 3);
  EXPECT_EQ(node.String("mode", "x"), "linear");
  EXPECT_EQ(node.String("axis", "x"), "x");
  EXPECT_EQ(node.Ints("pads"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(node.Subgraph("body"), nullptr);
}

TEST(GraphTest, NodesDescribeThemselves) {
  Node node;
  node.op_type = "Gelu";
  node.domain = "com.microsoft";
  EXPECT_EQ(node.Describe(12), "node #12 (com.microsoft.Gelu)");
  node.domain = "ai.onnx";
  node.name = "g";
  EXPECT_EQ(node.Describe(12), "node 'g' (Gelu)");
}

TEST(ModelTest, OpsetsOfTheDefaultDomainHaveTwoNames) {
  Model model;
  model.opset_imports = {{"ai.onnx", 17}, {"com.microsoft", 1}};
  EXPECT_EQ(model.opset(""), 17);
  EXPECT_EQ(model.opset("com.microsoft"), 1);
  EXPECT_EQ(model.opset("ai.onnx.ml"), 0);
}

TEST(ModelTest, SmallConstantsAreReadOnceAndLargeOnesNever) {
  Model model;
  int reads = 0;
  model.read_constant = [&reads](const Payload&, DataType, const std::vector<int64_t>&) {
    ++reads;
    return std::make_shared<const ConstantValue>();
  };
  const auto add = [&](Shape shape) {
    Value value;
    value.is_initializer = true;
    value.payload.where = Payload::Where::kRaw;
    value.type.shape = std::move(shape);
    return model.graph.AddValue(std::move(value));
  };
  const ValueId small = add({4});
  EXPECT_NE(ConstantOf(model, model.graph, small), nullptr);
  EXPECT_NE(ConstantOf(model, model.graph, small), nullptr);
  EXPECT_EQ(ConstantOf(model, model.graph, add({ConstantValue::kMaxElements + 1})), nullptr);
  EXPECT_EQ(ConstantOf(model, model.graph, add({Dim()})), nullptr);
  EXPECT_EQ(ConstantOf(model, model.graph, add({-3})), nullptr);
  EXPECT_EQ(reads, 1);
}

TEST(GraphPropertyTest, ARandomlyShuffledGraphIsOrderedInTime) {
  constexpr int32_t kNodes = 10000;
  Random random(3);
  Graph graph;
  std::vector<ValueId> values = {Input(graph, "x")};
  for (int32_t i = 0; i < kNodes; ++i) values.push_back(Named(graph, "v"));
  std::vector<int32_t> places;
  for (int32_t i = 1; i <= kNodes; ++i) places.push_back(i);
  random.Shuffle(places);
  for (const int32_t i : places) {
    const auto earlier = [&] { return values[static_cast<size_t>(random.Int(std::max(0, i - 50), i - 1))]; };
    Add(graph, "n", {earlier(), earlier()}, {values[static_cast<size_t>(i)]});
  }
  const auto start = std::chrono::steady_clock::now();
  const auto order = graph.TopologicalOrder();
  ASSERT_TRUE(order.ok());
  EXPECT_TRUE(graph.Verify().ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  std::vector<bool> done(static_cast<size_t>(kNodes));
  for (const NodeId n : *order) {
    for (const ValueId v : graph.node(n).inputs) {
      const NodeId producer = graph.value(v).producer;
      EXPECT_TRUE(producer == kNoNode || done[static_cast<size_t>(producer)]);
    }
    done[static_cast<size_t>(n)] = true;
  }
  EXPECT_EQ(order->size(), static_cast<size_t>(kNodes));
}

TEST(GraphTest, ALongChainDoesNotOverflowTheStack) {
  Graph graph;
  ValueId v = Named(graph, "ring");
  const ValueId first = v;
  for (int i = 0; i < 200000; ++i) {
    const ValueId next = Named(graph, "");
    Add(graph, "", {v}, {next});
    v = next;
  }
  EXPECT_TRUE(graph.TopologicalOrder().ok());
  Add(graph, "", {v}, {first});
  const Status status = graph.TopologicalOrder().status();
  EXPECT_NE(status.message().find("(200001 nodes)"), std::string::npos) << status.message();
}

// A minute and more, if each output were looked for among all.
TEST(GraphTest, ANodeWithManyOutputsIsVerifiedInTime) {
  constexpr int kOutputs = 400'000;
  Graph g;
  Node split;
  split.op_type = "Split";
  for (int i = 0; i < kOutputs; ++i) split.outputs.push_back(g.AddValue({}));
  g.AddNode(std::move(split));
  EXPECT_TRUE(g.Verify().ok());
}

}  // namespace
}  // namespace simpred
