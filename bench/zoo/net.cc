// Layers of convolutional networks as exporters write them. See net.h.
#include "zoo/net.h"

#include <cmath>

#include "base/random.h"

namespace simpred::zoo {
namespace {

int64_t OutSize(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation = 1, bool ceil = false) {
  const int64_t span = in + 2 * pad - dilation * (kernel - 1) - 1;
  int64_t out = (ceil ? (span + stride - 1) / stride : span / stride) + 1;
  if (ceil && (out - 1) * stride >= in + pad) --out;  // the last window must start inside the image
  return out;
}

// Keeps the variance of random signals over the depth: an activation that halves it is answered by larger weights, so
// that no layer computes with denormal numbers, which are slow.
double GainFor(Activation a) {
  switch (a) {
    case Activation::kRelu:
    case Activation::kRelu6:
      return std::sqrt(2.0);
    case Activation::kSilu:
    case Activation::kHardSwish:
    case Activation::kHardSwishChain:
      return 2.0;  // x/2 near zero
    default:
      return 1.0;
  }
}

}  // namespace

Feature Net::Image(int64_t c, int64_t h, int64_t w) {
  return {b_.Input("input", DataType::kFloat32, {batch_, c, h, w}), c, h, w};
}

Feature Net::ConvWithBias(const Feature& x, int64_t out, const ConvOptions& o, double gain, bool bias) {
  const int64_t kw = o.kernel_w != 0 ? o.kernel_w : o.kernel;
  const int64_t sw = o.stride_w != 0 ? o.stride_w : o.stride;
  const int64_t ph = o.pad != kSamePadding ? o.pad : o.dilation * (o.kernel - 1) / 2;
  const int64_t pw = o.pad_w != kSamePadding                    ? o.pad_w
                     : o.pad != kSamePadding && o.kernel_w == 0 ? o.pad
                                                                : o.dilation * (kw - 1) / 2;
  const int64_t fan_in = x.c / o.groups * o.kernel * kw;
  std::vector<std::string> inputs = {
      x.name, b_.Weight({out, x.c / o.groups, o.kernel, kw}, gain / std::sqrt(static_cast<double>(fan_in)))};
  if (bias) inputs.push_back(b_.Weight({out}, 0.1));
  const std::string y = b_.Op("Conv", inputs,
                              {{"kernel_shape", Ints{o.kernel, kw}},
                               {"strides", Ints{o.stride, sw}},
                               {"pads", Ints{ph, pw, ph, pw}},
                               {"group", o.groups},
                               {"dilations", Ints{o.dilation, o.dilation}}});
  return {y, out, OutSize(x.h, o.kernel, o.stride, ph, o.dilation), OutSize(x.w, kw, sw, pw, o.dilation)};
}

Feature Net::Conv(const Feature& x, int64_t out, const ConvOptions& o, Activation a) {
  return Act(ConvWithBias(x, out, o, GainFor(a), true), a);
}

Feature Net::ConvBn(const Feature& x, int64_t out, const ConvOptions& o, Activation a) {
  if (fold_) return Conv(x, out, o, a);
  return Act(BatchNorm(ConvWithBias(x, out, o, GainFor(a), false)), a);
}

Feature Net::Depthwise(const Feature& x, ConvOptions o, Activation a) {
  o.groups = x.c;
  return ConvBn(x, x.c, o, a);
}

Feature Net::BatchNorm(const Feature& x) {
  Random random(static_cast<uint64_t>(x.c));
  const auto around = [&](float center, double spread) {
    std::vector<float> values(static_cast<size_t>(x.c));
    for (float& v : values) v = center + static_cast<float>((random.Uniform() - 0.5) * spread);
    return b_.ConstantFloats(values, {x.c});
  };
  const std::string scale = around(1, 0.2);
  const std::string bias = around(0, 0.2);
  const std::string mean = around(0, 0.2);
  const std::string variance = around(1, 0.2);
  return {b_.Op("BatchNormalization", {x.name, scale, bias, mean, variance}, {{"epsilon", 1e-5}}), x.c, x.h, x.w};
}

Feature Net::Act(const Feature& x, Activation a) {
  const auto clip = [&](const std::string& v) {
    return b_.Op("Clip", {v, b_.ConstantScalar(0), b_.ConstantScalar(6)});
  };
  const auto hard_sigmoid = [&] { return b_.Op("HardSigmoid", {x.name}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}); };
  Feature y = x;
  switch (a) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      y.name = b_.Op("Relu", {x.name});
      break;
    case Activation::kRelu6:
      y.name = clip(x.name);
      break;
    case Activation::kSigmoid:
      y.name = b_.Op("Sigmoid", {x.name});
      break;
    case Activation::kSilu:
      y.name = b_.Op("Mul", {x.name, b_.Op("Sigmoid", {x.name})});
      break;
    case Activation::kHardSwish:
      y.name = b_.Op("Mul", {x.name, hard_sigmoid()});
      break;
    case Activation::kHardSwishChain: {
      const std::string clipped = clip(b_.Op("Add", {x.name, b_.ConstantScalar(3)}));
      y.name = b_.Op("Div", {b_.Op("Mul", {x.name, clipped}), b_.ConstantScalar(6)});
      break;
    }
    case Activation::kHardSigmoid:
      y.name = hard_sigmoid();
      break;
    case Activation::kHardSigmoidChain:
      y.name = b_.Op("Div", {clip(b_.Op("Add", {x.name, b_.ConstantScalar(3)})), b_.ConstantScalar(6)});
      break;
  }
  return y;
}

