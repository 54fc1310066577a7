// In which state of its repository was the model? Read from .git, without running git.
#pragma once

#include <filesystem>
#include <string>

namespace simpred {

// The commit that is checked out where `path` lies; empty if it lies in no repository.
std::string CommitOf(const std::filesystem::path& path);

}  // namespace simpred
