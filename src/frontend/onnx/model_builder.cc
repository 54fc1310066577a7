// How is a small ONNX model written? Each call encodes its field of GraphProto at once; Serialize joins them.
#include "frontend/onnx/model_builder.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "base/file.h"
#include "base/random.h"
#include "frontend/onnx/half.h"
#include "frontend/onnx/wire.h"

namespace simpred {
namespace {

using protozero::pbf_writer;

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and copied as it stands");

constexpr int64_t kIrVersion = 8;

std::string EncodeType(DataType t, const std::vector<ModelBuilder::DimSpec>* dims) {
  std::string tensor;
  pbf_writer tensor_writer(tensor);
  tensor_writer.add_int32(onnx::type::kElemType, onnx::DataTypeToWire(t));
  if (dims != nullptr) {
    std::string shape;
    pbf_writer shape_writer(shape);
    for (const ModelBuilder::DimSpec& d : *dims) {
      pbf_writer dim(shape_writer, onnx::shape::kDim);
      if (const auto* number = std::get_if<int64_t>(&d)) {
        dim.add_int64(onnx::shape::kDimValue, *number);
      } else {
        dim.add_string(onnx::shape::kDimParam, std::get<std::string>(d));
      }
    }
    tensor_writer.add_message(onnx::type::kShape, shape);
  }
  std::string type;
  pbf_writer(type).add_message(onnx::type::kTensor, tensor);
  return type;
}

std::string EncodeValueInfo(const std::string& name, DataType t, const std::vector<ModelBuilder::DimSpec>* dims) {
  std::string info;
  pbf_writer writer(info);
  writer.add_string(onnx::value_info::kName, name);
  writer.add_message(onnx::value_info::kType, EncodeType(t, dims));
  return info;
}

std::string EncodeTensor(const std::string& name, DataType t, const ModelBuilder::Ints& dims, std::string_view raw) {
  std::string tensor;
  pbf_writer writer(tensor);
  for (int64_t d : dims) writer.add_int64(onnx::tensor::kDims, d);
  writer.add_int32(onnx::tensor::kDataType, onnx::DataTypeToWire(t));
  writer.add_string(onnx::tensor::kName, name);
  writer.add_bytes(onnx::tensor::kRawData, raw.data(), raw.size());
  return tensor;
}

// Writes one AttributeProto; one overload per kind of value.
struct AttributeEncoder {
  pbf_writer& writer;

  void operator()(int64_t v) {
    writer.add_int64(onnx::attribute::kInt, v);
    SetType(onnx::attribute::kTypeInt);
  }
  void operator()(double v) {
    writer.add_float(onnx::attribute::kFloat, static_cast<float>(v));
    SetType(onnx::attribute::kTypeFloat);
  }
  void operator()(const std::string& v) {
    writer.add_string(onnx::attribute::kString, v);
    SetType(onnx::attribute::kTypeString);
  }
  void operator()(const ModelBuilder::Ints& v) {
    for (int64_t i : v) writer.add_int64(onnx::attribute::kInts, i);
    SetType(onnx::attribute::kTypeInts);
  }
  void operator()(const std::vector<double>& v) {
    for (double f : v) writer.add_float(onnx::attribute::kFloats, static_cast<float>(f));
    SetType(onnx::attribute::kTypeFloats);
  }
  void SetType(int32_t type) { writer.add_int32(onnx::attribute::kType, type); }
};

int64_t Product(const ModelBuilder::Ints& dims, size_t first = 0) {
  int64_t product = 1;
  for (size_t i = first; i < dims.size(); ++i) product *= dims[i];
  return product;
}

// A standard normal, near enough for weights: the sum of the four 16-bit pieces of one draw (Irwin-Hall, n = 4) has
// variance 4/12. One draw a weight keeps 100 MB models cheap to write, and no library's log or cos gets into the bytes.
double Normal(Random& random) {
  const uint64_t bits = random.Next();
  int64_t sum = 0;
  for (int piece = 0; piece < 4; ++piece) sum += static_cast<int64_t>((bits >> (16 * piece)) & 0xFFFF);
  constexpr double kSqrt3 = 1.7320508075688772;
  return (static_cast<double>(sum) / 65536.0 - 2.0) * kSqrt3;
}

template <typename T, typename Draw>
std::string Fill(int64_t elements, Draw draw) {
  std::string raw(static_cast<size_t>(elements) * sizeof(T), '\0');
  for (int64_t i = 0; i < elements; ++i) {
    const T v = draw();
    std::memcpy(raw.data() + static_cast<size_t>(i) * sizeof(T), &v, sizeof(T));
  }
  return raw;
}

// Integer weights (quantised models) fill their range evenly; `scale` has no meaning for them.
std::string RandomRaw(DataType t, int64_t elements, double scale, Random random) {
  switch (t) {
    case DataType::kFloat64:
      return Fill<double>(elements, [&] { return Normal(random) * scale; });
    case DataType::kFloat16:
      return Fill<uint16_t>(elements, [&] { return FloatToHalf(static_cast<float>(Normal(random) * scale)); });
    case DataType::kBFloat16:
      return Fill<uint16_t>(elements, [&] { return FloatToBFloat16(static_cast<float>(Normal(random) * scale)); });
    case DataType::kInt8:
      return Fill<int8_t>(elements, [&] { return static_cast<int8_t>(random.Int(-127, 127)); });
    case DataType::kUInt8:
      return Fill<uint8_t>(elements, [&] { return static_cast<uint8_t>(random.Int(0, 255)); });
    case DataType::kInt32:
      return Fill<int32_t>(elements, [&] { return static_cast<int32_t>(random.Int(-127, 127)); });
    case DataType::kInt64:
      return Fill<int64_t>(elements, [&] { return random.Int(-127, 127); });
    case DataType::kBool:
      return Fill<uint8_t>(elements, [&] { return static_cast<uint8_t>(random.Int(0, 1)); });
    case DataType::kFloat32:
      return Fill<float>(elements, [&] { return static_cast<float>(Normal(random) * scale); });
    default: {  // packed and rare types: bytes of any value are valid elements
      const int64_t bytes = StorageSize(t, elements).count();
      return Fill<uint8_t>(bytes, [&] { return static_cast<uint8_t>(random.Int(0, 255)); });
    }
  }
}

template <typename T>
std::string_view RawBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

int64_t DomainVersion(const std::string& domain) { return domain == "ai.onnx.ml" ? 3 : 1; }

}  // namespace

ModelBuilder::ModelBuilder(int64_t opset, uint64_t seed) : seed_(seed) { domains_[""] = opset; }

std::string ModelBuilder::NewName(std::string_view stem) { return fmt::format("{}_{}", stem, next_name_++); }

std::string ModelBuilder::Input(const std::string& name, DataType t, const std::vector<DimSpec>& dims) {
  pbf_writer(inputs_).add_message(onnx::graph::kInput, EncodeValueInfo(name, t, &dims));
  return name;
}

std::string ModelBuilder::AddInitializer(std::string name, DataType t, const Ints& dims, std::string_view raw) {
  pbf_writer(initializers_).add_message(onnx::graph::kInitializer, EncodeTensor(name, t, dims, raw));
  return name;
}

std::string ModelBuilder::Weight(const Ints& dims, double scale, DataType t) {
  const int64_t fan_in = dims.size() > 1 ? Product(dims, 1) : Product(dims);
  if (scale == 0) scale = 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(fan_in, 1)));
  // A stream of its own per tensor: adding a weight leaves the values of the others as they were.
  Random stream(Random(seed_ + static_cast<uint64_t>(next_name_)).Next());
  std::string name = AddInitializer(NewName("weight"), t, dims, RandomRaw(t, Product(dims), scale, stream));
  if (weights_are_inputs_) {
    const std::vector<DimSpec> declared(dims.begin(), dims.end());
    pbf_writer(inputs_).add_message(onnx::graph::kInput, EncodeValueInfo(name, t, &declared));
  }
  return name;
}

