// What is an attribute's value? AttributeProto of every type.
#include "frontend/onnx/attributes.h"

#include <fmt/format.h>

#include "frontend/onnx/tensor.h"
#include "frontend/onnx/types.h"

namespace simpred::onnx {
namespace {

// What the fields hold, before the type says which of them counts.
struct RawAttribute {
  std::string_view name;
  std::string_view reference;
  int64_t type = attribute::kTypeUndefined;
  int32_t seen = attribute::kTypeUndefined;  // type of the last field that was there
  double f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<double> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::string_view tensor, sparse_tensor, type_proto;
  std::vector<std::string_view> tensors, sparse_tensors;
  std::string_view graph;
  std::vector<std::string_view> graphs;
};

// One field that holds a value; which AttributeType it belongs to.
int32_t TakeValueField(const Fields& f, RawAttribute& raw) {
  switch (f.tag()) {
    case attribute::kFloat:
      raw.f = f.Float();
      return attribute::kTypeFloat;
    case attribute::kInt:
      raw.i = f.Int();
      return attribute::kTypeInt;
    case attribute::kString:
      raw.s = f.Bytes();
      return attribute::kTypeString;
    case attribute::kTensor:
      raw.tensor = f.Bytes();
      return attribute::kTypeTensor;
    case attribute::kGraph:
      raw.graph = f.Bytes();
      return attribute::kTypeGraph;
    case attribute::kFloats:
      f.AppendFloats(raw.floats);
      return attribute::kTypeFloats;
    case attribute::kInts:
      f.AppendInts(raw.ints);
      return attribute::kTypeInts;
    case attribute::kStrings:
      raw.strings.push_back(f.Bytes());
      return attribute::kTypeStrings;
    case attribute::kTensors:
      raw.tensors.push_back(f.Bytes());
      return attribute::kTypeTensors;
    case attribute::kGraphs:
      raw.graphs.push_back(f.Bytes());
      return attribute::kTypeGraphs;
    case attribute::kSparseTensor:
      raw.sparse_tensor = f.Bytes();
      return attribute::kTypeSparseTensor;
    case attribute::kSparseTensors:
      raw.sparse_tensors.push_back(f.Bytes());
      return attribute::kTypeSparseTensors;
    case attribute::kTypeProto:
    case attribute::kTypeProtos:
      raw.type_proto = f.Bytes();
      return attribute::kTypeTypeProto;
    default:
      return attribute::kTypeUndefined;
  }
}

RawAttribute ReadFields(ReadContext& context, std::string_view message) {
  RawAttribute raw;
  Fields f(context, message, "attribute");
  while (f.Next()) {
    if (f.tag() == attribute::kName) {
      raw.name = f.Bytes();
    } else if (f.tag() == attribute::kRefAttrName) {
      raw.reference = f.Bytes();
    } else if (f.tag() == attribute::kType) {
      raw.type = f.Int();
    } else if (const int32_t t = TakeValueField(f, raw); t != attribute::kTypeUndefined) {
      raw.seen = t;
    }
  }
  return raw;
}

TensorAttribute Dense(ReadContext& context, std::string_view message) {
  TensorHeader h = ReadTensorHeader(context, message, "tensor of an attribute");
  TensorAttribute t{h.dtype, std::move(h.dims), std::move(h.payload), nullptr};
  // Shapes and axes of Constant nodes: their bytes stand between those of the nodes, which are read anyway.
  if (t.payload.where != Payload::Where::kExternal) {
    t.constant = ReadElements(context.file(), {}, t.payload, t.dtype, t.dims);
  }
  return t;
}

TensorAttribute Sparse(ReadContext& context, std::string_view message) {
  TensorHeader h = ReadSparseTensorHeader(context, message);
  return {h.dtype, std::move(h.dims), {}, nullptr};
}

template <typename Read>
std::vector<TensorAttribute> All(ReadContext& context, const std::vector<std::string_view>& messages, Read read) {
  std::vector<TensorAttribute> tensors;
  for (std::string_view m : messages) {
    if (context.Count()) tensors.push_back(read(context, m));
  }
  return tensors;
}

std::vector<std::string> Strings(const std::vector<std::string_view>& from) { return {from.begin(), from.end()}; }

}  // namespace

ReadAttributeResult ReadAttribute(ReadContext& context, std::string_view message) {
  RawAttribute raw = ReadFields(context, message);
  ReadAttributeResult result;
  result.name = Text(raw.name);
  result.attribute.reference = Text(raw.reference);
  auto& value = result.attribute.value;
  // Writers of IR version 1 left the type out: then the field that is there tells.
  switch (raw.type != attribute::kTypeUndefined ? raw.type : raw.seen) {
    case attribute::kTypeFloat:
      value = raw.f;
      break;
    case attribute::kTypeInt:
      value = raw.i;
      break;
    case attribute::kTypeString:
      value = std::string(raw.s);
      break;
    case attribute::kTypeTensor:
      value = Dense(context, raw.tensor);
      break;
    case attribute::kTypeGraph:
      result.graphs = {raw.graph};
      break;
    case attribute::kTypeFloats:
      value = std::move(raw.floats);
      break;
    case attribute::kTypeInts:
      value = std::move(raw.ints);
      break;
    case attribute::kTypeStrings:
      value = Strings(raw.strings);
      break;
    case attribute::kTypeTensors:
      value = All(context, raw.tensors, Dense);
      break;
    case attribute::kTypeGraphs:
      result.graphs = std::move(raw.graphs);
      result.is_graph_list = true;
      break;
    case attribute::kTypeSparseTensor:
      value = Sparse(context, raw.sparse_tensor);
      break;
    case attribute::kTypeSparseTensors:
      value = All(context, raw.sparse_tensors, Sparse);
      break;
    case attribute::kTypeTypeProto:
    case attribute::kTypeTypeProtos:
      value = ReadType(context, raw.type_proto, raw.name);
      break;
    default:
      break;
  }
  return result;
}

}  // namespace simpred::onnx
