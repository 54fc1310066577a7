// Do shapes and small values flow through whole models? Dynamic sizes, binding, functions, subgraphs, wrong use.
#include "operators/infer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/onnx.h"

namespace simpred {
namespace {

using Ints = ModelBuilder::Ints;

Model Read(const ModelBuilder& b) {
  Result<Model> m = ReadOnnxBytes(b.Serialize());
  EXPECT_TRUE(m.ok()) << m.status().ToString();
  return std::move(*m);
}

std::string OutputShape(const Model& m, size_t i = 0) {
  return m.graph.value(m.graph.outputs.at(i)).type.shape.ToString();
}

std::string InferredOutput(Model& m, const InferOptions& options = {}) {
  Result<InferReport> r = InferShapes(m, options);
  return r.ok() ? OutputShape(m) : "error: " + r.status().ToString();
}

// Flatten by hand, as exporters of dynamic models write it: Shape -> Gather -> Concat -> Reshape.
ModelBuilder DynamicFlatten() {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{64}, int64_t{7}, int64_t{7}});
  const auto batch = b.Op("Gather", {b.Op("Shape", {x}), b.ConstantInts({0})}, {{"axis", int64_t{0}}});
  const auto target = b.Op("Concat", {batch, b.ConstantInts({-1})}, {{"axis", int64_t{0}}});
  b.Output(b.Op("Reshape", {x, target}));
  return b;
}

TEST(Infer, SymbolsFlowThroughShapeArithmetic) {
  Model m = Read(DynamicFlatten());
  EXPECT_EQ(InferredOutput(m), "[N, 3136]");
}

TEST(Infer, SymbolsAreBoundByNameOrByShape) {
  for (const InferOptions& o :
       {InferOptions{.symbols = {{"N", 8}}}, InferOptions{.input_shapes = {{"x", Shape{8, 64, 7, 7}}}},
        InferOptions{.input_shapes = {{"", Shape{8, 64, 7, 7}}}}}) {
    Model m = Read(DynamicFlatten());
    EXPECT_EQ(InferredOutput(m, o), "[8, 3136]");
  }
}

TEST(Infer, ReportsWhatMayBeBound) {
  Model m = Read(DynamicFlatten());
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->free_symbols, std::set<std::string>{"N"});
  EXPECT_EQ(r->outputs_total, 4);
  EXPECT_EQ(r->outputs_static, 3);
  EXPECT_TRUE(r->stops.empty());
  Model bound = Read(DynamicFlatten());
  r = InferShapes(bound, {.symbols = {{"N", 2}}});
  ASSERT_TRUE(r.ok());
  EXPECT_TRUE(r->free_symbols.empty());
  EXPECT_EQ(r->outputs_static, 4);
}

TEST(Infer, TheFileIsNotRewritten) {
  Model m = Read(DynamicFlatten());
  EXPECT_EQ(InferredOutput(m, {.symbols = {{"N", 8}}}), "[8, 3136]");
  EXPECT_EQ(InferredOutput(m, {.symbols = {{"N", 3}}}), "[3, 3136]");
  EXPECT_EQ(InferredOutput(m), "[N, 3136]");
}

TEST(Infer, UnnamedDimensionsGetNames) {
  Model m = Read(DynamicFlatten());
  Value& x = m.graph.value(m.graph.inputs[0]);
  x.declared.shape = Shape{Dim::Unknown(), 64, 7, Dim(-1)};
  EXPECT_EQ(InferredOutput(m), "[x.0, 448*x.3]");
  EXPECT_EQ(InferredOutput(m, {.symbols = {{"x.0", 2}, {"x.3", 7}}}), "[2, 3136]");
}

