// A private temporary folder that is removed with everything in it when it goes out of scope.
#pragma once

#include <filesystem>
#include <memory>

#include "base/status.h"

namespace simpred {

class WorkFolder {
 public:
  // Inside `parent`; empty: in $TMPDIR or /tmp. Errors: kUnavailable with errno's text.
  static Result<std::unique_ptr<WorkFolder>> Create(const std::filesystem::path& parent = {});
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace simpred
