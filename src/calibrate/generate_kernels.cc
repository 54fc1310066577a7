// Which single-kernel models calibrate a device? One function per kernel family; the shape space of each is drawn
// log-uniformly inside the limits below, so that a kernel of a model is inside what was measured, whatever the model.
//
// A "single-kernel" model may become a few kernels (a blocked Conv with the reorders around it): all are measured.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/generate.h"
#include "calibrate/generate_common.h"

namespace simpred {
namespace {

using namespace generate;  // NOLINT(google-build-using-namespace): the generators' own vocabulary

// No generated kernel does more work or moves more than this: at 50 GFLOP/s and 5 GB/s that is about 50 ms and 20 ms,
// the largest kernels of vision models at common resolutions.
constexpr double kMaxFlops = 2.5e9;
constexpr double kMaxElements = 12e6;

struct Maker {
  Random& r;
  ModelBuilder& b;

  bool Chance(double p) { return r.Uniform() < p; }
  std::string In(const Ints& dims, DataType t = DataType::kFloat32, const std::string& name = "x") {
    return b.Input(name, t, AsDims(dims));
  }
  std::string Activation(const std::string& v) {
    static const std::vector<std::string> kKinds = {
        "", "", "Relu", "Relu", "Relu", "Clip", "HardSigmoid", "Sigmoid", "LeakyRelu", "Tanh"};
    const std::string& kind = r.Pick(kKinds);
    if (kind.empty()) return v;
    if (kind == "Clip") return b.Op("Clip", {v, b.ConstantScalar(0.0F), b.ConstantScalar(6.0F)});
    return b.Op(kind, {v});
  }
};

struct ConvShape {
  int64_t n = 1, cin = 1, cout = 1, group = 1;
  Ints in, kernel, stride, dilation;
};

void Shrink(ConvShape& s) {
  auto flops = [&] {
    double f = 2.0 * static_cast<double>(s.n * s.cout * s.cin / s.group);
    for (size_t i = 0; i < s.in.size(); ++i) {
      f *=
          static_cast<double>(s.kernel[i]) * std::ceil(static_cast<double>(s.in[i]) / static_cast<double>(s.stride[i]));
    }
    return f;
  };
  auto elements = [&] { return static_cast<double>(s.n * std::max(s.cin, s.cout)) * Product(s.in); };
  while (flops() > kMaxFlops || elements() > kMaxElements) {
    for (int64_t& d : s.in) d = std::max<int64_t>(1, d * 3 / 4);
    if (Product(s.in) <= 1) {
      s.n = 1;
      break;
    }
  }
}

void EmitConv(Maker& m, ConvShape s, bool residual, bool transpose = false) {
  Shrink(s);
  Ints x{s.n, s.cin};
  x.insert(x.end(), s.in.begin(), s.in.end());
  Ints w{transpose ? s.cin : s.cout, (transpose ? s.cout : s.cin) / s.group};
  w.insert(w.end(), s.kernel.begin(), s.kernel.end());
  Ints pads;
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < s.kernel.size(); ++i) pads.push_back((s.kernel[i] - 1) * s.dilation[i] / 2);
  }
  if (m.Chance(0.1)) pads.assign(pads.size(), 0);
  bool fits = true;
  for (size_t i = 0; i < s.in.size(); ++i) fits &= s.in[i] + 2 * pads[i] >= (s.kernel[i] - 1) * s.dilation[i] + 1;
  if (!fits) {
    for (size_t i = 0; i < pads.size(); ++i)
      pads[i] = (s.kernel[i % s.kernel.size()] - 1) * s.dilation[i % s.kernel.size()] / 2 + 1;
  }
  ModelBuilder::Attributes a{
      {"pads", pads}, {"strides", s.stride}, {"kernel_shape", s.kernel}, {"dilations", s.dilation}};
  if (s.group != 1) a["group"] = s.group;
  std::vector<std::string> inputs{m.In(x), m.b.Weight(w)};
  if (m.Chance(0.85)) inputs.push_back(m.b.Weight({s.cout}, 0.1));
  std::string y = m.b.Op(transpose ? "ConvTranspose" : "Conv", inputs, a);
  if (residual)
    y = m.b.Op("Add", {y, m.b.Op("Conv", {inputs[0], m.b.Weight({s.cout, s.cin, 1, 1})}, {{"strides", s.stride}})});
  m.b.Output(m.Activation(y));
}

Ints SquareOrNot(Maker& m, double low, double high) {
  const int64_t h = Extent(m.r, low, high);
  return {h, m.Chance(0.7) ? h : Extent(m.r, low, high)};
}

int64_t Batch(Maker& m) {
  static const std::vector<int64_t> kBatches = {1, 1, 1, 1, 1, 1, 2, 4, 8, 16};
  return m.r.Pick(kBatches);
}

