// What is said where ONNX Runtime's header was not there when this program was built.
#ifndef SIMPRED_HAS_ONNXRUNTIME_HEADER

#include "profile/collectors/ort_session.h"

namespace simpred {
namespace {

Status NoHeader() {
  return UnavailableError("this program was built without ONNX Runtime's header, so it cannot measure on this machine",
                          "run scripts/get_onnxruntime.sh and build again");
}

}  // namespace

struct RuntimeLibrary::Impl {};
struct RuntimeSession::Impl {};

bool BuiltWithRuntimeHeader() { return false; }

Result<RuntimeLibrary> RuntimeLibrary::Load(const std::filesystem::path&) { return NoHeader(); }
std::string RuntimeLibrary::version() const { return {}; }
std::filesystem::path RuntimeLibrary::file() const { return {}; }

Result<RuntimeSession> RuntimeSession::Open(const RuntimeLibrary&, const RuntimeSessionOptions&) { return NoHeader(); }
Status RuntimeSession::SetInputs(const std::vector<RuntimeInput>&, uint64_t) { return NoHeader(); }
Status RuntimeSession::Run() { return NoHeader(); }
Result<std::filesystem::path> RuntimeSession::EndProfiling() { return NoHeader(); }

}  // namespace simpred

#endif  // SIMPRED_HAS_ONNXRUNTIME_HEADER
