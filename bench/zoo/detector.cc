// Detectors: a one-stage detector with feature pyramid, and a single-shot detector on MobileNetV1. Without the final
// suppression, whose work depends on the data.
#include "zoo/depthwise_cnn.h"
#include "zoo/net.h"

namespace simpred::zoo {
namespace {

constexpr Activation kSilu = Activation::kSilu;
constexpr Activation kRelu6 = Activation::kRelu6;

// The nano size (width 0.25, depth 0.33) of YOLOv5 release 6: 1.9 M weights, 2.25 GMAC at 640.
class Yolo {
 public:
  explicit Yolo(Net& net) : net_(net) {}

  Feature Conv(const Feature& x, int64_t out, int64_t kernel, int64_t stride) {
    return net_.ConvBn(x, out, {.kernel = kernel, .stride = stride}, kSilu);
  }
  // Cross-stage partial block of `n` bottlenecks.
  Feature C3(const Feature& x, int64_t out, int n, bool shortcut) {
    Feature left = Conv(x, out / 2, 1, 1);
    for (int i = 0; i < n; ++i) {
      const Feature y = Conv(Conv(left, left.c, 1, 1), left.c, 3, 1);
      left = shortcut ? net_.Add(left, y) : y;
    }
    return Conv(net_.Concat({left, Conv(x, out / 2, 1, 1)}), out, 1, 1);
  }
  // Spatial pyramid pooling, one pooling after the other.
  Feature Sppf(const Feature& x, int64_t out) {
    const PoolOptions pool{.kernel = 5, .stride = 1, .pad = 2};
    const Feature a = Conv(x, x.c / 2, 1, 1);
    const Feature b = net_.MaxPool(a, pool);
    const Feature c = net_.MaxPool(b, pool);
    return Conv(net_.Concat({a, b, c, net_.MaxPool(c, pool)}), out, 1, 1);
  }
  Feature Upsample(const Feature& x) {
    auto& b = net_.builder();
    const std::string scales = b.ConstantFloats({1, 1, 2, 2}, {4});
    const std::string y =
        b.Op("Resize", {x.name, "", scales},
             {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}});
    return {y, x.c, x.h * 2, x.w * 2};
  }
  // Boxes of one level: [batch, anchors * h * w, 85].
  std::string Decode(const Feature& x, int64_t stride) {
    constexpr int64_t kAnchors = 3;
    constexpr int64_t kValues = 85;  // 4 of the box, 1 of the object, 80 classes
    auto& b = net_.builder();
    Feature y = net_.Conv(x, kAnchors * kValues, {});
    y = net_.Reshape(y, {net_.batch(), kAnchors, kValues, x.h, x.w});
    y = net_.Act(net_.Transpose(y, {0, 1, 3, 4, 2}), Activation::kSigmoid);
    const auto parts = b.OpN("Split", {y.name, b.ConstantInts({2, 2, kValues - 4})}, 3, {{"axis", 4}});
    const std::string two = b.ConstantScalar(2);
    const std::string grid = b.Weight({1, kAnchors, x.h, x.w, 2}, 10);
    const std::string anchors = b.Weight({1, kAnchors, x.h, x.w, 2}, 30);
    const std::string xy =
        b.Op("Mul", {b.Op("Add", {b.Op("Mul", {parts[0], two}), grid}), b.ConstantScalar(static_cast<float>(stride))});
    const std::string wh = b.Op("Mul", {b.Op("Pow", {b.Op("Mul", {parts[1], two}), two}), anchors});
    const std::string all = b.Op("Concat", {xy, wh, parts[2]}, {{"axis", 4}});
    return b.Op("Reshape", {all, b.ConstantInts({net_.batch(), kAnchors * x.h * x.w, kValues})});
  }