// A larger channel count comes with a smaller map, as in every published network.
void ConvDense(Maker& m) {
  static const std::vector<Ints> kKernels = {{3, 3}, {3, 3}, {3, 3}, {3, 3}, {3, 3}, {5, 5}, {7, 7},
                                             {2, 2}, {1, 7}, {7, 1}, {1, 3}, {3, 1}, {4, 4}};
  ConvShape s;
  s.n = Batch(m);
  s.kernel = m.r.Pick(kKernels);
  s.cin = Channels(m.r, 8, 640);
  s.cout = Channels(m.r, 8, 640);
  s.in = SquareOrNot(m, 4, std::min(224.0, 6000.0 / static_cast<double>(std::max(s.cin, s.cout)) + 8));
  const int64_t stride = m.Chance(0.25) ? 2 : 1;
  s.stride = {stride, stride};
  const int64_t dilation = m.Chance(0.1) ? m.r.Int(2, 6) : 1;
  s.dilation = {dilation, dilation};
  const bool residual = m.Chance(0.15) && s.kernel == Ints{3, 3} && dilation == 1;
  EmitConv(m, s, residual);
}

void ConvPointwise(Maker& m) {
  ConvShape s;
  s.n = Batch(m);
  s.kernel = {1, 1};
  s.cin = Channels(m.r, 4, 2048);
  s.cout = Channels(m.r, 4, 2048);
  s.in = m.Chance(0.08)
             ? Ints{1, 1}
             : SquareOrNot(m, 2, std::min(224.0, 12000.0 / static_cast<double>(std::max(s.cin, s.cout)) + 8));
  const int64_t stride = m.Chance(0.1) ? 2 : 1;
  s.stride = {stride, stride};
  s.dilation = {1, 1};
  EmitConv(m, s, m.Chance(0.15));
}

void ConvFirst(Maker& m) {
  static const std::vector<int64_t> kIn = {3, 3, 3, 3, 1, 4, 6, 12, 2};
  static const std::vector<int64_t> kKernel = {3, 3, 5, 6, 7, 7, 11, 4, 16, 2, 8};
  ConvShape s;
  s.n = Batch(m);
  s.cin = m.r.Pick(kIn);
  s.cout = Channels(m.r, 8, 128);
  const int64_t k = m.r.Pick(kKernel);
  s.kernel = {k, k};
  s.in = SquareOrNot(m, 28, 448);
  const int64_t stride = k >= 8 ? (m.Chance(0.6) ? k : 4) : m.Chance(0.7) ? 2 : 1;
  s.stride = {stride, stride};
  s.dilation = {1, 1};
  if (k >= 8 && m.Chance(0.7)) s.cout = Channels(m.r, 128, 768);  // patch embedding
  EmitConv(m, s, false);
}

void ConvDepthwise(Maker& m) {
  static const std::vector<int64_t> kKernel = {3, 3, 3, 3, 5, 5, 7, 9};
  ConvShape s;
  s.n = Batch(m);
  s.cin = s.cout = s.group = Channels(m.r, 8, 1536);
  const int64_t k = m.r.Pick(kKernel);
  s.kernel = {k, k};
  s.in = SquareOrNot(m, 3, std::min(224.0, 16000.0 / static_cast<double>(s.cin) + 10));
  const int64_t stride = m.Chance(0.3) ? 2 : 1;
  s.stride = {stride, stride};
  const int64_t dilation = m.Chance(0.1) ? 2 : 1;
  s.dilation = {dilation, dilation};
  EmitConv(m, s, false);
}

void ConvGrouped(Maker& m) {
  static const std::vector<int64_t> kGroups = {2, 3, 4, 8, 16, 32};
  ConvShape s;
  s.n = Batch(m);
  s.group = m.r.Pick(kGroups);
  s.cin = s.group * RoundTo(m.r.LogUniform(1, 64), m.Chance(0.5) ? 4 : 1);
  s.cout = s.group * RoundTo(m.r.LogUniform(1, 64), m.Chance(0.5) ? 4 : 1);
  const int64_t k = m.Chance(0.6) ? 3 : 1;
  s.kernel = {k, k};
  s.in = SquareOrNot(m, 4, std::min(112.0, 8000.0 / static_cast<double>(std::max(s.cin, s.cout)) + 8));
  s.stride = {1, 1};
  s.dilation = {1, 1};
  EmitConv(m, s, false);
}

void Conv1d(Maker& m) {
  static const std::vector<int64_t> kKernel = {1, 2, 3, 3, 3, 5, 8, 10, 15, 25};
  ConvShape s;
  s.n = m.Chance(0.8) ? 1 : 4;
  s.kernel = {m.r.Pick(kKernel)};
  s.cin = m.Chance(0.1) ? 1 : Channels(m.r, 8, 768);
  s.cout = Channels(m.r, 8, 768);
  if (m.Chance(0.25)) s.cin = s.cout = s.group = Channels(m.r, 16, 768);
  s.in = {RoundTo(m.r.LogUniform(16, s.cin == 1 ? 40000 : 3000), 1)};
  s.stride = {m.Chance(0.3) ? std::min<int64_t>(s.kernel[0], m.r.Int(2, 5)) : 1};
  s.dilation = {m.Chance(0.1) ? 2 : 1};
  EmitConv(m, s, false);
}

