#include "cli/precision.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

Workload Float32Product() {
  Workload w;
  Kernel k;
  k.name = "mm";
  k.type = "MatMul";
  k.op_class = OperatorClass::kMatMul;
  k.inputs = {{"x", DataType::kFloat32, {4, 8}}, {"w", DataType::kFloat32, {8, 2}}, {"axes", DataType::kInt64, {1}}};
  k.inputs[1].constant = true;
  k.outputs = {{"y", DataType::kFloat32, {4, 2}}};
  k.work.flops = Flops(128);
  k.work.read = Bytes(4 * 8 * 4 + 8);
  k.work.weights = Bytes(8 * 2 * 4);
  k.work.written = Bytes(4 * 2 * 4);
  k.signature = SignatureOf(k);
  w.weights = Bytes(64);
  w.kernels = {k};
  return w;
}

DeviceProfile Device(const std::string& runtime) {
  DeviceProfile d;
  d.name = "device";
  d.runtime = runtime;
  return d;
}

TEST(Precision, AsStoredChangesNothing) {
  Workload w = Float32Product();
  EXPECT_EQ(StoredPrecision(w), "FP32");
  EXPECT_TRUE(ApplyPrecision("model", Device("onnxruntime"), w).ok());
  EXPECT_TRUE(ApplyPrecision("FP32", Device("onnxruntime"), w).ok());
  EXPECT_EQ(w.kernels[0].signature, Float32Product().kernels[0].signature);
}

TEST(Precision, ARuntimeThatDoesNotConvertSaysHowTo) {
  Workload w = Float32Product();
  const Status s = ApplyPrecision("FP16", Device("onnxruntime"), w);
  EXPECT_EQ(s.code(), StatusCode::kUsage);
  EXPECT_NE(s.ToString().find("stored in FP32"), std::string::npos);
  EXPECT_FALSE(s.hint().empty());
}

TEST(Precision, ARuntimeThatConvertsMovesHalfTheBytes) {
  Workload w = Float32Product();
  ASSERT_TRUE(ApplyPrecision("FP16", Device("acl"), w).ok());
  const Kernel& k = w.kernels[0];
  EXPECT_EQ(k.inputs[0].dtype, DataType::kFloat16);
  EXPECT_EQ(k.inputs[2].dtype, DataType::kInt64);
  EXPECT_EQ(k.work.read, Bytes(4 * 8 * 2 + 8));
  EXPECT_EQ(k.work.weights, Bytes(32));
  EXPECT_EQ(k.work.written, Bytes(16));
  EXPECT_EQ(k.work.flops, Flops(128));
  EXPECT_EQ(w.weights, Bytes(32));
  EXPECT_EQ(w.precision, "FP16");
  EXPECT_NE(k.signature, Float32Product().kernels[0].signature);
}

}  // namespace
}  // namespace simpred
