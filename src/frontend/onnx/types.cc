// What type does the file declare for a value? TypeProto and TensorShapeProto.
#include "frontend/onnx/types.h"

#include <fmt/format.h>

namespace simpred::onnx {
namespace {

// Sequences of optionals of sequences ...: no exporter writes more than two.
constexpr int kMaxTypeDepth = 8;

// Some exporters write these in place of a name for every dimension that they do not know: they name nothing in common.
bool IsName(std::string_view dim_param) {
  return !dim_param.empty() && dim_param != "?" && dim_param != "-1" && dim_param != "None";
}

Dim ReadDim(ReadContext& context, std::string_view message, std::string_view value_name) {
  Dim dim;
  Fields f(context, message, "dim");
  while (f.Next()) {
    if (f.tag() == shape::kDimParam && IsName(f.Bytes())) dim = Dim::Symbol(Text(f.Bytes()));
    if (f.tag() != shape::kDimValue) continue;
    if (f.Int() < 0) {
      context.Warn(
          fmt::format("value {}: dimension {} is negative; it is taken as unknown", Quote(value_name), f.Int()));
      dim = Dim::Unknown();
    } else {
      dim = Dim(f.Int());
    }
  }
  return dim;
}

Shape ReadShape(ReadContext& context, std::string_view message, std::string_view value_name) {
  std::vector<Dim> dims;
  Fields f(context, message, "shape");
  while (f.Next()) {
    if (f.tag() == shape::kDim && f.is_bytes() && context.Count()) {
      dims.push_back(ReadDim(context, f.Bytes(), value_name));
    }
  }
  return Shape(std::move(dims));
}

// Tensor and SparseTensor have the same fields.
TensorType ReadTensorType(ReadContext& context, std::string_view message, ValueKind kind, std::string_view value_name) {
  TensorType t;
  t.kind = kind;
  Fields f(context, message, "tensor_type");
  while (f.Next()) {
    if (f.tag() == type::kElemType) t.dtype = DataTypeFromWire(f.Int());
    if (f.tag() == type::kShape && f.is_bytes()) t.shape = ReadShape(context, f.Bytes(), value_name);
  }
  return t;
}

TensorType ReadNested(ReadContext& context, std::string_view message, std::string_view value_name, int depth);

// A sequence, optional or map: dtype and shape are those of the innermost element, the kind is the outermost.
TensorType ReadContainer(ReadContext& context, std::string_view message, ValueKind kind, std::string_view value_name,
                         int depth) {
  TensorType t;
  const Tag element = kind == ValueKind::kMap ? type::kMapValue : type::kElemType;
  Fields f(context, message, "type");
  while (f.Next()) {
    if (f.tag() == element && f.is_bytes()) t = ReadNested(context, f.Bytes(), value_name, depth + 1);
  }
  t.kind = kind;
  return t;
}

TensorType ReadNested(ReadContext& context, std::string_view message, std::string_view value_name, int depth) {
  TensorType t;
  t.kind = ValueKind::kUnknown;
  if (depth > kMaxTypeDepth) {
    context.Fault(fmt::format("value {}: its type is nested deeper than {}", Quote(value_name), kMaxTypeDepth));
    return t;
  }
  Fields f(context, message, "type");
  while (f.Next()) {
    if (!f.is_bytes()) continue;
    switch (f.tag()) {
      case type::kTensor:
        t = ReadTensorType(context, f.Bytes(), ValueKind::kTensor, value_name);
        break;
      case type::kSparseTensor:
        t = ReadTensorType(context, f.Bytes(), ValueKind::kSparseTensor, value_name);
        break;
      case type::kSequence:
        t = ReadContainer(context, f.Bytes(), ValueKind::kSequence, value_name, depth);
        break;
      case type::kOptional:
        t = ReadContainer(context, f.Bytes(), ValueKind::kOptional, value_name, depth);
        break;
      case type::kMap:
        t = ReadContainer(context, f.Bytes(), ValueKind::kMap, value_name, depth);
        break;
      default:
        break;
    }
  }
  return t;
}

}  // namespace

TensorType ReadType(ReadContext& context, std::string_view message, std::string_view value_name) {
  return ReadNested(context, message, value_name, 0);
}

ValueInfo ReadValueInfo(ReadContext& context, std::string_view message) {
  ValueInfo info;
  std::string_view type_message;
  Fields f(context, message, "value_info");
  while (f.Next()) {
    if (f.tag() == value_info::kName) info.name = f.Bytes();
    if (f.tag() == value_info::kType) type_message = f.Bytes();
  }
  // Without a type the value is a tensor of which nothing is known, as inference starts from.
  if (!type_message.empty()) info.type = ReadType(context, type_message, info.name);
  return info;
}

}  // namespace simpred::onnx
