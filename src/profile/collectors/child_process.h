// How is work done that may crash, hang or be killed, without harm to this process?
//
//   ChildEnd end = RunInChild([&](const SendMessage& send) { send("half"); send("done"); },
//                             [&](std::string message) { got.push_back(std::move(message)); }, {});
//   if (!end.status.ok()) ...          // "ended by signal 11 (Segmentation fault)"
//
// fork() without exec: the child has everything the parent prepared, and what it loads or breaks ends with it.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace simpred {

struct ChildOptions {
  double silence_seconds = 600;  // killed after so long without a message
  // Ctrl-C. The terminal's own signal does not reach the child, which may finish within `grace_seconds`.
  const std::atomic<bool>* stop = nullptr;
  double grace_seconds = 3;
};

struct ChildEnd {
  Status status;         // ok: it returned from `work`
  bool stopped = false;  // killed because of `stop`
};

using SendMessage = std::function<void(std::string_view)>;

// `work` runs in the child; every message that it sends arrives in order, also those sent before a crash. The child's
// standard output and error go nowhere. It is killed when this process dies, however that happens.
ChildEnd RunInChild(const std::function<void(const SendMessage&)>& work,
                    const std::function<void(std::string)>& receive, const ChildOptions& options);

}  // namespace simpred
