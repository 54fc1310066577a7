// SHA-256 as lower-case hex, and a streaming form.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace simpred {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void Update(std::string_view bytes);
  std::string HexDigest();  // ends the stream

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace simpred