TEST(Infer, InterpolationTargetsComputedFromShapes) {
  ModelBuilder b(13);
  const auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{8}, "H", "W"});
  const auto shape = b.Op("Shape", {x});
  auto doubled = [&](int64_t axis) {
    const auto d = b.Op("Gather", {shape, b.ConstantInts({axis})}, {{"axis", int64_t{0}}});
    return b.Op("Mul", {d, b.ConstantInts({2})});
  };
  const auto head = b.Op("Slice", {shape, b.ConstantInts({0}), b.ConstantInts({2})});
  const auto sizes = b.Op("Concat", {head, doubled(2), doubled(3)}, {{"axis", int64_t{0}}});
  b.Output(b.Op("Resize", {x, "", "", sizes}, {{"mode", std::string("nearest")}}));
  Model m = Read(b);
  EXPECT_EQ(InferredOutput(m), "[N, 8, 2*H, 2*W]");
}

// --- Wrong use -----------------------------------------------------------------------------------------------------

TEST(Infer, UnknownInputNamesTheNearest) {
  Model m = Read(DynamicFlatten());
  Result<InferReport> r = InferShapes(m, {.input_shapes = {{"xx", Shape{1, 64, 7, 7}}}});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), StatusCode::kUsage);
  EXPECT_NE(r.status().ToString().find("did you mean 'x'?"), std::string::npos) << r.status().ToString();
}

TEST(Infer, ContradictionsNameInputShapesAndAxis) {
  for (const Shape& given : {Shape{1, 3, 7, 7}, Shape{1, 64, 7}, Shape{-1, 64, 7, 7}}) {
    Model m = Read(DynamicFlatten());
    Result<InferReport> r = InferShapes(m, {.input_shapes = {{"x", given}}});
    ASSERT_FALSE(r.ok()) << given.ToString();
    EXPECT_EQ(r.status().code(), StatusCode::kUsage);
    EXPECT_NE(r.status().ToString().find("'x'"), std::string::npos);
    EXPECT_NE(r.status().ToString().find(given.ToString()), std::string::npos) << r.status().ToString();
  }
}

TEST(Infer, OneSymbolHasOneValue) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{4}});
  const auto y = b.Input("y", DataType::kFloat32, {"N", int64_t{4}});
  b.Output(b.Op("Add", {x, y}));
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {.input_shapes = {{"x", Shape{2, 4}}, {"y", Shape{3, 4}}}});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().ToString().find("'N', which is 2 elsewhere"), std::string::npos) << r.status().ToString();
  // One of them is enough for both.
  Model half = Read(b);
  EXPECT_EQ(InferredOutput(half, {.input_shapes = {{"x", Shape{2, 4}}}}), "[2, 4]");
}

TEST(Infer, AListNeedsOneInput) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{4}});
  const auto y = b.Input("y", DataType::kFloat32, {int64_t{4}});
  b.Output(b.Op("Add", {x, y}));
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {.input_shapes = {{"", Shape{4}}}});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().ToString().find("2 inputs: x, y"), std::string::npos);
}

TEST(Infer, AMisspeltSymbolWarns) {
  Model m = Read(DynamicFlatten());
  Result<InferReport> r = InferShapes(m, {.symbols = {{"M", 2}}});
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r->warnings.size(), 1U);
  EXPECT_NE(r->warnings[0].text.find("did you mean 'N'?"), std::string::npos) << r->warnings[0].text;
}

TEST(Infer, RuleErrorsNameTheNode) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{6}});
  b.Output(b.Op("Reshape", {x, b.ConstantInts({4, 2})}));
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), StatusCode::kModel);
  EXPECT_NE(r.status().ToString().find("cannot reshape [6] (6 elements) to [4, 2]"), std::string::npos);
  EXPECT_NE(r.status().ToString().find("(Reshape)"), std::string::npos);
}

// --- What is not known ---------------------------------------------------------------------------------------------

