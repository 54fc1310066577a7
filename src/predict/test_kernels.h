// Kernels and a device for the tests of this folder.
#pragma once

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "device/profile.h"
#include "predict/twin.h"
#include "workload/workload.h"

namespace simpred::testing {

inline KernelTensor Tensor(std::vector<int64_t> dims, bool constant = false) {
  return {.name = "t",
          .dtype = DataType::kFloat32,
          .dims = std::move(dims),
          .layout = Layout::kPlain,
          .constant = constant,
          .present = true};
}

inline void SetWork(Kernel& k, double flops) {
  k.work.flops = Flops(flops);
  for (const KernelTensor& t : k.inputs) (t.constant ? k.work.weights : k.work.read) += t.bytes();
  for (const KernelTensor& t : k.outputs) k.work.written += t.bytes();
}

inline Kernel Conv(int64_t in, int64_t out, int64_t size, int64_t width, const std::string& type = "Conv") {
  Kernel k;
  k.name = "conv";
  k.type = type;
  k.op_class = OperatorClass::kConvolution;
  k.inputs = {Tensor({1, in, size, size}), Tensor({out, in, width, width}, true)};
  k.outputs = {Tensor({1, out, size, size})};
  k.attributes = {{"kernel_shape", std::to_string(width) + "," + std::to_string(width)}};
  SetWork(k, 2.0 * static_cast<double>(in * out * size * size * width * width));
  k.signature = type + " " + std::to_string(in) + " " + std::to_string(out) + " " + std::to_string(size) + " " +
                std::to_string(width);
  return k;
}

inline Kernel Elementwise(const std::string& type, int64_t n) {
  Kernel k;
  k.name = "act";
  k.type = type;
  k.op_class = OperatorClass::kElementwise;
  k.inputs = {Tensor({1, n})};
  k.outputs = {Tensor({1, n})};
  SetWork(k, static_cast<double>(n));
  k.signature = type + " " + std::to_string(n);
  return k;
}

inline DeviceProfile Cpu() {
  DeviceProfile d;
  d.name = "test-cpu";
  d.kind = "cpu";
  d.cores = 2;
  d.peak[DataType::kFloat32] = FlopsPerSecond(2e11);
  d.memory = {{"L2", Bytes(2 << 20), BytesPerSecond(5e10), false, ""},
              {"DRAM", Bytes(0), BytesPerSecond(1e10), true, ""}};
  d.launch_cost = Nanoseconds(300);
  d.run_cost = Nanoseconds(1500);
  return d;
}

// A world with known laws: what a kernel "takes" on the test's device.
inline Duration Truth(const Kernel& k) {
  double us = k.work.flops.count() / 60e3 + static_cast<double>(k.work.total().count()) / 12e3 + 0.5;
  if (k.type == "Sigmoid") us = 0.5 + (us - 0.5) * 4;
  return Microseconds(us);
}

struct World {
  std::deque<Kernel> kernels;
  std::vector<FitSample> samples;
  std::vector<GraphSample> graphs;
};

// Random kernels alone, and graphs of twenty kernels whose end to end is 1.05 * sum + 0.2 us a kernel + 1.5 us.
inline World MakeWorld(uint64_t seed, int alone, int graphs) {
  World w;
  Random random(seed);
  auto draw = [&]() -> Kernel {
    if (random.Uniform() < 0.5) {
      auto channels = [&] { return static_cast<int64_t>(random.LogUniform(8, 256)); };
      return Conv(channels(), channels(), static_cast<int64_t>(random.LogUniform(4, 64)),
                  random.Uniform() < 0.5 ? 1 : 3);
    }
    return Elementwise(random.Uniform() < 0.5 ? "Relu" : "Sigmoid", static_cast<int64_t>(random.LogUniform(1e3, 1e6)));
  };
  auto add = [&](KernelContext c, const std::string& group) {
    w.kernels.push_back(draw());
    const Kernel& k = w.kernels.back();
    Duration t = Truth(k) * (1 + 0.02 * (random.Uniform() - 0.5));
    w.samples.push_back({.kernel = &k, .context = c, .time = t, .spread = 0.01, .group = group, .family = ""});
    return t;
  };
  for (int i = 0; i < alone; ++i) add(KernelContext::kAloneWarm, "kernel" + std::to_string(i));
  for (int g = 0; g < graphs; ++g) {
    GraphSample s{.name = "net" + std::to_string(g), .family = "", .kernels = {}, .end_to_end = {}};
    Duration sum;
    for (int i = 0; i < 20; ++i) {
      sum += add(KernelContext::kInGraph, s.name);
      s.kernels.push_back(&w.kernels.back());
    }
    s.end_to_end = sum * 1.05 + Microseconds(0.2 * 20 + 1.5);
    w.graphs.push_back(std::move(s));
  }
  return w;
}

}  // namespace simpred::testing