void ConvTransposed(Maker& m) {
  ConvShape s;
  s.cin = Channels(m.r, 8, 256);
  s.cout = Channels(m.r, 4, 256);
  const int64_t k = m.r.Int(2, 4);
  s.kernel = {k, k};
  s.in = SquareOrNot(m, 4, 64);
  s.stride = {2, 2};
  s.dilation = {1, 1};
  EmitConv(m, s, false, true);
}

int64_t Rows(Maker& m) {
  static const std::vector<int64_t> kRows = {1, 1, 1, 2, 4, 8, 16, 32, 49, 64, 77, 100, 128, 196, 197, 256, 384, 512};
  return m.Chance(0.7) ? m.r.Pick(kRows) : RoundTo(m.r.LogUniform(1, 2048), 1);
}

// A constant right-hand side, which the runtime packs: Gemm, or MatMul of rank 2 or 3, with and without bias and
// activation.
void MatMulWeights(Maker& m) {
  const int64_t rows = Rows(m);
  int64_t k = Channels(m.r, 8, 4096);
  int64_t n = Channels(m.r, 4, 4096);
  while (2.0 * static_cast<double>(rows) * static_cast<double>(k) * static_cast<double>(n) > kMaxFlops ||
         static_cast<double>(k) * static_cast<double>(n) > 8e6) {
    k = std::max<int64_t>(8, k / 2);
    n = std::max<int64_t>(8, n / 2);
  }
  if (m.Chance(0.4)) {
    const bool transposed = m.Chance(0.6);
    std::string y =
        m.b.Op("Gemm", {m.In({rows, k}), m.b.Weight(transposed ? Ints{n, k} : Ints{k, n}, 0.05), m.b.Weight({n}, 0.1)},
               {{"transB", int64_t{transposed ? 1 : 0}}});
    m.b.Output(m.Activation(y));
    return;
  }
  const Ints x = m.Chance(0.6)   ? Ints{1, rows, k}
                 : m.Chance(0.5) ? Ints{rows, k}
                                 : Ints{2, std::max<int64_t>(1, rows / 2), k};
  std::string y = m.b.Op("MatMul", {m.In(x), m.b.Weight({k, n}, 0.05)});
  if (m.Chance(0.6)) y = m.b.Op("Add", {y, m.b.Weight({n}, 0.1)});
  m.b.Output(y);
}

// Two activations: the products inside attention.
void MatMulActivations(Maker& m) {
  static const std::vector<int64_t> kHeadDim = {16, 24, 32, 48, 64, 64, 64, 80, 96, 128};
  const int64_t heads = m.r.Int(1, 16);
  const int64_t q = m.Chance(0.15) ? 1 : Rows(m);
  const int64_t kv = m.Chance(0.6) ? q : Rows(m);
  const int64_t d = m.r.Pick(kHeadDim);
  if (static_cast<double>(heads) * static_cast<double>(q) * static_cast<double>(kv) > 6e6) return MatMulWeights(m);
  std::string y;
  if (m.Chance(0.5)) {
    y = m.b.Op("MatMul", {m.In({1, heads, q, d}), m.In({1, heads, d, kv}, DataType::kFloat32, "y")});
  } else if (m.Chance(0.5)) {
    y = m.b.Op("MatMul", {m.In({1, heads, q, kv}), m.In({1, heads, kv, d}, DataType::kFloat32, "y")});
  } else {
    const std::string t =
        m.b.Op("Transpose", {m.In({1, heads, kv, d}, DataType::kFloat32, "y")}, {{"perm", Ints{0, 1, 3, 2}}});
    y = m.b.Op("MatMul", {m.In({1, heads, q, d}), t});
    if (m.Chance(0.7)) y = m.b.Op("Mul", {y, m.b.ConstantScalar(0.125F)});
  }
  m.b.Output(y);
}

// An activation's shape as vision models or transformers have it, with at most `limit` elements.
Ints ActivationShape(Maker& m, double limit = 4e6) {
  Ints s;
  do {
    if (m.Chance(0.6)) {
      const int64_t c = Channels(m.r, 1, 1024);
      s = {Batch(m), c};
      const Ints hw = SquareOrNot(m, 1, 128);
      s.insert(s.end(), hw.begin(), hw.end());
    } else if (m.Chance(0.8)) {
      s = {1, Rows(m), Channels(m.r, 16, 4096)};
    } else {
      s = {1, m.r.Int(1, 16), Rows(m), Rows(m)};
    }
  } while (Product(s) > limit);
  return s;
}