TEST(Infer, AnOperatorWithoutRuleIsTheRootCause) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{6}});
  const auto y = b.Op("Mystery", {x}, {}, "my.domain");
  b.Output(b.Op("Relu", {b.Op("Relu", {y})}));
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->operators_without_rule, std::vector<std::string>{"my.domain.Mystery"});
  ASSERT_EQ(r->stops.size(), 1U);
  EXPECT_EQ(r->stops[0].reason, "operator my.domain.Mystery has no shape rule");
}

TEST(Infer, DeclaredTypesHelpWhereNoRuleDoes) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{6}});
  b.Output(b.Op("Mystery", {x}, {}, "my.domain"), DataType::kFloat32, {"N", int64_t{9}});
  Model m = Read(b);
  EXPECT_EQ(InferredOutput(m, {.symbols = {{"N", 5}}}), "[5, 9]");
}

TEST(Infer, ADeclaredShapeThatIsWrongLoses) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{6}});
  b.Output(b.Op("Relu", {x}), DataType::kFloat32, {int64_t{7}});
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(OutputShape(m), "[6]");
  ASSERT_EQ(r->warnings.size(), 1U);
  EXPECT_NE(r->warnings[0].text.find("declared as [7], but is [6]"), std::string::npos);
}

TEST(Infer, ARunTimeShapeSaysWhatItNeeds) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{6}});
  const auto s = b.Input("s", DataType::kInt64, {int64_t{2}});
  b.Output(b.Op("Reshape", {x, s}));
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(OutputShape(m), "[?, ?]");
  ASSERT_EQ(r->stops.size(), 1U);
  EXPECT_EQ(r->stops[0].reason, "needs the value of input #1 's', which is an input of the model");
}

TEST(Infer, DataDependentSizesAreSymbolsWithABound) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{4}, int64_t{5}});
  b.Output(b.Op("Transpose", {b.Op("NonZero", {x})}));
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(OutputShape(m), "[nonzero_0, 2]");
  EXPECT_EQ(r->data_dependent.at("nonzero_0"), Dim(20));
  EXPECT_EQ(r->free_symbols, std::set<std::string>{"nonzero_0"});
  EXPECT_EQ(InferredOutput(m, {.symbols = {{"nonzero_0", 7}}}), "[7, 2]");
  r = InferShapes(m, {.assume_upper_bounds = true});
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(OutputShape(m), "[20, 2]");
  const bool said = std::any_of(r->warnings.begin(), r->warnings.end(), [](const Warning& w) {
    return w.text.find("its upper bound 20 is assumed") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

// --- Functions and subgraphs ---------------------------------------------------------------------------------------

Value Named(std::string name, DataType t = DataType::kUndefined, Shape shape = {}) {
  Value v;
  v.name = std::move(name);
  v.type.dtype = t;
  v.type.shape = std::move(shape);
  return v;
}

// f(a) = Concat(a, a) along attribute `along`
FunctionDef Doubling() {
  FunctionDef f;
  f.domain = "local";
  f.name = "Double";
  f.inputs = {"a"};
  f.outputs = {"r"};
  f.attributes = {"along"};
  f.body = std::make_shared<Graph>();
  const ValueId a = f.body->AddValue(Named("a"));
  const ValueId r = f.body->AddValue(Named("r"));
  Node n;
  n.op_type = "Concat";
  n.inputs = {a, a};
  n.outputs = {r};
  n.attributes["axis"].reference = "along";
  f.body->AddNode(std::move(n));
  f.body->inputs = {a};
  f.body->outputs = {r};
  return f;
}

Model CallsDoubling(int times) {
  ModelBuilder b(17);
  auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{3}});
  for (int i = 0; i < times; ++i) x = b.Op("Double", {x}, {{"along", int64_t{1}}}, "local");
  b.Output(x);
  Model m = Read(b);
  m.functions.push_back(Doubling());
  return m;
}

