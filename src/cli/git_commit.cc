#include "cli/git_commit.h"

#include <string_view>

#include "base/file.h"

namespace simpred {
namespace {

constexpr size_t kLargest = size_t{16} << 20;  // packed-refs of a large repository

std::string FirstLine(const std::filesystem::path& file) {
  const auto text = ReadText(file, kLargest);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

bool IsCommit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Branches that git has packed stand as "<commit> <name>" lines in one file.
std::string FromPackedRefs(const std::filesystem::path& git, const std::string& ref) {
  const auto text = ReadText(git / "packed-refs", kLargest);
  if (!text.ok()) return {};
  const size_t at = text->find(" " + ref + "\n");
  if (at == std::string::npos) return {};
  const size_t line = text->rfind('\n', at);
  return text->substr(line == std::string::npos ? 0 : line + 1, at - (line == std::string::npos ? 0 : line + 1));
}

}  // namespace

std::string CommitOf(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(path, error).parent_path();
  for (; !error && folder.has_relative_path(); folder = folder.parent_path()) {
    const std::filesystem::path git = folder / ".git";
    if (!std::filesystem::is_directory(git, error)) {
      error.clear();
      continue;
    }
    const std::string head = FirstLine(git / "HEAD");
    if (IsCommit(head)) return head;
    if (!head.starts_with("ref: ")) return {};
    const std::string ref = head.substr(5);
    if (ref.find("..") != std::string::npos) return {};
    std::string commit = FirstLine(git / ref);
    if (commit.empty()) commit = FromPackedRefs(git, ref);
    return IsCommit(commit) ? commit : std::string();
  }
  return {};
}

}  // namespace simpred