void Unary(Maker& m) {
  static const std::vector<std::string> kTypes = {
      "Relu",        "Relu",      "Sigmoid", "Sigmoid", "Tanh",       "Tanh", "Erf",   "Exp",  "Sqrt",
      "HardSigmoid", "HardSwish", "Clip",    "Clip",    "LeakyRelu",  "Neg",  "Abs",   "Log",  "Pow",
      "Pow",         "Softplus",  "Elu",     "Floor",   "Reciprocal", "Gelu", "Gelu",  "Silu", "Silu",
      "QuickGelu",   "FastGelu",  "Sin",     "Cos",     "Selu",       "Not",  "Round", "Sign"};
  const std::string& t = m.r.Pick(kTypes);
  const Ints shape = ActivationShape(m);
  if (t == "Not") {
    m.b.Output(m.b.Op("Not", {m.In(shape, DataType::kBool)}), DataType::kBool, AsDims(shape));
    return;
  }
  std::string x = m.In(shape);
  auto mul = [&](const std::string& a, const std::string& c) { return m.b.Op("Mul", {a, c}); };
  if (t == "Clip") {
    x = m.b.Op("Clip", {x, m.b.ConstantScalar(0.0F), m.b.ConstantScalar(6.0F)});
  } else if (t == "Pow") {
    x = m.b.Op("Pow", {x, m.b.ConstantScalar(m.Chance(0.6) ? 2.0F : m.Chance(0.5) ? 3.0F : 0.5F)});
  } else if (t == "Sqrt" || t == "Log") {
    x = m.b.Op(t, {m.b.Op("Abs", {x})});
  } else if (t == "Gelu") {
    const std::string e = m.b.Op("Erf", {m.b.Op("Div", {x, m.b.ConstantScalar(1.4142135F)})});
    x = mul(mul(x, m.b.Op("Add", {e, m.b.ConstantScalar(1.0F)})), m.b.ConstantScalar(0.5F));
  } else if (t == "Silu") {
    x = mul(x, m.b.Op("Sigmoid", {x}));
  } else if (t == "QuickGelu") {
    x = mul(x, m.b.Op("Sigmoid", {mul(x, m.b.ConstantScalar(1.702F))}));
  } else if (t == "FastGelu") {
    const std::string cube = mul(m.b.Op("Pow", {x, m.b.ConstantScalar(3.0F)}), m.b.ConstantScalar(0.044715F));
    const std::string th = m.b.Op("Tanh", {mul(m.b.Op("Add", {x, cube}), m.b.ConstantScalar(0.7978846F))});
    x = mul(mul(x, m.b.ConstantScalar(0.5F)), m.b.Op("Add", {th, m.b.ConstantScalar(1.0F)}));
  } else {
    x = m.b.Op(t, {x});
  }
  m.b.Output(x);
}

// The second operand: same shape, per channel, per row, along the last axis, a scalar.
Ints BroadcastPartner(Maker& m, const Ints& s) {
  const double u = m.r.Uniform();
  if (u < 0.45) return s;
  if (u < 0.60) return {};
  Ints p(s.size(), 1);
  if (u < 0.80 && s.size() == 4) {
    p[1] = s[1];
    p[0] = m.Chance(0.5) ? s[0] : 1;
    return p;
  }
  if (u < 0.88) {
    p = s;
    p.back() = 1;
    return p;
  }
  return {s.back()};
}

void Binary(Maker& m) {
  static const std::vector<std::string> kTypes = {"Add",     "Add",   "Add",   "Mul", "Mul",   "Mul",
                                                  "Sub",     "Div",   "Max",   "Min", "Equal", "Less",
                                                  "Greater", "Where", "PRelu", "Pow", "Sum"};
  const std::string& t = m.r.Pick(kTypes);
  const Ints s = ActivationShape(m, 3e6);
  Ints p = BroadcastPartner(m, s);
  const bool constant = p.size() < s.size() || m.Chance(0.1);
  if (t == "Sum") p = s;
  if (t == "PRelu" && p != s) p = s.size() == 4 ? Ints{s[1], 1, 1} : Ints{s.back()};
  const std::string x = m.In(s);
  const std::string y = constant && t != "Sum" ? m.b.Weight(p, 1.0) : m.In(p, DataType::kFloat32, "y");
  if (t == "Where") {
    m.b.Output(m.b.Op("Where", {m.In(m.Chance(0.5) ? s : p, DataType::kBool, "c"), x, y}));
  } else if (t == "Equal" || t == "Less" || t == "Greater") {
    m.b.Output(m.b.Op(t, {x, y}), DataType::kBool, {});
  } else if (t == "Pow") {
    m.b.Output(m.b.Op("Pow", {x, m.b.ConstantScalar(2.0F)}));
  } else {
    m.b.Output(m.Chance(0.5) ? m.b.Op(t, {x, y}) : m.b.Op(t, t == "PRelu" ? std::vector{x, y} : std::vector{y, x}));
  }
}

