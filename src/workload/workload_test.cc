// Lowering, canonical attributes, memory, and the file format.
#include "workload/workload.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

// x[1,4,8,8] -> Relu -> a -> Add(a, x) -> y
Model ResidualModel() {
  Model m;
  m.opset_imports[""] = 17;
  const auto value = [&](const char* name) {
    Value v;
    v.name = name;
    v.type.dtype = DataType::kFloat32;
    v.type.shape = Shape{1, 4, 8, 8};
    return m.graph.AddValue(v);
  };
  const ValueId x = value("x"), a = value("a"), y = value("y");
  m.graph.value(x).is_graph_input = true;
  m.graph.inputs = {x};
  m.graph.outputs = {y};
  Node relu;
  relu.op_type = "Relu";
  relu.inputs = {x};
  relu.outputs = {a};
  m.graph.AddNode(relu);
  Node add;
  add.op_type = "Add";
  add.name = "sum";
  add.inputs = {a, x};
  add.outputs = {y};
  m.graph.AddNode(add);
  return m;
}

TEST(Workload, KernelsHaveNamesEdgesAndMemory) {
  Model m = ResidualModel();
  const Result<Workload> w = Lower(m);
  ASSERT_TRUE(w.ok()) << w.status().ToString();
  ASSERT_EQ(w.value().kernels.size(), 2U);
  EXPECT_EQ(w.value().kernels[0].name, "Relu");
  EXPECT_EQ(w.value().kernels[1].inputs_from, (std::vector<int32_t>{0}));
  EXPECT_EQ(w.value().weights, Bytes(0));
  EXPECT_EQ(w.value().peak_activations, Bytes(3 * 4 * 8 * 8 * 4));  // x, a and y live while the sum is made
}

// A minute and more, if each name were looked for from the first number on.
TEST(Workload, ManyNodesWithoutANameAreNamedInTime) {
  constexpr int kNodes = 60'000;
  Model m = ResidualModel();
  ValueId last = m.graph.outputs[0];
  for (int i = 0; i < kNodes; ++i) {
    Node relu;
    relu.op_type = "Relu";
    relu.inputs = {last};
    last = m.graph.AddValue(m.graph.value(0));
    m.graph.value(last).is_graph_input = false;
    relu.outputs = {last};
    m.graph.AddNode(relu);
  }
  m.graph.outputs = {last};
  const Result<Workload> w = Lower(m);
  ASSERT_TRUE(w.ok()) << w.status().ToString();
  EXPECT_EQ(w.value().kernels.back().name, "Relu#60000");
}

TEST(Workload, SignatureTellsShapesApart) {
  Model m = ResidualModel();
  const Result<Workload> w = Lower(m);
  ASSERT_TRUE(w.ok());
  Kernel other = w.value().kernels[1];
  EXPECT_EQ(SignatureOf(other), w.value().kernels[1].signature);
  other.inputs[0].dims[1] = 5;
  EXPECT_NE(SignatureOf(other), w.value().kernels[1].signature);
}

TEST(Workload, OpenDimensionIsAnErrorWithTheSymbol) {
  Model m = ResidualModel();
  m.graph.value(1).type.shape = Shape{Dim::Symbol("batch"), 4, 8, 8};
  const Result<Workload> w = Lower(m);
  ASSERT_FALSE(w.ok());
  EXPECT_EQ(w.status().code(), StatusCode::kModel);
  EXPECT_NE(std::string(w.status().hint()).find("batch"), std::string::npos);
}

TEST(Workload, JsonReadsBackTheSame) {
  Model m = ResidualModel();
  const Result<Workload> w = Lower(m);
  ASSERT_TRUE(w.ok());
  const std::string text = ToJson(w.value());
  const Result<Workload> back = WorkloadFromJson(text);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(ToJson(back.value()), text);
  EXPECT_EQ(back.value().kernels[1].signature, w.value().kernels[1].signature);
}

TEST(Workload, WrongJsonIsRefused) {
  EXPECT_FALSE(WorkloadFromJson("").ok());
  EXPECT_FALSE(WorkloadFromJson("[1, 2]").ok());
  EXPECT_FALSE(WorkloadFromJson(R"({"schema": "sim_predict.workload/2"})").ok());
}

}  // namespace
}  // namespace simpred
