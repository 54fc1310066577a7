#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "report/escape.h"

namespace simpred {
namespace {

bool ColorsWanted(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");  // no-color.org: any value but the empty one
  const char* term = std::getenv("TERM");
  return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         std::string_view(term) != "dumb";
}

// Line by line: texts may hold names from models.
std::string SafeLines(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = text.find('\n');
    out += TerminalSafe(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string MinutesAndSeconds(double seconds) {
  const auto s = static_cast<int64_t>(seconds + 0.5);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

void WriteError(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// A pipe or a device (/dev/stdout, /dev/null) is written to; only a file is replaced.
Status WriteOutput(const std::string& path, std::string_view text) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status) || std::filesystem::is_regular_file(status))
    return WriteAtomically(path, text);
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return UsageError(std::generic_category().message(errno));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  return written && closed ? OkStatus() : UsageError(std::generic_category().message(errno));
}

}  // namespace

Console::Console(CommonOptions options) : options_(std::move(options)) {}

bool Console::color() const { return options_.output.empty() && ColorsWanted(STDOUT_FILENO); }

Status Console::Print(std::string_view text) {
  EndProgress();
  if (!options_.output.empty()) {
    const Status written = WriteOutput(options_.output, text);
    if (written.ok()) return written;
    return UsageError(fmt::format("cannot write '{}': {}", options_.output, written.message()),
                      "give --output a file in a folder that can be written and has space");
  }
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return OkStatus();
  return UsageError("cannot write to standard output: " + std::generic_category().message(errno),
                    "write to a file with --output FILE");
}

void Console::Note(std::string_view text) {
  if (options_.quiet) return;
  EndProgress();
  WriteError(SafeLines(text) + "\n");
}

void Console::Detail(std::string_view text) {
  if (options_.verbose > 0) Note(text);
}

void Console::Error(const Status& status) {
  EndProgress();
  const bool color = ColorsWanted(STDERR_FILENO);
  WriteError(
      fmt::format("{}error:{} {}\n", color ? "\033[1;31m" : "", color ? "\033[0m" : "", SafeLines(status.ToString())));
}

void Console::Progress(double fraction, const std::string& what) {
  if (options_.quiet || isatty(STDERR_FILENO) == 0) return;
  const Clock::time_point now = Clock::now();
  if (!bar_started_) {
    bar_started_ = true;
    bar_start_ = now;
    bar_first_fraction_ = fraction;
  }
  const double elapsed = std::chrono::duration<double>(now - bar_start_).count();
  if (elapsed < 1 || (bar_shown_ && now - bar_drawn_ < std::chrono::milliseconds(100))) return;
  constexpr int kWidth = 24;
  fraction = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<size_t>(fraction * kWidth);
  const double gained = fraction - bar_first_fraction_;
  const std::string left = gained > 0.005 ? MinutesAndSeconds(elapsed * (1 - fraction) / gained) + " left" : "";
  WriteError(fmt::format("\r\033[K[{}{}] {:3.0f} %  {}  {}", std::string(filled, '#'),
                         std::string(kWidth - filled, '.'), fraction * 100, left, Shortened(TerminalSafe(what), 60)));
  bar_shown_ = true;
  bar_drawn_ = now;
}

void Console::EndProgress() {
  if (bar_shown_) WriteError("\r\033[K");
  bar_shown_ = bar_started_ = false;
}

}  // namespace simpred
