// What stands in a protobuf message, field by field? See fields.h.
#include "frontend/onnx/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace simpred::onnx {
namespace {

template <typename T>
T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

// Length of the valid UTF-8 sequence at the start of `s`, 0 if there is none (overlong forms and surrogates included).
size_t Utf8Length(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : (first & 0xF0U) == 0xE0       ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) >= 0xA0) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) >= 0x90) return 0;
  return length;
}

std::string Sanitised(std::string_view bytes, std::string_view also_allowed) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = also_allowed.find(bytes[0]) != std::string_view::npos ? 1 : Utf8Length(bytes);
    text += length == 0 ? "?" : bytes.substr(0, length);
    bytes.remove_prefix(std::max<size_t>(length, 1));
  }
  return text;
}

}  // namespace

void ReadContext::Warn(std::string text) {
  if (warnings_.size() < kMaxWarnings) {
    warnings_.push_back({std::move(text)});
  } else {
    ++warnings_dropped_;
  }
}

std::vector<Warning> ReadContext::TakeWarnings() {
  if (warnings_dropped_ > 0) warnings_.push_back({fmt::format("{} more warnings of this kind", warnings_dropped_)});
  warnings_dropped_ = 0;
  return std::move(warnings_);
}

bool ReadContext::Count(int64_t entities) {
  entities_ += entities;
  if (entities_ > kMaxEntities) {
    Fault(fmt::format("more than {} nodes, values, attributes and dimensions", kMaxEntities));
  }
  return !failed();
}

bool Fields::Fail(const std::string& what) {
  context_.Fault(fmt::format("message {} at byte {}: {}", name_, context_.OffsetOf(position_), what));
  position_ = end_;
  return false;
}

bool Fields::ReadVarint(uint64_t& to) {
  try {
    to = protozero::decode_varint(&position_, end_);
    return true;
  } catch (const protozero::end_of_buffer_exception&) {
    return Fail("ends inside a number");
  } catch (const protozero::exception&) {
    return Fail("a number of more than 64 bits");
  }
}

bool Fields::ReadFixed(size_t size) {
  if (static_cast<size_t>(end_ - position_) < size) return Fail("ends inside a number");
  bytes_ = {};
  number_ = size == 4 ? Load<uint32_t>(position_) : Load<uint64_t>(position_);
  position_ += size;
  return true;
}

bool Fields::ReadLengthDelimited() {
  uint64_t length = 0;
  if (!ReadVarint(length)) return false;
  const auto left = static_cast<uint64_t>(end_ - position_);
  if (length > left) {
    overrun_ = {length, left};
    return Fail(fmt::format("field {} says {} bytes, {} are left", tag_, length, left));
  }
  bytes_ = {position_, static_cast<size_t>(length)};
  position_ += length;
  return true;
}

bool Fields::Next() {
  if (position_ == end_ || context_.failed()) return false;
  uint64_t key = 0;
  if (!ReadVarint(key)) return false;
  if ((key >> 3) == 0 || (key >> 3) > 0x1FFFFFFF) return Fail(fmt::format("{} is no field number", key >> 3));
  tag_ = static_cast<Tag>(key >> 3);
  bytes_ = {};
  switch (key & 7) {
    case 0:
      wire_ = Wire::kVarint;
      return ReadVarint(number_);
    case 1:
      wire_ = Wire::kFixed64;
      return ReadFixed(8);
    case 2:
      wire_ = Wire::kBytes;
      return ReadLengthDelimited();
    case 5:
      wire_ = Wire::kFixed32;
      return ReadFixed(4);
    default:
      return Fail(fmt::format("field {} has wire type {}, which no ONNX file uses", tag_, key & 7));
  }
}

float Fields::Float() const {
  return wire_ == Wire::kFixed32 ? std::bit_cast<float>(static_cast<uint32_t>(number_)) : 0.0F;
}

void Fields::AppendInts(std::vector<int64_t>& to) const {
  if (wire_ == Wire::kVarint) to.push_back(static_cast<int64_t>(number_));
  const char* p = bytes_.data();
  const char* const end = p + bytes_.size();
  try {
    while (p != end) to.push_back(static_cast<int64_t>(protozero::decode_varint(&p, end)));
  } catch (const protozero::exception&) {
    context_.Fault(
        fmt::format("message {} at byte {}: field {} ends inside a number", name_, context_.OffsetOf(p), tag_));
  }
}

void Fields::AppendFloats(std::vector<double>& to) const {
  if (wire_ == Wire::kFixed32) to.push_back(Float());
  for (size_t i = 0; i + 4 <= bytes_.size(); i += 4) to.push_back(Load<float>(bytes_.data() + i));
}

void Fields::AppendDoubles(std::vector<double>& to) const {
  if (wire_ == Wire::kFixed64) to.push_back(std::bit_cast<double>(number_));
  for (size_t i = 0; i + 8 <= bytes_.size(); i += 8) to.push_back(Load<double>(bytes_.data() + i));
}

std::string Text(std::string_view bytes) { return Sanitised(bytes, {}); }

std::string MultilineText(std::string_view bytes) { return Sanitised(bytes, "\n\t"); }

std::string Quote(std::string_view bytes) {
  constexpr size_t kMaxShown = 80;
  return fmt::format("'{}{}'", Text(bytes.substr(0, kMaxShown)), bytes.size() > kMaxShown ? "..." : "");
}

}  // namespace simpred::onnx
