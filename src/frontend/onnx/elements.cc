// What are the elements of a small constant? Decodes raw little-endian bytes, protobuf's typed lists and external files
// into ConstantValue. Called for shapes, axes and scales only, never for weights.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "frontend/onnx/half.h"
#include "frontend/onnx/tensor.h"

namespace simpred::onnx {
namespace {

// An 8-bit or smaller float of OCP MX / ONNX: https://onnx.ai/onnx/technical/float8.html
struct MiniFloat {
  int exponent_bits;
  int significand_bits;
  int bias;
  enum class Specials : uint8_t { kIeee, kOnlyNan, kNegativeZeroIsNan, kNone } specials;
};

double DecodeMiniFloat(const MiniFloat& f, unsigned bits) {
  const unsigned exponent_mask = (1U << f.exponent_bits) - 1;
  const unsigned significand_mask = (1U << f.significand_bits) - 1;
  const unsigned exponent = (bits >> f.significand_bits) & exponent_mask;
  const unsigned significand = bits & significand_mask;
  const bool negative = ((bits >> (f.exponent_bits + f.significand_bits)) & 1U) != 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using S = MiniFloat::Specials;
  if (f.specials == S::kIeee && exponent == exponent_mask) {
    if (significand != 0) return nan;
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  if (f.specials == S::kOnlyNan && exponent == exponent_mask && significand == significand_mask) return nan;
  if (f.specials == S::kNegativeZeroIsNan && negative && exponent == 0 && significand == 0) return nan;
  const double magnitude = exponent == 0 ? std::ldexp(significand, 1 - f.bias - f.significand_bits)
                                         : std::ldexp(significand + significand_mask + 1,
                                                      static_cast<int>(exponent) - f.bias - f.significand_bits);
  return negative ? -magnitude : magnitude;
}

// The value of one element of at most 16 bits of a float type, from its bits.
double DecodeSmallFloat(DataType t, unsigned bits) {
  using S = MiniFloat::Specials;
  switch (t) {
    case DataType::kFloat16:
      return HalfToFloat(static_cast<uint16_t>(bits));
    case DataType::kBFloat16:
      return BFloat16ToFloat(static_cast<uint16_t>(bits));
    case DataType::kFloat8E4M3FN:
      return DecodeMiniFloat({4, 3, 7, S::kOnlyNan}, bits);
    case DataType::kFloat8E4M3FNUZ:
      return DecodeMiniFloat({4, 3, 8, S::kNegativeZeroIsNan}, bits);
    case DataType::kFloat8E5M2:
      return DecodeMiniFloat({5, 2, 15, S::kIeee}, bits);
    case DataType::kFloat8E5M2FNUZ:
      return DecodeMiniFloat({5, 2, 16, S::kNegativeZeroIsNan}, bits);
    case DataType::kFloat4E2M1:
      return DecodeMiniFloat({2, 1, 1, S::kNone}, bits);
    case DataType::kFloat8E8M0:
      return (bits & 0xFFU) == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                                    : std::ldexp(1.0, static_cast<int>(bits & 0xFFU) - 127);
    default:
      return 0;
  }
}

// Sign or zero extension of the low bits of an element of integer or bool type.
int64_t DecodeInteger(DataType t, uint64_t bits) {
  const int width = BitWidth(t);
  const bool is_signed = t == DataType::kInt2 || t == DataType::kInt4 || t == DataType::kInt8 ||
                         t == DataType::kInt16 || t == DataType::kInt32 || t == DataType::kInt64;
  if (width >= 64) return static_cast<int64_t>(bits);
  const uint64_t low = bits & ((uint64_t{1} << width) - 1);
  const bool negative = is_signed && ((low >> (width - 1)) & 1U) != 0;
  return negative ? static_cast<int64_t>(low) - (int64_t{1} << width) : static_cast<int64_t>(low);
}

bool IsSupported(DataType t) {
  return t != DataType::kUndefined && t != DataType::kComplex64 && t != DataType::kComplex128 && t != DataType::kString;
}

void AppendElement(ConstantValue& to, uint64_t bits) {
  if (!IsFloat(to.dtype)) {
    to.ints.emplace_back(DecodeInteger(to.dtype, bits));
  } else if (to.dtype == DataType::kFloat64) {
    to.floats.push_back(std::bit_cast<double>(bits));
  } else if (to.dtype == DataType::kFloat32) {
    to.floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  } else {
    to.floats.push_back(DecodeSmallFloat(to.dtype, static_cast<unsigned>(bits)));
  }
}

// Packed little-endian elements; sub-byte types have their first element in the low bits.
bool DecodeRaw(std::string_view raw, int64_t elements, ConstantValue& to) {
  if (!IsSupported(to.dtype) || static_cast<int64_t>(raw.size()) != StorageSize(to.dtype, elements).count())
    return false;
  const size_t width = static_cast<size_t>(BitWidth(to.dtype));
  for (size_t i = 0; i < static_cast<size_t>(elements); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, raw.data() + i * width / 8, std::max<size_t>(width / 8, 1));
    AppendElement(to, width < 8 ? bits >> (i * width % 8) : bits);
  }
  return true;
}

// int32_data holds the bits of every type of at most 32 bits; sub-byte types stand packed, a byte an entry.
bool DecodeInt32Data(const std::vector<int64_t>& data, int64_t elements, ConstantValue& to) {
  const int width = BitWidth(to.dtype);
  if (width >= 8) {
    for (int64_t v : data) AppendElement(to, static_cast<uint64_t>(v));
    return true;
  }
  std::string raw;
  for (int64_t v : data) raw += static_cast<char>(v & 0xFF);
  return DecodeRaw(raw, elements, to);
}

bool IsNumberList(Tag tag) {
  return tag == tensor::kFloatData || tag == tensor::kDoubleData || tag == tensor::kInt32Data ||
         tag == tensor::kInt64Data || tag == tensor::kUint64Data;
}

bool DecodeTyped(std::string_view tensor_message, int64_t elements, ConstantValue& to) {
  ReadContext context(tensor_message);
  std::vector<int64_t> small;
  Fields f(context, tensor_message, "tensor");
  while (f.Next()) {
    // A list longer than its type says is refused before it is decoded.
    if (IsNumberList(f.tag()) && f.Bytes().size() > static_cast<size_t>(elements) * 10) return false;
    if (f.tag() == tensor::kFloatData && to.dtype == DataType::kFloat32) f.AppendFloats(to.floats);
    if (f.tag() == tensor::kDoubleData && to.dtype == DataType::kFloat64) f.AppendDoubles(to.floats);
    if (f.tag() == tensor::kInt32Data) f.AppendInts(small);
    if (f.tag() == tensor::kStringData && to.dtype == DataType::kString) to.strings.emplace_back(f.Bytes());
    if (f.tag() == tensor::kInt64Data || f.tag() == tensor::kUint64Data) {
      std::vector<int64_t> wide;
      f.AppendInts(wide);
      for (int64_t v : wide) to.ints.emplace_back(v);
    }
  }
  if (context.failed()) return false;
  if (!small.empty() && IsSupported(to.dtype) && !DecodeInt32Data(small, elements, to)) return false;
  return static_cast<int64_t>(to.size()) == elements;
}

bool DecodeExternal(const std::filesystem::path& folder, const Payload& payload, int64_t elements, ConstantValue& to) {
  if (!StaysInFolder(payload.external_file)) return false;
  Result<MappedFile> file = MappedFile::Open(folder / payload.external_file);
  if (!file.ok() || payload.offset > file->size()) return false;
  const uint64_t left = file->size() - payload.offset;
  const uint64_t size =
      payload.size != 0 ? payload.size : static_cast<uint64_t>(StorageSize(to.dtype, elements).count());
  if (size > left) return false;
  return DecodeRaw(file->bytes().substr(payload.offset, size), elements, to);
}

}  // namespace

std::shared_ptr<const ConstantValue> ReadElements(std::string_view file, const std::filesystem::path& folder,
                                                  const Payload& payload, DataType dtype,
                                                  const std::vector<int64_t>& dims) {
  const int64_t elements = ElementCount(dims);
  if (elements < 0 || elements > ConstantValue::kMaxElements) return nullptr;
  auto constant = std::make_shared<ConstantValue>();
  constant->dtype = dtype;
  constant->dims = dims;
  if (elements == 0) return constant;
  const bool in_file = payload.offset <= file.size() && payload.size <= file.size() - payload.offset;
  bool ok = false;
  switch (payload.where) {
    case Payload::Where::kNone:
      break;
    case Payload::Where::kRaw:
      ok = in_file && DecodeRaw(file.substr(payload.offset, payload.size), elements, *constant);
      break;
    case Payload::Where::kTyped:
      ok = in_file && DecodeTyped(file.substr(payload.offset, payload.size), elements, *constant);
      break;
    case Payload::Where::kExternal:
      ok = DecodeExternal(folder, payload, elements, *constant);
      break;
  }
  return ok ? constant : nullptr;
}

}  // namespace simpred::onnx