std::string ModelBuilder::ConstantInts(const Ints& values, const Ints& dims) {
  return AddInitializer(NewName("const"), DataType::kInt64, dims, RawBytes(values));
}

std::string ModelBuilder::ConstantFloats(const std::vector<float>& values, const Ints& dims) {
  return AddInitializer(NewName("const"), DataType::kFloat32, dims, RawBytes(values));
}

std::string ModelBuilder::Op(const std::string& type, const std::vector<std::string>& inputs, const Attributes& a,
                             const std::string& domain) {
  return OpN(type, inputs, 1, a, domain)[0];
}

std::vector<std::string> ModelBuilder::OpN(const std::string& type, const std::vector<std::string>& inputs, int outputs,
                                           const Attributes& a, const std::string& domain) {
  const std::string name = NewName(type);
  std::vector<std::string> names;
  std::string node;
  pbf_writer writer(node);
  for (const std::string& input : inputs) writer.add_string(onnx::node::kInput, input);
  for (int i = 0; i < outputs; ++i) {
    names.push_back(fmt::format("{}_out{}", name, i));
    writer.add_string(onnx::node::kOutput, names.back());
  }
  writer.add_string(onnx::node::kName, name);
  writer.add_string(onnx::node::kOpType, type);
  for (const auto& [key, value] : a) {
    pbf_writer attribute(writer, onnx::node::kAttribute);
    attribute.add_string(onnx::attribute::kName, key);
    std::visit(AttributeEncoder{attribute}, value);
  }
  if (!domain.empty()) {
    writer.add_string(onnx::node::kDomain, domain);
    domains_.emplace(domain, DomainVersion(domain));
  }
  pbf_writer(nodes_).add_message(onnx::graph::kNode, node);
  return names;
}

void ModelBuilder::Output(const std::string& value) {
  pbf_writer(outputs_).add_message(onnx::graph::kOutput, EncodeValueInfo(value, DataType::kFloat32, nullptr));
}

void ModelBuilder::Output(const std::string& value, DataType t, const std::vector<DimSpec>& dims) {
  pbf_writer(outputs_).add_message(onnx::graph::kOutput, EncodeValueInfo(value, t, &dims));
}

std::string ModelBuilder::Serialize() const {
  std::string graph;
  graph.reserve(nodes_.size() + initializers_.size() + inputs_.size() + outputs_.size() + 16);
  graph += nodes_;
  pbf_writer(graph).add_string(onnx::graph::kName, "graph");
  graph += initializers_;
  graph += inputs_;
  graph += outputs_;
  std::string model;
  pbf_writer writer(model);
  writer.add_int64(onnx::model::kIrVersion, kIrVersion);
  writer.add_string(onnx::model::kProducerName, "sim_predict");
  writer.add_message(onnx::model::kGraph, graph);
  for (const auto& [domain, version] : domains_) {
    pbf_writer import(writer, onnx::model::kOpsetImport);
    import.add_string(onnx::opset::kDomain, domain);
    import.add_int64(onnx::opset::kVersion, version);
  }
  return model;
}

Status ModelBuilder::Save(const std::filesystem::path& path) const { return WriteAtomically(path, Serialize()); }

}  // namespace simpred
