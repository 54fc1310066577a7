// SHA-256 by libmd.
#include "base/hash.h"

#include <sha256.h>

#include <array>
#include <cstdint>

namespace simpred {

struct Sha256::Impl {
  SHA2_CTX context;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) { SHA256Init(&impl_->context); }
Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  SHA256Update(&impl_->context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256::HexDigest() {
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &impl_->context);
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  text.reserve(digest.size() * 2);
  for (uint8_t byte : digest) {
    text += kHex[byte >> 4];
    text += kHex[byte & 15];
  }
  return text;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.HexDigest();
}

}  // namespace simpred
