// Ctrl-C: what is being measured is finished and stored, then the command ends.
#pragma once

#include <atomic>

namespace simpred {

// While it lives, SIGINT and SIGTERM set a flag; the second signal ends the process at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  const std::atomic<bool>* flag() const;
};

}  // namespace simpred
