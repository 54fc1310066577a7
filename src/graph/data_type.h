// Element types of tensors. Numbering is ours; the frontends map theirs onto it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"

namespace simpred {

enum class DataType : uint8_t {
  kUndefined,
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kFloat8E4M3FN,
  kFloat8E4M3FNUZ,
  kFloat8E5M2,
  kFloat8E5M2FNUZ,
  kFloat8E8M0,
  kFloat4E2M1,
  kInt2,
  kUInt2,
  kInt4,
  kUInt4,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool,
  kString,
  kComplex64,
  kComplex128,
};

// Bits of one element as stored in a packed tensor (int4: 4). A string counts as the 16 bytes of its handle.
// Undefined counts 32: the least surprising guess, always reported by those who use it.
int BitWidth(DataType t);
// ceil(elements * bits / 8), saturating.
Bytes StorageSize(DataType t, int64_t elements);
std::string_view Name(DataType t);  // "float32", "bfloat16", ...
std::optional<DataType> DataTypeFromName(std::string_view name);
bool IsFloat(DataType t);
bool IsInteger(DataType t);  // signed and unsigned, not bool

}  // namespace simpred
