// Where does text go? Results to standard output or --output, everything else to standard error.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"

namespace simpred {

// What every command understands.
struct CommonOptions {
  std::string format;  // empty: the command's default
  std::string output;  // file; empty: standard output
  bool quiet = false;
  int verbose = 0;
};

class Console {
 public:
  explicit Console(CommonOptions options);
  ~Console() { EndProgress(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // The command's result. Errors: kUsage if it cannot be written, with the system's words.
  Status Print(std::string_view text);
  void Note(std::string_view text);    // one line to standard error, unless --quiet
  void Detail(std::string_view text);  // the same with -v only
  void Error(const Status& status);
  // A bar with the time left, only on a terminal and from the first second on.
  void Progress(double fraction, const std::string& what);
  void EndProgress();

  bool color() const;  // of standard output
  const CommonOptions& options() const { return options_; }
  CommonOptions& options() { return options_; }

 private:
  using Clock = std::chrono::steady_clock;
  CommonOptions options_;
  bool bar_shown_ = false;
  bool bar_started_ = false;
  Clock::time_point bar_start_, bar_drawn_;
  double bar_first_fraction_ = 0;
};

}  // namespace simpred
