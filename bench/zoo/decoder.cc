// Transformer decoders over a whole prompt: the style of GPT-2 and the style of Llama, in small sizes. The resolution
// is the number of tokens.
#include <cmath>
#include <vector>

#include "zoo/architectures.h"
#include "zoo/transformer.h"

namespace simpred::zoo {
namespace {

using Ints = ModelBuilder::Ints;
using Norm = Transformer::Norm;

constexpr int64_t kVocabulary = 8192;
constexpr float kMasked = -10000;

std::vector<float> CausalMask(int64_t tokens) {
  std::vector<float> mask;
  for (int64_t row = 0; row < tokens; ++row) {
    for (int64_t column = 0; column < tokens; ++column) mask.push_back(column <= row ? 0 : kMasked);
  }
  return mask;
}

// Radford et al., "Language models are unsupervised multitask learners", 2019: pre-norm, one packed projection, tanh
// Gelu.
ModelBuilder Gpt2Mini(const Size& size) {
  constexpr int64_t kLayers = 4;
  constexpr int64_t kWidth = 256;
  const int64_t tokens = size.resolution;
  ModelBuilder b(13);
  Transformer t(b, {size.batch, tokens, kWidth, 4, Norm::kLayerNormChain, Transformer::Gelu::kTanhChain});
  const std::string ids = b.Input("input_ids", DataType::kInt64, {size.batch, tokens});
  std::string x = b.Op("Gather", {b.Weight({kVocabulary, kWidth}, 1), ids});
  x = t.Add(x, b.Weight({1, tokens, kWidth}, 1));
  const std::string mask = b.ConstantFloats(CausalMask(tokens), {1, 1, tokens, tokens});
  for (int64_t i = 0; i < kLayers; ++i) x = t.PreNormBlock(x, 4 * kWidth, mask, true, true);
  b.Output(t.Dense(t.LayerNorm(x), kWidth, kVocabulary, false));
  return b;
}

// Touvron et al., "LLaMA", 2023: root mean square norm, rotary positions (Su et al., 2021), SwiGLU (Shazeer, 2020).
class Llama {
 public:
  Llama(ModelBuilder& b, const Transformer::Shape& shape, int64_t inner)
      : b_(b), s_(shape), t_(b, shape), inner_(inner) {
    std::vector<float> cosines;
    std::vector<float> sines;
    const int64_t half = s_.head_width() / 2;
    for (int64_t token = 0; token < s_.tokens; ++token) {
      for (int64_t i = 0; i < 2 * half; ++i) {
        const double exponent = static_cast<double>(i % half) / static_cast<double>(half);
        const double angle = static_cast<double>(token) / std::pow(10000.0, exponent);
        cosines.push_back(static_cast<float>(std::cos(angle)));
        sines.push_back(static_cast<float>(std::sin(angle)));
      }
    }
    cosine_ = b_.ConstantFloats(cosines, {1, 1, s_.tokens, 2 * half});
    sine_ = b_.ConstantFloats(sines, {1, 1, s_.tokens, 2 * half});
  }

  std::string Block(const std::string& x, const std::string& mask) {
    const std::string y = t_.Add(x, Attention(t_.LayerNorm(x), mask));
    const std::string normed = t_.LayerNorm(y);
    const std::string gate = t_.Dense(normed, s_.width, inner_, false);
    const std::string silu = t_.Mul(gate, b_.Op("Sigmoid", {gate}));
    const std::string up = t_.Dense(normed, s_.width, inner_, false);
    return t_.Add(y, t_.Dense(t_.Mul(silu, up), inner_, s_.width, false));
  }
  Transformer& transformer() { return t_; }

 private:
  std::string Rotate(const std::string& x) {
    const int64_t half = s_.head_width() / 2;
    const auto slice = [&](int64_t from, int64_t to) {
      return b_.Op("Slice", {x, b_.ConstantInts({from}), b_.ConstantInts({to}), b_.ConstantInts({3})});
    };
    const std::string turned = b_.Op("Concat", {b_.Op("Neg", {slice(half, 2 * half)}), slice(0, half)}, {{"axis", 3}});
    return t_.Add(t_.Mul(x, cosine_), t_.Mul(turned, sine_));
  }
  std::string Attention(const std::string& x, const std::string& mask) {
    const Ints by_head = {0, 2, 1, 3};
    const std::string q = Rotate(t_.Heads(t_.Dense(x, s_.width, s_.width, false), by_head));
    const std::string k = Rotate(t_.Heads(t_.Dense(x, s_.width, s_.width, false), by_head));
    const std::string v = t_.Heads(t_.Dense(x, s_.width, s_.width, false), by_head);
    const std::string transposed = b_.Op("Transpose", {k}, {{"perm", Ints{0, 1, 3, 2}}});
    return t_.Dense(t_.Attend(q, transposed, v, mask), s_.width, s_.width, false);
  }

  ModelBuilder& b_;
  Transformer::Shape s_;
  Transformer t_;
  int64_t inner_;
  std::string cosine_, sine_;
};

ModelBuilder LlamaTiny(const Size& size) {
  constexpr int64_t kLayers = 6;
  constexpr int64_t kWidth = 288;
  const int64_t tokens = size.resolution;
  ModelBuilder b(17);
  Llama llama(b, {size.batch, tokens, kWidth, 6, Norm::kRmsNormChain}, 768);
  const std::string ids = b.Input("input_ids", DataType::kInt64, {size.batch, tokens});
  std::string x = b.Op("Gather", {b.Weight({kVocabulary, kWidth}, 1), ids});
  const std::string mask = b.ConstantFloats(CausalMask(tokens), {1, 1, tokens, tokens});
  for (int64_t i = 0; i < kLayers; ++i) x = llama.Block(x, mask);
  Transformer& t = llama.transformer();
  b.Output(t.Dense(t.LayerNorm(x), kWidth, kVocabulary, false));
  return b;
}

}  // namespace

std::vector<Architecture> Decoders() {
  constexpr std::string_view kFamily = "decoder";
  return {
      {"gpt2_mini", kFamily, 64, "4 layers of 256, causal mask, tanh Gelu as a chain", Gpt2Mini},
      {"llama_tiny", kFamily, 64, "6 layers of 288, RMSNorm, rotary positions, SwiGLU", LlamaTiny},
  };
}

}  // namespace simpred::zoo