 private:
  Net& net_;
};

ModelBuilder YoloV5n(const Size& size) {
  Net net({}, size);
  Yolo y(net);
  Feature x = net.Image(3, size.resolution, size.resolution);
  x = net.ConvBn(x, 16, {.kernel = 6, .stride = 2, .pad = 2}, kSilu);
  x = y.C3(y.Conv(x, 32, 3, 2), 32, 1, true);
  const Feature p3 = y.C3(y.Conv(x, 64, 3, 2), 64, 2, true);
  const Feature p4 = y.C3(y.Conv(p3, 128, 3, 2), 128, 3, true);
  x = y.Sppf(y.C3(y.Conv(p4, 256, 3, 2), 256, 1, true), 256);
  const Feature top = y.Conv(x, 128, 1, 1);
  const Feature middle = y.Conv(y.C3(net.Concat({y.Upsample(top), p4}), 128, 1, false), 64, 1, 1);
  const Feature small = y.C3(net.Concat({y.Upsample(middle), p3}), 64, 1, false);
  const Feature medium = y.C3(net.Concat({y.Conv(small, 64, 3, 2), middle}), 128, 1, false);
  const Feature large = y.C3(net.Concat({y.Conv(medium, 128, 3, 2), top}), 256, 1, false);
  return net.Finish(
      net.builder().Op("Concat", {y.Decode(small, 8), y.Decode(medium, 16), y.Decode(large, 32)}, {{"axis", 1}}));
}

// Values of each place of a feature map as rows: [batch, places * per_place / values, values].
std::string Rows(Net& net, const Feature& x, int64_t values) {
  auto& b = net.builder();
  return b.Op("Reshape", {net.Transpose(x, {0, 2, 3, 1}).name, b.ConstantInts({net.batch(), -1, values})});
}

// Liu et al., "SSD", 2015, on MobileNetV1, as the TensorFlow detection collection has it. 1.2 GMAC at 300.
ModelBuilder SsdMobileNetV1(const Size& size) {
  constexpr int64_t kClasses = 91;
  Net net({}, size);
  Feature x = net.ConvBn(net.Image(3, size.resolution, size.resolution), 32, {.kernel = 3, .stride = 2}, kRelu6);
  x = Separable(net, x, 64, 1, kRelu6);
  for (int64_t c : {128, 256}) x = Separable(net, Separable(net, x, c, 2, kRelu6), c, 1, kRelu6);
  x = Separable(net, x, 512, 2, kRelu6);
  for (int i = 0; i < 5; ++i) x = Separable(net, x, 512, 1, kRelu6);
  std::vector<Feature> maps = {x};
  maps.push_back(Separable(net, Separable(net, x, 1024, 2, kRelu6), 1024, 1, kRelu6));
  for (int64_t c : {256, 128, 128, 64}) {
    const Feature narrow = net.ConvBn(maps.back(), c, {}, kRelu6);
    maps.push_back(net.ConvBn(narrow, 2 * c, {.kernel = 3, .stride = 2}, kRelu6));
  }
  std::vector<std::string> boxes;
  std::vector<std::string> scores;
  for (size_t i = 0; i < maps.size(); ++i) {
    const int64_t anchors = i == 0 ? 3 : 6;
    boxes.push_back(Rows(net, net.Conv(maps[i], anchors * 4, {}), 4));
    scores.push_back(Rows(net, net.Conv(maps[i], anchors * kClasses, {}), kClasses));
  }
  auto& b = net.builder();
  b.Output(b.Op("Concat", boxes, {{"axis", 1}}));
  return net.Finish(b.Op("Sigmoid", {b.Op("Concat", scores, {{"axis", 1}})}));
}

}  // namespace

std::vector<Architecture> Detectors() {
  constexpr std::string_view kFamily = "detector";
  return {
      {"yolov5n", kFamily, 320, "cross-stage partial blocks, SiLU, pyramid with nearest Resize", YoloV5n},
      {"ssd_mobilenet_v1", kFamily, 300, "six feature maps, Transpose and Concat of the heads", SsdMobileNetV1},
  };
}

}  // namespace simpred::zoo
