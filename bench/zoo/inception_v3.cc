// Inception-v3: which layers does it have? Szegedy et al., "Rethinking the Inception architecture", 2015, as
// torchvision has it. 5.7 GMAC at 299.
#include "zoo/net.h"

namespace simpred::zoo {
namespace {

constexpr Activation kRelu = Activation::kRelu;

class Inception {
 public:
  explicit Inception(Net& net) : net_(net) {}

  Feature One(const Feature& x, int64_t out) { return net_.ConvBn(x, out, {}, kRelu); }
  Feature Square(const Feature& x, int64_t out, int64_t kernel) {
    return net_.ConvBn(x, out, {.kernel = kernel}, kRelu);
  }
  Feature Down(const Feature& x, int64_t out) {
    return net_.ConvBn(x, out, {.kernel = 3, .stride = 2, .pad = 0}, kRelu);
  }
  Feature Row(const Feature& x, int64_t out, int64_t kernel) {  // 1 x k
    return net_.ConvBn(x, out, {.kernel = 1, .pad = 0, .kernel_w = kernel, .pad_w = kernel / 2}, kRelu);
  }
  Feature Column(const Feature& x, int64_t out, int64_t kernel) {  // k x 1
    return net_.ConvBn(x, out, {.kernel = kernel, .pad = kernel / 2, .kernel_w = 1, .pad_w = 0}, kRelu);
  }
  Feature Pooled(const Feature& x, int64_t out) {
    return One(net_.AvgPool(x, {.kernel = 3, .stride = 1, .pad = 1}), out);
  }
  Feature MaxDown(const Feature& x) { return net_.MaxPool(x, {.kernel = 3}); }

  Feature A(const Feature& x, int64_t pool) {
    const Feature five = Square(One(x, 48), 64, 5);
    const Feature threes = Square(Square(One(x, 64), 96, 3), 96, 3);
    return net_.Concat({One(x, 64), five, threes, Pooled(x, pool)});
  }
  Feature B(const Feature& x) {
    const Feature threes = Down(Square(One(x, 64), 96, 3), 96);
    return net_.Concat({Down(x, 384), threes, MaxDown(x)});
  }
  Feature C(const Feature& x, int64_t c) {
    const Feature seven = Column(Row(One(x, c), c, 7), 192, 7);
    const Feature sevens = Row(Column(Row(Column(One(x, c), c, 7), c, 7), c, 7), 192, 7);
    return net_.Concat({One(x, 192), seven, sevens, Pooled(x, 192)});
  }
  Feature D(const Feature& x) {
    const Feature three = Down(One(x, 192), 320);
    const Feature seven = Down(Column(Row(One(x, 192), 192, 7), 192, 7), 192);
    return net_.Concat({three, seven, MaxDown(x)});
  }
  Feature E(const Feature& x) {
    const Feature three = One(x, 384);
    const Feature threes = Square(One(x, 448), 384, 3);
    const Feature split = net_.Concat({Row(three, 384, 3), Column(three, 384, 3)});
    const Feature splits = net_.Concat({Row(threes, 384, 3), Column(threes, 384, 3)});
    return net_.Concat({One(x, 320), split, splits, Pooled(x, 192)});
  }

 private:
  Net& net_;
};

}  // namespace

ModelBuilder InceptionV3(const Size& size);

ModelBuilder InceptionV3(const Size& size) {
  Net net({}, size);
  Inception i(net);
  Feature x = i.Down(net.Image(3, size.resolution, size.resolution), 32);
  x = i.Square(net.ConvBn(x, 32, {.kernel = 3, .pad = 0}, kRelu), 64, 3);
  x = i.MaxDown(x);
  x = net.ConvBn(i.One(x, 80), 192, {.kernel = 3, .pad = 0}, kRelu);
  x = i.MaxDown(x);
  x = i.B(i.A(i.A(i.A(x, 32), 64), 64));
  x = i.D(i.C(i.C(i.C(i.C(x, 128), 160), 160), 192));
  x = i.E(i.E(x));
  return net.Classifier(x, 1000);
}

}  // namespace simpred::zoo
