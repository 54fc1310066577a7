// The expected algebra of schedules: sums, maxima, bounded queues, and what is not a schedule.
#include "simulate/simulate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace simpred {
namespace {

Workload Chain(size_t n) {
  Workload w;
  for (size_t i = 0; i < n; ++i) {
    Kernel k;
    k.name = "k" + std::to_string(i);
    if (i > 0) k.inputs_from = {static_cast<int32_t>(i - 1)};
    w.kernels.push_back(k);
  }
  return w;
}

std::vector<Duration> Ns(const std::vector<int64_t>& ns) {
  std::vector<Duration> r;
  r.reserve(ns.size());
  for (int64_t n : ns) r.push_back(Nanoseconds(static_cast<double>(n)));
  return r;
}

struct Recorder : EventListener {
  std::vector<SimEvent> events;
  void OnEvent(const SimEvent& e) override { events.push_back(e); }
  SimEvent start_of(int32_t kernel) const {
    for (const SimEvent& e : events)
      if (e.kind == SimEvent::Kind::kStart && e.kernel == kernel) return e;
    return {};
  }
};

SimResult MustSimulate(const Workload& w, const std::vector<Duration>& t, const SimOptions& o, Recorder* r = nullptr) {
  std::vector<EventListener*> listeners;
  if (r != nullptr) listeners.push_back(r);
  auto result = Simulate(w, t, o, listeners);
  EXPECT_TRUE(result.ok()) << result.status().ToString();
  return result.ok() ? *result : SimResult{};
}

TEST(Simulate, SynchronousIsTheSum) {
  Recorder r;
  const SimResult s = MustSimulate(Chain(3), Ns({10, 20, 30}), {.run_cost = Nanoseconds(7)}, &r);
  EXPECT_EQ(s.end_ns, 7 + 10 + 20 + 30);
  EXPECT_EQ(s.start_ns, (std::vector<int64_t>{7, 17, 37}));
  EXPECT_EQ(s.stop_ns, (std::vector<int64_t>{17, 37, 67}));
  EXPECT_EQ(s.busy_ns, (std::vector<int64_t>{60}));
  for (int32_t k = 0; k < 3; ++k) EXPECT_EQ(r.start_of(k).cause, StallCause::kNone);
}

TEST(Simulate, SynchronousPaysEachLaunch) {
  Recorder r;
  const SimResult s = MustSimulate(Chain(3), Ns({10, 20, 30}), {.launch_cost = Nanoseconds(5)}, &r);
  EXPECT_EQ(s.end_ns, 3 * 5 + 60);
  EXPECT_EQ(r.start_of(1).cause, StallCause::kLaunchGap);
  EXPECT_EQ(r.start_of(1).stalled_ns, 5);
}

TEST(Simulate, AsynchronousHidesLaunchesBehindLongKernels) {
  Recorder r;
  const SimResult s =
      MustSimulate(Chain(4), Ns({100, 100, 100, 100}), {.asynchronous = true, .launch_cost = Nanoseconds(5)}, &r);
  EXPECT_EQ(s.end_ns, 5 + 400);
  // Kernel 3 was launched by 20, and waited for its input.
  EXPECT_EQ(r.start_of(3).cause, StallCause::kDataDependency);
  EXPECT_EQ(r.start_of(3).stalled_ns, 305 - 15);
}

TEST(Simulate, AsynchronousLaunchBoundWhereKernelsAreShort) {
  Recorder r;
  const SimResult s =
      MustSimulate(Chain(4), Ns({2, 2, 2, 2}), {.asynchronous = true, .launch_cost = Nanoseconds(5)}, &r);
  EXPECT_EQ(s.end_ns, 4 * 5 + 2);
  EXPECT_EQ(r.start_of(2).cause, StallCause::kLaunchGap);
}

TEST(Simulate, QueueOfOneSerialisesLaunchAndKernel) {
  Recorder r;
  const SimResult s = MustSimulate(Chain(3), Ns({10, 10, 10}),
                                   {.asynchronous = true, .queue_depth = 1, .launch_cost = Nanoseconds(5)}, &r);
  EXPECT_EQ(s.end_ns, 3 * 15);
  EXPECT_EQ(r.start_of(1).cause, StallCause::kQueueFull);
}

TEST(Simulate, QueueOfTwoHidesTheLaunch) {
  const SimResult s = MustSimulate(Chain(4), Ns({10, 10, 10, 10}),
                                   {.asynchronous = true, .queue_depth = 2, .launch_cost = Nanoseconds(5)});
  // 5 launch 0 | 10..: launch 2 waits for the end of kernel 0 at 15, done at 20, kernel 1 ends at 25.
  EXPECT_EQ(s.end_ns, 5 + 40);
}

TEST(Simulate, StreamIsBusy) {
  Workload w = Chain(2);
  w.kernels[1].inputs_from.clear();
  Recorder r;
  const SimResult s = MustSimulate(w, Ns({50, 10}), {.asynchronous = true, .launch_cost = Nanoseconds(1)}, &r);
  EXPECT_EQ(s.end_ns, 61);
  EXPECT_EQ(r.start_of(1).cause, StallCause::kCoresBusy);
}

TEST(Simulate, TwoResourcesOverlapUnlessTheyDepend) {
  Workload w = Chain(3);
  w.kernels[1].inputs_from.clear();
  w.kernels[2].inputs_from = {0, 1};
  const SimOptions o{.asynchronous = true, .resources = {"cube", "vector"}, .resource_of = {0, 1, 0}};
  Recorder r;
  const SimResult s = MustSimulate(w, Ns({30, 50, 10}), o, &r);
  EXPECT_EQ(s.end_ns, std::max(30, 50) + 10);
  EXPECT_EQ(s.busy_ns, (std::vector<int64_t>{40, 50}));
  EXPECT_EQ(r.start_of(2).cause, StallCause::kDataDependency);
}

TEST(Simulate, NoKernelsCostARun) { EXPECT_EQ(MustSimulate(Workload{}, {}, {.run_cost = Nanoseconds(9)}).end_ns, 9); }

TEST(Simulate, EventsComeInOrderOfTimeAndEveryKernelHasThree) {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    Workload w;
    std::vector<Duration> times;
    SimOptions o{.asynchronous = trial % 2 == 0, .queue_depth = trial % 5, .launch_cost = Nanoseconds(3)};
    o.resources = {"a", "b", "c"};
    const int64_t n = random.Int(1, 40);
    for (int32_t i = 0; i < n; ++i) {
      Kernel k;
      for (int32_t from = 0; from < i; ++from)
        if (random.Int(0, 5) == 0) k.inputs_from.push_back(from);
      w.kernels.push_back(k);
      times.push_back(Nanoseconds(static_cast<double>(random.Int(0, 20))));
      o.resource_of.push_back(static_cast<int32_t>(random.Int(0, 2)));
    }
    Recorder r;
    const SimResult s = MustSimulate(w, times, o, &r);
    ASSERT_EQ(r.events.size(), w.kernels.size() * 3);
    Duration sum;
    for (Duration t : times) sum += t;
    for (size_t i = 1; i < r.events.size(); ++i) EXPECT_LE(r.events[i - 1].time_ns, r.events[i].time_ns);
    for (size_t k = 0; k < w.kernels.size(); ++k)
      for (int32_t from : w.kernels[k].inputs_from) EXPECT_GE(s.start_ns[k], s.stop_ns[static_cast<size_t>(from)]);
    EXPECT_EQ(std::accumulate(s.busy_ns.begin(), s.busy_ns.end(), int64_t{0}),
              static_cast<int64_t>(sum / Nanoseconds(1)));
    // Neither shorter than the busiest resource nor longer than everything one after the other.
    EXPECT_GE(s.end_ns, *std::max_element(s.busy_ns.begin(), s.busy_ns.end()));
    EXPECT_LE(s.end_ns, static_cast<int64_t>(sum / Nanoseconds(1)) + 3 * n);
  }
}

TEST(Simulate, HugeTimesSaturate) {
  const SimResult s = MustSimulate(Chain(3), {Seconds(1e30), Seconds(1e30), Seconds(1)}, {});
  EXPECT_GE(s.end_ns, int64_t{1} << 62);
  EXPECT_GE(s.stop_ns[2], s.stop_ns[1]);
}

TEST(Simulate, RefusesWhatIsNoSchedule) {
  Workload w = Chain(2);
  EXPECT_EQ(Simulate(w, Ns({1}), {}, {}).status().code(), StatusCode::kInternal);
  EXPECT_EQ(Simulate(w, Ns({1, -1}), {}, {}).status().code(), StatusCode::kInternal);
  EXPECT_EQ(Simulate(w, {Nanoseconds(1), Nanoseconds(std::nan(""))}, {}, {}).status().code(), StatusCode::kInternal);
  EXPECT_EQ(Simulate(w, Ns({1, 1}), {.resource_of = {0, 1}}, {}).status().code(), StatusCode::kInternal);
  w.kernels[0].inputs_from = {1};
  EXPECT_EQ(Simulate(w, Ns({1, 1}), {}, {}).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace simpred
