// Blocks of mobile networks that detectors and others reuse.
#pragma once

#include <vector>

#include "zoo/net.h"

namespace simpred::zoo {

struct InvertedResidual {
  int64_t kernel = 3;
  int64_t expanded = 0;  // channels of the depthwise convolution; equal to the input's: no expansion layer
  int64_t out = 0;
  int64_t stride = 1;
  Activation activation = Activation::kRelu;
  int64_t squeezed = 0;  // channels of the squeeze layer, 0: no squeeze and excitation
  Activation squeeze_activation = Activation::kRelu;
  Activation gate = Activation::kSigmoid;
  int64_t dilation = 1;
  int64_t stride_w = 0;  // 0: as stride
};
Feature Apply(Net& net, const Feature& x, const InvertedResidual& block);

// Multiple of `divisor` nearest to v, at least 90 % of it: the rule of the MobileNet papers' code.
int64_t MakeDivisible(double v, int64_t divisor = 8);

// Depthwise 3x3 and pointwise, both with an activation (MobileNetV1).
Feature Separable(Net& net, const Feature& x, int64_t out, int64_t stride, Activation a);

// MobileNetV2 up to its 320 channels; the last stages are dilated in place of strided where `output_stride` is 16.
Feature MobileNetV2Backbone(Net& net, const Feature& image, int64_t output_stride, std::vector<Feature>* stages);

}  // namespace simpred::zoo
