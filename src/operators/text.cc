// What do operators on strings and encoded files do? StringConcat, StringSplit, TfIdfVectorizer, ImageDecoder, ...
#include <fmt/format.h>

#include <algorithm>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

// A string's length is not in its type: sixteen characters, one step each, stand for it.
constexpr double kStepsPerString = 16;

Status StringSplitShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& in = c.input(0).shape;
  Shape parts = in;
  if (parts.has_rank()) parts.dims().push_back(c.data_dependent_dim("parts", Dim::Unknown()));
  c.set_output(0, Tensor(DataType::kString, std::move(parts)));
  c.set_output(1, Tensor(DataType::kInt64, in));
  return OkStatus();
}

// [C] -> [kept], [1, C] -> [1, kept]; without stop words nothing is dropped.
Status StringNormalizerShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  Shape out = c.input(0).shape;
  if (out.has_rank() && out.rank() > 0 && c.node().Find("stopwords") != nullptr) {
    out.dims().back() = c.data_dependent_dim("kept_words", out.dims().back());
  }
  c.set_output(0, Tensor(DataType::kString, std::move(out)));
  return OkStatus();
}

// The output's last dimension is the largest index of the vocabulary, plus one.
Status TfIdfShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const auto indexes = c.node().Ints("ngram_indexes");
  if (!indexes || indexes->empty()) return ModelError("attribute 'ngram_indexes' is missing");
  const Dim width(*std::max_element(indexes->begin(), indexes->end()) + 1);
  const Shape& in = c.input(0).shape;
  Shape out;
  if (in.has_rank()) out = in.rank() < 2 ? Shape{width} : Shape{in.dim(0), width};
  c.set_output(0, Tensor(DataType::kFloat32, std::move(out)));
  return OkStatus();
}

Status ImageDecoderShape(InferenceContext& c) {
  const bool gray = c.node().String("pixel_format", "RGB") == "Grayscale";
  c.set_output(0, Tensor(DataType::kUInt8, Shape{c.data_dependent_dim("height", Dim::Unknown()),
                                                 c.data_dependent_dim("width", Dim::Unknown()), Dim(gray ? 1 : 3)}));
  return OkStatus();
}

}  // namespace

void RegisterText(Registry& r) {
  auto add = [&r](const char* type, ShapeRule shape, double flops, const char* source) {
    r.Add({.type = type,
           .op_class = OperatorClass::kOther,
           .shape = std::move(shape),
           .value = nullptr,
           .cost = PerElement(flops),
           .source = source});
  };
  const char* strings = "ONNX operator specification: one step a character, sixteen assumed";
  add("StringConcat", BroadcastInputsWithType(DataType::kString), kStepsPerString, strings);
  add("StringSplit", StringSplitShape, kStepsPerString, strings);
  add("StringNormalizer", StringNormalizerShape, kStepsPerString, strings);
  add("RegexFullMatch", SameShapeWithType(DataType::kBool), kStepsPerString, strings);
  add("TfIdfVectorizer", TfIdfShape, cost::kSortStep, "ONNX TfIdfVectorizer: one count an output element");
  // Huffman decoding, dequantisation, two one-dimensional transforms of 8 x 8 blocks, colour conversion.
  add("ImageDecoder", ImageDecoderShape, 64, "ONNX ImageDecoder: the steps of JPEG decoding, per sample");
}

}  // namespace simpred
