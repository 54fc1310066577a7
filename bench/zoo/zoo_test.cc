// Do the architectures have the layers, weights and work that were published?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "frontend/onnx/onnx.h"
#include "zoo/architectures.h"

namespace simpred::zoo {
namespace {

Model Build(std::string_view name, const Size& size) {
  for (const Architecture& a : AllArchitectures()) {
    if (a.name == name) return *ReadOnnxBytes(a.build(size).Serialize(), std::string(name));
  }
  ADD_FAILURE() << "no architecture " << name;
  return {};
}

int64_t WeightCount(const Model& m) {
  int64_t count = 0;
  for (ValueId v = 0; v < m.graph.value_count(); ++v) {
    const Value& value = m.graph.value(v);
    if (value.is_initializer && IsFloat(value.type.dtype)) count += value.type.shape.ElementCount().value();
  }
  return count;
}

TEST(Zoo, EveryArchitectureIsAConsistentModel) {
  std::set<std::string_view> names;
  std::set<std::string_view> families;
  for (const Architecture& a : AllArchitectures()) {
    // Hundreds of megabytes, same layers as the others.
    if (a.name == "vgg11" || a.name == "vgg16" || a.name == "alexnet") continue;
    const Result<Model> m = ReadOnnxBytes(a.build({1, a.resolution}).Serialize(), std::string(a.name));
    ASSERT_TRUE(m.ok()) << a.name << ": " << m.status().ToString();
    EXPECT_TRUE(m->warnings.empty()) << a.name << ": " << m->warnings[0].text;
    EXPECT_TRUE(m->graph.Verify().ok()) << a.name << ": " << m->graph.Verify().ToString();
    EXPECT_TRUE(names.insert(a.name).second) << a.name << " stands twice";
    families.insert(a.family);
  }
  EXPECT_GE(names.size(), 24U);
  EXPECT_GE(families.size(), 8U);
}

// Numbers of weights that torchvision's documentation lists. Folded BatchNormalization has 2 values a channel less.
struct Published {
  std::string_view name;
  double millions;
};
class PublishedWeights : public testing::TestWithParam<Published> {};
TEST_P(PublishedWeights, AreWithinTheFoldedNorms) {
  const Model m = Build(GetParam().name, {1, GetParam().name == "inception_v3" ? 299 : 224});
  const double millions = static_cast<double>(WeightCount(m)) / 1e6;
  EXPECT_NEAR(millions / GetParam().millions, 1.0, 0.015) << millions;
}
INSTANTIATE_TEST_SUITE_P(Torchvision, PublishedWeights,
                         testing::Values(Published{"alexnet", 61.10}, Published{"resnet18", 11.69},
                                         Published{"resnet50", 25.56}, Published{"squeezenet1_1", 1.24},
                                         Published{"densenet121", 7.98}, Published{"mobilenet_v2", 3.50},
                                         Published{"mobilenet_v3_large", 5.48}, Published{"mobilenet_v3_small", 2.54},
                                         Published{"efficientnet_b0", 5.29}, Published{"mnasnet1_0", 4.38},
                                         Published{"shufflenet_v2_x1_0", 2.28}, Published{"inception_v3", 23.83}));

TEST(Zoo, BatchIsInTheInput) {
  const Model m = Build("mobilenet_v3_small", {4, 160});
  EXPECT_EQ(m.graph.value(m.graph.inputs[0]).type.shape.ToString(), "[4, 3, 160, 160]");
}

TEST(Zoo, SameBytesEachTime) {
  for (const Architecture& a : AllArchitectures()) {
    if (a.name == "ds_cnn_kws" || a.name == "gru_enhancer") {
      EXPECT_EQ(a.build({1, a.resolution}).Serialize(), a.build({1, a.resolution}).Serialize());
    }
  }
}

}  // namespace
}  // namespace simpred::zoo
