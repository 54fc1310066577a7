// Single-kernel models of what does most of the work: convolutions, matrix products, recurrent layers.

#include "calibrate/generate_maker.h"

namespace simpred::generate {
namespace {

struct ConvShape {
  int64_t n = 1, cin = 1, cout = 1, group = 1;
  Ints in, kernel, stride, dilation;
};

void Shrink(ConvShape& s) {
  auto flops = [&] {
    const int64_t products = s.n * s.cout * s.cin / s.group;
    double f = 2.0 * static_cast<double>(products);
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

}  // namespace

// A larger channel count comes with a smaller map, as in every published network.
void ConvDense(Maker& m) {
  static const std::vector<Ints> kKernels = {{3, 3}, {3, 3}, {3, 3}, {3, 3}, {3, 3}, {5, 5}, {7, 7},
                                             {2, 2}, {1, 7}, {7, 1}, {1, 3}, {3, 1}, {4, 4}};
  ConvShape s;
  s.n = Batch(m);
  s.kernel = m.r.Pick(kKernels);
  s.cin = Channels(m.r, 8, 640);
  s.cout = Channels(m.r, 8, 640);
  s.in = SquareOrNot(m, 4, std::min(224.0, 16000.0 / static_cast<double>(std::max(s.cin, s.cout)) + 8));
  const int64_t stride = m.Chance(0.25) ? 2 : 1;
  s.stride = {stride, stride};
  const int64_t dilation = m.Chance(0.12) ? m.r.Int(2, 18) : 1;
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
             : SquareOrNot(m, 2, std::min(224.0, 20000.0 / static_cast<double>(std::max(s.cin, s.cout)) + 8));
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

// One row: bound by the weights, up to the large fully connected layers of classifiers.
void MatMulVector(Maker& m) {
  int64_t k = Channels(m.r, 32, 9216);
  const int64_t n = Channels(m.r, 8, 4096);
  while (static_cast<double>(k) * static_cast<double>(n) > 2e7) k /= 2;
  const bool transposed = m.Chance(0.75);
  m.b.Output(m.Activation(
      m.b.Op("Gemm", {m.In({1, k}), m.b.Weight(transposed ? Ints{n, k} : Ints{k, n}, 0.02), m.b.Weight({n}, 0.1)},
             {{"transB", int64_t{transposed ? 1 : 0}}})));
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

}  // namespace simpred::generate
