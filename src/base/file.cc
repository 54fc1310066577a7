// How are files read and written so that nothing is half, nothing hangs, and every error says why?
#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "base/units.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

std::string ErrnoText(int error) { return std::generic_category().message(error); }

std::string CannotText(std::string_view verb, const fs::path& path, int error) {
  return fmt::format("cannot {} '{}': {}", verb, path.string(), ErrnoText(error));
}

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  // Some file systems report a failed write only here.
  int Close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_;
};

// 0 or the errno of the failure.
int WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    content.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

Status WriteError(const fs::path& path, int error) {
  std::string hint;
  if (error == ENOSPC || error == EDQUOT) hint = "free some space, or write to another disk";
  if (error == ENOENT) hint = "create the folder first";
  if (error == EACCES || error == EROFS || error == EPERM) hint = "choose a folder that you may write to";
  return UsageError(CannotText("write", path, error), hint);
}

// Devices and pipes (/dev/stdout) are written in place: there is nothing to rename.
Status WriteInPlace(const fs::path& path, std::string_view content) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return WriteError(path, errno);
  if (const int error = WriteAll(file.get(), content); error != 0) return WriteError(path, error);
  if (const int error = file.Close(); error != 0) return WriteError(path, error);
  return OkStatus();
}

// A new file beside `target`, which keeps the mode of the file that it will replace. The number in the name of the
// first free one tells apart the threads of this process.
Result<std::pair<fs::path, int>> CreateBeside(const fs::path& target, mode_t mode) {
  for (int i = 0;; ++i) {
    fs::path name = target;
    name += fmt::format(".{}-{}.tmp", ::getpid(), i);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) return std::pair(std::move(name), fd);
    if (errno != EEXIST || i > 1000) return WriteError(target, errno);
  }
}

int FillAndRename(const fs::path& from, int fd, std::string_view content, const fs::path& to) {
  Descriptor file(fd);
  if (const int error = WriteAll(fd, content); error != 0) return error;
  if (::fsync(fd) != 0 && errno != EINVAL) return errno;
  if (const int error = file.Close(); error != 0) return error;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// The rename itself survives a power cut only when the folder is on disk. Best effort: not every file system can.
void SyncFolder(const fs::path& folder) {
  Descriptor dir(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (dir.get() >= 0) (void)::fsync(dir.get());
}

}  // namespace

Result<MappedFile> MappedFile::Open(const fs::path& path) {
  // Non-blocking: opening a pipe must not wait for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int error = errno;
    return ModelError(CannotText("open", path, error),
                      error == ENOENT ? "check the path; a relative one starts at the current folder" : "");
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return ModelError(CannotText("open", path, errno));
  if (S_ISDIR(info.st_mode)) return ModelError(fmt::format("cannot open '{}': it is a folder", path.string()));
  if (!S_ISREG(info.st_mode)) {
    return ModelError(fmt::format("cannot open '{}': it is not a regular file", path.string()),
                      "copy it to a file first");
  }
  MappedFile mapped;
  if (info.st_size == 0) return mapped;
  const auto size = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return ModelError(CannotText("map", path, errno));
  mapped.data_ = static_cast<const char*>(data);
  mapped.size_ = size;
  return mapped;
}

void MappedFile::Forget(std::string_view part) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(part.data() + part.size()) / page * page;
  if (data_ == nullptr || begin >= end) return;
  // Advice: nothing depends on its success. The map is private, read-only and of a file, so no content is lost.
  static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
}

MappedFile::MappedFile(MappedFile&& o) noexcept
    : data_(std::exchange(o.data_, nullptr)), size_(std::exchange(o.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& o) noexcept {
  std::swap(data_, o.data_);
  std::swap(size_, o.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

Result<std::string> ReadText(const fs::path& path, size_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return UsageError(CannotText("open", path, errno));
  std::string text;
  constexpr size_t kChunk = size_t{1} << 16;
  for (;;) {
    const size_t have = text.size();
    text.resize(have + kChunk);
    const ssize_t n = ::read(file.get(), text.data() + have, kChunk);
    const int error = errno;
    text.resize(have + static_cast<size_t>(n > 0 ? n : 0));
    if (n < 0 && error == EINTR) continue;
    if (n < 0) return UsageError(CannotText("read", path, error));
    if (text.size() > limit) {
      return UsageError(fmt::format("'{}' is larger than {}", path.string(), Bytes(static_cast<int64_t>(limit))));
    }
    if (n == 0) return text;
  }
}

Status WriteAtomically(const fs::path& path, std::string_view content) {
  std::error_code ignored;
  // Through a link, so that the link stays one.
  const fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return WriteError(path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return WriteInPlace(path, content);
  SIMPRED_ASSIGN_OR_RETURN(const auto created, CreateBeside(target, exists ? info.st_mode & 07777 : 0666));
  const auto& [temporary, fd] = created;
  if (const int error = FillAndRename(temporary, fd, content, target); error != 0) {
    ::unlink(temporary.c_str());
    return WriteError(path, error);
  }
  SyncFolder(target.parent_path());
  return OkStatus();
}

Result<fs::path> UserDataFolder() {
  const char* data_home = std::getenv("XDG_DATA_HOME");  // NOLINT(concurrency-mt-unsafe): nobody here sets it
  const char* home = std::getenv("HOME");                // NOLINT(concurrency-mt-unsafe)
  fs::path folder;
  // The XDG base directory specification: a relative path is to be ignored.
  if (data_home != nullptr && fs::path(data_home).is_absolute()) {
    folder = data_home;
  } else if (home != nullptr && *home != '\0') {
    folder = fs::path(home) / ".local" / "share";
  } else {
    return UsageError("there is no folder for this user's data: neither HOME nor XDG_DATA_HOME is set",
                      "set HOME, or XDG_DATA_HOME to a folder that you may write to");
  }
  folder /= "sim_predict";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return UsageError(fmt::format("cannot create '{}': {}", folder.string(), error.message()),
                      "set XDG_DATA_HOME to a folder that you may write to");
  }
  return folder;
}

}  // namespace simpred
