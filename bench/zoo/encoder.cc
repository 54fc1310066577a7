// Transformer encoders: of text (BERT and its kin) and of images (ViT).
#include "zoo/architectures.h"
#include "zoo/transformer.h"

namespace simpred::zoo {
namespace {

using Ints = ModelBuilder::Ints;
using Norm = Transformer::Norm;

constexpr int64_t kBertVocabulary = 30522;

struct BertSize {
  int64_t layers, width, heads;
};

// Devlin et al., "BERT", 2018; the small sizes are those of Turc et al., "Well-read students learn better", 2019. The
// resolution is the number of tokens. The mask goes the way that exporters write: (1 - mask) * -10000.
ModelBuilder Bert(const Size& size, const BertSize& bert, Norm norm) {
  ModelBuilder b(norm == Norm::kLayerNormOp ? 17 : 13);
  const int64_t tokens = size.resolution;
  Transformer t(b, {size.batch, tokens, bert.width, bert.heads, norm});
  const std::string ids = b.Input("input_ids", DataType::kInt64, {size.batch, tokens});
  const std::string mask = b.Input("attention_mask", DataType::kInt64, {size.batch, tokens});
  const std::string wide = b.Op("Unsqueeze", {mask, b.ConstantInts({1, 2})});
  const std::string inverted = b.Op("Sub", {b.ConstantScalar(1), b.Op("Cast", {wide}, {{"to", 1}})});
  const std::string added = t.Mul(inverted, b.ConstantScalar(-10000));
  std::string x = b.Op("Gather", {b.Weight({kBertVocabulary, bert.width}, 1), ids});
  x = t.LayerNorm(t.Add(x, b.Weight({1, tokens, bert.width}, 1)));
  for (int64_t i = 0; i < bert.layers; ++i) x = t.PostNormBlock(x, 4 * bert.width, added);
  b.Output(x);
  return b;
}
ModelBuilder BertMini(const Size& size) { return Bert(size, {4, 256, 4}, Norm::kLayerNormChain); }
ModelBuilder BertSmall(const Size& size) { return Bert(size, {4, 512, 8}, Norm::kLayerNormOp); }
ModelBuilder DistilBert(const Size& size) { return Bert(size, {4, 768, 12}, Norm::kLayerNormChain); }

struct VitSize {
  int64_t width, heads;
};

// Dosovitskiy et al., "An image is worth 16x16 words", 2020; sizes of Touvron et al., "DeiT", 2020. 1.3 (Ti) and 4.6
// GMAC (S) at 224.
ModelBuilder Vit(const Size& size, const VitSize& vit, Norm norm) {
  constexpr int64_t kPatch = 16;
  constexpr int64_t kLayers = 12;
  const int64_t patches = (size.resolution / kPatch) * (size.resolution / kPatch);
  const int64_t width = vit.width;
  ModelBuilder b(norm == Norm::kLayerNormOp ? 17 : 13);
  Transformer t(b, {size.batch, patches + 1, width, vit.heads, norm});
  const std::string image = b.Input("input", DataType::kFloat32, {size.batch, 3, size.resolution, size.resolution});
  std::string x = b.Op("Conv", {image, b.Weight({width, 3, kPatch, kPatch}), b.Weight({width}, 0.1)},
                       {{"kernel_shape", Ints{kPatch, kPatch}}, {"strides", Ints{kPatch, kPatch}}});
  x = b.Op("Reshape", {x, b.ConstantInts({size.batch, width, patches})});
  x = b.Op("Transpose", {x}, {{"perm", Ints{0, 2, 1}}});
  const std::string class_token = b.Op("Expand", {b.Weight({1, 1, width}, 1), b.ConstantInts({size.batch, 1, width})});
  x = b.Op("Concat", {class_token, x}, {{"axis", 1}});
  x = t.Add(x, b.Weight({1, patches + 1, width}, 1));
  for (int64_t i = 0; i < kLayers; ++i) x = t.PreNormBlock(x, 4 * width, "", true, false);
  x = b.Op("Gather", {t.LayerNorm(x), b.ConstantInts({0}, {})}, {{"axis", 1}});
  b.Output(b.Op("Gemm", {x, b.Weight({1000, width}), b.Weight({1000}, 0.1)}, {{"transB", 1}}));
  return b;
}
ModelBuilder VitTiny(const Size& size) { return Vit(size, {192, 3}, Norm::kLayerNormOp); }
ModelBuilder VitSmall(const Size& size) { return Vit(size, {384, 6}, Norm::kLayerNormChain); }

}  // namespace

std::vector<Architecture> Encoders() {
  constexpr std::string_view kFamily = "transformer_encoder";
  return {
      {"bert_mini", kFamily, 128, "4 layers of 256, LayerNormalization as a chain", BertMini},
      {"bert_small", kFamily, 128, "4 layers of 512, LayerNormalization as an operator", BertSmall},
      {"distilbert_4l", kFamily, 64, "4 layers of 768, LayerNormalization as a chain", DistilBert},
      {"vit_ti_16", kFamily, 224, "12 layers of 192, LayerNormalization as an operator", VitTiny},
      {"vit_s_16", kFamily, 160, "12 layers of 384, LayerNormalization as a chain; published at 224", VitSmall},
  };
}

}  // namespace simpred::zoo
