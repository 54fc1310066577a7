// What does a TensorProto say about itself, and what are its elements if somebody must know them?
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/fields.h"
#include "graph/graph.h"

namespace simpred::onnx {

// Everything but the elements.
struct TensorHeader {
  std::string_view name;
  DataType dtype = DataType::kUndefined;
  std::vector<int64_t> dims;
  Payload payload;
};

// `what` is for messages to people ("initializer").
TensorHeader ReadTensorHeader(ReadContext& context, std::string_view message, std::string_view what);
// Dense type and shape of a SparseTensorProto; its name is that of its values. No payload: its dense bytes are nowhere.
TensorHeader ReadSparseTensorHeader(ReadContext& context, std::string_view message);

// Product of dims, saturating; -1 if one is negative.
int64_t ElementCount(const std::vector<int64_t>& dims);

// Elements of a tensor of at most ConstantValue::kMaxElements elements; null if there are more, if the bytes are not
// there, or if their number does not fit the type. `file` is the model's bytes, `folder` where external data lies.
std::shared_ptr<const ConstantValue> ReadElements(std::string_view file, const std::filesystem::path& folder,
                                                  const Payload& payload, DataType dtype,
                                                  const std::vector<int64_t>& dims);

// The file that external data names, or nothing if it leaves the model's folder.
bool StaysInFolder(std::string_view location);

}  // namespace simpred::onnx
