// Layers of transformers as exporters write them. See transformer.h.
#include "zoo/transformer.h"

#include <cmath>
#include <vector>

namespace simpred::zoo {

using Ints = ModelBuilder::Ints;

std::string Transformer::Ones() {
  return b_.ConstantFloats(std::vector<float>(static_cast<size_t>(s_.width), 1.0F), {s_.width});
}

std::string Transformer::LayerNorm(const std::string& x) {
  const std::string scale = Ones();
  if (s_.norm == Norm::kLayerNormOp) {
    return b_.Op("LayerNormalization", {x, scale, b_.Weight({s_.width}, 0.1)}, {{"axis", -1}, {"epsilon", 1e-5}});
  }
  const auto mean = [&](const std::string& of) {
    return b_.Op("ReduceMean", {of}, {{"axes", Ints{-1}}, {"keepdims", 1}});
  };
  const auto root = [&](const std::string& of) { return b_.Op("Sqrt", {Add(of, b_.ConstantScalar(1e-5F))}); };
  const std::string two = b_.ConstantScalar(2);
  if (s_.norm == Norm::kRmsNormChain) {
    const std::string inverse = b_.Op("Reciprocal", {root(mean(b_.Op("Pow", {x, two})))});
    return Mul(scale, Mul(x, inverse));
  }
  const std::string centered = b_.Op("Sub", {x, mean(x)});
  const std::string deviation = root(mean(b_.Op("Pow", {centered, two})));
  return Add(Mul(b_.Op("Div", {centered, deviation}), scale), b_.Weight({s_.width}, 0.1));
}

std::string Transformer::Dense(const std::string& x, int64_t in, int64_t out, bool bias) {
  const std::string y = b_.Op("MatMul", {x, b_.Weight({in, out}, 1 / std::sqrt(static_cast<double>(in)))});
  return bias ? Add(b_.Weight({out}, 0.1), y) : y;
}

std::string Transformer::GeluOf(const std::string& x) {
  const std::string one = b_.ConstantScalar(1);
  const std::string half = b_.ConstantScalar(0.5F);
  if (s_.gelu == Gelu::kErfChain) {
    const std::string erf = b_.Op("Erf", {b_.Op("Div", {x, b_.ConstantScalar(1.41421356F)})});
    return Mul(Mul(x, Add(erf, one)), half);
  }
  const std::string cube = Mul(b_.Op("Pow", {x, b_.ConstantScalar(3)}), b_.ConstantScalar(0.044715F));
  const std::string tanh = b_.Op("Tanh", {Mul(Add(x, cube), b_.ConstantScalar(0.79788456F))});
  return Mul(Mul(x, half), Add(tanh, one));
}

std::string Transformer::Heads(const std::string& x, const Ints& perm) {
  const std::string split = b_.Op("Reshape", {x, b_.ConstantInts({s_.batch, s_.tokens, s_.heads, s_.head_width()})});
  return b_.Op("Transpose", {split}, {{"perm", perm}});
}

std::string Transformer::JoinHeads(const std::string& x) {
  const std::string t = b_.Op("Transpose", {x}, {{"perm", Ints{0, 2, 1, 3}}});
  return b_.Op("Reshape", {t, b_.ConstantInts({s_.batch, s_.tokens, s_.width})});
}

std::string Transformer::Attend(const std::string& q, const std::string& k, const std::string& v,
                                const std::string& mask) {
  const std::string scale = b_.ConstantScalar(std::sqrt(static_cast<float>(s_.head_width())));
  std::string scores = b_.Op("Div", {b_.Op("MatMul", {q, k}), scale});
  if (!mask.empty()) scores = Add(scores, mask);
  return JoinHeads(b_.Op("MatMul", {b_.Op("Softmax", {scores}, {{"axis", -1}}), v}));
}

std::string Transformer::SelfAttention(const std::string& x, const std::string& mask) {
  const std::string q = Heads(Dense(x, s_.width, s_.width), {0, 2, 1, 3});
  const std::string k = Heads(Dense(x, s_.width, s_.width), {0, 2, 3, 1});
  const std::string v = Heads(Dense(x, s_.width, s_.width), {0, 2, 1, 3});
  return Dense(Attend(q, k, v, mask), s_.width, s_.width);
}

std::string Transformer::PackedSelfAttention(const std::string& x, const std::string& mask, bool by_split) {
  const std::string packed = Dense(x, s_.width, 3 * s_.width);
  std::string q;
  std::string k;
  std::string v;
  if (by_split) {
    const auto parts = b_.OpN("Split", {packed, b_.ConstantInts({s_.width, s_.width, s_.width})}, 3, {{"axis", 2}});
    q = Heads(parts[0], {0, 2, 1, 3});
    k = Heads(parts[1], {0, 2, 3, 1});
    v = Heads(parts[2], {0, 2, 1, 3});
  } else {
    const std::string split =
        b_.Op("Reshape", {packed, b_.ConstantInts({s_.batch, s_.tokens, 3, s_.heads, s_.head_width()})});
    const std::string first = b_.Op("Transpose", {split}, {{"perm", Ints{2, 0, 3, 1, 4}}});
    const auto take = [&](int64_t i) { return b_.Op("Gather", {first, b_.ConstantInts({i}, {})}, {{"axis", 0}}); };
    q = take(0);
    k = b_.Op("Transpose", {take(1)}, {{"perm", Ints{0, 1, 3, 2}}});
    v = take(2);
  }
  return Dense(Attend(q, k, v, mask), s_.width, s_.width);
}

std::string Transformer::FeedForward(const std::string& x, int64_t inner) {
  return Dense(GeluOf(Dense(x, s_.width, inner)), inner, s_.width);
}

std::string Transformer::PostNormBlock(const std::string& x, int64_t inner, const std::string& mask) {
  const std::string y = LayerNorm(Add(SelfAttention(x, mask), x));
  return LayerNorm(Add(FeedForward(y, inner), y));
}

std::string Transformer::PreNormBlock(const std::string& x, int64_t inner, const std::string& mask, bool packed,
                                      bool by_split) {
  const std::string normed = LayerNorm(x);
  const std::string y = Add(x, packed ? PackedSelfAttention(normed, mask, by_split) : SelfAttention(normed, mask));
  return Add(y, FeedForward(LayerNorm(y), inner));
}

}  // namespace simpred::zoo
