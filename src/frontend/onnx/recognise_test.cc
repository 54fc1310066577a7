// Is every file that is no ONNX model refused with what it is and what to do?
#include "frontend/onnx/recognise.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/onnx.h"
#include "frontend/onnx/test_encoding.h"

namespace simpred {
namespace {

using namespace onnx::test;
using namespace std::string_literals;

struct Refusal {
  std::string bytes;
  std::string message;
  std::string hint;
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, SaysWhatItIsAndWhatToDo) {
  const Result<Model> m = ReadOnnxBytes(GetParam().bytes, "some/file.onnx");
  ASSERT_FALSE(m.ok());
  EXPECT_EQ(m.status().code(), StatusCode::kModel);
  EXPECT_NE(m.status().message().find(GetParam().message), std::string::npos) << m.status().ToString();
  EXPECT_NE(m.status().hint().find(GetParam().hint), std::string::npos) << m.status().ToString();
  EXPECT_NE(m.status().ToString().find("in model some/file.onnx"), std::string::npos) << m.status().ToString();
}

// MindIR: the same outline as ONNX, but its ir_version is text.
std::string MindIr() {
  return PutBytes(1, "0.1.0") + PutBytes(2, "MindSpore") + PutBytes(3, "2.3") + PutBytes(7, PutBytes(2, "main"));
}

std::string RandomBytes(size_t size) {
  Random random(3);
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random.Int(0, 255));
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Refused,
    testing::Values(Refusal{"", "the file is empty", "export or download it again"},
                    Refusal{"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 97\n", "Git LFS pointer",
                            "git lfs pull"},
                    Refusal{"\n <!DOCTYPE html><html><body>404</body></html>", "an HTML page", "raw address"},
                    Refusal{"<?xml version=\"1.0\"?><net/>", "an XML file", ".onnx file"},
                    Refusal{"PK\x03\x04\x14\x00\x00"s, "a zip archive", "unpack it"},
                    Refusal{"\x1F\x8B\x08\x00"s, "a gzip archive", "unpack it"},
                    Refusal{"\x1C\x00\x00\x00ORTM\x00\x00"s, "ORT format", "the .onnx file that it was made from"},
                    Refusal{"\x1C\x00\x00\x00TFL3\x00\x00"s, "TensorFlow Lite", "tf2onnx"},
                    Refusal{"\x1C\x00\x00\x00MSL2\x00\x00"s, "MindSpore Lite", "as ONNX"},
                    Refusal{"\x89HDF\r\n\x1A\n\x00"s, "HDF5", "tf2onnx"},
                    Refusal{"GGUF\x03\x00\x00\x00"s, "GGUF", "to ONNX"},
                    Refusal{"\x10\x00\x00\x00\x00\x00\x00\x00{\"w\":{}}"s, "safetensors", "to ONNX"},
                    Refusal{"{\"ir_version\": 8}", "a JSON file", ".onnx file"},
                    Refusal{"simulation:\n  device: cpu\n", "a text file", "--config"},
                    Refusal{"ir_version: 8\ngraph { name: \"g\" }\n", "protobuf text format", "onnx.save"},
                    Refusal{"../../gen/model.onnx\n", "symbolic link", "names"},
                    Refusal{MindIr(), "MindIR model, which this version does not read yet", "ONNX"},
                    Refusal{RandomBytes(300), "not an ONNX model: message model at byte", "damaged"},
                    Refusal{PutInt(1, 8) + PutBytes(2, "me"), "the model has no graph", "damaged"},
                    // A TensorFlow SavedModel: schema version and meta graphs.
                    Refusal{PutInt(1, 1) + PutBytes(30, "abc"), "without a model's graph, but with a field 30",
                            "damaged"}));

TEST(Truncated, SaysWhichFieldAndWhere) {
  ModelBuilder b;
  b.Output(b.Op("MatMul", {b.Input("x", DataType::kFloat32, {1, 64}), b.Weight({64, 64})}));
  const std::string whole = b.Serialize();
  const Result<Model> m = ReadOnnxBytes(whole.substr(0, 1000));
  ASSERT_FALSE(m.ok());
  const std::string text = m.status().ToString();
  EXPECT_NE(text.find("truncated: field graph says 16"), std::string::npos) << text;
  EXPECT_NE(text.find("the file ends after 9"), std::string::npos) << text;
  EXPECT_NE(text.find("cut off"), std::string::npos) << text;
}

// However a file is cut, it is refused or, where only trailing fields are lost, read.
TEST(Truncated, AtEveryByte) {
  ModelBuilder b;
  b.Output(b.Op("Relu", {b.Input("x", DataType::kFloat32, {1, 64})}));
  const std::string whole = b.Serialize();
  for (size_t size = 0; size < whole.size(); ++size) {
    const Result<Model> m = ReadOnnxBytes(whole.substr(0, size));
    if (m.ok()) {
      EXPECT_EQ(m->graph.node_count(), 1);
    } else {
      EXPECT_EQ(m.status().code(), StatusCode::kModel);
    }
  }
}

}  // namespace
}  // namespace simpred
