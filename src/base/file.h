// Files: read-only memory maps, whole texts, atomic writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"

namespace simpred {

// A read-only memory map. Only the pages that are touched are read. Moves, does not copy.
class MappedFile {
 public:
  // Errors: kModel with the path and errno's text (missing, a folder, no permission). Empty files map to size 0.
  static Result<MappedFile> Open(const std::filesystem::path& path);
  MappedFile() = default;
  MappedFile(MappedFile&& o) noexcept;
  MappedFile& operator=(MappedFile&& o) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // Gives the memory of the whole pages inside `part` (of bytes()) back; they are read again when touched. Page faults
  // map neighbours too, so that skipping over a large file would otherwise keep tens of megabytes of it in memory.
  void Forget(std::string_view part) const;
  size_t size() const { return size_; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// At most `limit` bytes; a larger file is an error.
Result<std::string> ReadText(const std::filesystem::path& path, size_t limit = size_t{1} << 30);
// Writes beside the target, syncs, renames: a reader sees the old content or the new one, never a half.
// Errors carry errno's text ("No space left on device").
Status WriteAtomically(const std::filesystem::path& path, std::string_view content);
// $XDG_DATA_HOME/sim_predict or ~/.local/share/sim_predict; created if it is not there.
Result<std::filesystem::path> UserDataFolder();

}  // namespace simpred
