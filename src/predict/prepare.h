// From a model file to the kernels that a device's runtime makes of it: read, infer, fuse, lower.
//
//   Result<Prepared> p = Prepare({.path = "resnet50.onnx", .device = &cpu});
//   p->workload.kernels
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "device/profile.h"
#include "fusion/fusion.h"
#include "operators/infer.h"
#include "workload/workload.h"

namespace simpred {

struct PrepareOptions {
  std::filesystem::path path;
  InferOptions binding;
  std::string fusion_mode = "auto";  // off, auto, aggressive
  std::string precision = "model";
  std::set<std::string> fusion_off;       // rule names
  const DeviceProfile* device = nullptr;  // its runtime chooses the rule set
  int threads = 1;
};

struct Prepared {
  Workload workload;
  InferReport inference;
  FusionReport fusion;
  std::string format, producer;
  std::string input_shapes;  // graph/input_shapes.h
  int64_t model_version = 0;
  uint64_t file_size = 0;
};

// Errors carry the model's path and the node in their context.
Result<Prepared> Prepare(const PrepareOptions& options);

// Channels per block of the blocked layout that ONNX Runtime's CPU provider uses on this processor: 16 with AVX-512,
// else 8 on x86-64 with AVX, 4 with Arm's NEON; 0 where the device's runtime is another one.
int BlockedChannels(const DeviceProfile& device);

}  // namespace simpred
