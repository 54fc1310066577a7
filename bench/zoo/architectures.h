// Which architectures can be generated, and how?
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/model_builder.h"

namespace simpred::zoo {

struct Size {
  int64_t batch = 1;
  int64_t resolution = 0;  // what the architecture's table calls it: pixels, tokens, frames or samples
};

struct Architecture {
  std::string_view name;
  std::string_view family;
  int64_t resolution;  // the default; one run takes between 0.05 and 150 ms on one core
  std::string_view summary;
  ModelBuilder (*build)(const Size&);
};

std::vector<Architecture> PlainCnns();
std::vector<Architecture> DepthwiseCnns();
std::vector<Architecture> Detectors();
std::vector<Architecture> OcrModels();
std::vector<Architecture> Encoders();
std::vector<Architecture> Decoders();
std::vector<Architecture> SegmentationModels();
std::vector<Architecture> SpeechModels();

// All families, in this order.
std::vector<Architecture> AllArchitectures();

}  // namespace simpred::zoo
