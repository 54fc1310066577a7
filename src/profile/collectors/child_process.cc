// How is work done that may crash, hang or be killed, without harm to this process?
#include "profile/collectors/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

namespace simpred {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kLongestMessage = uint32_t{1} << 30;
constexpr int kExitException = 70;  // EX_SOFTWARE of sysexits.h
constexpr auto kPollInterval = std::chrono::milliseconds(100);

bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// A message on the pipe: four bytes of length in the machine's order, then its bytes.
void Send(int fd, std::string_view message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::array<char, sizeof size> head{};
  std::memcpy(head.data(), &size, sizeof size);
  // Nobody listens any more: nothing is left to do here.
  if (message.size() > kLongestMessage || !WriteAll(fd, head.data(), head.size()) ||
      !WriteAll(fd, message.data(), message.size())) {
    _exit(kExitException);
  }
}

void Silence() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
}

// When memory runs out, the kernel shall end this process and not the one that keeps the results.
void VolunteerForTheOomKiller() {
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  WriteAll(fd, "1000", 4);
  close(fd);
}

[[noreturn]] void ChildMain(int fd, pid_t parent, const std::function<void(const SendMessage&)>& work) {
  setpgid(0, 0);
  signal(SIGINT, SIG_IGN);
  for (const int s : {SIGTERM, SIGHUP, SIGPIPE}) signal(s, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitException);  // it died before the line above
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  Silence();
  VolunteerForTheOomKiller();
  try {
    work([fd](std::string_view message) { Send(fd, message); });
  } catch (...) {
    _exit(kExitException);
  }
  _exit(0);
}

// Takes the complete messages out of `buffer`. False: what came cannot be a message.
bool TakeMessages(std::string& buffer, const std::function<void(std::string)>& receive) {
  size_t at = 0;
  uint32_t size = 0;
  while (buffer.size() - at >= sizeof size) {
    std::memcpy(&size, buffer.data() + at, sizeof size);
    if (size > kLongestMessage) return false;
    if (buffer.size() - at - sizeof size < size) break;
    receive(buffer.substr(at + sizeof size, size));
    at += sizeof size + size;
  }
  buffer.erase(0, at);
  return true;
}

enum class Listening { kEnded, kSilent, kStopped, kGarbled };

Listening Listen(int fd, const std::function<void(std::string)>& receive, const ChildOptions& options) {
  std::string buffer;
  std::array<char, 1 << 16> chunk{};
  auto last_heard = Clock::now();
  std::optional<Clock::time_point> asked_to_stop;
  const auto seconds_since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  while (true) {
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, static_cast<int>(kPollInterval.count())) > 0) {
      const ssize_t n = read(fd, chunk.data(), chunk.size());
      if (n == 0) return Listening::kEnded;
      if (n < 0 && errno != EINTR && errno != EAGAIN) return Listening::kGarbled;
      if (n > 0) {
        buffer.append(chunk.data(), static_cast<size_t>(n));
        last_heard = Clock::now();
        if (!TakeMessages(buffer, receive)) return Listening::kGarbled;
      }
    }
    if (options.stop != nullptr && options.stop->load() && !asked_to_stop) asked_to_stop = Clock::now();
    if (asked_to_stop && seconds_since(*asked_to_stop) > options.grace_seconds) return Listening::kStopped;
    if (seconds_since(last_heard) > options.silence_seconds) return Listening::kSilent;
  }
}

Status HowItEnded(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal_number = WTERMSIG(wait_status);
    return ModelError(fmt::format("the measuring process was ended by signal {} ({})", signal_number,
                                  sigabbrev_np(signal_number) ? sigdescr_np(signal_number) : "unknown"),
                      signal_number == SIGKILL ? "it may have needed more memory than there is" : "");
  }
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0) {
    return ModelError(fmt::format("the measuring process ended with status {}", WEXITSTATUS(wait_status)));
  }
  return OkStatus();
}

}  // namespace

ChildEnd RunInChild(const std::function<void(const SendMessage&)>& work,
                    const std::function<void(std::string)>& receive, const ChildOptions& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {UnavailableError(fmt::format("pipe: {}", strerror(errno)))};
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return {UnavailableError(fmt::format("cannot start a measuring process: {}", strerror(error)))};
  }
  if (child == 0) {
    close(ends[0]);
    ChildMain(ends[1], parent, work);
  }
  setpgid(child, child);  // as the child does: whoever comes first
  close(ends[1]);
  const Listening heard = Listen(ends[0], receive, options);
  close(ends[0]);
  if (heard != Listening::kEnded) kill(-child, SIGKILL);
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  switch (heard) {
    case Listening::kEnded:
      return {HowItEnded(wait_status)};
    case Listening::kSilent:
      return {
          ModelError(fmt::format("no result after {:.0f} s: the measuring process was ended", options.silence_seconds),
                     "use a smaller input shape, or allow more time")};
    case Listening::kStopped:
      return {UnavailableError("stopped"), true};
    case Listening::kGarbled:
      break;
  }
  return {ModelError("the measuring process sent something that is not a result")};
}

}  // namespace simpred
