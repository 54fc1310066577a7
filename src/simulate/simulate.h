// How long does the graph take? An event-driven scheduler over resources; emits typed events that views listen to.
//
// Time inside is integer nanoseconds; ties break by kernel index. This first version knows the host and one in-order
// stream per resource (sequential execution, the default of ONNX Runtime): a kernel starts when the host has launched
// it, its inputs are there and the stream is free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "workload/workload.h"

namespace simpred {

enum class StallCause : uint8_t { kNone, kDataDependency, kQueueFull, kCoresBusy, kBandwidth, kLaunchGap };
std::string_view Name(StallCause c);

struct SimEvent {
  enum class Kind : uint8_t { kLaunch, kStart, kEnd };
  Kind kind;
  int32_t kernel;
  int32_t resource;
  int64_t time_ns;
  StallCause cause = StallCause::kNone;  // kStart: what it waited for last
  int64_t stalled_ns = 0;
};

class EventListener {
 public:
  virtual ~EventListener() = default;
  virtual void OnEvent(const SimEvent& e) = 0;
};

struct SimOptions {
  bool asynchronous = false;  // host runs ahead of the device
  int queue_depth = 0;        // launches in flight; 0: unbounded
  Duration launch_cost;       // host time per kernel where it is not part of the kernel's own time
  Duration run_cost;
  std::vector<std::string> resources;  // names; index is SimEvent::resource
};

struct SimResult {
  int64_t end_ns = 0;
  std::vector<int64_t> start_ns, stop_ns;  // per kernel
  std::vector<int64_t> busy_ns;            // per resource
};

// `times`: per kernel its time alone. Errors: kInternal if sizes differ or an edge points forward.
Result<SimResult> Simulate(const Workload& w, const std::vector<Duration>& times, const SimOptions& options,
                           const std::vector<EventListener*>& listeners);

}  // namespace simpred