TEST(Infer, FunctionsAreInlined) {
  Model m = CallsDoubling(3);
  EXPECT_EQ(InferredOutput(m), "[N, 24]");
  EXPECT_TRUE(m.graph.Verify().ok()) << m.graph.Verify().ToString();
  int alive = 0;
  for (NodeId id = 0; id < m.graph.node_count(); ++id) {
    if (!m.graph.node(id).alive) continue;
    ++alive;
    EXPECT_EQ(m.graph.node(id).op_type, "Concat");
  }
  EXPECT_EQ(alive, 3);
}

TEST(Infer, FunctionsHaveDefaultsForWhatACallLeavesOut) {
  ModelBuilder b(17);
  auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{3}});
  x = b.Op("Double", {x}, {}, "local");                       // along the default axis 0
  x = b.Op("Double", {x}, {{"along", int64_t{1}}}, "local");  // as it says
  b.Output(x);
  Model m = Read(b);
  m.functions.push_back(Doubling());
  m.functions.back().attribute_defaults["along"].value = int64_t{0};
  EXPECT_EQ(InferredOutput(m), "[2*N, 6]");
}

TEST(Infer, LargeFunctionsCalledOftenAreBounded) {
  Model many_values = CallsDoubling(1000);
  for (int i = 0; i < 10'000; ++i) many_values.functions[0].body->AddValue(Named("unused"));
  Model large_attribute = CallsDoubling(1000);
  large_attribute.functions[0].body->node(0).Set("padding", std::vector<int64_t>(100'000));
  for (Model* m : {&many_values, &large_attribute}) {
    Result<InferReport> r = InferShapes(*m, {});
    ASSERT_FALSE(r.ok());
    EXPECT_NE(r.status().ToString().find("expand to more than"), std::string::npos) << r.status().ToString();
  }
}

TEST(Infer, RecursionIsRefused) {
  Model m = CallsDoubling(1);
  Node call;
  call.domain = "local";
  call.op_type = "Double";
  call.inputs = {m.functions[0].body->outputs[0]};
  call.outputs = {m.functions[0].body->AddValue(Named("again"))};
  m.functions[0].body->AddNode(std::move(call));
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().ToString().find("calls itself"), std::string::npos) << r.status().ToString();
}

TEST(Infer, FunctionsThatMultiplyAreBounded) {
  Model m = CallsDoubling(1);
  m.functions.clear();
  constexpr int kLevels = 40;  // each calls the next twice: 2^40 nodes
  for (int level = 0; level < kLevels; ++level) {
    FunctionDef f = Doubling();
    f.name = level == 0 ? "Double" : fmt::format("f{}", level);
    f.body = std::make_shared<Graph>();
    ValueId v = f.body->AddValue(Named("a"));
    f.body->inputs = {v};
    for (int i = 0; i < 2; ++i) {
      Node n;
      n.domain = "local";
      n.op_type = fmt::format("f{}", level + 1);
      n.inputs = {v};
      v = f.body->AddValue(Named(fmt::format("v{}", i)));
      n.outputs = {v};
      f.body->AddNode(std::move(n));
    }
    f.body->outputs = {v};
    m.functions.push_back(std::move(f));
  }
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.status().ToString().find("expand to more than"), std::string::npos) << r.status().ToString();
}

// Loop(trips) { state = Concat(state, state); scanned = state }
Model LoopModel(const ConstantValue& trips) {
  Model m;
  m.opset_imports[""] = 17;
  Graph& g = m.graph;
  const ValueId init = g.AddValue(Named("init", DataType::kFloat32, Shape{4}));
  g.value(init).is_graph_input = true;
  g.inputs = {init};
  Value count = Named("count", DataType::kInt64, Shape::Scalar());
  count.is_initializer = true;
  count.constant = std::make_shared<const ConstantValue>(trips);
  const ValueId m_value = g.AddValue(std::move(count));
  auto body = std::make_shared<Graph>();
  const ValueId i = body->AddValue(Named("i"));
  const ValueId cond = body->AddValue(Named("cond"));
  const ValueId state = body->AddValue(Named("state"));
  const ValueId same = body->AddValue(Named("cond_out"));
  const ValueId next = body->AddValue(Named("next"));
  body->inputs = {i, cond, state};
  Node identity;
  identity.op_type = "Identity";
  identity.inputs = {cond};
  identity.outputs = {same};
  body->AddNode(std::move(identity));
  Node relu;
  relu.op_type = "Relu";
  relu.inputs = {state};
  relu.outputs = {next};
  body->AddNode(std::move(relu));
  body->outputs = {same, next, next};
  Node loop;
  loop.op_type = "Loop";
  loop.name = "loop";
  loop.inputs = {m_value, kNoValue, init};
  const ValueId last = g.AddValue(Named("last"));
  const ValueId stacked = g.AddValue(Named("stacked"));
  loop.outputs = {last, stacked};
  loop.attributes["body"].value = body;
  g.AddNode(std::move(loop));
  g.outputs = {last, stacked};
  return m;
}

TEST(Infer, LoopsStackTheirScanOutputs) {
  ConstantValue trips;
  trips.dtype = DataType::kInt64;
  trips.ints = {Dim(10)};
  Model m = LoopModel(trips);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_EQ(OutputShape(m, 0), "[4]");
  EXPECT_EQ(OutputShape(m, 1), "[10, 4]");
  Model given = LoopModel(trips);
  ASSERT_TRUE(InferShapes(given, {.trip_counts = {{"loop", 3}}}).ok());
  EXPECT_EQ(OutputShape(given, 1), "[3, 4]");
}

TEST(Infer, LongChainsNeedNoStack) {
  ModelBuilder b(17);
  auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{3}});
  for (int i = 0; i < 20000; ++i) x = b.Op("Identity", {x});
  b.Output(x);
  Model m = Read(b);
  EXPECT_EQ(InferredOutput(m), "[N, 3]");
}

