// Which numbers does the ONNX wire format use? Field numbers and enumerations of onnx.proto (IR version 13), shared by
// the reader and the writer. Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#pragma once

#include <cstdint>

#include "graph/data_type.h"

namespace simpred::onnx {

using Tag = uint32_t;

namespace model {
inline constexpr Tag kIrVersion = 1, kProducerName = 2, kProducerVersion = 3, kModelVersion = 5, kGraph = 7,
                     kOpsetImport = 8, kMetadata = 14, kFunctions = 25;
}
namespace opset {
inline constexpr Tag kDomain = 1, kVersion = 2;
}
namespace entry {
inline constexpr Tag kKey = 1, kValue = 2;
}
namespace graph {
inline constexpr Tag kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12, kValueInfo = 13,
                     kSparseInitializer = 15;
}
namespace node {
inline constexpr Tag kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5, kDomain = 7, kOverload = 8;
}
namespace attribute {
inline constexpr Tag kName = 1, kFloat = 2, kInt = 3, kString = 4, kTensor = 5, kGraph = 6, kFloats = 7, kInts = 8,
                     kStrings = 9, kTensors = 10, kGraphs = 11, kTypeProto = 14, kTypeProtos = 15, kType = 20,
                     kRefAttrName = 21, kSparseTensor = 22, kSparseTensors = 23;
// AttributeProto.AttributeType
inline constexpr int32_t kTypeUndefined = 0, kTypeFloat = 1, kTypeInt = 2, kTypeString = 3, kTypeTensor = 4,
                         kTypeGraph = 5, kTypeFloats = 6, kTypeInts = 7, kTypeStrings = 8, kTypeTensors = 9,
                         kTypeGraphs = 10, kTypeSparseTensor = 11, kTypeSparseTensors = 12, kTypeTypeProto = 13,
                         kTypeTypeProtos = 14;
}  // namespace attribute
namespace tensor {
inline constexpr Tag kDims = 1, kDataType = 2, kFloatData = 4, kInt32Data = 5, kStringData = 6, kInt64Data = 7,
                     kName = 8, kRawData = 9, kDoubleData = 10, kUint64Data = 11, kExternalData = 13,
                     kDataLocation = 14;
}
namespace sparse {
inline constexpr Tag kValues = 1, kIndices = 2, kDims = 3;
}
namespace value_info {
inline constexpr Tag kName = 1, kType = 2;
}
namespace type {
inline constexpr Tag kTensor = 1, kSequence = 4, kMap = 5, kSparseTensor = 8, kOptional = 9;
inline constexpr Tag kElemType = 1, kShape = 2;  // of a tensor type; kElemType also of a sequence and an optional
inline constexpr Tag kMapValue = 2;
}  // namespace type
namespace shape {
inline constexpr Tag kDim = 1, kDimValue = 1, kDimParam = 2;
}
namespace function {
inline constexpr Tag kName = 1, kInput = 4, kOutput = 5, kAttribute = 6, kNode = 7, kOpsetImport = 9, kDomain = 10,
                     kAttributeProto = 11, kValueInfo = 12, kOverload = 13;
}

// TensorProto.DataType and back; numbers that this version does not know read as kUndefined.
DataType DataTypeFromWire(int64_t number);
int32_t DataTypeToWire(DataType t);

}  // namespace simpred::onnx
