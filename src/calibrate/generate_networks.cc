// Which random networks put kernels into context? Stages of blocks, each block a pattern that many published networks
// share (residual, inverted residual, dense, split-and-concatenate, attention, gated feed-forward, ...), with random
// sizes.
//
// A kernel inside a network is not a kernel in a loop: its inputs come from the kernel before it, its weights are cold,
// its layout is what the neighbours want. About one network in three is convolutional with depthwise blocks, one in
// three with dense convolutions, the rest are transformers, sequences and multi-layer perceptrons.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "calibrate/generate.h"
#include "calibrate/generate_common.h"

namespace simpred {
namespace {

using namespace generate;  // NOLINT(google-build-using-namespace): the generators' own vocabulary

struct Feature {  // a feature map [n, c, h, w]
  std::string v;
  int64_t c, h, w;
};

// Convolutional networks.
class ConvNet {
 public:
  ConvNet(Random& r, ModelBuilder& b) : r_(r), b_(b), batch_norm_(r.Uniform() < 0.4), act_(PickActivation()) {}

  void Build(bool depthwise) {
    n_ = r_.Uniform() < 0.85 ? 1 : r_.Int(2, 4);
    const int64_t in_c = r_.Uniform() < 0.85 ? 3 : 1;
    Feature x{"", in_c, Extent(r_, 64, 416), 0};
    x.w = r_.Uniform() < 0.7 ? x.h : Extent(r_, 64, 416);
    x.v = b_.Input("image", DataType::kFloat32, AsDims({n_, x.c, x.h, x.w}));
    x = Stem(x, depthwise);
    std::vector<Feature> pyramid;
    const int64_t stages = r_.Int(2, 4);
    for (int64_t s = 0; s < stages; ++s) {
      const int64_t blocks = r_.Int(1, 4);
      const int64_t kind = depthwise ? r_.Int(0, 3) : r_.Int(4, 10);
      const int64_t out = std::min<int64_t>(depthwise ? 512 : 768,
                                            Channels(r_, static_cast<double>(x.c), static_cast<double>(x.c) * 2.2));
      for (int64_t i = 0; i < blocks; ++i) x = Block(kind, x, out, i == 0 && std::min(x.h, x.w) > 6 ? 2 : 1);
      pyramid.push_back(x);
    }
    Head(x, pyramid);
  }

 private:
  std::string PickActivation() {
    static const std::vector<std::string> kKinds = {
        "Relu",           "Relu",      "Relu",    "Clip",  "Silu", "Silu", "HardSwish",
        "HardSwishChain", "LeakyRelu", "Sigmoid", "PRelu", "Mish", "Elu",  "Gelu"};
    return r_.Pick(kKinds);
  }
  std::string Mul(const std::string& a, const std::string& c) { return b_.Op("Mul", {a, c}); }

  Feature Activate(Feature x, const std::string& kind) {
    if (kind == "Clip") {
      x.v = b_.Op("Clip", {x.v, b_.ConstantScalar(0.0F), b_.ConstantScalar(6.0F)});
    } else if (kind == "Silu") {
      x.v = Mul(x.v, b_.Op("Sigmoid", {x.v}));
    } else if (kind == "HardSwishChain") {
      const std::string t = b_.Op(
          "Clip", {b_.Op("Add", {x.v, b_.ConstantScalar(3.0F)}), b_.ConstantScalar(0.0F), b_.ConstantScalar(6.0F)});
      x.v = r_.Uniform() < 0.5 ? b_.Op("Div", {Mul(x.v, t), b_.ConstantScalar(6.0F)})
                               : Mul(x.v, b_.Op("Div", {t, b_.ConstantScalar(6.0F)}));
    } else if (kind == "HardSwish") {
      x.v = Mul(x.v, b_.Op("HardSigmoid", {x.v}, {{"alpha", 1.0 / 6.0}, {"beta", 0.5}}));
    } else if (kind == "PRelu") {
      x.v = b_.Op("PRelu", {x.v, b_.Weight({x.c, 1, 1}, 0.25)});
    } else if (kind == "Mish") {
      x.v = Mul(x.v, b_.Op("Tanh", {b_.Op("Softplus", {x.v})}));
    } else if (kind == "Gelu") {
      const std::string e = b_.Op("Erf", {b_.Op("Div", {x.v, b_.ConstantScalar(1.4142135F)})});
      x.v = Mul(Mul(x.v, b_.Op("Add", {e, b_.ConstantScalar(1.0F)})), b_.ConstantScalar(0.5F));
    } else if (!kind.empty()) {
      x.v = b_.Op(kind, {x.v});
    }
    return x;
  }

