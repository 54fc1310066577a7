// ONNX messages by hand, for tests of what no builder writes.
//
//   std::string g = PutBytes(onnx::graph::kNode, PutNode("Relu", {"x"}, {"y"}));
#pragma once

#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/wire.h"

namespace simpred::onnx::test {

inline std::string PutBytes(Tag tag, std::string_view content) {
  std::string out;
  protozero::pbf_writer(out).add_bytes(tag, content.data(), content.size());
  return out;
}

inline std::string PutInt(Tag tag, int64_t value) {
  std::string out;
  protozero::pbf_writer(out).add_int64(tag, value);
  return out;
}

// Type of a tensor value; each dim is an encoded Dimension message.
inline std::string PutTensorValue(std::string_view name, int32_t elem_type, const std::vector<std::string>& dims) {
  std::string shape;
  for (const std::string& d : dims) shape += PutBytes(shape::kDim, d);
  const std::string tensor = PutInt(type::kElemType, elem_type) + PutBytes(type::kShape, shape);
  return PutBytes(value_info::kName, name) + PutBytes(value_info::kType, PutBytes(type::kTensor, tensor));
}

inline std::string PutNode(std::string_view op_type, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const std::string& more = {}) {
  std::string out;
  for (const std::string& i : inputs) out += PutBytes(node::kInput, i);
  for (const std::string& o : outputs) out += PutBytes(node::kOutput, o);
  return out + PutBytes(node::kOpType, op_type) + more;
}

inline std::string PutGraphAttribute(std::string_view name, std::string_view graph) {
  return PutBytes(node::kAttribute, PutBytes(attribute::kName, name) + PutBytes(attribute::kGraph, graph) +
                                        PutInt(attribute::kType, attribute::kTypeGraph));
}

inline std::string PutTensor(std::string_view name, int32_t data_type, const std::vector<int64_t>& dims,
                             const std::string& data) {
  std::string out;
  for (int64_t d : dims) out += PutInt(tensor::kDims, d);
  return out + PutInt(tensor::kDataType, data_type) + PutBytes(tensor::kName, name) + data;
}

inline std::string PutOpsetImport(std::string_view domain, int64_t version) {
  return PutBytes(model::kOpsetImport, PutBytes(opset::kDomain, domain) + PutInt(opset::kVersion, version));
}

inline std::string PutModel(std::string_view graph, int64_t ir_version = 8) {
  return PutInt(model::kIrVersion, ir_version) + PutBytes(model::kGraph, graph) + PutOpsetImport("", 17);
}

}  // namespace simpred::onnx::test
