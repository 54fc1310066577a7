// How long does the graph take? An event-driven scheduler over resources; emits typed events that views listen to.
//
// Time inside is integer nanoseconds; ties break by kernel index. This first version knows the host and one in-order
// stream per resource (sequential execution, the default of ONNX Runtime): a kernel starts when the host has launched
// it, its inputs are there and the stream is free.
//
//   host      |run cost|launch 0|launch 1|launch 2|                  asynchronous, queue depth 2: the host waits
//   stream 0           .........|kernel 0     |kernel 1  |kernel 2|  for kernel 0 before it launches kernel 2
//
// Synchronous (a CPU): the host launches a kernel when the one before it has ended. With no launch cost, end_ns is then
// the cost of a run plus the sum of the times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "workload/workload.h"

namespace simpred {

// Why a kernel did not start when the host came to it: the condition that was met last. Met at the same moment, the
// first in this order is named, since it would still hold with the others lifted.
enum class StallCause : uint8_t { kNone, kDataDependency, kQueueFull, kCoresBusy, kBandwidth, kLaunchGap };
std::string_view Name(StallCause c);

// Events come in the order of time; at one moment ends come before launches, launches before starts.
struct SimEvent {
  enum class Kind : uint8_t { kLaunch, kStart, kEnd };  // kLaunch: the host has finished launching
  Kind kind;
  int32_t kernel;
  int32_t resource;
  int64_t time_ns;
  StallCause cause = StallCause::kNone;  // kStart: what it waited for last
  int64_t stalled_ns = 0;                // kStart: since the host came to it
};

class EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void OnEvent(const SimEvent& e) = 0;
};

struct SimOptions {
  bool asynchronous = false;  // host runs ahead of the device
  int queue_depth = 0;        // launches in flight; 0: unbounded
  Duration launch_cost{};     // host time per kernel where it is not part of the kernel's own time
  Duration run_cost{};
  std::vector<std::string> resources{};  // names; index is SimEvent::resource; empty: one without a name
  std::vector<int32_t> resource_of{};    // per kernel; empty: all on resource 0
};

struct SimResult {
  int64_t end_ns = 0;
  std::vector<int64_t> start_ns, stop_ns;  // per kernel
  std::vector<int64_t> busy_ns;            // per resource
};

// `times`: per kernel its time alone, rounded to whole nanoseconds. Errors: kInternal if sizes differ, an edge points
// forward, or a time is negative or no number. Sums saturate: absurd times end late, never early.
Result<SimResult> Simulate(const Workload& w, const std::vector<Duration>& times, const SimOptions& options,
                           const std::vector<EventListener*>& listeners);

}  // namespace simpred