  Feature Conv(const Feature& x, int64_t out, Ints k, int64_t stride = 1, int64_t group = 1, int64_t dilation = 1) {
    const Ints pads{(k[0] - 1) * dilation / 2, (k[1] - 1) * dilation / 2, (k[0] - 1) * dilation / 2,
                    (k[1] - 1) * dilation / 2};
    ModelBuilder::Attributes a{{"kernel_shape", k},
                               {"pads", pads},
                               {"strides", Ints{stride, stride}},
                               {"group", group},
                               {"dilations", Ints{dilation, dilation}}};
    std::vector<std::string> in{x.v, b_.Weight({out, x.c / group, k[0], k[1]})};
    if (!batch_norm_) in.push_back(b_.Weight({out}, 0.1));
    Feature y{b_.Op("Conv", in, a), out, 0, 0};
    y.h = (x.h + pads[0] + pads[2] - (k[0] - 1) * dilation - 1) / stride + 1;
    y.w = (x.w + pads[1] + pads[3] - (k[1] - 1) * dilation - 1) / stride + 1;
    if (batch_norm_) {
      const BatchNormParameters p = BatchNorm(b_, out);
      y.v = b_.Op("BatchNormalization", {y.v, p.scale, p.bias, p.mean, p.variance});
    }
    return y;
  }
  Feature ConvAct(const Feature& x, int64_t out, int64_t k, int64_t stride = 1, int64_t group = 1,
                  int64_t dilation = 1) {
    return Activate(Conv(x, out, {k, k}, stride, group, dilation), act_);
  }
  Feature Add(const Feature& a, const Feature& c) {
    Feature y = a;
    y.v = b_.Op("Add", r_.Uniform() < 0.5 ? std::vector{a.v, c.v} : std::vector{c.v, a.v});
    return y;
  }
  Feature Concat(const std::vector<Feature>& parts) {
    Feature y = parts[0];
    y.c = 0;
    std::vector<std::string> names;
    for (const Feature& p : parts) {
      y.c += p.c;
      names.push_back(p.v);
    }
    y.v = b_.Op("Concat", names, {{"axis", int64_t{1}}});
    return y;
  }
  Feature Pool(const Feature& x, const std::string& type, int64_t k, int64_t stride, int64_t pad) {
    Feature y{
        b_.Op(type, {x.v},
              {{"kernel_shape", Ints{k, k}}, {"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}}),
        x.c, (x.h + 2 * pad - k) / stride + 1, (x.w + 2 * pad - k) / stride + 1};
    return y;
  }

  // As exporters write it: the pooling operator, or a mean over the two extents.
  std::string GlobalPool(const std::string& x, bool as_operator) {
    if (as_operator) return b_.Op("GlobalAveragePool", {x});
    return b_.Op("ReduceMean", {x}, {{"axes", Ints{2, 3}}, {"keepdims", int64_t{1}}});
  }

  Feature Stem(const Feature& x, bool depthwise) {
    static const std::vector<int64_t> kKernel = {3, 3, 3, 5, 7, 7, 4};
    const int64_t k = r_.Pick(kKernel);
    Feature y =
        ConvAct(x, depthwise ? Channels(r_, 8, 40) : Channels(r_, 16, 96), k, std::min<int64_t>(k, k == 4 ? 4 : 2));
    if (!depthwise && r_.Uniform() < 0.5) y = Pool(y, "MaxPool", r_.Uniform() < 0.6 ? 3 : 2, 2, 0);
    if (std::max(y.h, y.w) > 112) y = Pool(y, "MaxPool", 2, 2, 0);
    return y;
  }

  Feature SqueezeExcite(const Feature& x) {
    const std::string s = GlobalPool(x.v, r_.Uniform() < 0.7);
    const int64_t mid = std::max<int64_t>(4, RoundTo(static_cast<double>(x.c) / 4.0, 4));
    Feature f{s, x.c, 1, 1};
    f.v = b_.Op("Relu", {b_.Op("Conv", {f.v, b_.Weight({mid, x.c, 1, 1}), b_.Weight({mid}, 0.1)})});
    f.v = b_.Op("Conv", {f.v, b_.Weight({x.c, mid, 1, 1}), b_.Weight({x.c}, 0.1)});
    f.v = b_.Op(r_.Uniform() < 0.5 ? "Sigmoid" : "HardSigmoid", {f.v});
    Feature y = x;
    y.v = Mul(x.v, f.v);
    return y;
  }

  Feature Block(int64_t kind, const Feature& x, int64_t out, int64_t stride) {
    switch (kind) {
      case 0:
        return DepthwiseSeparable(x, out, stride);
      case 1:
      case 2:
        return InvertedResidual(x, out, stride, kind == 2);
      case 3:
        return Shuffle(x, out, stride);
      case 4:
        return Basic(x, out, stride);
      case 5:
        return Bottleneck(x, out, stride);
      case 6:
        return Dense(x, stride);
      case 7:
        return Inception(x, out, stride);
      case 8:
        return CrossStage(x, out, stride);
      case 9:
        return Fire(x, out, stride);
      default:
        return LargeKernel(x, out, stride);
    }
  }
  Feature DepthwiseSeparable(const Feature& x, int64_t out, int64_t stride) {
    const int64_t k = r_.Uniform() < 0.7 ? 3 : 5;
    return ConvAct(ConvAct(x, x.c, k, stride, x.c), out, 1);
  }
  Feature InvertedResidual(const Feature& x, int64_t out, int64_t stride, bool excite) {
    const int64_t k = r_.Uniform() < 0.6 ? 3 : 5;
    const int64_t mid = x.c * r_.Int(1, 6);
    Feature y = mid == x.c ? x : ConvAct(x, mid, 1);
    y = ConvAct(y, y.c, k, stride, y.c);
    if (excite) y = SqueezeExcite(y);
    y = Conv(y, out, {1, 1});
    return stride == 1 && out == x.c ? Add(x, y) : y;
  }
  Feature Shuffle(const Feature& x, int64_t out, int64_t stride) {
    if (stride != 1 || x.c % 2 != 0 || out != x.c)
      return DepthwiseSeparable(x, RoundTo(static_cast<double>(out), 4), stride);
    const int64_t half = x.c / 2;
    const auto parts = b_.OpN("Split", {x.v, b_.ConstantInts({half, half})}, 2, {{"axis", int64_t{1}}});
    Feature y{parts[1], half, x.h, x.w};
    y = ConvAct(Conv(ConvAct(y, half, 1), half, {3, 3}, 1, half), half, 1);
    y = Concat({Feature{parts[0], half, x.h, x.w}, y});
    y.v = b_.Op("Reshape", {y.v, b_.ConstantInts({n_, 2, half, y.h, y.w})});
    y.v = b_.Op("Transpose", {y.v}, {{"perm", Ints{0, 2, 1, 3, 4}}});
    y.v = b_.Op("Reshape", {y.v, b_.ConstantInts({n_, x.c, y.h, y.w})});
    return y;
  }
  Feature Basic(const Feature& x, int64_t out, int64_t stride) {
    Feature y = Conv(ConvAct(x, out, 3, stride), out, {3, 3});
    y = Add(y, stride == 1 && out == x.c ? x : Conv(x, out, {1, 1}, stride));
    return Activate(y, act_);
  }
  Feature Bottleneck(const Feature& x, int64_t out, int64_t stride) {
    const int64_t group = r_.Uniform() < 0.25 ? 8 : 1;
    const int64_t mid = RoundTo(static_cast<double>(out) / 3.0, 8 * (group > 1 ? 4 : 1));
    Feature y = Conv(ConvAct(ConvAct(x, mid, 1), mid, 3, stride, group), out, {1, 1});
    y = Add(y, stride == 1 && out == x.c ? x : Conv(x, out, {1, 1}, stride));
    return Activate(y, act_);
  }
  Feature Dense(const Feature& x, int64_t stride) {
    const int64_t growth = Channels(r_, 12, 48);
    Feature y = stride == 2 ? Pool(ConvAct(x, std::max<int64_t>(16, x.c / 2), 1), "AveragePool", 2, 2, 0) : x;
    for (int i = 0; i < 2; ++i) {
      Feature t = y;
      if (r_.Uniform() < 0.5) {
        const BatchNormParameters p = BatchNorm(b_, t.c);
        t.v = b_.Op("Relu", {b_.Op("BatchNormalization", {t.v, p.scale, p.bias, p.mean, p.variance})});
      }
      y = Concat({y, ConvAct(ConvAct(t, 4 * growth, 1), growth, 3)});
    }
    return y;
  }
  Feature Inception(const Feature& x, int64_t out, int64_t stride) {
    const Feature in = stride == 2 ? Pool(x, "MaxPool", 3, 2, 1) : x;
    const int64_t part = std::max<int64_t>(8, RoundTo(static_cast<double>(out) / 4.0, 8));
    const Feature a = ConvAct(in, part, 1);
    const Feature c = ConvAct(ConvAct(in, part, 1), part, 3);
    Feature d = ConvAct(in, part, 1);
    d = r_.Uniform() < 0.5 ? ConvAct(d, part, 5)
                           : Activate(Conv(Activate(Conv(d, part, {1, 7}), act_), part, {7, 1}), act_);
    const Feature e = ConvAct(Pool(in, r_.Uniform() < 0.5 ? "AveragePool" : "MaxPool", 3, 1, 1), part, 1);
    return Concat({a, c, d, e});
  }
  Feature CrossStage(const Feature& x, int64_t out, int64_t stride) {
    const Feature in = stride == 2 ? ConvAct(x, out, 3, 2) : x;
    const int64_t half = std::max<int64_t>(8, RoundTo(static_cast<double>(out) / 2.0, 8));
    const Feature a = ConvAct(in, half, 1);
    Feature c = ConvAct(in, half, 1);
    std::vector<Feature> parts{a, c};
    for (int64_t i = 0, depth = r_.Int(1, 2); i < depth; ++i) {
      Feature t = ConvAct(ConvAct(c, half, r_.Uniform() < 0.5 ? 1 : 3), half, 3);
      c = r_.Uniform() < 0.7 ? Add(c, t) : t;
      parts.push_back(c);
    }
    if (r_.Uniform() < 0.3) parts.push_back(Pool(c, "MaxPool", 5, 1, 2));
    return ConvAct(Concat(parts), out, 1);
  }
  Feature Fire(const Feature& x, int64_t out, int64_t stride) {
    const Feature in = stride == 2 ? Pool(x, "MaxPool", 3, 2, 0) : x;
    const Feature s = ConvAct(in, std::max<int64_t>(8, RoundTo(static_cast<double>(out) / 8.0, 8)), 1);
    const int64_t half = RoundTo(static_cast<double>(out) / 2.0, 8);
    return Concat({ConvAct(s, half, 1), ConvAct(s, half, 3)});
  }
  Feature LargeKernel(const Feature& x, int64_t out, int64_t stride) {
    Feature in = stride == 2 || out != x.c ? Conv(x, out, {2, 2}, 2) : x;
    if (in.h < 1 || in.w < 1) in = Conv(x, out, {1, 1});
    Feature y = Conv(in, in.c, {7, 7}, 1, in.c);
    y.v = b_.Op("Transpose", {y.v}, {{"perm", Ints{0, 2, 3, 1}}});
    y.v = b_.Op("LayerNormalization", {y.v, b_.Weight({in.c}, 1.0), b_.Weight({in.c}, 0.1)}, {{"axis", int64_t{-1}}});
    y.v = b_.Op("Add", {b_.Op("MatMul", {y.v, b_.Weight({in.c, 4 * in.c}, 0.05)}), b_.Weight({4 * in.c}, 0.1)});
    y = Activate(y, "Gelu");
    y.v = b_.Op("Add", {b_.Op("MatMul", {y.v, b_.Weight({4 * in.c, in.c}, 0.05)}), b_.Weight({in.c}, 0.1)});
    y.v = b_.Op("Transpose", {y.v}, {{"perm", Ints{0, 3, 1, 2}}});
    return Add(in, y);
  }

  Feature Upsample(const Feature& x, int64_t factor) {
    const auto f = static_cast<float>(factor);
    const bool nearest = r_.Uniform() < 0.6;
    ModelBuilder::Attributes a{{"mode", std::string(nearest ? "nearest" : "linear")},
                               {"coordinate_transformation_mode", std::string(nearest              ? "asymmetric"
                                                                              : r_.Uniform() < 0.5 ? "half_pixel"
                                                                                                   : "align_corners")}};
    if (nearest) a["nearest_mode"] = std::string("floor");
    return {b_.Op("Resize", {x.v, "", b_.ConstantFloats({1, 1, f, f}, {4})}, a), x.c, x.h * factor, x.w * factor};
  }

  void Head(const Feature& x, const std::vector<Feature>& pyramid) {
    const double u = r_.Uniform();
    if (u < 0.45) return Classify(x);
    if (u < 0.70) return Detect(pyramid);
    if (u < 0.85) return Segment(pyramid);
    Sequence(x);
  }
  void Classify(const Feature& x) {
    std::string v = b_.Op("Flatten", {GlobalPool(x.v, r_.Uniform() < 0.8)}, {{"axis", int64_t{1}}});
    int64_t width = x.c;
    if (r_.Uniform() < 0.3) {
      const int64_t hidden = Channels(r_, 128, 2048);
      v = b_.Op("Relu",
                {b_.Op("Gemm", {v, b_.Weight({hidden, width}), b_.Weight({hidden}, 0.1)}, {{"transB", int64_t{1}}})});
      width = hidden;
    }
    const int64_t classes = Channels(r_, 10, 1000);
    v = b_.Op("Gemm", {v, b_.Weight({classes, width}), b_.Weight({classes}, 0.1)}, {{"transB", int64_t{1}}});
    b_.Output(r_.Uniform() < 0.5 ? b_.Op("Softmax", {v}, {{"axis", int64_t{-1}}}) : v);
  }
  void Detect(const std::vector<Feature>& pyramid) {
    const int64_t per_cell = r_.Int(5, 90);
    std::vector<std::string> all;
    Feature top = pyramid.back();
    for (size_t i = pyramid.size(); i-- > 0 && all.size() < 3;) {
      if (i + 1 < pyramid.size() && pyramid[i].h == 2 * top.h && pyramid[i].w == 2 * top.w) {
        top = ConvAct(Concat({Upsample(ConvAct(top, pyramid[i].c, 1), 2), pyramid[i]}), pyramid[i].c,
                      r_.Uniform() < 0.5 ? 1 : 3);
      } else {
        top = pyramid[i];
      }
      const int64_t anchors = r_.Int(1, 3);
      const Feature f = Conv(r_.Uniform() < 0.5 ? ConvAct(top, top.c, 3) : top, anchors * per_cell, {1, 1});
      std::string v = b_.Op("Reshape", {f.v, b_.ConstantInts({n_, anchors, per_cell, f.h * f.w})});
      v = b_.Op("Transpose", {v}, {{"perm", Ints{0, 1, 3, 2}}});
      if (r_.Uniform() < 0.6) v = b_.Op("Sigmoid", {v});
      all.push_back(b_.Op("Reshape", {v, b_.ConstantInts({n_, -1, per_cell})}));
    }
    const std::string v = all.size() > 1 ? b_.Op("Concat", all, {{"axis", int64_t{1}}}) : all[0];
    const std::string boxes = b_.Op("Slice", {v, b_.ConstantInts({0}), b_.ConstantInts({4}), b_.ConstantInts({2})});
    const std::string scores =
        b_.Op("Slice", {v, b_.ConstantInts({4}), b_.ConstantInts({per_cell}), b_.ConstantInts({2})});
    b_.Output(Mul(boxes, b_.ConstantScalar(8.0F)));
    b_.Output(r_.Uniform() < 0.5 ? b_.Op("Softmax", {scores}, {{"axis", int64_t{-1}}}) : scores);
  }
  void Segment(const std::vector<Feature>& pyramid) {
    Feature x = pyramid.back();
    for (size_t i = pyramid.size() - 1; i-- > 0;) {
      if (pyramid[i].h != 2 * x.h || pyramid[i].w != 2 * x.w) continue;
      if (r_.Uniform() < 0.3) {
        const int64_t out = std::min(x.c, pyramid[i].c);
        x = {b_.Op("ConvTranspose", {x.v, b_.Weight({x.c, out, 2, 2}), b_.Weight({out}, 0.1)},
                   {{"strides", Ints{2, 2}}, {"kernel_shape", Ints{2, 2}}}),
             out, 2 * x.h, 2 * x.w};
      } else {
        x = Upsample(x, 2);
      }
      x = ConvAct(Concat({x, pyramid[i]}), pyramid[i].c, 3);
    }
    x = ConvAct(x, std::min<int64_t>(x.c, 64), 3, 1, 1, r_.Uniform() < 0.3 ? 2 : 1);
    x = Upsample(Conv(x, r_.Int(1, 21), {1, 1}), 2);
    b_.Output(r_.Uniform() < 0.5 ? b_.Op("Sigmoid", {x.v}) : x.v);
  }
  void Sequence(const Feature& x) {  // recognisers: columns become time steps
    std::string v = b_.Op("Reshape", {x.v, b_.ConstantInts({n_, x.c, x.h * x.w})});
    v = b_.Op("Transpose", {v}, {{"perm", Ints{2, 0, 1}}});
    const int64_t hidden = Channels(r_, 16, 128);
    const std::vector<std::string> in{v, b_.Weight({2, 4 * hidden, x.c}, 0.05),
                                      b_.Weight({2, 4 * hidden, hidden}, 0.05), b_.Weight({2, 8 * hidden}, 0.05)};
    v = b_.OpN("LSTM", in, 1, {{"hidden_size", hidden}, {"direction", std::string("bidirectional")}})[0];
    v = b_.Op("Transpose", {v}, {{"perm", Ints{2, 0, 1, 3}}});
    v = b_.Op("Reshape", {v, b_.ConstantInts({n_, -1, 2 * hidden})});
    const int64_t classes = Channels(r_, 36, 600);
    v = b_.Op("Add", {b_.Op("MatMul", {v, b_.Weight({2 * hidden, classes}, 0.05)}), b_.Weight({classes}, 0.1)});
    b_.Output(b_.Op("Softmax", {v}, {{"axis", int64_t{2}}}));
  }

  Random& r_;
  ModelBuilder& b_;
  bool batch_norm_;
  std::string act_;
  int64_t n_ = 1;
};

// Transformers: tokens or patches, encoder or decoder.
class TransformerNet {
 public:
  TransformerNet(Random& r, ModelBuilder& b) : r_(r), b_(b) {}

  void Build() {
    static const std::vector<int64_t> kHeadDim = {16, 32, 32, 64, 64, 64};
    head_ = r_.Pick(kHeadDim);
    heads_ = r_.Int(2, 768 / head_ > 12 ? 12 : 768 / head_);
    d_ = heads_ * head_;
    decomposed_ = r_.Uniform() < 0.4;
    rms_ = r_.Uniform() < 0.25;
    pre_norm_ = r_.Uniform() < 0.5;
    const double u = r_.Uniform();
    std::string x = u < 0.55 ? Tokens() : Patches();
    causal_ = u < 0.25;
    mask_ = u >= 0.25 && u < 0.45 ? b_.Input("mask", DataType::kFloat32, AsDims({1, 1, 1, s_})) : "";
    const int64_t layers = r_.Int(1, 3);
    for (int64_t i = 0; i < layers; ++i) x = Layer(x);
    x = Norm(x);
    if (r_.Uniform() < 0.4) x = Linear(x, d_, Channels(r_, 10, 4000));
    b_.Output(x);
  }

 private:
  std::string Mul(const std::string& a, const std::string& c) { return b_.Op("Mul", {a, c}); }
  std::string Linear(const std::string& x, int64_t in, int64_t out, bool bias = true) {
    std::string y = b_.Op("MatMul", {x, b_.Weight({in, out}, 0.03)});
    if (!bias) return y;
    const std::string c = b_.Weight({out}, 0.1);
    return b_.Op("Add", r_.Uniform() < 0.5 ? std::vector{y, c} : std::vector{c, y});
  }
  std::string Tokens() {
    s_ = RoundTo(r_.LogUniform(8, 256), r_.Uniform() < 0.6 ? 8 : 1);
    const int64_t vocabulary = RoundTo(r_.LogUniform(100, 3000), 1);
    const std::string ids = b_.Input("ids", DataType::kInt64, AsDims({1, s_}));
    const std::string x = b_.Op("Gather", {b_.Weight({vocabulary, d_}, 0.5), ids});
    return b_.Op("Add", {x, b_.Weight({1, s_, d_}, 0.1)});
  }
  std::string Patches() {
    const int64_t side = r_.Int(5, 14);
    const int64_t patch = r_.Uniform() < 0.6 ? 16 : 8;
    s_ = side * side;
    const std::string image = b_.Input("image", DataType::kFloat32, AsDims({1, 3, side * patch, side * patch}));
    std::string x = b_.Op("Conv", {image, b_.Weight({d_, 3, patch, patch}), b_.Weight({d_}, 0.1)},
                          {{"strides", Ints{patch, patch}}, {"kernel_shape", Ints{patch, patch}}});
    x = b_.Op("Reshape", {x, b_.ConstantInts({1, d_, s_})});
    x = b_.Op("Transpose", {x}, {{"perm", Ints{0, 2, 1}}});
    if (r_.Uniform() < 0.6) {
      x = b_.Op("Concat", {b_.Weight({1, 1, d_}, 0.1), x}, {{"axis", int64_t{1}}});
      ++s_;
    }
    return b_.Op("Add", {x, b_.Weight({1, s_, d_}, 0.1)});
  }
  std::string Norm(const std::string& x) {
    const std::string gain = b_.Weight({d_}, 1.0);
    const ModelBuilder::Attributes mean{{"axes", Ints{-1}}, {"keepdims", int64_t{1}}};
    if (rms_) {
      const std::string v = b_.Op("ReduceMean", {b_.Op("Pow", {x, b_.ConstantScalar(2.0F)})}, mean);
      const std::string root = b_.Op("Sqrt", {b_.Op("Add", {v, b_.ConstantScalar(1e-6F)})});
      return Mul(gain, b_.Op("Div", {x, root}));
    }
    const std::string bias = b_.Weight({d_}, 0.1);
    if (!decomposed_) return b_.Op("LayerNormalization", {x, gain, bias}, {{"axis", int64_t{-1}}, {"epsilon", 1e-5}});
    const std::string centred = b_.Op("Sub", {x, b_.Op("ReduceMean", {x}, mean)});
    const std::string variance = b_.Op("ReduceMean", {b_.Op("Pow", {centred, b_.ConstantScalar(2.0F)})}, mean);
    const std::string root = b_.Op("Sqrt", {b_.Op("Add", {variance, b_.ConstantScalar(1e-5F)})});
    return b_.Op("Add", {Mul(b_.Op("Div", {centred, root}), gain), bias});
  }
  std::string Split(const std::string& x, bool transposed) {
    const std::string y = b_.Op("Reshape", {x, b_.ConstantInts({1, s_, heads_, head_})});
    return b_.Op("Transpose", {y}, {{"perm", transposed ? Ints{0, 2, 3, 1} : Ints{0, 2, 1, 3}}});
  }
  std::string Rotate(const std::string& x) {  // rotary position embedding, half-rotation form
    const std::string cos = b_.Weight({1, 1, s_, head_}, 0.5);
    const std::string sin = b_.Weight({1, 1, s_, head_}, 0.5);
    const std::string axis = b_.ConstantInts({3});
    const std::string low = b_.Op("Slice", {x, b_.ConstantInts({0}), b_.ConstantInts({head_ / 2}), axis});
    const std::string high = b_.Op("Slice", {x, b_.ConstantInts({head_ / 2}), b_.ConstantInts({head_}), axis});
    const std::string rotated = b_.Op("Concat", {b_.Op("Neg", {high}), low}, {{"axis", int64_t{3}}});
    return b_.Op("Add", {Mul(x, cos), Mul(rotated, sin)});
  }
  std::string Attention(const std::string& x) {
    std::string q, k, v;
    if (r_.Uniform() < 0.3) {
      const auto parts =
          b_.OpN("Split", {Linear(x, d_, 3 * d_), b_.ConstantInts({d_, d_, d_})}, 3, {{"axis", int64_t{2}}});
      q = Split(parts[0], false), k = Split(parts[1], !rms_), v = Split(parts[2], false);
    } else {
      q = Split(Linear(x, d_, d_), false), k = Split(Linear(x, d_, d_), !rms_), v = Split(Linear(x, d_, d_), false);
    }
    if (rms_) {
      q = Rotate(q);
      k = b_.Op("Transpose", {Rotate(k)}, {{"perm", Ints{0, 1, 3, 2}}});
    }
    std::string scores = b_.Op("MatMul", {q, k});
    scores = r_.Uniform() < 0.5 ? b_.Op("Div", {scores, b_.ConstantScalar(std::sqrt(static_cast<float>(head_)))})
                                : Mul(scores, b_.ConstantScalar(1.0F / std::sqrt(static_cast<float>(head_))));
    if (!mask_.empty()) scores = b_.Op("Add", {scores, mask_});
    if (causal_) scores = b_.Op("Add", {scores, b_.Weight({1, 1, s_, s_}, 1.0)});
    std::string y = b_.Op("MatMul", {b_.Op("Softmax", {scores}, {{"axis", int64_t{-1}}}), v});
    y = b_.Op("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}});
    y = b_.Op("Reshape", {y, b_.ConstantInts({1, s_, d_})});
    return Linear(y, d_, d_);
  }
  std::string FeedForward(const std::string& x) {
    const int64_t hidden = d_ * r_.Int(2, 4);
    if (rms_) {
      const std::string g = Linear(x, d_, hidden, false);
      return Linear(Mul(Mul(g, b_.Op("Sigmoid", {g})), Linear(x, d_, hidden, false)), hidden, d_, false);
    }
    std::string h = Linear(x, d_, hidden);
    const double u = r_.Uniform();
    if (u < 0.45) {
      const std::string e = b_.Op("Erf", {b_.Op("Div", {h, b_.ConstantScalar(1.4142135F)})});
      h = Mul(Mul(h, b_.Op("Add", {e, b_.ConstantScalar(1.0F)})), b_.ConstantScalar(0.5F));
    } else if (u < 0.65) {
      const std::string cube = Mul(b_.Op("Pow", {h, b_.ConstantScalar(3.0F)}), b_.ConstantScalar(0.044715F));
      const std::string th = b_.Op("Tanh", {Mul(b_.Op("Add", {h, cube}), b_.ConstantScalar(0.7978846F))});
      h = Mul(Mul(h, b_.ConstantScalar(0.5F)), b_.Op("Add", {th, b_.ConstantScalar(1.0F)}));
    } else if (u < 0.8) {
      h = Mul(h, b_.Op("Sigmoid", {Mul(h, b_.ConstantScalar(1.702F))}));
    } else {
      h = b_.Op("Relu", {h});
    }
    return Linear(h, hidden, d_);
  }
  std::string Residual(const std::string& x, const std::string& y) {
    return b_.Op("Add", r_.Uniform() < 0.5 ? std::vector{x, y} : std::vector{y, x});
  }
  std::string Layer(const std::string& x) {
    if (pre_norm_ || rms_) {
      const std::string y = Residual(x, Attention(Norm(x)));
      return Residual(y, FeedForward(Norm(y)));
    }
    const std::string y = Norm(Residual(x, Attention(x)));
    return Norm(Residual(y, FeedForward(y)));
  }

  Random& r_;
  ModelBuilder& b_;
  int64_t head_ = 64, heads_ = 4, d_ = 256, s_ = 1;
  bool decomposed_ = false, rms_ = false, pre_norm_ = false, causal_ = false;
  std::string mask_;
};

// Signals: one-dimensional convolutions, recurrent layers; and perceptrons.
void BuildSequenceNet(Random& r, ModelBuilder& b) {
  int64_t c = r.Uniform() < 0.5 ? 1 : Channels(r, 16, 128);
  int64_t t = RoundTo(c == 1 ? r.LogUniform(1000, 16000) : r.LogUniform(32, 1000), 1);
  std::string x = b.Input("signal", DataType::kFloat32, AsDims({1, c, t}));
  const int64_t width = Channels(r, 32, 384);
  const int64_t layers = r.Int(2, 5);
  for (int64_t i = 0; i < layers && t > 20; ++i) {
    const int64_t k = i == 0 && c == 1 ? r.Int(8, 16) : r.Int(1, 5);
    const int64_t stride = i == 0 && c == 1 ? r.Int(4, 8) : r.Uniform() < 0.5 ? std::min<int64_t>(2, k) : 1;
    const bool depthwise = i > 0 && r.Uniform() < 0.3;
    const int64_t out = depthwise ? c : width;
    x = b.Op("Conv", {x, b.Weight({out, depthwise ? 1 : c, k}), b.Weight({out}, 0.1)},
             {{"kernel_shape", Ints{k}},
              {"strides", Ints{stride}},
              {"pads", Ints{k / 2, k / 2}},
              {"group", depthwise ? c : int64_t{1}}});
    t = (t + 2 * (k / 2) - k) / stride + 1;
    c = out;
    const double u = r.Uniform();
    if (u < 0.5) {
      x = b.Op("Relu", {x});
    } else if (u < 0.7) {
      x = b.Op("Mul", {x, b.Op("Sigmoid", {x})});
    } else if (u < 0.85) {
      x = b.Op("PRelu", {x, b.Weight({c, 1}, 0.25)});
    } else {
      const std::string e = b.Op("Erf", {b.Op("Div", {x, b.ConstantScalar(1.4142135F)})});
      x = b.Op("Mul", {b.Op("Mul", {x, b.Op("Add", {e, b.ConstantScalar(1.0F)})}), b.ConstantScalar(0.5F)});
    }
    if (r.Uniform() < 0.3) x = b.Op("InstanceNormalization", {x, b.Weight({c}, 1.0), b.Weight({c}, 0.1)});
  }
  if (r.Uniform() < 0.7 && t <= 500) {
    const bool lstm = r.Uniform() < 0.6;
    const int64_t gates = lstm ? 4 : 3;
    const int64_t hidden = Channels(r, 16, 192);
    x = b.Op("Transpose", {x}, {{"perm", Ints{2, 0, 1}}});
    x = b.OpN(lstm ? "LSTM" : "GRU",
              {x, b.Weight({1, gates * hidden, c}, 0.05), b.Weight({1, gates * hidden, hidden}, 0.05),
               b.Weight({1, 2 * gates * hidden}, 0.05)},
              1,
              lstm ? ModelBuilder::Attributes{{"hidden_size", hidden}}
                   : ModelBuilder::Attributes{{"hidden_size", hidden}, {"linear_before_reset", int64_t{1}}})[0];
    x = b.Op("Squeeze", {x, b.ConstantInts({1})});
    c = hidden;
  } else {
    x = b.Op("Transpose", {x}, {{"perm", Ints{0, 2, 1}}});
  }
  const int64_t out = Channels(r, 2, 400);
  x = b.Op("Add", {b.Op("MatMul", {x, b.Weight({c, out}, 0.05)}), b.Weight({out}, 0.1)});
  b.Output(r.Uniform() < 0.5 ? b.Op("Sigmoid", {x}) : b.Op("Softmax", {x}, {{"axis", int64_t{-1}}}));
}

void BuildPerceptron(Random& r, ModelBuilder& b) {
  const int64_t rows = r.Uniform() < 0.5 ? 1 : RoundTo(r.LogUniform(1, 256), 1);
  int64_t width = Channels(r, 8, 1024);
  std::string x = b.Input("x", DataType::kFloat32, AsDims({rows, width}));
  const int64_t layers = r.Int(2, 6);
  static const std::vector<std::string> kActivations = {"Relu", "Relu", "Tanh", "Sigmoid", "LeakyRelu"};
  const std::string& act = r.Pick(kActivations);
  for (int64_t i = 0; i < layers; ++i) {
    const int64_t out = Channels(r, 8, 1024);
    x = b.Op("Gemm", {x, b.Weight({out, width}), b.Weight({out}, 0.1)}, {{"transB", int64_t{1}}});
    if (r.Uniform() < 0.2) {
      const BatchNormParameters p = BatchNorm(b, out);
      x = b.Op("BatchNormalization", {x, p.scale, p.bias, p.mean, p.variance});
    }
    x = b.Op(act, {x});
    width = out;
  }
  b.Output(b.Op("Gemm", {x, b.Weight({4, width}), b.Weight({4}, 0.1)}, {{"transB", int64_t{1}}}));
}

}  // namespace

GeneratedModel GenerateNetwork(uint64_t seed, int64_t i) {
  Random r(generate::StreamOf(seed, 2, i));
  ModelBuilder b(17, r.Next());
  if (r.Uniform() < 0.06) b.ListWeightsAsInputs();
  const double u = r.Uniform();
  std::string what;
  if (u < 0.33) {
    what = "depthwise";
    ConvNet(r, b).Build(true);
  } else if (u < 0.66) {
    what = "convolutional";
    ConvNet(r, b).Build(false);
  } else if (u < 0.88) {
    what = "transformer";
    TransformerNet(r, b).Build();
  } else if (u < 0.96) {
    what = "sequence";
    BuildSequenceNet(r, b);
  } else {
    what = "perceptron";
    BuildPerceptron(r, b);
  }
  return {fmt::format("network-{}-{:05d}", what, i), what, b.Serialize()};
}

}  // namespace simpred
