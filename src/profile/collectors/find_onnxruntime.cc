// Where is ONNX Runtime's library on this machine?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "profile/collectors/onnxruntime.h"
#include "profile/collectors/ort_worker.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libonnxruntime.so.1";
constexpr const char* kHint = "run scripts/get_onnxruntime.sh, or set SIMPRED_ONNXRUNTIME to the library";
constexpr double kLoadSeconds = 60;

std::optional<fs::path> LibraryAt(const fs::path& place) {
  std::error_code error;
  if (fs::is_regular_file(place, error)) return place;
  for (const char* name : {kLibrary, "libonnxruntime.so"}) {
    if (fs::is_regular_file(place / name, error)) return place / name;
  }
  return std::nullopt;
}

std::vector<fs::path> Folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  if (const fs::path binary = fs::read_symlink("/proc/self/exe", error); !error) {
    folders.push_back((binary.parent_path() / "../lib").lexically_normal());
    folders.push_back((binary.parent_path() / "../../.deps/onnxruntime/lib").lexically_normal());
  }
  if (const Result<fs::path> data = UserDataFolder(); data.ok()) folders.push_back(*data / "onnxruntime/lib");
  return folders;
}

}  // namespace

Result<fs::path> FindOnnxRuntime() {
  if (const char* given = std::getenv("SIMPRED_ONNXRUNTIME"); given != nullptr && *given != '\0') {
    if (const auto found = LibraryAt(given)) return *found;
    return UnavailableError(fmt::format("SIMPRED_ONNXRUNTIME is '{}', and there is no {}", given, kLibrary), kHint);
  }
  std::vector<std::string> looked;
  for (const fs::path& folder : Folders()) {
    if (const auto found = LibraryAt(folder)) return *found;
    looked.push_back(folder.string());
  }
  // Only the loader knows the system's path; it is asked in a child, as loading is never done in this process.
  const Result<RuntimeIdentity> by_name = IdentifyRuntime(kLibrary, {.silence_seconds = kLoadSeconds});
  if (by_name.ok()) return by_name->file;
  if (!BuiltWithRuntimeHeader()) return by_name.status();
  return UnavailableError(fmt::format("ONNX Runtime ({}) is not there; looked in {} and the system's library path",
                                      kLibrary, fmt::join(looked, ", ")),
                          kHint);
}

}  // namespace simpred
