// Classifiers of depthwise and pointwise convolutions: which layers do they have?
#include "zoo/depthwise_cnn.h"

#include <algorithm>

namespace simpred::zoo {

int64_t MakeDivisible(double v, int64_t divisor) {
  const auto nearest = static_cast<int64_t>(v + static_cast<double>(divisor) / 2) / divisor * divisor;
  const int64_t rounded = std::max(divisor, nearest);
  return static_cast<double>(rounded) < 0.9 * v ? rounded + divisor : rounded;
}

Feature Apply(Net& net, const Feature& x, const InvertedResidual& b) {
  Feature y = b.expanded == x.c ? x : net.ConvBn(x, b.expanded, {}, b.activation);
  y = net.Depthwise(y, {.kernel = b.kernel, .stride = b.stride, .dilation = b.dilation, .stride_w = b.stride_w},
                    b.activation);
  if (b.squeezed > 0) y = net.SqueezeExcite(y, b.squeezed, b.squeeze_activation, b.gate);
  y = net.ConvBn(y, b.out, {});
  return b.stride == 1 && b.stride_w <= 1 && x.c == b.out ? net.Add(x, y) : y;
}

Feature Separable(Net& net, const Feature& x, int64_t out, int64_t stride, Activation a) {
  return net.ConvBn(net.Depthwise(x, {.kernel = 3, .stride = stride}, a), out, {}, a);
}

Feature MobileNetV2Backbone(Net& net, const Feature& image, int64_t output_stride, std::vector<Feature>* stages) {
  struct Row {
    int64_t expansion, out, repeats, stride;
  };
  Feature x = net.ConvBn(image, 32, {.kernel = 3, .stride = 2}, Activation::kRelu6);
  int64_t reached = 2;
  int64_t dilation = 1;
  for (const Row& r : {Row{1, 16, 1, 1}, Row{6, 24, 2, 2}, Row{6, 32, 3, 2}, Row{6, 64, 4, 2}, Row{6, 96, 3, 1},
                       Row{6, 160, 3, 2}, Row{6, 320, 1, 1}}) {
    const bool dilate = r.stride == 2 && reached >= output_stride;
    for (int64_t i = 0; i < r.repeats; ++i) {
      const int64_t stride = i == 0 && !dilate ? r.stride : 1;
      reached *= stride;
      // The first block of a dilated stage keeps the dilation from before it.
      x = Apply(net, x,
                {.expanded = x.c * r.expansion,
                 .out = r.out,
                 .stride = stride,
                 .activation = Activation::kRelu6,
                 .dilation = dilation});
      if (i == 0 && dilate) dilation *= 2;
    }
    if (stages != nullptr) stages->push_back(x);
  }
  return x;
}

namespace {

constexpr int64_t kImageNetClasses = 1000;
constexpr Activation kRelu = Activation::kRelu;

// Howard et al., "MobileNets", 2017. 0.57 GMAC at 224.
ModelBuilder MobileNetV1(const Size& size) {
  Net net({.fold_batch_norm = false}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 32, {.kernel = 3, .stride = 2}, kRelu);
  x = Separable(net, x, 64, 1, kRelu);
  for (int64_t c : {128, 256}) x = Separable(net, Separable(net, x, c, 2, kRelu), c, 1, kRelu);
  x = Separable(net, x, 512, 2, kRelu);
  for (int i = 0; i < 5; ++i) x = Separable(net, x, 512, 1, kRelu);
  x = Separable(net, Separable(net, x, 1024, 2, kRelu), 1024, 1, kRelu);
  return net.Classifier(x, kImageNetClasses);
}

// Sandler et al., "MobileNetV2", 2018. 0.30 GMAC at 224.
ModelBuilder MobileNetV2(const Size& size) {
  Net net({}, size);
  const Feature x = MobileNetV2Backbone(net, net.Image(3, size.resolution, size.resolution), 32, nullptr);
  return net.Classifier(net.ConvBn(x, 1280, {}, Activation::kRelu6), kImageNetClasses);
}

// Howard et al., "Searching for MobileNetV3", 2019, tables 1 and 2. 0.22 and 0.06 GMAC at 224.
struct V3Row {
  int64_t kernel, expanded, out;
  bool squeeze, swish;
  int64_t stride;
};
constexpr V3Row kV3Large[] = {
    {3, 16, 16, false, false, 1}, {3, 64, 24, false, false, 2}, {3, 72, 24, false, false, 1},
    {5, 72, 40, true, false, 2},  {5, 120, 40, true, false, 1}, {5, 120, 40, true, false, 1},
    {3, 240, 80, false, true, 2}, {3, 200, 80, false, true, 1}, {3, 184, 80, false, true, 1},
    {3, 184, 80, false, true, 1}, {3, 480, 112, true, true, 1}, {3, 672, 112, true, true, 1},
    {5, 672, 160, true, true, 2}, {5, 960, 160, true, true, 1}, {5, 960, 160, true, true, 1},
};
constexpr V3Row kV3Small[] = {
    {3, 16, 16, true, false, 2}, {3, 72, 24, false, false, 2}, {3, 88, 24, false, false, 1},
    {5, 96, 40, true, true, 2},  {5, 240, 40, true, true, 1},  {5, 240, 40, true, true, 1},
    {5, 120, 48, true, true, 1}, {5, 144, 48, true, true, 1},  {5, 288, 96, true, true, 2},
    {5, 576, 96, true, true, 1}, {5, 576, 96, true, true, 1},
};

// `old_export`: hard-swish and hard-sigmoid as the chains that exporters wrote before operator set 14.
template <size_t N>
ModelBuilder MobileNetV3(const Size& size, const V3Row (&rows)[N], int64_t last, int64_t hidden, bool old_export) {
  const Activation swish = old_export ? Activation::kHardSwishChain : Activation::kHardSwish;
  const Activation gate = old_export ? Activation::kHardSigmoidChain : Activation::kHardSigmoid;
  Net net({.opset = old_export ? 13 : 14}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 16, {.kernel = 3, .stride = 2}, swish);
  for (const V3Row& r : rows) {
    const int64_t squeezed = r.squeeze ? MakeDivisible(static_cast<double>(r.expanded) / 4) : 0;
    x = Apply(net, x,
              {.kernel = r.kernel,
               .expanded = r.expanded,
               .out = r.out,
               .stride = r.stride,
               .activation = r.swish ? swish : kRelu,
               .squeezed = squeezed,
               .gate = gate});
  }
  x = net.GlobalPool(net.ConvBn(x, last, {}, swish));
  const std::string y = net.Linear(net.Flatten(x), last, hidden, swish);
  return net.Finish(net.Linear(y, hidden, kImageNetClasses));
}
ModelBuilder MobileNetV3Large(const Size& size) { return MobileNetV3(size, kV3Large, 960, 1280, false); }
ModelBuilder MobileNetV3Small(const Size& size) { return MobileNetV3(size, kV3Small, 576, 1024, true); }

struct StageRow {
  int64_t expansion, kernel, stride, out, repeats;
};

// Tan, Le, "EfficientNet", 2019, table 1. 0.39 GMAC at 224.
ModelBuilder EfficientNetB0(const Size& size) {
  constexpr Activation kSilu = Activation::kSilu;
  Net net({}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 32, {.kernel = 3, .stride = 2}, kSilu);
  for (const StageRow& r :
       {StageRow{1, 3, 1, 16, 1}, StageRow{6, 3, 2, 24, 2}, StageRow{6, 5, 2, 40, 2}, StageRow{6, 3, 2, 80, 3},
        StageRow{6, 5, 1, 112, 3}, StageRow{6, 5, 2, 192, 4}, StageRow{6, 3, 1, 320, 1}}) {
    for (int64_t i = 0; i < r.repeats; ++i) {
      x = Apply(net, x,
                {.kernel = r.kernel,
                 .expanded = x.c * r.expansion,
                 .out = r.out,
                 .stride = i == 0 ? r.stride : 1,
                 .activation = kSilu,
                 .squeezed = std::max<int64_t>(1, x.c / 4),
                 .squeeze_activation = kSilu});
    }
  }
  return net.Classifier(net.ConvBn(x, 1280, {}, kSilu), kImageNetClasses);
}

// Tan et al., "MnasNet", 2018: B1. 0.31 GMAC at 224.
ModelBuilder MnasNet(const Size& size) {
  Net net({.fold_batch_norm = false}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 32, {.kernel = 3, .stride = 2}, kRelu);
  x = net.ConvBn(net.Depthwise(x, {.kernel = 3}, kRelu), 16, {});
  for (const StageRow& r : {StageRow{3, 3, 2, 24, 3}, StageRow{3, 5, 2, 40, 3}, StageRow{6, 5, 2, 80, 3},
                            StageRow{6, 3, 1, 96, 2}, StageRow{6, 5, 2, 192, 4}, StageRow{6, 3, 1, 320, 1}}) {
    for (int64_t i = 0; i < r.repeats; ++i) {
      x = Apply(net, x,
                {.kernel = r.kernel, .expanded = x.c * r.expansion, .out = r.out, .stride = i == 0 ? r.stride : 1});
    }
  }
  return net.Classifier(net.ConvBn(x, 1280, {}, kRelu), kImageNetClasses);
}

// Channels of two halves interleaved.
Feature Shuffle(Net& net, const Feature& x) {
  Feature y = net.Reshape(x, {net.batch(), 2, x.c / 2, x.h, x.w});
  return net.Reshape(net.Transpose(y, {0, 2, 1, 3, 4}), {net.batch(), x.c, x.h, x.w});
}

Feature ShuffleUnit(Net& net, const Feature& x, int64_t out, int64_t stride) {
  const int64_t half = out / 2;
  std::vector<Feature> in = stride == 1 ? net.Split(x, {half, half}) : std::vector<Feature>{x, x};
  if (stride == 2) in[0] = net.ConvBn(net.Depthwise(x, {.kernel = 3, .stride = 2}, Activation::kNone), half, {}, kRelu);
  Feature y = net.ConvBn(in[1], half, {}, kRelu);
  y = net.ConvBn(net.Depthwise(y, {.kernel = 3, .stride = stride}, Activation::kNone), half, {}, kRelu);
  return Shuffle(net, net.Concat({in[0], y}));
}

// Ma et al., "ShuffleNet V2", 2018, table 5. 0.15 GMAC at 224.
ModelBuilder ShuffleNetV2(const Size& size) {
  struct Stage {
    int64_t out, repeats;
  };
  Net net({}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 24, {.kernel = 3, .stride = 2}, kRelu);
  x = net.MaxPool(x, {.kernel = 3, .pad = 1});
  for (const Stage& s : {Stage{116, 4}, Stage{232, 8}, Stage{464, 4}}) {
    for (int64_t i = 0; i < s.repeats; ++i) x = ShuffleUnit(net, x, s.out, i == 0 ? 2 : 1);
  }
  return net.Classifier(net.ConvBn(x, 1024, {}, kRelu), kImageNetClasses);
}

}  // namespace

std::vector<Architecture> DepthwiseCnns() {
  constexpr std::string_view kFamily = "depthwise_cnn";
  return {
      {"mobilenet_v1", kFamily, 224, "depthwise separable, BatchNormalization in the graph", MobileNetV1},
      {"mobilenet_v2", kFamily, 224, "inverted residuals, Relu6 as Clip", MobileNetV2},
      {"mobilenet_v3_small", kFamily, 224, "hard-swish as the chain Add, Clip, Mul, Div", MobileNetV3Small},
      {"mobilenet_v3_large", kFamily, 224, "hard-swish as HardSigmoid and Mul", MobileNetV3Large},
      {"efficientnet_b0", kFamily, 224, "swish as Sigmoid and Mul, squeeze and excitation", EfficientNetB0},
      {"mnasnet1_0", kFamily, 224, "inverted residuals, BatchNormalization in the graph", MnasNet},
      {"shufflenet_v2_x1_0", kFamily, 224, "Split, channel shuffle by Reshape and Transpose", ShuffleNetV2},
  };
}

}  // namespace simpred::zoo
