#include "calibrate/generate.h"

#include <gtest/gtest.h>

#include <set>

#include "frontend/onnx/onnx.h"
#include "operators/infer.h"
#include "workload/workload.h"

namespace simpred {
namespace {

TEST(Generate, TheSameSeedGivesTheSameBytesAndAnotherSeedDoesNot) {
  EXPECT_EQ(GenerateKernel(7, 3).onnx, GenerateKernel(7, 3).onnx);
  EXPECT_NE(GenerateKernel(7, 3).onnx, GenerateKernel(8, 3).onnx);
  EXPECT_EQ(GenerateNetwork(7, 3).onnx, GenerateNetwork(7, 3).onnx);
  EXPECT_NE(GenerateNetwork(7, 3).onnx, GenerateNetwork(7, 4).onnx);
}

TEST(Generate, NamesAreUnique) {
  std::set<std::string> names;
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(names.insert(GenerateKernel(1, i).name).second);
    EXPECT_TRUE(names.insert(GenerateNetwork(1, i).name).second);
  }
}

// Everything that is generated can be read, has static shapes everywhere, and is made of kernels that have a cost.
void ExpectWellFormed(const GeneratedModel& g) {
  SCOPED_TRACE(g.name);
  auto model = ReadOnnxBytes(g.onnx, g.name);
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  auto report = InferShapes(*model, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->outputs_static, report->outputs_total);
  EXPECT_TRUE(report->operators_without_rule.empty());
  auto workload = Lower(*model);
  ASSERT_TRUE(workload.ok()) << workload.status().ToString();
  EXPECT_FALSE(workload->kernels.empty());
  for (const Kernel& k : workload->kernels) EXPECT_TRUE(k.has_rule) << k.type;
}

TEST(Generate, KernelsAreWellFormed) {
  for (int64_t i = 0; i < 300; ++i) ExpectWellFormed(GenerateKernel(1, i));
}

TEST(Generate, NetworksAreWellFormed) {
  for (int64_t i = 0; i < 40; ++i) ExpectWellFormed(GenerateNetwork(1, i));
}

}  // namespace
}  // namespace simpred
