// Are the elements of small constants what the file holds, for every type and every way of storing them?
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "frontend/onnx/onnx.h"
#include "frontend/onnx/tensor.h"
#include "frontend/onnx/test_encoding.h"

namespace simpred {
namespace {

namespace wire = onnx;
using namespace onnx::test;
using namespace std::string_literals;

std::shared_ptr<const ConstantValue> Raw(DataType t, const std::string& bytes, const std::vector<int64_t>& dims) {
  return wire::ReadElements(bytes, {}, {Payload::Where::kRaw, 0, bytes.size(), {}}, t, dims);
}

std::shared_ptr<const ConstantValue> Typed(DataType t, const std::string& data, const std::vector<int64_t>& dims) {
  const std::string message = PutTensor("t", wire::DataTypeToWire(t), dims, data);
  return wire::ReadElements(message, {}, {Payload::Where::kTyped, 0, message.size(), {}}, t, dims);
}

std::vector<Dim> Dims(std::initializer_list<int64_t> of) { return {of.begin(), of.end()}; }

TEST(Elements, RawIntegers) {
  EXPECT_EQ(Raw(DataType::kInt64, "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, {1})->ints, Dims({-2}));
  EXPECT_EQ(Raw(DataType::kInt32, "\x01\x00\x00\x00\xFF\xFF\xFF\xFF"s, {2})->ints, Dims({1, -1}));
  EXPECT_EQ(Raw(DataType::kUInt32, "\xFF\xFF\xFF\xFF"s, {1})->ints, Dims({4294967295}));
  EXPECT_EQ(Raw(DataType::kInt16, "\x00\x80"s, {1})->ints, Dims({-32768}));
  EXPECT_EQ(Raw(DataType::kInt8, "\x80\x7F"s, {2})->ints, Dims({-128, 127}));
  EXPECT_EQ(Raw(DataType::kUInt8, "\x80\x7F"s, {2})->ints, Dims({128, 127}));
  EXPECT_EQ(Raw(DataType::kBool, "\x01\x00"s, {2})->ints, Dims({1, 0}));
  EXPECT_EQ(Raw(DataType::kInt4, "\x8F\x07"s, {3})->ints, Dims({-1, -8, 7}));
  EXPECT_EQ(Raw(DataType::kUInt4, "\x8F"s, {2})->ints, Dims({15, 8}));
  EXPECT_EQ(Raw(DataType::kInt2, "\xE4"s, {4})->ints, Dims({0, 1, -2, -1}));
}

TEST(Elements, RawFloats) {
  EXPECT_EQ(Raw(DataType::kFloat32, "\x00\x00\xC0\x3F"s, {})->floats, std::vector<double>{1.5});
  EXPECT_EQ(Raw(DataType::kFloat64, "\x00\x00\x00\x00\x00\x00\xF8\x3F"s, {1})->floats, std::vector<double>{1.5});
  EXPECT_EQ(Raw(DataType::kFloat16, "\x00\x3E"s, {1})->floats, std::vector<double>{1.5});
  EXPECT_EQ(Raw(DataType::kBFloat16, "\xC0\x3F"s, {1})->floats, std::vector<double>{1.5});
}

// Largest values, ones and specials as the OCP MX and ONNX documents list them.
TEST(Elements, SmallFloats) {
  EXPECT_EQ(Raw(DataType::kFloat8E4M3FN, "\x7E\x38\x01"s, {3})->floats, (std::vector<double>{448, 1, 0x1p-9}));
  EXPECT_TRUE(std::isnan(Raw(DataType::kFloat8E4M3FN, "\x7F"s, {1})->floats[0]));
  EXPECT_EQ(Raw(DataType::kFloat8E4M3FNUZ, "\x7F\x40"s, {2})->floats, (std::vector<double>{240, 1}));
  EXPECT_TRUE(std::isnan(Raw(DataType::kFloat8E4M3FNUZ, "\x80"s, {1})->floats[0]));
  EXPECT_EQ(Raw(DataType::kFloat8E5M2, "\x7B\x3C\xFC"s, {3})->floats, (std::vector<double>{57344, 1, -INFINITY}));
  EXPECT_EQ(Raw(DataType::kFloat8E5M2FNUZ, "\x7F\x40"s, {2})->floats, (std::vector<double>{57344, 1}));
  EXPECT_EQ(Raw(DataType::kFloat4E2M1, "\x27\x0F"s, {3})->floats, (std::vector<double>{6, 1, -6}));
  EXPECT_EQ(Raw(DataType::kFloat8E8M0, "\x7F\x80"s, {2})->floats, (std::vector<double>{1, 2}));
}

TEST(Elements, TypedLists) {
  EXPECT_EQ(
      Typed(DataType::kInt64, PutBytes(wire::tensor::kInt64Data, "\x05\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), {2})
          ->ints,
      Dims({5, -1}));
  EXPECT_EQ(
      Typed(DataType::kInt64, PutInt(wire::tensor::kInt64Data, 5) + PutInt(wire::tensor::kInt64Data, 6), {2})->ints,
      Dims({5, 6}));  // not packed
  EXPECT_EQ(Typed(DataType::kFloat32, PutBytes(wire::tensor::kFloatData, "\x00\x00\xC0\x3F"s), {1})->floats,
            std::vector<double>{1.5});
  EXPECT_EQ(Typed(DataType::kFloat16, PutInt(wire::tensor::kInt32Data, 0x3E00), {1})->floats, std::vector<double>{1.5});
  EXPECT_EQ(Typed(DataType::kInt8, PutInt(wire::tensor::kInt32Data, -3), {1})->ints, Dims({-3}));
  EXPECT_EQ(Typed(DataType::kUInt32, PutInt(wire::tensor::kUint64Data, 9), {1})->ints, Dims({9}));
  EXPECT_EQ(Typed(DataType::kInt4, PutInt(wire::tensor::kInt32Data, 0x8F), {2})->ints, Dims({-1, -8}));
  EXPECT_EQ(Typed(DataType::kString, PutBytes(wire::tensor::kStringData, "ab"), {1})->strings,
            std::vector<std::string>{"ab"});
}

TEST(Elements, WhatDoesNotFitIsNotGuessed) {
  EXPECT_EQ(Raw(DataType::kInt64, "\x01\x00"s, {1}), nullptr);             // too short
  EXPECT_EQ(Raw(DataType::kInt8, std::string(4097, 1), {4097}), nullptr);  // too many to be a small constant
  EXPECT_NE(Raw(DataType::kInt8, std::string(4096, 1), {4096}), nullptr);
  EXPECT_EQ(Raw(DataType::kUndefined, "abcd", {1}), nullptr);
  EXPECT_EQ(Raw(DataType::kComplex64, std::string(8, 0), {1}), nullptr);
  EXPECT_EQ(Typed(DataType::kInt64, PutInt(wire::tensor::kInt64Data, 5), {2}), nullptr);
  EXPECT_EQ(wire::ReadElements("abcd", {}, {Payload::Where::kRaw, 2, 4, {}}, DataType::kFloat32, {1}), nullptr);
  EXPECT_EQ(wire::ReadElements("abcd", {}, {Payload::Where::kNone, 0, 0, {}}, DataType::kFloat32, {1}), nullptr);
  const auto none = wire::ReadElements("", {}, {}, DataType::kFloat32, {0, 4});
  ASSERT_NE(none, nullptr);  // no elements need no bytes
  EXPECT_EQ(none->size(), 0U);
}

TEST(External, StaysInFolder) {
  EXPECT_TRUE(wire::StaysInFolder("w.bin"));
  EXPECT_TRUE(wire::StaysInFolder("data/w.bin"));
  EXPECT_TRUE(wire::StaysInFolder("data/../w.bin"));
  for (const char* bad : {"", "/etc/passwd", "../w.bin", "data/../../w.bin", ".."}) {
    EXPECT_FALSE(wire::StaysInFolder(bad)) << bad;
  }
  EXPECT_FALSE(wire::StaysInFolder("w.bin\0.."s));
}

std::string ExternalTensor(std::string_view location, std::string_view offset, std::string_view length) {
  const auto put_entry = [](std::string_view key, std::string_view value) {
    return PutBytes(wire::tensor::kExternalData,
                    PutBytes(wire::entry::kKey, key) + PutBytes(wire::entry::kValue, value));
  };
  return PutTensor("w", wire::DataTypeToWire(DataType::kInt64), {2},
                   put_entry("location", location) + put_entry("offset", offset) + put_entry("length", length) +
                       PutInt(wire::tensor::kDataLocation, 1));
}

Model WithExternal(const std::string& tensor) {
  const std::string graph =
      PutBytes(wire::graph::kInitializer, tensor) + PutBytes(wire::graph::kNode, PutNode("Relu", {"w"}, {"y"}));
  Result<Model> m = ReadOnnxBytes(PutModel(graph), std::filesystem::path(testing::TempDir()) / "model.onnx");
  EXPECT_TRUE(m.ok());
  return *std::move(m);
}

TEST(External, ReadOnlyOnDemandAndOnlyInside) {
  const auto file = std::filesystem::path(testing::TempDir()) / "external.bin";
  std::filesystem::remove(file);
  Model m = WithExternal(ExternalTensor("external.bin", "8", "16"));
  const ValueId w = m.graph.node(0).inputs[0];
  EXPECT_EQ(m.graph.value(w).payload.where, Payload::Where::kExternal);
  EXPECT_EQ(m.graph.value(w).payload.offset, 8U);
  EXPECT_EQ(m.graph.value(w).payload.size, 16U);
  EXPECT_TRUE(m.warnings.empty());  // not opened: nobody noticed that it is not there
  EXPECT_EQ(ConstantOf(m, m.graph, w), nullptr);
  std::ofstream(file) << "skipped!\x07\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0"s;
  const auto constant = ConstantOf(m, m.graph, w);
  ASSERT_NE(constant, nullptr);
  EXPECT_EQ(constant->ints, Dims({7, 8}));
  std::ofstream(file) << "cut";
  Model cut = WithExternal(ExternalTensor("external.bin", "8", "16"));
  EXPECT_EQ(ConstantOf(cut, cut.graph, w), nullptr);
  std::filesystem::remove(file);
}

TEST(External, OutsideOfTheFolderIsRefusedWithAWarning) {
  const Model m = WithExternal(ExternalTensor("../../etc/passwd", "0", "16"));
  EXPECT_EQ(m.graph.value(m.graph.node(0).inputs[0]).payload.where, Payload::Where::kNone);
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_NE(m.warnings[0].text.find("outside of the model's folder"), std::string::npos);
  EXPECT_EQ(WithExternal(ExternalTensor("", "0", "16")).warnings.size(), 1U);
}

}  // namespace
}  // namespace simpred