void Normalization(Maker& m) {
  static const std::vector<std::string> kTypes = {"Softmax",
                                                  "Softmax",
                                                  "Softmax",
                                                  "LayerNormalization",
                                                  "LayerNormalization",
                                                  "SkipLayerNormalization",
                                                  "SkipLayerNormalization",
                                                  "Rms",
                                                  "InstanceNormalization",
                                                  "InstanceNormalization",
                                                  "BatchNormalization",
                                                  "BatchNormalization",
                                                  "LRN",
                                                  "LRN",
                                                  "LogSoftmax",
                                                  "LpNormalization"};
  const std::string& t = m.r.Pick(kTypes);
  if (t == "InstanceNormalization" || t == "BatchNormalization" || t == "LRN") {
    Ints s{m.Chance(0.8) ? 1 : 4, Channels(m.r, 3, 768)};
    const Ints hw = SquareOrNot(m, 2, std::min(112.0, 12000.0 / static_cast<double>(s[1]) + 4));
    s.insert(s.end(), hw.begin(), hw.end());
    const std::string x = m.In(s);
    if (t == "LRN") {
      m.b.Output(m.b.Op("LRN", {x}, {{"size", int64_t{5}}, {"alpha", 1e-4}, {"beta", 0.75}}));
    } else if (t == "InstanceNormalization") {
      m.b.Output(m.b.Op(t, {x, m.b.Weight({s[1]}, 1.0), m.b.Weight({s[1]}, 0.1)}));
    } else {
      const BatchNormParameters p = BatchNorm(m.b, s[1]);
      m.b.Output(m.b.Op(t, {x, p.scale, p.bias, p.mean, p.variance}));
    }
    return;
  }
  Ints s = m.Chance(0.5) && (t == "Softmax") ? Ints{1, m.r.Int(1, 16), Rows(m), Rows(m)}
                                             : Ints{1, Rows(m), Channels(m.r, 8, 4096)};
  while (Product(s) > 4e6) s[s.size() - 2] = std::max<int64_t>(1, s[s.size() - 2] / 2);
  const std::string x = m.In(s);
  const int64_t d = s.back();
  if (t == "Softmax" || t == "LogSoftmax") {
    const int64_t axis = m.Chance(0.85) ? -1 : 1;
    m.b.Output(m.b.Op(t, {x}, {{"axis", axis}}));
  } else if (t == "LpNormalization") {
    m.b.Output(m.b.Op(t, {x}, {{"axis", int64_t{-1}}, {"p", int64_t{2}}}));
  } else if (t == "Rms") {
    const std::string v = m.b.Op("ReduceMean", {m.b.Op("Pow", {x, m.b.ConstantScalar(2.0F)})},
                                 {{"axes", Ints{-1}}, {"keepdims", int64_t{1}}});
    const std::string root = m.b.Op("Sqrt", {m.b.Op("Add", {v, m.b.ConstantScalar(1e-6F)})});
    m.b.Output(m.b.Op("Mul", {m.b.Op("Div", {x, root}), m.b.Weight({d}, 1.0)}));
  } else if (t == "SkipLayerNormalization") {
    const std::string sum = m.b.Op("Add", {x, m.In(s, DataType::kFloat32, "y")});
    m.b.Output(
        m.b.Op("LayerNormalization", {sum, m.b.Weight({d}, 1.0), m.b.Weight({d}, 0.1)}, {{"axis", int64_t{-1}}}));
  } else {
    m.b.Output(m.b.Op("LayerNormalization", {x, m.b.Weight({d}, 1.0), m.b.Weight({d}, 0.1)}, {{"axis", int64_t{-1}}}));
  }
}

void Reduction(Maker& m) {
  static const std::vector<std::string> kTypes = {"ReduceMean", "ReduceMean", "ReduceMean", "ReduceSum",
                                                  "ReduceMax",  "ReduceMin",  "ReduceL2",   "ArgMax",
                                                  "ArgMax",     "CumSum",     "ReduceProd"};
  const std::string& t = m.r.Pick(kTypes);
  const Ints s = ActivationShape(m, 3e6);
  const std::string x = m.In(s);
  const auto last = static_cast<int64_t>(s.size()) - 1;
  const int64_t keep = m.Chance(0.6) ? 1 : 0;
  if (t == "ArgMax") {
    m.b.Output(m.b.Op(t, {x}, {{"axis", m.Chance(0.6) ? last : int64_t{1}}, {"keepdims", keep}}), DataType::kInt64, {});
    return;
  }
  if (t == "CumSum") {
    m.b.Output(m.b.Op(t, {x, m.b.ConstantInts({m.Chance(0.5) ? last : 1}, {})}));
    return;
  }
  Ints axes = {last};
  const double u = m.r.Uniform();
  if (u < 0.35 && s.size() == 4)
    axes = {2, 3};
  else if (u < 0.5)
    axes = {1};
  if (t == "ReduceSum") {
    m.b.Output(m.b.Op(t, {x, m.b.ConstantInts(axes)}, {{"keepdims", keep}}));
  } else {
    m.b.Output(m.b.Op(t, {x}, {{"axes", axes}, {"keepdims", keep}}));
  }
}

void Pooling(Maker& m) {
  static const std::vector<std::string> kTypes = {"MaxPool",           "MaxPool",           "AveragePool",
                                                  "GlobalAveragePool", "GlobalAveragePool", "GlobalMaxPool"};
  static const std::vector<int64_t> kKernel = {2, 2, 3, 3, 5, 7, 9, 13};
  const std::string& t = m.r.Pick(kTypes);
  Ints s{Batch(m), Channels(m.r, 4, 1280)};
  const Ints hw = SquareOrNot(m, 4, std::min(160.0, 20000.0 / static_cast<double>(s[1]) + 6));
  s.insert(s.end(), hw.begin(), hw.end());
  while (Product(s) > 4e6) s[0] = std::max<int64_t>(1, s[0] / 2), s[1] = std::max<int64_t>(4, s[1] * 3 / 4);
  const std::string x = m.In(s);
  if (t[0] == 'G') {
    m.b.Output(m.b.Op(t, {x}));
    return;
  }
  const int64_t k = std::min({m.r.Pick(kKernel), s[2], s[3]});
  const int64_t stride = m.Chance(0.25) ? 1 : std::min<int64_t>(k, m.Chance(0.8) ? 2 : 3);
  const int64_t pad = m.Chance(0.6) ? (k - 1) / 2 : 0;
  ModelBuilder::Attributes a{
      {"kernel_shape", Ints{k, k}}, {"strides", Ints{stride, stride}}, {"pads", Ints{pad, pad, pad, pad}}};
  if (t == "AveragePool" && m.Chance(0.3)) a["count_include_pad"] = int64_t{1};
  m.b.Output(m.b.Op(t, {x}, a));
}

