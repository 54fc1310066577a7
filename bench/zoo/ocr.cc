// Text recognisers: convolutions squeeze the height away, a recurrent head reads along the width.
#include "zoo/depthwise_cnn.h"
#include "zoo/net.h"
#include "zoo/recurrent.h"

namespace simpred::zoo {
namespace {

constexpr Activation kRelu = Activation::kRelu;

// A feature map of height 1 as a sequence: [width, batch, channels].
std::string Sequence(Net& net, const Feature& x) {
  auto& b = net.builder();
  const std::string squeezed = b.Op("Squeeze", {x.name, b.ConstantInts({2})});
  return b.Op("Transpose", {squeezed}, {{"perm", Ints{2, 0, 1}}});
}

// Shi et al., "An end-to-end trainable neural network for image-based sequence recognition", 2015, table 1. Images of
// height 32; the resolution is the width.
ModelBuilder Crnn(const Size& size) {
  constexpr int64_t kHidden = 256;
  constexpr int64_t kCharacters = 37;
  const PoolOptions halve_height{.kernel = 2, .stride = 2, .stride_w = 1, .kernel_w = 1};
  Net net({.fold_batch_norm = false}, size);
  Feature x = net.Image(1, 32, size.resolution);
  x = net.MaxPool(net.Conv(x, 64, {.kernel = 3}, kRelu));
  x = net.MaxPool(net.Conv(x, 128, {.kernel = 3}, kRelu));
  x = net.Conv(net.Conv(x, 256, {.kernel = 3}, kRelu), 256, {.kernel = 3}, kRelu);
  x = net.MaxPool(x, halve_height);
  x = net.ConvBn(net.ConvBn(x, 512, {.kernel = 3}, kRelu), 512, {.kernel = 3}, kRelu);
  x = net.MaxPool(x, halve_height);
  x = net.ConvBn(x, 512, {.kernel = 2, .pad = 0}, kRelu);
  std::string y = BidirectionalLstm(net, Sequence(net, x), x.w, x.c, kHidden);
  y = Dense(net.builder(), y, 2 * kHidden, kHidden);
  y = BidirectionalLstm(net, y, x.w, kHidden, kHidden);
  return net.Finish(Dense(net.builder(), y, 2 * kHidden, kCharacters));
}

// The mobile recogniser of PP-OCR: MobileNetV3-small at half width whose strides spare the width, a small LSTM, a large
// alphabet.
ModelBuilder PpOcrRecogniser(const Size& size) {
  struct Row {
    int64_t kernel, expanded, out;
    bool squeeze, swish;
    int64_t stride, stride_w;
  };
  constexpr int64_t kHidden = 48;
  constexpr int64_t kCharacters = 6625;
  constexpr Activation kSwish = Activation::kHardSwish;
  const auto half = [](int64_t c) { return MakeDivisible(static_cast<double>(c) / 2); };
  Net net({.opset = 14}, size);
  Feature x = net.ConvBn(net.Image(3, 32, size.resolution), half(16), {.kernel = 3, .stride = 2}, kSwish);
  for (const Row& r :
       {Row{3, 16, 16, true, false, 1, 1}, Row{3, 72, 24, false, false, 2, 1}, Row{3, 88, 24, false, false, 1, 1},
        Row{5, 96, 40, true, true, 2, 1}, Row{5, 240, 40, true, true, 1, 1}, Row{5, 240, 40, true, true, 1, 1},
        Row{5, 120, 48, true, true, 1, 1}, Row{5, 144, 48, true, true, 1, 1}, Row{5, 288, 96, true, true, 2, 1},
        Row{5, 576, 96, true, true, 1, 1}, Row{5, 576, 96, true, true, 1, 1}}) {
    const int64_t expanded = half(r.expanded);
    x = Apply(net, x,
              {.kernel = r.kernel,
               .expanded = expanded,
               .out = half(r.out),
               .stride = r.stride,
               .activation = r.swish ? kSwish : kRelu,
               .squeezed = r.squeeze ? MakeDivisible(static_cast<double>(expanded) / 4) : 0,
               .gate = Activation::kHardSigmoid,
               .stride_w = r.stride_w});
  }
  x = net.MaxPool(net.ConvBn(x, half(576), {}, kSwish));
  auto& b = net.builder();
  std::string y = BidirectionalLstm(net, Sequence(net, x), x.w, x.c, kHidden);
  y = BidirectionalLstm(net, y, x.w, 2 * kHidden, kHidden);
  y = Dense(b, b.Op("Transpose", {y}, {{"perm", Ints{1, 0, 2}}}), 2 * kHidden, kCharacters);
  return net.Finish(b.Op("Softmax", {y}, {{"axis", 2}}));
}

}  // namespace

std::vector<Architecture> OcrModels() {
  constexpr std::string_view kFamily = "ocr";
  return {
      {"crnn", kFamily, 100, "VGG-like convolutions, two bidirectional LSTMs; the resolution is the width", Crnn},
      {"ppocr_rec", kFamily, 320, "half-width MobileNetV3, LSTM, 6625 characters; the resolution is the width",
       PpOcrRecogniser},
  };
}

}  // namespace simpred::zoo
