#include "predict/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "predict/geometry.h"
#include "predict/test_kernels.h"

namespace simpred {
namespace {

using testing::Conv;
using testing::Cpu;
using testing::Elementwise;
using testing::Tensor;

std::string GroupOf(const Kernel& k) { return FeaturesOf(k, KernelContext::kInGraph, 1).group; }

double Feature(const Kernel& k, std::string_view name) {
  KernelFeatures f = FeaturesOf(k, KernelContext::kInGraph, 1);
  std::vector<std::string> names = FeatureNames(f.group);
  auto it = std::find(names.begin(), names.end(), name);
  EXPECT_NE(it, names.end()) << name;
  return f.values.at(static_cast<size_t>(it - names.begin()));
}

TEST(Features, ConvolutionsSplitByTheCodeThatRuns) {
  EXPECT_EQ(GroupOf(Conv(64, 64, 56, 3)), "conv-dense");
  EXPECT_EQ(GroupOf(Conv(64, 64, 56, 1)), "conv-pointwise");
  EXPECT_EQ(GroupOf(Conv(64, 64, 56, 1, "com.microsoft.nchwc.Conv")), "nchwc-pointwise");
  EXPECT_EQ(GroupOf(Conv(3, 64, 56, 3, "com.microsoft.nchwc.Conv")), "nchwc-first");
  Kernel depthwise = Conv(64, 64, 56, 3, "com.microsoft.nchwc.Conv");
  depthwise.attributes["group"] = "64";
  depthwise.inputs[1].dims = {64, 1, 3, 3};
  EXPECT_EQ(GroupOf(depthwise), "nchwc-depthwise");
}

TEST(Features, NamesAndValuesHaveTheSameLength) {
  std::vector<Kernel> kernels = {Conv(3, 8, 9, 3), Elementwise("Relu", 10), Elementwise("Add", 10)};
  for (int c = 0; c <= static_cast<int>(OperatorClass::kOther); ++c)
    for (const char* type : {"Softmax", "Transpose", "Concat", "ReduceMean", "com.microsoft.nchwc.ReorderInput", "LSTM",
                             "Einsum", "Gather", "MatMul"}) {
      Kernel k = Elementwise(type, 12);
      k.op_class = static_cast<OperatorClass>(c);
      kernels.push_back(k);
      k.inputs.clear();  // wrong use: nothing there
      k.outputs.clear();
      kernels.push_back(k);
    }
  for (const Kernel& k : kernels) {
    KernelFeatures f = FeaturesOf(k, KernelContext::kAloneWarm, 2);
    EXPECT_EQ(f.values.size(), FeatureNames(f.group).size()) << f.group;
    for (double v : f.values) EXPECT_TRUE(std::isfinite(v)) << f.group << " " << k.type;
    std::vector<std::string> groups = FeatureGroups();
    EXPECT_TRUE(std::binary_search(groups.begin(), groups.end(), f.group)) << f.group;
  }
}

TEST(Features, ProductOfGemmReadsTransposition) {
  Kernel k;
  k.type = "Gemm";
  k.op_class = OperatorClass::kMatMul;
  k.inputs = {Tensor({8, 32}), Tensor({100, 32}, true)};
  k.outputs = {Tensor({8, 100})};
  k.attributes = {{"transB", "1"}};
  ProductShape p = ProductOf(k);
  EXPECT_EQ(p.m, 8);
  EXPECT_EQ(p.n, 100);
  EXPECT_EQ(p.k, 32);
  EXPECT_TRUE(p.constant_b);
  k.inputs[0].dims = {1, 32};
  k.outputs[0].dims = {1, 100};
  EXPECT_EQ(GroupOf(k), "matmul-vector");
}

TEST(Features, TransposeThatKeepsTheLastAxisCopiesRuns) {
  Kernel k = Elementwise("Transpose", 1);
  k.op_class = OperatorClass::kDataMovement;
  k.inputs = {Tensor({1, 12, 64, 32})};
  k.outputs = {Tensor({1, 64, 12, 32})};
  k.attributes = {{"perm", "0,2,1,3"}};
  EXPECT_DOUBLE_EQ(Feature(k, "run_bytes"), std::log2(1 + 32 * 4.0));
  k.attributes = {{"perm", "0,1,3,2"}};
  EXPECT_DOUBLE_EQ(Feature(k, "run_bytes"), std::log2(1 + 4.0));
}

TEST(Roofline, IsTheSlowestOfComputeMemoryAndLaunch) {
  Kernel big = Conv(256, 256, 32, 3);
  EXPECT_NEAR(Roofline(big, Cpu(), 2) / Microseconds(1), big.work.flops.count() / 2e5, 1e-6);
  EXPECT_NEAR(Roofline(big, Cpu(), 1) / Roofline(big, Cpu(), 2), 2, 1e-9);
  EXPECT_EQ(BoundOf(big, Cpu(), 1), Bound::kCompute);
  Kernel wide = Elementwise("Relu", 1 << 22);
  EXPECT_NEAR(Roofline(wide, Cpu(), 1) / Seconds(1), static_cast<double>(wide.work.total().count()) / 1e10, 1e-9);
  EXPECT_EQ(BoundOf(wide, Cpu(), 1), Bound::kMemory);
  EXPECT_EQ(Roofline(Elementwise("Relu", 1), Cpu(), 1), Nanoseconds(300));
  EXPECT_EQ(BoundOf(Elementwise("Relu", 1), Cpu(), 1), Bound::kOverhead);
}

TEST(Roofline, ColdIsNeverFasterAndTheSameForWhatNoNearCacheHolds) {
  DeviceProfile d = Cpu();
  d.memory.insert(d.memory.begin() + 1, {"L3", Bytes(32 << 20), BytesPerSecond(2e10), true, ""});
  Kernel small = Elementwise("Relu", 100000), large = Elementwise("Relu", 1 << 20);
  EXPECT_NEAR(ColdRoofline(small, d, 1) / Roofline(small, d, 1), 2.5, 1e-9);
  EXPECT_EQ(ColdRoofline(large, d, 1), Roofline(large, d, 1));
}

TEST(Features, ViewsStandApartFromCopies) {
  Kernel k = Elementwise("Reshape", 100);
  k.op_class = OperatorClass::kView;
  EXPECT_EQ(GroupOf(k), "view");
}

TEST(Roofline, DeviceWithoutNumbersStillGivesATime) {
  DeviceProfile nothing;
  EXPECT_GT(Roofline(Conv(8, 8, 8, 3), nothing, 1), Duration());
}

}  // namespace
}  // namespace simpred
