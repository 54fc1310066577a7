// Layers of convolutional networks as exporters write them. A Feature carries its shape along, so that an architecture
// reads like its table.
//
//   Net net({.opset = 13, .fold_batch_norm = true}, size);
//   Feature x = net.Image(3, 224, 224);
//   x = net.ConvBn(x, 64, {.kernel = 7, .stride = 2}, Activation::kRelu);
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "frontend/onnx/model_builder.h"
#include "zoo/architectures.h"

namespace simpred::zoo {

using Ints = ModelBuilder::Ints;

struct Feature {
  std::string name;
  int64_t c = 0, h = 0, w = 0;
};

enum class Activation : uint8_t {
  kNone,
  kRelu,
  kRelu6,
  kSigmoid,
  kSilu,            // x * Sigmoid(x)
  kHardSwish,       // x * HardSigmoid(x), as exporters write from operator set 14 on
  kHardSwishChain,  // x * Clip(x + 3, 0, 6) / 6, as they wrote before
  kHardSigmoid,
  kHardSigmoidChain,
};

constexpr int64_t kSamePadding = -1;

struct ConvOptions {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t pad = kSamePadding;  // kSamePadding: what keeps the size at stride 1
  int64_t groups = 1;
  int64_t dilation = 1;
  int64_t kernel_w = 0;  // 0: as kernel
  int64_t stride_w = 0;
  int64_t pad_w = kSamePadding;
};

struct PoolOptions {
  int64_t kernel = 2;
  int64_t stride = 2;
  int64_t pad = 0;
  bool ceil = false;
  int64_t stride_w = 0;  // 0: as stride
  int64_t kernel_w = 0;  // 0: as kernel
};

class Net {
 public:
  struct Style {
    int64_t opset = 13;
    bool fold_batch_norm = true;  // false: BatchNormalization nodes stay in the graph
  };
  Net(const Style& style, const Size& size) : b_(style.opset), batch_(size.batch), fold_(style.fold_batch_norm) {}

  ModelBuilder& builder() { return b_; }
  int64_t batch() const { return batch_; }

  Feature Image(int64_t c, int64_t h, int64_t w);
  Feature Conv(const Feature& x, int64_t out, const ConvOptions& o, Activation a = Activation::kNone);
  Feature ConvBn(const Feature& x, int64_t out, const ConvOptions& o, Activation a = Activation::kNone);
  Feature Depthwise(const Feature& x, ConvOptions o, Activation a);
  Feature BatchNorm(const Feature& x);  // one that stays, whatever the style
  Feature Act(const Feature& x, Activation a);
  Feature MaxPool(const Feature& x, const PoolOptions& o = {});
  Feature AvgPool(const Feature& x, const PoolOptions& o, bool count_include_pad = true);
  Feature GlobalPool(const Feature& x);
  Feature Add(const Feature& a, const Feature& b);
  Feature Concat(const std::vector<Feature>& of);  // along channels
  // A gate from the pooled input, multiplied onto it (squeeze and excitation).
  Feature SqueezeExcite(const Feature& x, int64_t squeezed, Activation inner, Activation gate);
  std::vector<Feature> Split(const Feature& x, const Ints& channels);
  Feature Reshape(const Feature& x, const Ints& to);  // shape is not carried on
  Feature Transpose(const Feature& x, const Ints& perm);

  std::string Flatten(const Feature& x) { return b_.Op("Flatten", {x.name}, {{"axis", 1}}); }
  std::string Linear(const std::string& x, int64_t in, int64_t out, Activation a = Activation::kNone);  // Gemm
  // GlobalPool, Flatten, Linear, and the model's output.
  ModelBuilder Classifier(const Feature& x, int64_t classes);
  ModelBuilder Finish(const std::string& output);

 private:
  Feature ConvWithBias(const Feature& x, int64_t out, const ConvOptions& o, double gain, bool bias);

  ModelBuilder b_;
  int64_t batch_;
  bool fold_;
};

}  // namespace simpred::zoo
