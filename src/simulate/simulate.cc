// How long does the graph take? The event loop over host and streams.
//
// At most one event is pending for the host (a launch) and one for each stream (the end of the kernel that runs), so
// the next event is the least of a handful of numbers: no queue, no allocation in the loop.
#include "simulate/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace simpred {
namespace {

constexpr int64_t kNever = INT64_MAX;
constexpr int32_t kNoKernel = -1;

// Never reaches kNever, which means that nothing is pending.
int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) || sum == kNever ? kNever - 1 : sum;
}

// Negative and not-a-number give kNever.
int64_t ToNanoseconds(Duration d) {
  const double ns = d / Nanoseconds(1);
  if (!(ns >= 0)) return kNever;
  // 2^62: far beyond every schedule, and sums of two still fit.
  return ns >= 0x1.0p62 ? int64_t{1} << 62 : static_cast<int64_t>(std::llround(ns));
}

Status Check(const Workload& w, const std::vector<Duration>& times, const SimOptions& o) {
  const size_t n = w.kernels.size();
  if (times.size() != n) return InternalError(fmt::format("{} times for {} kernels", times.size(), n));
  if (!o.resource_of.empty() && o.resource_of.size() != n)
    return InternalError(fmt::format("{} resources given for {} kernels", o.resource_of.size(), n));
  const auto resources = static_cast<int32_t>(std::max<size_t>(1, o.resources.size()));
  for (int32_t r : o.resource_of)
    if (r < 0 || r >= resources) return InternalError(fmt::format("resource {} of {}", r, resources));
  for (size_t k = 0; k < n; ++k)
    for (int32_t from : w.kernels[k].inputs_from)
      if (from < 0 || static_cast<size_t>(from) >= k)
        return InternalError(fmt::format("kernel {} '{}' waits for kernel {}, which does not come before it", k,
                                         w.kernels[k].name, from));
  if (ToNanoseconds(o.launch_cost) == kNever || ToNanoseconds(o.run_cost) == kNever)
    return InternalError("the cost of a launch or of a run is negative or no number");
  return OkStatus();
}

class Scheduler {
 public:
  Scheduler(const Workload& w, const SimOptions& o, const std::vector<EventListener*>& listeners)
      : workload_(w), options_(o), listeners_(listeners), launch_ns_(ToNanoseconds(o.launch_cost)) {}

  Status Prepare(const std::vector<Duration>& times);
  void Run();
  SimResult TakeResult() { return std::move(result_); }

 private:
  struct Stream {
    int32_t head = kNoKernel;     // next to start
    int32_t running = kNoKernel;  // ends at `ends_at`
    int64_t ends_at = kNever;
    int64_t free_since = 0;
  };

  size_t count() const { return workload_.kernels.size(); }
  int32_t ResourceOf(size_t kernel) const { return options_.resource_of.empty() ? 0 : options_.resource_of[kernel]; }
  int64_t NextEventTime() const;
  void EndKernels(int64_t now);
  void FinishLaunch(int64_t now);
  void BeginLaunch(int64_t now);
  void StartKernels(int64_t now);
  bool Ready(int32_t kernel, int64_t* inputs_since) const;
  void Start(size_t stream, int64_t now, int64_t inputs_since);
  void Emit(const SimEvent& e) {
    for (EventListener* l : listeners_) l->OnEvent(e);
  }

  const Workload& workload_;
  const SimOptions& options_;
  const std::vector<EventListener*>& listeners_;
  const int64_t launch_ns_;
  std::vector<int64_t> time_ns_;
  std::vector<int32_t> next_on_stream_;
  std::vector<Stream> streams_;
  std::vector<int64_t> asked_ns_, launched_ns_;  // the host came to it; had launched it (kNever: not yet)
  std::vector<bool> ended_, queue_was_full_;
  size_t next_launch_ = 0;           // the kernel that the host launches or will launch next
  int64_t launch_done_at_ = kNever;  // of next_launch_
  size_t in_flight_ = 0;             // launched or being launched, not ended
  SimResult result_;
};

Status Scheduler::Prepare(const std::vector<Duration>& times) {
  SIMPRED_RETURN_IF_ERROR(Check(workload_, times, options_));
  const size_t n = count();
  time_ns_.resize(n);
  for (size_t k = 0; k < n; ++k) {
    time_ns_[k] = ToNanoseconds(times[k]);
    if (time_ns_[k] == kNever)
      return InternalError(fmt::format("the time of kernel '{}' is negative or no number", workload_.kernels[k].name));
  }
  streams_.resize(std::max<size_t>(1, options_.resources.size()));
  next_on_stream_.assign(n, kNoKernel);
  for (size_t k = n; k-- > 0;) {
    Stream& s = streams_[static_cast<size_t>(ResourceOf(k))];
    next_on_stream_[k] = s.head;
    s.head = static_cast<int32_t>(k);
  }
  asked_ns_.assign(n, kNever);
  launched_ns_.assign(n, kNever);
  ended_.assign(n, false);
  queue_was_full_.assign(n, false);
  result_.start_ns.assign(n, 0);
  result_.stop_ns.assign(n, 0);
  result_.busy_ns.assign(streams_.size(), 0);
  return OkStatus();
}

int64_t Scheduler::NextEventTime() const {
  int64_t next = launch_done_at_;
  for (const Stream& s : streams_) next = std::min(next, s.ends_at);
  return next;
}

