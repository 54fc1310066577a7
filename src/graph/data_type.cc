// One table: what is each element type called, how wide is it, what kind is it?
#include "graph/data_type.h"

#include <array>

namespace simpred {
namespace {

enum class Class : uint8_t { kOther, kFloat, kInteger };

struct Entry {
  DataType type;
  std::string_view name;
  int bits;
  Class kind;
};

constexpr std::array<Entry, 27> kTable = {{
    {DataType::kUndefined, "undefined", 32, Class::kOther},
    {DataType::kFloat32, "float32", 32, Class::kFloat},
    {DataType::kFloat64, "float64", 64, Class::kFloat},
    {DataType::kFloat16, "float16", 16, Class::kFloat},
    {DataType::kBFloat16, "bfloat16", 16, Class::kFloat},
    {DataType::kFloat8E4M3FN, "float8e4m3fn", 8, Class::kFloat},
    {DataType::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8, Class::kFloat},
    {DataType::kFloat8E5M2, "float8e5m2", 8, Class::kFloat},
    {DataType::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8, Class::kFloat},
    {DataType::kFloat8E8M0, "float8e8m0", 8, Class::kFloat},
    {DataType::kFloat4E2M1, "float4e2m1", 4, Class::kFloat},
    {DataType::kInt2, "int2", 2, Class::kInteger},
    {DataType::kUInt2, "uint2", 2, Class::kInteger},
    {DataType::kInt4, "int4", 4, Class::kInteger},
    {DataType::kUInt4, "uint4", 4, Class::kInteger},
    {DataType::kInt8, "int8", 8, Class::kInteger},
    {DataType::kUInt8, "uint8", 8, Class::kInteger},
    {DataType::kInt16, "int16", 16, Class::kInteger},
    {DataType::kUInt16, "uint16", 16, Class::kInteger},
    {DataType::kInt32, "int32", 32, Class::kInteger},
    {DataType::kUInt32, "uint32", 32, Class::kInteger},
    {DataType::kInt64, "int64", 64, Class::kInteger},
    {DataType::kUInt64, "uint64", 64, Class::kInteger},
    {DataType::kBool, "bool", 8, Class::kOther},
    {DataType::kString, "string", 128, Class::kOther},
    {DataType::kComplex64, "complex64", 64, Class::kOther},
    {DataType::kComplex128, "complex128", 128, Class::kOther},
}};

constexpr bool TableFollowsTheEnum() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].type) != i) return false;
  }
  return static_cast<size_t>(DataType::kComplex128) + 1 == kTable.size();
}
static_assert(TableFollowsTheEnum());

const Entry& Lookup(DataType t) {
  const auto i = static_cast<size_t>(t);
  return kTable[i < kTable.size() ? i : 0];
}

}  // namespace

int BitWidth(DataType t) { return Lookup(t).bits; }

Bytes StorageSize(DataType t, int64_t elements) {
  if (elements <= 0) return Bytes(0);
  const int bits = BitWidth(t);
  if (bits >= 8) return Bytes(elements) * (bits / 8);
  const int64_t per_byte = 8 / bits;
  return Bytes(elements / per_byte + (elements % per_byte != 0 ? 1 : 0));
}

std::string_view Name(DataType t) { return Lookup(t).name; }

std::optional<DataType> DataTypeFromName(std::string_view name) {
  for (const Entry& entry : kTable) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

bool IsFloat(DataType t) { return Lookup(t).kind == Class::kFloat; }
bool IsInteger(DataType t) { return Lookup(t).kind == Class::kInteger; }

}  // namespace simpred
