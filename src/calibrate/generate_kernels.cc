// Which single-kernel models calibrate a device? One function per kernel family; the shape space of each is drawn
// log-uniformly inside the limits below, so that a kernel of a model is inside what was measured, whatever the model.
//
// A "single-kernel" model may become a few kernels (a blocked Conv with the reorders around it): all are measured.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/generate.h"
#include "calibrate/generate_maker.h"

namespace simpred {
namespace {

using namespace generate;  // NOLINT(google-build-using-namespace): the generators' own vocabulary

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
  if (s.back() == 1) return u < 0.5 ? Ints{1} : s;
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
  Ints s = ActivationShape(m, 3e6);
  if (m.Chance(0.06)) s.push_back(1);
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
  else if (u < 0.55)
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
  static const std::vector<std::string> kCoordinates = {"half_pixel", "align_corners", "pytorch_half_pixel",
                                                        "asymmetric", "asymmetric"};
  static const std::vector<std::string> kRounding = {"floor", "floor", "round_prefer_floor", "ceil"};
  static const std::vector<int64_t> kFactors = {2, 2, 2, 4, 8};
  const int64_t factor = m.r.Pick(kFactors);
  Ints s{1, Channels(m.r, 1, 256), Extent(m.r, 4, 128), Extent(m.r, 4, 128)};
  while (Product(s) * static_cast<double>(factor * factor) > 6e6)
    s[2] = std::max<int64_t>(2, s[2] / 2), s[3] = std::max<int64_t>(2, s[3] / 2),
    s[1] = std::max<int64_t>(1, s[1] * 3 / 4);
  const auto scale = m.Chance(0.85) ? static_cast<float>(factor) : 1.5F;
  ModelBuilder::Attributes a{{"coordinate_transformation_mode", m.r.Pick(kCoordinates)}};
  if (m.Chance(0.55)) {
    a["mode"] = std::string("nearest");
    a["nearest_mode"] = m.r.Pick(kRounding);
  } else {
    a["mode"] = std::string("linear");
  }
  m.b.Output(m.b.Op("Resize", {m.In(s), "", m.b.ConstantFloats({1, 1, scale, scale}, {4})}, a));
}

void Rearranging(Maker& m) {
  const double u = m.r.Uniform();
  if (u < 0.35) {
    const Ints s{1, 4 * Channels(m.r, 1, 64), Extent(m.r, 4, 64), Extent(m.r, 4, 64)};
    m.b.Output(m.b.Op("DepthToSpace", {m.In(s)},
                      {{"blocksize", int64_t{2}}, {"mode", std::string(m.Chance(0.5) ? "CRD" : "DCR")}}));
  } else if (u < 0.55) {
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
  if (u < 0.55)
    x = m.b.Op("Reshape", {x, m.b.ConstantInts({s[0], -1})});
  else if (u < 0.7)
    x = m.b.Op("Flatten", {x}, {{"axis", int64_t{1}}});
  else if (u < 0.85)
    x = m.b.Op("Unsqueeze", {x, m.b.ConstantInts({1})});
  else
    x = m.b.Op("Squeeze", {m.b.Op("Unsqueeze", {x, m.b.ConstantInts({0})}), m.b.ConstantInts({0})});
  m.b.Output(m.Chance(0.5) ? m.b.Op("Neg", {x}) : x);  // as a result of the graph it is a copy
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

// Eight-bit products with scales known ahead, and the dynamic form.
void Quantized(Maker& m) {
  const double u = m.r.Uniform();
  const std::string scale = m.b.ConstantScalar(0.02F);
  if (u < 0.25) {
    const Ints s = ActivationShape(m, 2e6);
    const auto out = m.b.OpN("DynamicQuantizeLinear", {m.In(s)}, 3);
    m.b.Output(out[0], DataType::kUInt8, AsDims(s));
    m.b.Output(out[1]);
  } else if (u < 0.55) {
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
    {"conv-dense", 0.15, ConvDense},
    {"conv-pointwise", 0.13, ConvPointwise},
    {"conv-first", 0.035, ConvFirst},
    {"conv-depthwise", 0.08, ConvDepthwise},
    {"conv-grouped", 0.03, ConvGrouped},
    {"conv-1d", 0.04, Conv1d},
    {"conv-transposed", 0.03, ConvTransposed},
    {"matmul-weights", 0.09, MatMulWeights},
    {"matmul-activations", 0.05, MatMulActivations},
    {"matmul-vector", 0.025, MatMulVector},
    {"unary", 0.06, Unary},
    {"binary", 0.06, Binary},
    {"normalization", 0.05, Normalization},
    {"reduction", 0.035, Reduction},
    {"pooling", 0.035, Pooling},
    {"transpose", 0.04, Transposition},
    {"concat", 0.03, Concatenation},
    {"split-slice", 0.02, SplitOrSlice},
    {"gather", 0.015, Gathering},
    {"pad", 0.01, Padding},
    {"resize", 0.025, Resizing},
    {"rearrange", 0.01, Rearranging},
    {"view", 0.015, View},
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
  // One in eight as old exporters write models: weights that may be overridden, which the runtime leaves in the plain
  // layout.
  if (r.Uniform() < 0.125) b.ListWeightsAsInputs();
  family->make(m);
  return {fmt::format("kernel-{}-{:06d}", family->name, i), family->name, b.Serialize()};
}

}  // namespace simpred