void Scheduler::EndKernels(int64_t now) {
  while (true) {
    Stream* first = nullptr;  // of the streams whose kernel ends now, the one with the least kernel
    for (Stream& s : streams_)
      if (s.ends_at == now && (first == nullptr || s.running < first->running)) first = &s;
    if (first == nullptr) return;
    const auto k = static_cast<size_t>(first->running);
    ended_[k] = true;
    --in_flight_;
    result_.end_ns = now;
    first->running = kNoKernel;
    first->ends_at = kNever;
    first->free_since = now;
    Emit({SimEvent::Kind::kEnd, static_cast<int32_t>(k), ResourceOf(k), now});
  }
}

void Scheduler::FinishLaunch(int64_t now) {
  if (launch_done_at_ != now) return;
  launch_done_at_ = kNever;
  launched_ns_[next_launch_] = now;
  Emit({SimEvent::Kind::kLaunch, static_cast<int32_t>(next_launch_), ResourceOf(next_launch_), now});
  ++next_launch_;
}

void Scheduler::BeginLaunch(int64_t now) {
  if (launch_done_at_ != kNever || next_launch_ == count()) return;
  const size_t k = next_launch_;
  if (!options_.asynchronous) {
    if (in_flight_ > 0) return;  // the host is inside the kernel before this one
    asked_ns_[k] = now;
  } else {
    if (asked_ns_[k] == kNever) asked_ns_[k] = now;
    if (options_.queue_depth > 0 && in_flight_ >= static_cast<size_t>(options_.queue_depth)) {
      queue_was_full_[k] = true;
      return;
    }
  }
  ++in_flight_;
  launch_done_at_ = SaturatingAdd(now, launch_ns_);
}

bool Scheduler::Ready(int32_t kernel, int64_t* inputs_since) const {
  const auto k = static_cast<size_t>(kernel);
  if (launched_ns_[k] == kNever) return false;
  *inputs_since = 0;
  for (int32_t from : workload_.kernels[k].inputs_from) {
    if (!ended_[static_cast<size_t>(from)]) return false;
    *inputs_since = std::max(*inputs_since, result_.stop_ns[static_cast<size_t>(from)]);
  }
  return true;
}

void Scheduler::StartKernels(int64_t now) {
  while (true) {
    size_t first = streams_.size();
    int64_t first_inputs_since = 0;
    for (size_t i = 0; i < streams_.size(); ++i) {
      const Stream& s = streams_[i];
      int64_t inputs_since = 0;
      if (s.running != kNoKernel || s.head == kNoKernel || !Ready(s.head, &inputs_since)) continue;
      if (first == streams_.size() || s.head < streams_[first].head) {
        first = i;
        first_inputs_since = inputs_since;
      }
    }
    if (first == streams_.size()) return;
    Start(first, now, first_inputs_since);
  }
}

void Scheduler::Start(size_t stream, int64_t now, int64_t inputs_since) {
  Stream& s = streams_[stream];
  const auto k = static_cast<size_t>(s.head);
  SimEvent e{SimEvent::Kind::kStart, s.head, static_cast<int32_t>(stream), now};
  e.stalled_ns = now - asked_ns_[k];
  if (e.stalled_ns > 0) {
    const int64_t last = std::max({inputs_since, s.free_since, launched_ns_[k]});
    if (inputs_since == last) {
      e.cause = StallCause::kDataDependency;
    } else if (launched_ns_[k] == last && queue_was_full_[k]) {
      e.cause = StallCause::kQueueFull;
    } else if (s.free_since == last) {
      e.cause = StallCause::kCoresBusy;
    } else {
      e.cause = StallCause::kLaunchGap;
    }
  }
  s.running = s.head;
  s.head = next_on_stream_[k];
  s.ends_at = SaturatingAdd(now, time_ns_[k]);
  result_.start_ns[k] = now;
  result_.stop_ns[k] = s.ends_at;
  result_.busy_ns[stream] = SaturatingAdd(result_.busy_ns[stream], time_ns_[k]);
  Emit(e);
}

void Scheduler::Run() {
  result_.end_ns = ToNanoseconds(options_.run_cost);  // a run without kernels still costs that
  BeginLaunch(result_.end_ns);
  for (int64_t now = NextEventTime(); now != kNever; now = NextEventTime()) {
    EndKernels(now);
    FinishLaunch(now);
    StartKernels(now);
    BeginLaunch(now);
  }
}

}  // namespace

std::string_view Name(StallCause c) {
  switch (c) {
    case StallCause::kNone:
      return "none";
    case StallCause::kDataDependency:
      return "data_dependency";
    case StallCause::kQueueFull:
      return "queue_full";
    case StallCause::kCoresBusy:
      return "cores_busy";
    case StallCause::kBandwidth:
      return "bandwidth";
    case StallCause::kLaunchGap:
      return "launch_gap";
  }
  return "none";
}

Result<SimResult> Simulate(const Workload& w, const std::vector<Duration>& times, const SimOptions& options,
                           const std::vector<EventListener*>& listeners) {
  Scheduler scheduler(w, options, listeners);
  SIMPRED_RETURN_IF_ERROR(scheduler.Prepare(times));
  scheduler.Run();
  return scheduler.TakeResult();
}

}  // namespace simpred
