// For rules: a graph in which the rule fires and one in which it must not.
#include "fusion/fusion.h"

#include <gtest/gtest.h>

#include <map>

#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/onnx.h"
#include "operators/infer.h"
#include "workload/workload.h"

namespace simpred {
namespace {

using Ints = ModelBuilder::Ints;

std::map<std::string, int> Kernels(const ModelBuilder& b, FusionLevel level, std::set<std::string> off = {}) {
  std::map<std::string, int> count;
  Result<Model> model = ReadOnnxBytes(b.Serialize());
  EXPECT_TRUE(model.ok());
  if (!model.ok()) return count;
  EXPECT_TRUE(InferShapes(model.value(), {}).ok());
  FusionOptions options;
  options.level = level;
  options.off = std::move(off);
  Result<FusionReport> report = Fuse(model.value(), OnnxRuntimeRules(), options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  Result<Workload> w = Lower(model.value());
  EXPECT_TRUE(w.ok()) << w.status().ToString();
  if (!w.ok()) return count;
  for (const Kernel& k : w.value().kernels) ++count[k.type];
  return count;
}

using Counts = std::map<std::string, int>;

// Conv -> Relu of `channels`, the Conv read twice if `shared`.
ModelBuilder ConvRelu(int64_t channels, bool shared) {
  ModelBuilder b(17);
  const auto x = b.Input("x", DataType::kFloat32, {1, 3, 32, 32});
  const auto y = b.Op("Conv", {x, b.Weight({channels, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  b.Output(b.Op("Relu", {y}));
  if (shared) b.Output(b.Op("Tanh", {y}));
  return b;
}

TEST(Fusion, OffChangesNothing) {
  EXPECT_EQ(Kernels(ConvRelu(16, false), FusionLevel::kOff), (Counts{{"Conv", 1}, {"Relu", 1}}));
}

TEST(Fusion, ConvTakesActivationOfItsOnlyReader) {
  EXPECT_EQ(Kernels(ConvRelu(16, false), FusionLevel::kExtended), (Counts{{"com.microsoft.FusedConv", 1}}));
  EXPECT_EQ(Kernels(ConvRelu(16, true), FusionLevel::kExtended), (Counts{{"Conv", 1}, {"Relu", 1}, {"Tanh", 1}}));
}

TEST(Fusion, RuleCanBeSwitchedOff) {
  EXPECT_EQ(Kernels(ConvRelu(16, false), FusionLevel::kExtended, {"conv-activation"}),
            (Counts{{"Conv", 1}, {"Relu", 1}}));
}

TEST(Fusion, FirstConvReadsThePlainLayout) {
  EXPECT_EQ(Kernels(ConvRelu(16, false), FusionLevel::kAll),
            (Counts{{"com.microsoft.nchwc.Conv", 1}, {"com.microsoft.nchwc.ReorderOutput", 1}}));
}

TEST(Fusion, MatMulAddBecomesGemmOnlyWithABias) {
  const auto build = [](const Ints& bias) {
    ModelBuilder b(17);
    const auto x = b.Input("x", DataType::kFloat32, {4, 8});
    b.Output(b.Op("Add", {b.Op("MatMul", {x, b.Weight({8, 16})}), b.Weight(bias)}));
    return b;
  };
  EXPECT_EQ(Kernels(build({16}), FusionLevel::kBasic), (Counts{{"Gemm", 1}}));
  EXPECT_EQ(Kernels(build({2, 4, 16}), FusionLevel::kBasic), (Counts{{"MatMul", 1}, {"Add", 1}}));
}

TEST(Fusion, OppositeTransposesCancel) {
  const auto build = [](const Ints& second) {
    ModelBuilder b(17);
    const auto x = b.Input("x", DataType::kFloat32, {2, 3, 4});
    const auto t = b.Op("Transpose", {x}, {{"perm", Ints{1, 2, 0}}});
    b.Output(b.Op("Transpose", {b.Op("Relu", {t})}, {{"perm", second}}));
    return b;
  };
  EXPECT_EQ(Kernels(build({2, 0, 1}), FusionLevel::kBasic), (Counts{{"Relu", 1}}));
  EXPECT_EQ(Kernels(build({1, 2, 0}), FusionLevel::kBasic), (Counts{{"Relu", 1}, {"Transpose", 1}}));
}

// A rule that removes the Relu and lets its readers hang.
FusionRule BrokenRule() {
  FusionRule rule;
  rule.name = "broken";
  rule.level = FusionLevel::kBasic;
  rule.apply = [](Model& model, FusionContext&) -> Result<int> {
    for (NodeId n = 0; n < model.graph.node_count(); ++n)
      if (model.graph.node(n).alive && model.graph.node(n).Is("Relu")) {
        model.graph.RemoveNode(n);
        return 1;
      }
    return 0;
  };
  return rule;
}

TEST(Fusion, RuleThatBreaksTheGraphIsUndoneWithAWarning) {
  Result<Model> model = ReadOnnxBytes(ConvRelu(16, false).Serialize());
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(InferShapes(*model, {}).ok());
  std::vector<FusionRule> rules = OnnxRuntimeRules();
  rules.insert(rules.begin(), BrokenRule());
  const Result<FusionReport> report = Fuse(*model, rules, {.level = FusionLevel::kExtended});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->failed, (std::vector<std::string>{"broken"}));
  ASSERT_EQ(model->warnings.size(), 1U);
  EXPECT_NE(model->warnings[0].text.find("broken"), std::string::npos);
  const Result<Workload> w = Lower(*model);
  ASSERT_TRUE(w.ok());
  EXPECT_EQ(w->kernels.size(), 1U);  // the other rules still made a FusedConv
}

// x -> Reshape to [its batch, 8]; the batch has this name ("" for none) in the file.
size_t KernelsWithBatchCalled(const std::string& batch) {
  ModelBuilder b(17);
  const auto x =
      b.Input("x", DataType::kFloat32, {batch.empty() ? ModelBuilder::DimSpec(int64_t{-1}) : batch, int64_t{8}});
  const auto size = b.Op("Gather", {b.Op("Shape", {x}), b.ConstantInts({0})});
  const auto doubled = b.Op("Add", {size, size});
  b.Output(b.Op("Expand", {b.Weight({1, 1}), b.Op("Concat", {doubled, b.ConstantInts({8})}, {{"axis", int64_t{0}}})}));
  Result<Model> model = ReadOnnxBytes(b.Serialize());
  EXPECT_TRUE(model.ok());
  const InferOptions binding = {.input_shapes = {{"x", Shape{4, 8}}}};
  EXPECT_TRUE(InferShapes(*model, binding).ok());
  FusionOptions options;
  options.binding = &binding;
  EXPECT_TRUE(Fuse(*model, OnnxRuntimeRules(), options).ok());
  const Result<Workload> w = Lower(*model);
  EXPECT_TRUE(w.ok()) << w.status().ToString();
  return w.ok() ? w->kernels.size() : 0;
}

TEST(Fusion, RuntimeFoldsOnlyShapesThatItKnows) {
  EXPECT_EQ(KernelsWithBatchCalled("N"), 0U);  // everything is a constant
  EXPECT_EQ(KernelsWithBatchCalled(""), 5U);   // Shape, Gather, Add, Concat, Expand
}

}  // namespace
}  // namespace simpred
