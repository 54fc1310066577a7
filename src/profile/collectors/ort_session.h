// ONNX Runtime's C interface, loaded at run time, as far as measuring needs it.
//
//   Result<RuntimeLibrary> library = RuntimeLibrary::Load(path);
//   Result<RuntimeSession> session = RuntimeSession::Open(*library, {.model = "a.onnx"});
//   Status s = session->SetInputs({{.name = "x", .dtype = DataType::kFloat32, .dims = {1, 3, 224, 224}}});
//   for (...) s = session->Run();
//
// To be used in a child process only (child_process.h): the runtime may crash on what it is given.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "fusion/fusion.h"
#include "profile/collectors/ort_values.h"

namespace simpred {

class RuntimeLibrary {
 public:
  // Errors: kUnavailable; not there, not ONNX Runtime, older than the header this program was built with, or this
  // program was built without the header.
  static Result<RuntimeLibrary> Load(const std::filesystem::path& library);
  std::string version() const;         // "1.30.0"
  std::filesystem::path file() const;  // where the loader found it

 private:
  friend class RuntimeSession;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Was this program built with the runtime's header?
bool BuiltWithRuntimeHeader();

struct RuntimeSessionOptions {
  std::filesystem::path model;
  FusionLevel level = FusionLevel::kAll;
  int threads = 1;
  std::map<std::string, int64_t> symbols = {};     // values of free dimensions
  std::filesystem::path save_optimized_to = {};    // empty: not saved
  std::filesystem::path profile_file_prefix = {};  // empty: not profiled
};

// Sequential execution, one inter-op thread; spinning, memory patterns and the arena as the runtime has them by
// default.
class RuntimeSession {
 public:
  // Errors: kModel with the runtime's own words.
  static Result<RuntimeSession> Open(const RuntimeLibrary& library, const RuntimeSessionOptions& options);
  // One value for each of the session's inputs, by name; others are ignored. The same seed, the same data.
  Status SetInputs(const std::vector<RuntimeInput>& inputs, uint64_t seed = 1);
  // One inference. Its outputs are released before the next.
  Status Run();
  // Where the profile was written.
  Result<std::filesystem::path> EndProfiling();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace simpred