void Transposition(Maker& m) {
  static const std::vector<Ints> kPerms4 = {{0, 2, 1, 3}, {0, 2, 1, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {0, 2, 3, 1},
                                            {0, 3, 1, 2}, {0, 3, 1, 2}, {0, 3, 2, 1}, {0, 2, 3, 1}};
  static const std::vector<Ints> kPerms3 = {{0, 2, 1}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}};
  static const std::vector<Ints> kPerms5 = {{0, 2, 1, 3, 4}, {0, 1, 4, 2, 3}, {0, 1, 3, 2, 4}, {2, 0, 3, 1, 4}};
  const double u = m.r.Uniform();
  Ints s = ActivationShape(m, 3e6);
  if (u < 0.2) {  // channel shuffle, patches, windows, detection heads
    const int64_t g = m.r.Int(2, 8);
    s = {1, g, Channels(m.r, 4, 128), Extent(m.r, 4, 64), Extent(m.r, 4, 64)};
    m.b.Output(m.b.Op("Transpose", {m.In(s)}, {{"perm", m.r.Pick(kPerms5)}}));
  } else if (s.size() == 3) {
    m.b.Output(m.b.Op("Transpose", {m.In(s)}, {{"perm", m.r.Pick(kPerms3)}}));
  } else {
    if (m.Chance(0.4)) s = {1, Rows(m), m.r.Int(1, 16), int64_t{16} * m.r.Int(1, 8)};  // heads
    m.b.Output(m.b.Op("Transpose", {m.In(s)}, {{"perm", m.r.Pick(kPerms4)}}));
  }
}

void Concatenation(Maker& m) {
  Ints s = ActivationShape(m, 1e6);
  const int64_t parts = m.Chance(0.6) ? 2 : m.r.Int(3, 6);
  const auto rank = static_cast<int64_t>(s.size());
  const int64_t axis = m.Chance(0.6) ? 1 : m.Chance(0.7) ? rank - 1 : 2;
  std::vector<std::string> in;
  for (int64_t i = 0; i < parts; ++i) {
    Ints part = s;
    if (m.Chance(0.5))
      part[static_cast<size_t>(axis)] = std::max<int64_t>(
          1, static_cast<int64_t>(static_cast<double>(s[static_cast<size_t>(axis)]) * m.r.LogUniform(0.25, 2)));
    in.push_back(m.In(part, DataType::kFloat32, "x" + std::to_string(i)));
  }
  m.b.Output(m.b.Op("Concat", in, {{"axis", axis}}));
}

void SplitOrSlice(Maker& m) {
  Ints s = ActivationShape(m, 2e6);
  const auto rank = static_cast<int64_t>(s.size());
  const int64_t axis = m.Chance(0.5) ? 1 : rank - 1;
  int64_t& d = s[static_cast<size_t>(axis)];
  if (m.Chance(0.5)) {
    const int parts = static_cast<int>(m.r.Int(2, 4));
    d = std::max<int64_t>(1, d / parts) * parts;
    const auto out = m.b.OpN("Split", {m.In(s), m.b.ConstantInts(Ints(static_cast<size_t>(parts), d / parts))}, parts,
                             {{"axis", axis}});
    for (const std::string& o : out) m.b.Output(o);
    return;
  }
  d = std::max<int64_t>(2, d);
  const int64_t begin = m.Chance(0.5) ? 0 : d / 4;
  const int64_t end = m.Chance(0.5) ? d : std::max(begin + 1, d * 3 / 4);
  const int64_t step = m.Chance(0.25) ? 2 : 1;
  m.b.Output(m.b.Op("Slice", {m.In(s), m.b.ConstantInts({begin}), m.b.ConstantInts({end}), m.b.ConstantInts({axis}),
                              m.b.ConstantInts({step})}));
}

void Gathering(Maker& m) {
  if (m.Chance(0.5)) {  // embedding
    const int64_t rows = RoundTo(m.r.LogUniform(32, 20000), 1);
    const int64_t width = Channels(m.r, 16, 768);
    m.b.Output(m.b.Op("Gather", {m.b.Weight({std::min<int64_t>(rows, 6000000 / width), width}, 0.1),
                                 m.In({1, Rows(m)}, DataType::kInt64)}));
    return;
  }
  Ints s = ActivationShape(m, 2e6);
  const auto rank = static_cast<int64_t>(s.size());
  const int64_t axis = m.r.Int(1, rank - 1);
  const bool scalar = m.Chance(0.5);
  Ints index(static_cast<size_t>(scalar ? 1 : m.r.Int(1, std::min<int64_t>(64, s[static_cast<size_t>(axis)]))), 0);
  for (int64_t& i : index) i = m.r.Int(0, s[static_cast<size_t>(axis)] - 1);
  m.b.Output(
      m.b.Op("Gather", {m.In(s), scalar ? m.b.ConstantInts(index, {}) : m.b.ConstantInts(index)}, {{"axis", axis}}));
}