// --- Files that want to fill the memory ----------------------------------------------------------------------------

TEST(Infer, RanksAreBounded) {
  ModelBuilder b(17);
  auto x = b.Input("x", DataType::kFloat32, {int64_t{3}});
  std::vector<int64_t> axes(60);
  std::iota(axes.begin(), axes.end(), 0);
  for (int i = 0; i < 2; ++i) x = b.Op("Unsqueeze", {x, b.ConstantInts(axes, {60})});
  b.Output(x);
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), StatusCode::kModel);
  EXPECT_NE(r.status().ToString().find("121 dimensions; at most 64"), std::string::npos) << r.status().ToString();
}

TEST(Infer, CopiesOfConstantsAreBounded) {
  ModelBuilder b(17);
  const auto big = b.ConstantInts(std::vector<int64_t>(4096, 1), {4096});
  for (int i = 0; i < 2000; ++i) b.Output(b.Op("Identity", {big}), DataType::kInt64, {int64_t{4096}});
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  int64_t kept = 0;
  for (ValueId v = 0; v < m.graph.value_count(); ++v) {
    const Value& value = m.graph.value(v);
    if (value.constant && !value.is_initializer) kept += static_cast<int64_t>(value.constant->size());
  }
  EXPECT_LE(kept, 4'000'000);
  EXPECT_GT(kept, 3'900'000);
  EXPECT_EQ(OutputShape(m, 1999), "[4096]");
}

TEST(Infer, WarningsAreBounded) {
  ModelBuilder b(17);
  auto x = b.Input("x", DataType::kFloat32, {int64_t{3}});
  for (int i = 0; i < 1000; ++i) b.Output(b.Op("Relu", {x}), DataType::kFloat32, {int64_t{4}});  // declared wrongly
  Model m = Read(b);
  Result<InferReport> r = InferShapes(m, {});
  ASSERT_TRUE(r.ok()) << r.status().ToString();
  EXPECT_LE(r->warnings.size(), 201U);
  EXPECT_EQ(r->warnings.back().text, "800 further warnings");
}

}  // namespace
}  // namespace simpred
