// A private temporary folder; see work_folder.h.
#include "base/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace simpred {

Result<std::unique_ptr<WorkFolder>> WorkFolder::Create(const std::filesystem::path& parent) {
  std::error_code error;
  const std::filesystem::path base = parent.empty() ? std::filesystem::temp_directory_path(error) : parent;
  if (error) {
    return UnavailableError("no temporary folder: " + error.message(), "set TMPDIR to a folder that can be written");
  }
  std::string name = (base / "sim_predict-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return UnavailableError("cannot create a folder in " + base.string() + ": " + std::strerror(errno),
                            "set TMPDIR to a folder with free space that can be written");
  }
  return std::unique_ptr<WorkFolder>(new WorkFolder(name));
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace simpred
