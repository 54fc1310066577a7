// Numbers to bytes and back for fitted models: little-endian, bounds-checked, no padding.
//
//   ByteWriter w; w.Int(3); w.Floats(v);          ByteReader r(bytes); int64_t n = r.Int(); r.Floats(v);
//   r.ok()                                        // false once anything was missing or absurd; then all reads give
//   zero
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace simpred {

static_assert(std::endian::native == std::endian::little, "fitted models are stored as little-endian");

class ByteWriter {
 public:
  void Int(int64_t v) { Raw(&v, sizeof v); }
  void Double(double v) { Raw(&v, sizeof v); }
  void Text(std::string_view s) {
    Int(static_cast<int64_t>(s.size()));
    bytes_.append(s);
  }
  template <typename T>
  void Array(const T* data, size_t n) {
    Int(static_cast<int64_t>(n));
    Raw(data, n * sizeof(T));
  }
  template <typename T>
  void Array(const std::vector<T>& v) {
    Array(v.data(), v.size());
  }
  std::string Take() { return std::move(bytes_); }

 private:
  void Raw(const void* data, size_t n) {
    if (n) bytes_.append(static_cast<const char*>(data), n);
  }
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  void Fail() { ok_ = false; }

  int64_t Int() {
    int64_t v = 0;
    Raw(&v, sizeof v);
    return ok_ ? v : 0;
  }
  double Double() {
    double v = 0;
    Raw(&v, sizeof v);
    return ok_ ? v : 0;
  }
  std::string_view Text() {
    size_t n = Count(1);
    std::string_view s = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return s;
  }
  template <typename T>
  std::vector<T> Array() {
    std::vector<T> v(Count(sizeof(T)));
    Raw(v.data(), v.size() * sizeof(T));
    return v;
  }
  // A number of items that each take at least `item` bytes of what is left.
  size_t Count(size_t item) {
    int64_t n = Int();
    if (n < 0 || static_cast<uint64_t>(n) > rest_.size() / item) ok_ = false;
    return ok_ ? static_cast<size_t>(n) : 0;
  }

 private:
  void Raw(void* into, size_t n) {
    if (!ok_ || n > rest_.size()) {
      ok_ = false;
      return;
    }
    if (n) std::memcpy(into, rest_.data(), n);
    rest_.remove_prefix(n);
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace simpred