Feature Net::MaxPool(const Feature& x, const PoolOptions& o) {
  const int64_t kw = o.kernel_w != 0 ? o.kernel_w : o.kernel;
  const int64_t sw = o.stride_w != 0 ? o.stride_w : o.stride;
  const std::string y = b_.Op("MaxPool", {x.name},
                              {{"kernel_shape", Ints{o.kernel, kw}},
                               {"strides", Ints{o.stride, sw}},
                               {"pads", Ints{o.pad, o.pad, o.pad, o.pad}},
                               {"ceil_mode", static_cast<int64_t>(o.ceil)}});
  return {y, x.c, OutSize(x.h, o.kernel, o.stride, o.pad, 1, o.ceil), OutSize(x.w, kw, sw, o.pad, 1, o.ceil)};
}

Feature Net::AvgPool(const Feature& x, const PoolOptions& o, bool count_include_pad) {
  const std::string y = b_.Op("AveragePool", {x.name},
                              {{"kernel_shape", Ints{o.kernel, o.kernel}},
                               {"strides", Ints{o.stride, o.stride}},
                               {"pads", Ints{o.pad, o.pad, o.pad, o.pad}},
                               {"count_include_pad", static_cast<int64_t>(count_include_pad)}});
  return {y, x.c, OutSize(x.h, o.kernel, o.stride, o.pad), OutSize(x.w, o.kernel, o.stride, o.pad)};
}

Feature Net::GlobalPool(const Feature& x) { return {b_.Op("GlobalAveragePool", {x.name}), x.c, 1, 1}; }

Feature Net::Add(const Feature& a, const Feature& b) { return {b_.Op("Add", {a.name, b.name}), a.c, a.h, a.w}; }

Feature Net::Concat(const std::vector<Feature>& of) {
  std::vector<std::string> names;
  Feature y = of[0];
  y.c = 0;
  for (const Feature& f : of) {
    names.push_back(f.name);
    y.c += f.c;
  }
  y.name = b_.Op("Concat", names, {{"axis", 1}});
  return y;
}

Feature Net::SqueezeExcite(const Feature& x, int64_t squeezed, Activation inner, Activation gate) {
  const Feature s = Conv(GlobalPool(x), squeezed, {}, inner);
  const Feature g = Conv(s, x.c, {}, gate);
  return {b_.Op("Mul", {x.name, g.name}), x.c, x.h, x.w};
}

std::vector<Feature> Net::Split(const Feature& x, const Ints& channels) {
  const auto names =
      b_.OpN("Split", {x.name, b_.ConstantInts(channels)}, static_cast<int>(channels.size()), {{"axis", 1}});
  std::vector<Feature> parts;
  for (size_t i = 0; i < names.size(); ++i) parts.push_back({names[i], channels[i], x.h, x.w});
  return parts;
}

Feature Net::Reshape(const Feature& x, const Ints& to) {
  return {b_.Op("Reshape", {x.name, b_.ConstantInts(to)}), x.c, x.h, x.w};
}

Feature Net::Transpose(const Feature& x, const Ints& perm) {
  return {b_.Op("Transpose", {x.name}, {{"perm", perm}}), x.c, x.h, x.w};
}

std::string Net::Linear(const std::string& x, int64_t in, int64_t out, Activation a) {
  const std::string w = b_.Weight({out, in}, GainFor(a) / std::sqrt(static_cast<double>(in)));
  const std::string y = b_.Op("Gemm", {x, w, b_.Weight({out}, 0.1)}, {{"transB", 1}});
  return Act({y, out, 1, 1}, a).name;
}

ModelBuilder Net::Classifier(const Feature& x, int64_t classes) {
  return Finish(Linear(Flatten(GlobalPool(x)), x.c, classes));
}

ModelBuilder Net::Finish(const std::string& output) {
  b_.Output(output);
  return std::move(b_);
}

}  // namespace simpred::zoo