void Padding(Maker& m) {
  static const std::vector<std::string> kModes = {"constant", "constant", "reflect", "edge"};
  Ints s{1, Channels(m.r, 3, 256), Extent(m.r, 4, 112), Extent(m.r, 4, 112)};
  while (Product(s) > 3e6) s[1] = std::max<int64_t>(1, s[1] / 2);
  const int64_t p = m.r.Int(1, 3);
  m.b.Output(m.b.Op("Pad", {m.In(s), m.b.ConstantInts({0, 0, p, p, 0, 0, p, p})}, {{"mode", m.r.Pick(kModes)}}));
}

void Resizing(Maker& m) {
  const Ints s{1, Channels(m.r, 1, 256), Extent(m.r, 4, 64), Extent(m.r, 4, 64)};
  const float scale = m.Chance(0.75) ? 2.0F : m.Chance(0.5) ? 4.0F : 1.5F;
  const std::string scales = m.b.ConstantFloats({1, 1, scale, scale}, {4});
  ModelBuilder::Attributes a;
  if (m.Chance(0.5)) {
    a = {{"mode", std::string("nearest")},
         {"coordinate_transformation_mode", std::string("asymmetric")},
         {"nearest_mode", std::string("floor")}};
  } else {
    static const std::vector<std::string> kCoordinates = {"half_pixel", "align_corners", "pytorch_half_pixel",
                                                          "asymmetric"};
    a = {{"mode", std::string("linear")}, {"coordinate_transformation_mode", m.r.Pick(kCoordinates)}};
  }
  m.b.Output(m.b.Op("Resize", {m.In(s), "", scales}, a));
}

void Rearranging(Maker& m) {
  const double u = m.r.Uniform();
  if (u < 0.35) {
    const Ints s{1, 4 * Channels(m.r, 1, 64), Extent(m.r, 4, 64), Extent(m.r, 4, 64)};
    m.b.Output(m.b.Op("DepthToSpace", {m.In(s)},
                      {{"blocksize", int64_t{2}}, {"mode", std::string(m.Chance(0.5) ? "CRD" : "DCR")}}));
  } else if (u < 0.5) {
    const Ints s{1, Channels(m.r, 1, 64), 2 * Extent(m.r, 2, 64), 2 * Extent(m.r, 2, 64)};
    m.b.Output(m.b.Op("SpaceToDepth", {m.In(s)}, {{"blocksize", int64_t{2}}}));
  } else if (u < 0.8) {
    Ints s = ActivationShape(m, 1e6);
    const size_t axis = s.size() == 4 ? 2 : 1;
    Ints target = s;
    s[axis] = 1;
    m.b.Output(m.b.Op("Expand", {m.In(s), m.b.ConstantInts(target)}));
  } else {
    const Ints s = ActivationShape(m, 1e6);
    Ints repeats(s.size(), 1);
    repeats[m.Chance(0.5) ? 1 : s.size() - 1] = 2;
    m.b.Output(m.b.Op("Tile", {m.In(s), m.b.ConstantInts(repeats)}));
  }
}

void View(Maker& m) {
  const Ints s = ActivationShape(m, 1e6);
  const double u = m.r.Uniform();
  std::string x = m.In(s);
  x = m.b.Op("Relu", {x});  // a view of a graph input could be dropped; of a kernel's result it is run
  if (u < 0.5)
    x = m.b.Op("Reshape", {x, m.b.ConstantInts({s[0], -1})});
  else if (u < 0.7)
    x = m.b.Op("Flatten", {x}, {{"axis", int64_t{1}}});
  else if (u < 0.85)
    x = m.b.Op("Unsqueeze", {x, m.b.ConstantInts({1})});
  else
    x = m.b.Op("Squeeze", {m.b.Op("Unsqueeze", {x, m.b.ConstantInts({0})}), m.b.ConstantInts({0})});
  m.b.Output(m.b.Op("Neg", {x}));
}

void Casting(Maker& m) {
  static const std::vector<std::pair<DataType, int64_t>> kTo = {{DataType::kInt64, 7},
                                                                {DataType::kInt32, 6},
                                                                {DataType::kBool, 9},
                                                                {DataType::kFloat16, 10},
                                                                {DataType::kUInt8, 2}};
  const Ints s = ActivationShape(m, 2e6);
  const auto& [type, code] = m.r.Pick(kTo);
  if (m.Chance(0.4)) {
    m.b.Output(m.b.Op("Cast", {m.In(s, DataType::kInt64)}, {{"to", int64_t{1}}}));
  } else {
    m.b.Output(m.b.Op("Cast", {m.In(s)}, {{"to", code}}), type, AsDims(s));
  }
}

