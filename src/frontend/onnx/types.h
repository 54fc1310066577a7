// What type does the file declare for a value?
#pragma once

#include <string_view>

#include "frontend/onnx/fields.h"
#include "graph/graph.h"

namespace simpred::onnx {

struct ValueInfo {
  std::string_view name;
  TensorType type;
};

ValueInfo ReadValueInfo(ReadContext& context, std::string_view message);
TensorType ReadType(ReadContext& context, std::string_view message, std::string_view value_name);

}  // namespace simpred::onnx
