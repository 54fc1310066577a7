// What stands in a protobuf message, field by field? A cursor over the wire format that cannot fail half-way: the first
// fault is kept in the context, every cursor then ends, and whoever started the reading reports it.
//
//   Fields f(context, message, "node");
//   while (f.Next()) {
//     if (f.tag() == 1) name = f.Bytes();        // a field of another wire type reads as empty, like an unknown field
//   }
//
// Nothing is copied: Bytes() points into the file. Skipping a payload does not touch its pages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontend/onnx/wire.h"
#include "graph/graph.h"

namespace simpred::onnx {

struct Range {
  uint64_t offset = 0;
  uint64_t size = 0;
};

// State of one reading, shared by all its cursors.
class ReadContext {
 public:
  // `map`: what `file` is mapped by, if it is; the pages of skipped weights are given back to it.
  explicit ReadContext(std::string_view file, const MappedFile* map = nullptr) : file_(file), map_(map) {}

  std::string_view file() const { return file_; }
  uint64_t OffsetOf(const char* p) const { return static_cast<uint64_t>(p - file_.data()); }

  bool failed() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }
  void Fault(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
  }

  void Warn(std::string text);
  std::vector<Warning> TakeWarnings();

  // Each node, value, attribute, dimension and subgraph is counted: a file of a few bytes per entity must not become
  // gigabytes of memory. False (and a fault) beyond the limit, which is ten times the largest model known to us.
  static constexpr int64_t kMaxEntities = int64_t{1} << 22;
  bool Count(int64_t entities = 1);

  // Bytes of weights, left out of the structure hash.
  void AddWeights(std::string_view payload) {
    weights_.push_back({OffsetOf(payload.data()), payload.size()});
    if (map_ != nullptr) map_->Forget(payload);
  }
  void Forget(std::string_view part) const {
    if (map_ != nullptr) map_->Forget(part);
  }
  std::vector<Range>& weights() { return weights_; }

  std::map<std::string, std::string>& used_domains() { return used_domains_; }

 private:
  static constexpr size_t kMaxWarnings = 100;

  std::string_view file_;
  const MappedFile* map_;
  std::string fault_;
  std::vector<Warning> warnings_;
  size_t warnings_dropped_ = 0;
  int64_t entities_ = 0;
  std::vector<Range> weights_;
  std::map<std::string, std::string> used_domains_;  // domain -> the first operator that uses it
};

class Fields {
 public:
  enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  // `name` is for messages to people ("graph", "node").
  Fields(ReadContext& context, std::string_view message, std::string_view name)
      : context_(context), position_(message.data()), end_(message.data() + message.size()), name_(name) {}

  bool Next();  // false at the end or after a fault of any cursor
  Tag tag() const { return tag_; }
  Wire wire() const { return wire_; }
  bool is_bytes() const { return wire_ == Wire::kBytes; }

  std::string_view Bytes() const { return bytes_; }
  int64_t Int() const { return wire_ == Wire::kVarint ? static_cast<int64_t>(number_) : 0; }
  float Float() const;
  // Repeated numbers: one of them, or packed many.
  void AppendInts(std::vector<int64_t>& to) const;
  void AppendFloats(std::vector<double>& to) const;
  void AppendDoubles(std::vector<double>& to) const;

  // Where this cursor's fault was a payload that is longer than what is left.
  struct Overrun {
    uint64_t says, left;
  };
  const std::optional<Overrun>& overrun() const { return overrun_; }

 private:
  bool ReadVarint(uint64_t& to);
  bool ReadFixed(size_t size);
  bool ReadLengthDelimited();
  bool Fail(const std::string& what);

  ReadContext& context_;
  const char* position_;
  const char* end_;
  std::string_view name_;
  Tag tag_ = 0;
  Wire wire_ = Wire::kVarint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  std::optional<Overrun> overrun_;
};

// A name of the file as UTF-8: what is not valid or not printable becomes '?', so that every later output can print it.
std::string Text(std::string_view bytes);
// The same for texts of several lines.
std::string MultilineText(std::string_view bytes);
// For messages: in quotes, cut after 80 bytes.
std::string Quote(std::string_view bytes);

}  // namespace simpred::onnx