void Recurrent(Maker& m) {
  const bool lstm = m.Chance(0.6);
  const int64_t gates = lstm ? 4 : 3;
  const int64_t steps = RoundTo(m.r.LogUniform(1, 100), 1);
  const int64_t batch = m.Chance(0.8) ? 1 : m.r.Int(2, 8);
  const int64_t in = Channels(m.r, 8, 512);
  const int64_t hidden = Channels(m.r, 8, 384);
  const int64_t directions = m.Chance(0.4) ? 2 : 1;
  ModelBuilder::Attributes a{{"hidden_size", hidden},
                             {"direction", std::string(directions == 2 ? "bidirectional" : "forward")}};
  if (!lstm) a["linear_before_reset"] = int64_t{1};
  const std::vector<std::string> inputs{m.In({steps, batch, in}), m.b.Weight({directions, gates * hidden, in}, 0.05),
                                        m.b.Weight({directions, gates * hidden, hidden}, 0.05),
                                        m.b.Weight({directions, 2 * gates * hidden}, 0.05)};
  m.b.Output(m.b.OpN(lstm ? "LSTM" : "GRU", inputs, 1, a)[0]);
}

// Eight-bit products with scales known ahead, and the dynamic form.
void Quantized(Maker& m) {
  const double u = m.r.Uniform();
  const std::string scale = m.b.ConstantScalar(0.02F);
  if (u < 0.25) {
    const Ints s = ActivationShape(m, 2e6);
    const auto out = m.b.OpN("DynamicQuantizeLinear", {m.In(s)}, 3);
    m.b.Output(out[0], DataType::kUInt8, AsDims(s));
    m.b.Output(out[1]);
  } else if (u < 0.5) {
    const Ints s = ActivationShape(m, 2e6);
    const std::string q = m.b.Op("QuantizeLinear", {m.In(s), scale});
    m.b.Output(q, DataType::kUInt8, AsDims(s));
  } else if (u < 0.75) {
    const Ints s = ActivationShape(m, 2e6);
    m.b.Output(m.b.Op("DequantizeLinear", {m.In(s, DataType::kUInt8), scale}));
  } else {
    const int64_t rows = Rows(m);
    const int64_t k = Channels(m.r, 16, 1024);
    const int64_t n = Channels(m.r, 16, 1024);
    m.b.Output(m.b.Op("MatMulInteger", {m.In({rows, k}, DataType::kUInt8), m.b.Weight({k, n}, 1.0, DataType::kInt8)}),
               DataType::kInt32, AsDims({rows, n}));
  }
}

void Selection(Maker& m) {
  const int64_t n = RoundTo(m.r.LogUniform(10, 20000), 1);
  const int64_t k = std::min<int64_t>(n, m.r.Int(1, 200));
  const auto out = m.b.OpN("TopK", {m.In({1, n}), m.b.ConstantInts({k})}, 2);
  m.b.Output(out[0]);
  m.b.Output(out[1], DataType::kInt64, {});
}

struct Family {
  const char* name;
  double share;
  void (*make)(Maker&);
};
// Shares follow how much of the time of published networks a family takes, and how much its time depends on shape.
constexpr Family kFamilies[] = {
    {"conv-dense", 0.16, ConvDense},
    {"conv-pointwise", 0.14, ConvPointwise},
    {"conv-first", 0.035, ConvFirst},
    {"conv-depthwise", 0.08, ConvDepthwise},
    {"conv-grouped", 0.03, ConvGrouped},
    {"conv-1d", 0.04, Conv1d},
    {"conv-transposed", 0.02, ConvTransposed},
    {"matmul-weights", 0.10, MatMulWeights},
    {"matmul-activations", 0.05, MatMulActivations},
    {"unary", 0.06, Unary},
    {"binary", 0.06, Binary},
    {"normalization", 0.05, Normalization},
    {"reduction", 0.025, Reduction},
    {"pooling", 0.035, Pooling},
    {"transpose", 0.03, Transposition},
    {"concat", 0.02, Concatenation},
    {"split-slice", 0.02, SplitOrSlice},
    {"gather", 0.015, Gathering},
    {"pad", 0.01, Padding},
    {"resize", 0.01, Resizing},
    {"rearrange", 0.01, Rearranging},
    {"view", 0.01, View},
    {"cast", 0.01, Casting},
    {"recurrent", 0.02, Recurrent},
    {"quantized", 0.01, Quantized},
    {"topk", 0.005, Selection},
};

}  // namespace

GeneratedModel GenerateKernel(uint64_t seed, int64_t i) {
  Random r(StreamOf(seed, 1, i));
  double total = 0;
  for (const Family& f : kFamilies) total += f.share;
  double u = r.Uniform() * total;
  const Family* family = &kFamilies[0];
  for (const Family& f : kFamilies) {
    family = &f;
    u -= f.share;
    if (u < 0) break;
  }
  ModelBuilder b(17, r.Next());
  Maker m{r, b};
  family->make(m);
  return {fmt::format("kernel-{}-{:06d}", family->name, i), family->name, b.Serialize()};
}

}  // namespace simpred
