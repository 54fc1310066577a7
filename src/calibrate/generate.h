// Calibrating a device before any model is known: which kernels and networks are measured?
//
// Single-kernel models sweep the shape space of every kernel type; random networks put kernels into context. The ranges
// below were fixed from what layers of published architectures have in common, before any model of a benchmark was
// looked at, and everything follows from the seed: the same plan on every machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"

namespace simpred {

struct GeneratedModel {
  std::string name;  // "kernel-conv-000123", "network-000007": unique, stable for a seed
  std::string what;  // kernel group or kind of network
  std::string onnx;  // serialised model
};

// The i-th single-kernel model of the plan; cheap and independent of the others, so that a plan can be resumed and
// extended: the first n models of a longer plan are the plan of length n. Types are interleaved by their share.
GeneratedModel GenerateKernel(uint64_t seed, int64_t i);
// The i-th random network: stem, stages of blocks drawn from convolutional, depthwise, residual, squeeze-excite,
// dense, transformer, recurrent-free sequence and detection-head blocks.
GeneratedModel GenerateNetwork(uint64_t seed, int64_t i);

}  // namespace simpred
