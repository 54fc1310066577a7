// Layers of transformers as exporters write them. Activations are [batch, tokens, width].
#pragma once

#include <string>

#include "frontend/onnx/model_builder.h"

namespace simpred::zoo {

class Transformer {
 public:
  enum class Norm : uint8_t {
    kLayerNormOp,     // LayerNormalization of operator set 17
    kLayerNormChain,  // ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add
    kRmsNormChain,    // Pow, ReduceMean, Add, Sqrt, Reciprocal, Mul, Mul
  };
  enum class Gelu : uint8_t { kErfChain, kTanhChain };
  struct Shape {
    int64_t batch, tokens, width, heads;
    Norm norm = Norm::kLayerNormChain;
    Gelu gelu = Gelu::kErfChain;
    int64_t head_width() const { return width / heads; }
  };

  Transformer(ModelBuilder& b, const Shape& shape) : b_(b), s_(shape) {}

  std::string LayerNorm(const std::string& x);
  std::string Dense(const std::string& x, int64_t in, int64_t out, bool bias = true);
  std::string GeluOf(const std::string& x);
  // Three projections, scores scaled by the root of the head's width, `mask` (may be empty) added to them.
  std::string SelfAttention(const std::string& x, const std::string& mask);
  // The same from one projection of three times the width, cut by Split (`by_split`) or by Transpose and Gather.
  std::string PackedSelfAttention(const std::string& x, const std::string& mask, bool by_split);
  // softmax(q k / sqrt(d) + mask) v of [batch, heads, tokens, d] tensors; k is transposed already.
  std::string Attend(const std::string& q, const std::string& k, const std::string& v, const std::string& mask);
  std::string FeedForward(const std::string& x, int64_t inner);
  // x + Attention, norm, + FeedForward, norm (BERT), or norm first (GPT, ViT, Whisper).
  std::string PostNormBlock(const std::string& x, int64_t inner, const std::string& mask);
  std::string PreNormBlock(const std::string& x, int64_t inner, const std::string& mask, bool packed, bool by_split);

  std::string Add(const std::string& a, const std::string& b) { return b_.Op("Add", {a, b}); }
  std::string Mul(const std::string& a, const std::string& b) { return b_.Op("Mul", {a, b}); }
  std::string Heads(const std::string& x, const ModelBuilder::Ints& perm);  // [B,T,W] -> heads, permuted
  std::string JoinHeads(const std::string& x);

 private:
  std::string Ones();

  ModelBuilder& b_;
  Shape s_;
};

}  // namespace simpred::zoo
