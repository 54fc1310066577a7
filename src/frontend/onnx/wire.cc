// TensorProto.DataType: which number is which element type?
#include "frontend/onnx/wire.h"

#include <algorithm>
#include <array>

namespace simpred::onnx {
namespace {

// Position = number in onnx.proto.
constexpr std::array kTypes = {
    DataType::kUndefined,      DataType::kFloat32,      DataType::kUInt8,          DataType::kInt8,
    DataType::kUInt16,         DataType::kInt16,        DataType::kInt32,          DataType::kInt64,
    DataType::kString,         DataType::kBool,         DataType::kFloat16,        DataType::kFloat64,
    DataType::kUInt32,         DataType::kUInt64,       DataType::kComplex64,      DataType::kComplex128,
    DataType::kBFloat16,       DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ, DataType::kFloat8E5M2,
    DataType::kFloat8E5M2FNUZ, DataType::kUInt4,        DataType::kInt4,           DataType::kFloat4E2M1,
    DataType::kFloat8E8M0,     DataType::kUInt2,        DataType::kInt2,
};

}  // namespace

DataType DataTypeFromWire(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kTypes.size())) return DataType::kUndefined;
  return kTypes[static_cast<size_t>(number)];
}

int32_t DataTypeToWire(DataType t) {
  return static_cast<int32_t>(std::find(kTypes.begin(), kTypes.end(), t) - kTypes.begin());
}

}  // namespace simpred::onnx
