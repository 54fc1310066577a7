// Plain convolutional classifiers: which layers do they have? Tables of the papers; where the usual reference
// implementation (torchvision) differs, its variant is named.
#include "zoo/net.h"

namespace simpred::zoo {
namespace {

constexpr int64_t kImageNetClasses = 1000;
constexpr Activation kRelu = Activation::kRelu;

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014. 0.71 GMAC at 224.
ModelBuilder AlexNet(const Size& size) {
  Net net({}, size);
  Feature x = net.Image(3, size.resolution, size.resolution);
  x = net.MaxPool(net.Conv(x, 64, {.kernel = 11, .stride = 4, .pad = 2}, kRelu), {.kernel = 3});
  x = net.MaxPool(net.Conv(x, 192, {.kernel = 5}, kRelu), {.kernel = 3});
  x = net.Conv(x, 384, {.kernel = 3}, kRelu);
  x = net.Conv(x, 256, {.kernel = 3}, kRelu);
  x = net.MaxPool(net.Conv(x, 256, {.kernel = 3}, kRelu), {.kernel = 3});
  std::string y = net.Linear(net.Flatten(x), x.c * x.h * x.w, 4096, kRelu);
  y = net.Linear(y, 4096, 4096, kRelu);
  return net.Finish(net.Linear(y, 4096, kImageNetClasses));
}

// Simonyan, Zisserman, "Very deep convolutional networks", 2014; 0 stands for a pooling. Below 224 the first fully
// connected layer shrinks with the image. 7.6 and 15.5 GMAC at 224.
ModelBuilder Vgg(const Size& size, const Ints& channels) {
  Net net({}, size);
  Feature x = net.Image(3, size.resolution, size.resolution);
  for (int64_t c : channels) x = c == 0 ? net.MaxPool(x) : net.Conv(x, c, {.kernel = 3}, kRelu);
  std::string y = net.Linear(net.Flatten(x), x.c * x.h * x.w, 4096, kRelu);
  y = net.Linear(y, 4096, 4096, kRelu);
  return net.Finish(net.Linear(y, 4096, kImageNetClasses));
}
ModelBuilder Vgg11(const Size& size) { return Vgg(size, {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0}); }
ModelBuilder Vgg16(const Size& size) {
  return Vgg(size, {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0});
}

Feature BasicBlock(Net& net, const Feature& x, int64_t channels, int64_t stride) {
  Feature y = net.ConvBn(x, channels, {.kernel = 3, .stride = stride}, kRelu);
  y = net.ConvBn(y, channels, {.kernel = 3});
  const bool same = stride == 1 && x.c == channels;
  return net.Act(net.Add(y, same ? x : net.ConvBn(x, channels, {.stride = stride})), kRelu);
}

// The stride is in the 3x3 convolution ("v1.5").
Feature Bottleneck(Net& net, const Feature& x, int64_t channels, int64_t stride) {
  const int64_t out = channels * 4;
  Feature y = net.ConvBn(x, channels, {}, kRelu);
  y = net.ConvBn(y, channels, {.kernel = 3, .stride = stride}, kRelu);
  y = net.ConvBn(y, out, {});
  const bool same = stride == 1 && x.c == out;
  return net.Act(net.Add(y, same ? x : net.ConvBn(x, out, {.stride = stride})), kRelu);
}

// He et al., "Deep residual learning for image recognition", 2015. 1.8 and 4.1 GMAC at 224.
ModelBuilder ResNet(Net net, const Size& size, const Ints& depths,
                    Feature (*block)(Net&, const Feature&, int64_t, int64_t)) {
  Feature x = net.Image(3, size.resolution, size.resolution);
  x = net.MaxPool(net.ConvBn(x, 64, {.kernel = 7, .stride = 2}, kRelu), {.kernel = 3, .pad = 1});
  for (size_t stage = 0; stage < depths.size(); ++stage) {
    for (int64_t i = 0; i < depths[stage]; ++i) {
      x = block(net, x, int64_t{64} << stage, stage > 0 && i == 0 ? 2 : 1);
    }
  }
  return net.Classifier(x, kImageNetClasses);
}
ModelBuilder ResNet18(const Size& size) { return ResNet(Net({}, size), size, {2, 2, 2, 2}, BasicBlock); }
ModelBuilder ResNet50(const Size& size) {
  return ResNet(Net({.fold_batch_norm = false}, size), size, {3, 4, 6, 3}, Bottleneck);
}

// Zagoruyko, Komodakis, "Wide residual networks", 2016: 16 layers, width 4, for images of 32 x 32.
ModelBuilder WideResNet(const Size& size) {
  Net net({.fold_batch_norm = false}, size);
  Feature x = net.Conv(net.Image(3, size.resolution, size.resolution), 16, {.kernel = 3});
  for (int64_t stage = 0; stage < 3; ++stage) {
    for (int64_t i = 0; i < 2; ++i) {
      const int64_t channels = int64_t{64} << stage;
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const Feature pre = net.Act(net.BatchNorm(x), kRelu);
      Feature y = net.ConvBn(pre, channels, {.kernel = 3, .stride = stride}, kRelu);
      y = net.Conv(y, channels, {.kernel = 3});
      x = net.Add(y, x.c == channels ? x : net.Conv(pre, channels, {.stride = stride}));
    }
  }
  return net.Classifier(net.Act(net.BatchNorm(x), kRelu), 10);
}

Feature LocalResponseNorm(Net& net, const Feature& x) {
  Feature y = x;
  y.name = net.builder().Op("LRN", {x.name}, {{"size", 5}, {"alpha", 1e-4}, {"beta", 0.75}, {"bias", 1.0}});
  return y;
}

// Szegedy et al., "Going deeper with convolutions", 2014, table 1. 1.5 GMAC at 224.
struct InceptionRow {
  int64_t one, three_reduce, three, five_reduce, five, pool;
};
Feature InceptionV1(Net& net, const Feature& x, const InceptionRow& r) {
  const Feature one = net.Conv(x, r.one, {}, kRelu);
  const Feature three = net.Conv(net.Conv(x, r.three_reduce, {}, kRelu), r.three, {.kernel = 3}, kRelu);
  const Feature five = net.Conv(net.Conv(x, r.five_reduce, {}, kRelu), r.five, {.kernel = 5}, kRelu);
  const Feature pool = net.Conv(net.MaxPool(x, {.kernel = 3, .stride = 1, .pad = 1}), r.pool, {}, kRelu);
  return net.Concat({one, three, five, pool});
}
ModelBuilder GoogLeNet(const Size& size) {
  const PoolOptions pool{.kernel = 3, .stride = 2, .ceil = true};
  Net net({}, size);
  Feature x = net.Image(3, size.resolution, size.resolution);
  x = LocalResponseNorm(net, net.MaxPool(net.Conv(x, 64, {.kernel = 7, .stride = 2}, kRelu), pool));
  x = net.Conv(net.Conv(x, 64, {}, kRelu), 192, {.kernel = 3}, kRelu);
  x = net.MaxPool(LocalResponseNorm(net, x), pool);
  x = InceptionV1(net, x, {64, 96, 128, 16, 32, 32});
  x = net.MaxPool(InceptionV1(net, x, {128, 128, 192, 32, 96, 64}), pool);
  for (const InceptionRow& row : {InceptionRow{192, 96, 208, 16, 48, 64}, InceptionRow{160, 112, 224, 24, 64, 64},
                                  InceptionRow{128, 128, 256, 24, 64, 64}, InceptionRow{112, 144, 288, 32, 64, 64},
                                  InceptionRow{256, 160, 320, 32, 128, 128}}) {
    x = InceptionV1(net, x, row);
  }
  x = net.MaxPool(x, pool);
  x = InceptionV1(net, x, {256, 160, 320, 32, 128, 128});
  x = InceptionV1(net, x, {384, 192, 384, 48, 128, 128});
  return net.Classifier(x, kImageNetClasses);
}

// Huang et al., "Densely connected convolutional networks", 2016: growth 32. 2.9 GMAC at 224.
ModelBuilder DenseNet121(const Size& size) {
  constexpr int64_t kGrowth = 32;
  const Ints depths = {6, 12, 24, 16};
  Net net({.fold_batch_norm = false}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 64, {.kernel = 7, .stride = 2}, kRelu);
  x = net.MaxPool(x, {.kernel = 3, .pad = 1});
  for (size_t stage = 0; stage < depths.size(); ++stage) {
    std::vector<Feature> features = {x};
    for (int64_t i = 0; i < depths[stage]; ++i) {
      const Feature all = features.size() == 1 ? x : net.Concat(features);
      const Feature bottleneck = net.ConvBn(net.Act(net.BatchNorm(all), kRelu), 4 * kGrowth, {}, kRelu);
      features.push_back(net.Conv(bottleneck, kGrowth, {.kernel = 3}));
    }
    x = net.Act(net.BatchNorm(net.Concat(features)), kRelu);
    if (stage + 1 < depths.size()) x = net.AvgPool(net.Conv(x, x.c / 2, {}), {});
  }
  return net.Classifier(x, kImageNetClasses);
}

// Iandola et al., "SqueezeNet", 2016, version 1.1. 0.35 GMAC at 224.
ModelBuilder SqueezeNet11(const Size& size) {
  const PoolOptions pool{.kernel = 3, .stride = 2, .ceil = true};
  Net net({}, size);
  const auto fire = [&](const Feature& x, int64_t squeeze, int64_t expand) {
    const Feature s = net.Conv(x, squeeze, {}, kRelu);
    return net.Concat({net.Conv(s, expand, {}, kRelu), net.Conv(s, expand, {.kernel = 3}, kRelu)});
  };
  Feature x = net.Image(3, size.resolution, size.resolution);
  x = net.MaxPool(net.Conv(x, 64, {.kernel = 3, .stride = 2, .pad = 0}, kRelu), pool);
  x = net.MaxPool(fire(fire(x, 16, 64), 16, 64), pool);
  x = net.MaxPool(fire(fire(x, 32, 128), 32, 128), pool);
  x = fire(fire(fire(fire(x, 48, 192), 48, 192), 64, 256), 64, 256);
  return net.Finish(net.Flatten(net.GlobalPool(net.Conv(x, kImageNetClasses, {}, kRelu))));
}

}  // namespace

ModelBuilder InceptionV3(const Size& size);  // inception_v3.cc

std::vector<Architecture> PlainCnns() {
  constexpr std::string_view kFamily = "plain_cnn";
  return {
      {"alexnet", kFamily, 224, "5 convolutions, 3 large fully connected layers", AlexNet},
      {"vgg11", kFamily, 128, "3x3 convolutions only; published at 224", Vgg11},
      {"vgg16", kFamily, 96, "3x3 convolutions only; published at 224", Vgg16},
      {"resnet18", kFamily, 224, "basic residual blocks, BatchNormalization folded", ResNet18},
      {"resnet50", kFamily, 224, "bottleneck blocks, BatchNormalization in the graph", ResNet50},
      {"wrn16_4", kFamily, 32, "wide residual network for CIFAR, pre-activation", WideResNet},
      {"googlenet", kFamily, 224, "Inception modules, local response normalisation", GoogLeNet},
      {"inception_v3", kFamily, 235, "factorised Inception modules; published at 299", InceptionV3},
      {"densenet121", kFamily, 224, "dense blocks: Concat and BatchNormalization before Conv", DenseNet121},
      {"squeezenet1_1", kFamily, 224, "fire modules", SqueezeNet11},
  };
}

}  // namespace simpred::zoo
