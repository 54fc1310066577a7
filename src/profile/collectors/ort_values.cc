// What are a model's inputs filled with when it is measured?
#include "profile/collectors/ort_values.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <numbers>

namespace simpred {
namespace {

constexpr int64_t kLargestInput = int64_t{8} << 30;

double Normal(Random& random) {  // Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958
  const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.Uniform());
}

uint16_t BFloat16Bits(float v) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16); }

// Truncates; what is too small for a normal half becomes zero. Good enough for random data of magnitude one.
uint16_t HalfBits(float v) {
  const auto bits = std::bit_cast<uint32_t>(v);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const int exponent = static_cast<int>((bits >> 23) & 0xFFU) - 127 + 15;
  if (exponent <= 0) return static_cast<uint16_t>(sign);
  if (exponent >= 31) return static_cast<uint16_t>(sign | 0x7BFFU);  // the largest half
  return static_cast<uint16_t>(sign | (static_cast<uint32_t>(exponent) << 10) | ((bits >> 13) & 0x3FFU));
}

template <typename T, typename Draw>
std::string Fill(int64_t elements, Draw draw) {
  std::string bytes(static_cast<size_t>(elements) * sizeof(T), '\0');
  for (size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    const T value = draw();
    std::memcpy(bytes.data() + i, &value, sizeof value);
  }
  return bytes;
}

template <typename T>
std::string FillIntegers(const RuntimeInput& in, int64_t elements, Random& random) {
  return Fill<T>(elements, [&] { return static_cast<T>(random.Int(in.low, in.high)); });
}

}  // namespace

Result<std::string> RandomTensor(const RuntimeInput& in, Random& random) {
  int64_t elements = 1;
  for (const int64_t d : in.dims) {
    if (d < 0 || __builtin_mul_overflow(elements, d, &elements)) elements = INT64_MAX;
  }
  if (StorageSize(in.dtype, elements) > Bytes(kLargestInput)) {
    return ModelError("more than 8 GiB are needed to fill it").With(fmt::format("input '{}'", in.name));
  }
  switch (in.dtype) {
    case DataType::kFloat32:
      return Fill<float>(elements, [&] { return static_cast<float>(Normal(random)); });
    case DataType::kFloat64:
      return Fill<double>(elements, [&] { return Normal(random); });
    case DataType::kFloat16:
      return Fill<uint16_t>(elements, [&] { return HalfBits(static_cast<float>(Normal(random))); });
    case DataType::kBFloat16:
      return Fill<uint16_t>(elements, [&] { return BFloat16Bits(static_cast<float>(Normal(random))); });
    case DataType::kBool:
      return Fill<uint8_t>(elements, [&] { return static_cast<uint8_t>(random.Int(0, 1)); });
    case DataType::kInt8:
    case DataType::kUInt8:
      return FillIntegers<uint8_t>(in, elements, random);
    case DataType::kInt16:
    case DataType::kUInt16:
      return FillIntegers<uint16_t>(in, elements, random);
    case DataType::kInt32:
    case DataType::kUInt32:
      return FillIntegers<uint32_t>(in, elements, random);
    case DataType::kInt64:
    case DataType::kUInt64:
      return FillIntegers<uint64_t>(in, elements, random);
    default:
      return ModelError(fmt::format("inputs of type {} cannot be filled with random data", Name(in.dtype)))
          .With(fmt::format("input '{}'", in.name));
  }
}

}  // namespace simpred
