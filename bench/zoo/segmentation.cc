// Segmentation: which layers restore the resolution? Transposed convolutions in one, dilation and linear Resize in the
// other.
#include "zoo/depthwise_cnn.h"
#include "zoo/net.h"

namespace simpred::zoo {
namespace {

constexpr Activation kRelu = Activation::kRelu;

// Doubles the size with a 2x2 transposed convolution.
Feature UpConv(Net& net, const Feature& x, int64_t out) {
  auto& b = net.builder();
  const std::string y = b.Op("ConvTranspose", {x.name, b.Weight({x.c, out, 2, 2}), b.Weight({out}, 0.1)},
                             {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  return {y, out, x.h * 2, x.w * 2};
}

// Ronneberger et al., "U-Net", 2015, with padding, BatchNormalization and a quarter of the width.
ModelBuilder UNetSmall(const Size& size) {
  Net net({.fold_batch_norm = false}, size);
  const auto twice = [&](const Feature& x, int64_t c) {
    return net.ConvBn(net.ConvBn(x, c, {.kernel = 3}, kRelu), c, {.kernel = 3}, kRelu);
  };
  std::vector<Feature> levels = {twice(net.Image(3, size.resolution, size.resolution), 16)};
  for (int64_t c : {32, 64, 128, 256}) levels.push_back(twice(net.MaxPool(levels.back()), c));
  Feature x = levels.back();
  for (size_t i = levels.size() - 1; i-- > 0;) {
    x = twice(net.Concat({levels[i], UpConv(net, x, levels[i].c)}), levels[i].c);
  }
  return net.Finish(net.Conv(x, 2, {}).name);
}

Feature ResizeLinear(Net& net, const Feature& x, int64_t h, int64_t w) {
  auto& b = net.builder();
  const std::string sizes = b.ConstantInts({net.batch(), x.c, h, w});
  const std::string y =
      b.Op("Resize", {x.name, "", "", sizes}, {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}});
  return {y, x.c, h, w};
}

// Chen et al., "Rethinking atrous convolution", 2017, on MobileNetV2 with output stride 16; half the usual width in the
// pyramid.
ModelBuilder DeepLabV3(const Size& size) {
  constexpr int64_t kWidth = 128;
  constexpr int64_t kClasses = 21;
  Net net({}, size);
  const Feature image = net.Image(3, size.resolution, size.resolution);
  const Feature x = MobileNetV2Backbone(net, image, 16, nullptr);
  std::vector<Feature> pyramid = {net.ConvBn(x, kWidth, {}, kRelu)};
  for (int64_t rate : {6, 12, 18}) {
    pyramid.push_back(net.ConvBn(x, kWidth, {.kernel = 3, .dilation = rate}, kRelu));
  }
  pyramid.push_back(ResizeLinear(net, net.ConvBn(net.GlobalPool(x), kWidth, {}, kRelu), x.h, x.w));
  Feature y = net.ConvBn(net.Concat(pyramid), kWidth, {}, kRelu);
  y = net.Conv(net.ConvBn(y, kWidth, {.kernel = 3}, kRelu), kClasses, {});
  return net.Finish(ResizeLinear(net, y, image.h, image.w).name);
}

}  // namespace

std::vector<Architecture> SegmentationModels() {
  constexpr std::string_view kFamily = "segmentation";
  return {
      {"unet_small", kFamily, 128, "four levels, transposed convolutions, BatchNormalization in the graph", UNetSmall},
      {"deeplabv3_mobilenet", kFamily, 224, "dilated convolutions, pyramid pooling, linear Resize", DeepLabV3},
  };
}

}  // namespace simpred::zoo
