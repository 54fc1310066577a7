// What does a TensorProto say about itself? Its elements are skipped by their length; where they lie is kept.
#include "frontend/onnx/tensor.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/units.h"

namespace simpred::onnx {
namespace {

// Weights of at most this size are part of the structure: shapes, axes and scales are, and cost nothing to hash.
constexpr uint64_t kMaxStructuralBytes = 64;
constexpr int32_t kDataLocationExternal = 1;

// A rank beyond every runtime's limit would only cost memory.
constexpr size_t kMaxRank = 1024;

Payload ReadExternalEntry(ReadContext& context, std::string_view message, Payload payload) {
  std::string_view key;
  std::string_view value;
  Fields f(context, message, "external_data");
  while (f.Next()) {
    if (f.tag() == entry::kKey) key = f.Bytes();
    if (f.tag() == entry::kValue) value = f.Bytes();
  }
  if (key == "location") payload.external_file = std::string(value);
  const int64_t number = ParseInt(value).value_or(0);
  if (key == "offset") payload.offset = static_cast<uint64_t>(std::max<int64_t>(number, 0));
  if (key == "length") payload.size = static_cast<uint64_t>(std::max<int64_t>(number, 0));
  return payload;
}

// Where the bytes are said to lie in another file; kNone, with a warning, where that cannot be.
Payload CheckExternal(ReadContext& context, Payload payload, std::string_view what, std::string_view name) {
  if (StaysInFolder(payload.external_file)) return payload;
  context.Warn(
      payload.external_file.empty()
          ? fmt::format("{} {}: external data without a location; its elements are not known", what, Quote(name))
          : fmt::format("{} {}: external data at {} is outside of the model's folder and is not opened", what,
                        Quote(name), Quote(payload.external_file)));
  return {};
}

void WarnIfSizeIsWrong(ReadContext& context, const TensorHeader& h, std::string_view what) {
  const int64_t elements = ElementCount(h.dims);
  if (h.payload.where != Payload::Where::kRaw || h.dtype == DataType::kUndefined || elements < 0) return;
  const Bytes expected = StorageSize(h.dtype, elements);
  if (expected.count() == static_cast<int64_t>(h.payload.size)) return;
  context.Warn(fmt::format("{} {}: {} elements of {} are {} bytes, the file holds {}", what, Quote(h.name), elements,
                           Name(h.dtype), expected.count(), h.payload.size));
}

void CheckDims(ReadContext& context, TensorHeader& h, std::string_view what) {
  if (h.dims.size() > kMaxRank) {
    context.Fault(
        fmt::format("{} {} has {} dimensions; at most {} are supported", what, Quote(h.name), h.dims.size(), kMaxRank));
  }
  for (int64_t& d : h.dims) {
    if (d >= 0) continue;
    context.Warn(fmt::format("{} {}: dimension {} is negative; 0 is assumed", what, Quote(h.name), d));
    d = 0;
  }
}

}  // namespace

bool StaysInFolder(std::string_view location) {
  if (location.empty() || location.find('\0') != std::string_view::npos) return false;
  const std::filesystem::path path = std::filesystem::path(location).lexically_normal();
  return path.is_relative() && !path.has_root_path() && *path.begin() != "..";
}

int64_t ElementCount(const std::vector<int64_t>& dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) return -1;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  Bytes product(1);  // saturates
  for (int64_t d : dims) product = product * d;
  return product.count();
}

TensorHeader ReadTensorHeader(ReadContext& context, std::string_view message, std::string_view what) {
  TensorHeader h;
  Payload external;
  bool is_external = false;
  std::vector<std::string_view> typed;  // the repeated fields' bytes
  bool has_typed = false;
  Fields f(context, message, "tensor");
  while (f.Next()) {
    switch (f.tag()) {
      case tensor::kDims:
        f.AppendInts(h.dims);
        break;
      case tensor::kDataType:
        h.dtype = DataTypeFromWire(f.Int());
        break;
      case tensor::kName:
        h.name = f.Bytes();
        break;
      case tensor::kRawData:
        h.payload = {Payload::Where::kRaw, context.OffsetOf(f.Bytes().data()), f.Bytes().size(), {}};
        if (h.payload.size > kMaxStructuralBytes) context.AddWeights(f.Bytes());
        break;
      case tensor::kFloatData:
      case tensor::kInt32Data:
      case tensor::kStringData:
      case tensor::kInt64Data:
      case tensor::kDoubleData:
      case tensor::kUint64Data:
        has_typed = true;
        if (!f.Bytes().empty()) typed.push_back(f.Bytes());
        break;
      case tensor::kExternalData:
        external = ReadExternalEntry(context, f.Bytes(), std::move(external));
        break;
      case tensor::kDataLocation:
        is_external = f.Int() == kDataLocationExternal;
        break;
      default:
        break;
    }
  }
  if (context.failed()) return h;
  if (is_external) {
    external.where = Payload::Where::kExternal;
    h.payload = CheckExternal(context, std::move(external), what, h.name);
  } else if (h.payload.where == Payload::Where::kNone && has_typed) {
    h.payload = {Payload::Where::kTyped, context.OffsetOf(message.data()), message.size(), {}};
    uint64_t bytes = 0;
    for (std::string_view t : typed) bytes += t.size();
    for (std::string_view t : typed) {
      if (bytes > kMaxStructuralBytes) context.AddWeights(t);
    }
  }
  CheckDims(context, h, what);
  WarnIfSizeIsWrong(context, h, what);
  return h;
}

TensorHeader ReadSparseTensorHeader(ReadContext& context, std::string_view message) {
  TensorHeader h;
  std::vector<int64_t> dims;
  Fields f(context, message, "sparse_tensor");
  while (f.Next()) {
    if (f.tag() == sparse::kValues) h = ReadTensorHeader(context, f.Bytes(), "sparse tensor");
    if (f.tag() == sparse::kIndices) ReadTensorHeader(context, f.Bytes(), "indices of a sparse tensor");
    if (f.tag() == sparse::kDims) f.AppendInts(dims);
  }
  h.dims = std::move(dims);
  h.payload = {};
  CheckDims(context, h, "sparse tensor");
  return h;
}

}  // namespace simpred::onnx
