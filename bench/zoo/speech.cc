// Speech: a convolutional feature extractor with an encoder, a spectrogram encoder, a keyword spotter, an enhancer.
#include <cmath>

#include "zoo/depthwise_cnn.h"
#include "zoo/net.h"
#include "zoo/recurrent.h"
#include "zoo/transformer.h"

namespace simpred::zoo {
namespace {

struct Signal {
  std::string name;
  int64_t channels, length;
};

struct Conv1d {
  int64_t out, kernel, stride = 1, pad = 0, groups = 1;
  bool bias = true;
};

Signal Apply1d(ModelBuilder& b, const Signal& x, const Conv1d& c) {
  std::vector<std::string> inputs = {x.name, b.Weight({c.out, x.channels / c.groups, c.kernel})};
  if (c.bias) inputs.push_back(b.Weight({c.out}, 0.1));
  const std::string y = b.Op("Conv", inputs,
                             {{"kernel_shape", Ints{c.kernel}},
                              {"strides", Ints{c.stride}},
                              {"pads", Ints{c.pad, c.pad}},
                              {"group", c.groups}});
  return {y, c.out, (x.length + 2 * c.pad - c.kernel) / c.stride + 1};
}

// GroupNorm with a group per channel, as exporters write it: InstanceNormalization between two Reshapes.
std::string ChannelNorm(ModelBuilder& b, const Signal& x) {
  const auto constant = [&](float v) {
    return b.ConstantFloats(std::vector<float>(static_cast<size_t>(x.channels), v), {x.channels});
  };
  const std::string flat = b.Op("Reshape", {x.name, b.ConstantInts({0, x.channels, -1})});
  const std::string y = b.Op("InstanceNormalization", {flat, constant(1), constant(0)}, {{"epsilon", 1e-5}});
  const std::string back = b.Op("Reshape", {y, b.Op("Shape", {x.name})});
  const std::string scaled = b.Op("Mul", {back, b.Weight({x.channels, 1}, 1)});
  return b.Op("Add", {scaled, b.Weight({x.channels, 1}, 0.1)});
}

// Baevski et al., "wav2vec 2.0", 2020, with half the convolutions' width and 4 layers of 256. The resolution is the
// number of samples.
ModelBuilder Wav2Vec2Mini(const Size& size) {
  constexpr int64_t kConvWidth = 256;
  constexpr int64_t kWidth = 256;
  ModelBuilder b(13);
  const std::string audio = b.Input("input_values", DataType::kFloat32, {size.batch, size.resolution});
  Signal x{b.Op("Unsqueeze", {audio, b.ConstantInts({1})}), 1, size.resolution};
  Transformer gelu(b, {size.batch, 1, kWidth, 4});
  bool first = true;
  for (const Conv1d& c : {Conv1d{0, 10, 5}, Conv1d{0, 3, 2}, Conv1d{0, 3, 2}, Conv1d{0, 3, 2}, Conv1d{0, 3, 2},
                          Conv1d{0, 2, 2}, Conv1d{0, 2, 2}}) {
    x = Apply1d(b, x, {kConvWidth, c.kernel, c.stride, 0, 1, false});
    if (first) x.name = ChannelNorm(b, x);
    first = false;
    x.name = gelu.GeluOf(x.name);
  }
  Transformer t(b, {size.batch, x.length, kWidth, 4});
  std::string y = t.LayerNorm(b.Op("Transpose", {x.name}, {{"perm", Ints{0, 2, 1}}}));
  y = t.Dense(y, kConvWidth, kWidth);
  // Relative positions by a grouped convolution over 128 frames, whose last frame is cut off.
  Signal position{b.Op("Transpose", {y}, {{"perm", Ints{0, 2, 1}}}), kWidth, x.length};
  position = Apply1d(b, position, {kWidth, 128, 1, 64, 16});
  const std::string cut =
      b.Op("Slice", {position.name, b.ConstantInts({0}), b.ConstantInts({-1}), b.ConstantInts({2})});
  y = t.LayerNorm(t.Add(y, b.Op("Transpose", {t.GeluOf(cut)}, {{"perm", Ints{0, 2, 1}}})));
  for (int i = 0; i < 4; ++i) y = t.PostNormBlock(y, 4 * kWidth, "");
  b.Output(t.Dense(y, kWidth, 32));
  return b;
}

// Radford et al., "Robust speech recognition via large-scale weak supervision", 2022: the encoder of the tiny size. The
// resolution is the number of spectrogram frames (3000 for the 30 seconds that it is trained on).
ModelBuilder WhisperTinyEncoder(const Size& size) {
  constexpr int64_t kWidth = 384;
  ModelBuilder b(17);
  const int64_t tokens = (size.resolution - 1) / 2 + 1;
  Transformer t(b, {size.batch, tokens, kWidth, 6, Transformer::Norm::kLayerNormOp});
  Signal x{b.Input("mel", DataType::kFloat32, {size.batch, 80, size.resolution}), 80, size.resolution};
  x = Apply1d(b, x, {kWidth, 3, 1, 1});
  x.name = t.GeluOf(x.name);
  x = Apply1d(b, x, {kWidth, 3, 2, 1});
  std::string y = b.Op("Transpose", {t.GeluOf(x.name)}, {{"perm", Ints{0, 2, 1}}});
  y = t.Add(y, b.Weight({tokens, kWidth}, 1));
  for (int i = 0; i < 4; ++i) y = t.PreNormBlock(y, 4 * kWidth, "", false, false);
  b.Output(t.LayerNorm(y));
  return b;
}

// Zhang et al., "Hello edge: keyword spotting on microcontrollers", 2017: DS-CNN of 64 channels. 49 frames of 10
// coefficients; the resolution is the number of frames.
ModelBuilder DsCnn(const Size& size) {
  constexpr Activation kRelu = Activation::kRelu;
  Net net({}, size);
  Feature x = net.ConvBn(net.Image(1, size.resolution, 10), 64,
                         {.kernel = 10, .stride = 2, .pad = 4, .kernel_w = 4, .pad_w = 1}, kRelu);
  for (int i = 0; i < 4; ++i) x = Separable(net, x, 64, 1, kRelu);
  const std::string y = net.Linear(net.Flatten(net.GlobalPool(x)), 64, 12);
  return net.Finish(net.builder().Op("Softmax", {y}, {{"axis", 1}}));
}

// A mask over the spectrum from two recurrent layers, in the manner of Westhausen, Meyer, "Dual-signal transformation
// LSTM network", 2020. The resolution is the number of frames.
ModelBuilder GruEnhancer(const Size& size) {
  constexpr int64_t kBins = 257;
  constexpr int64_t kHidden = 256;
  Net net({}, size);
  auto& b = net.builder();
  const std::string spectrum = b.Input("spectrum", DataType::kFloat32, {size.batch, size.resolution, kBins});
  const std::string power = b.Op("Log", {b.Op("Add", {b.Op("Mul", {spectrum, spectrum}), b.ConstantScalar(1e-6F)})});
  std::string x = b.Op("Relu", {Dense(b, power, kBins, 128)});
  x = b.Op("Transpose", {x}, {{"perm", Ints{1, 0, 2}}});
  x = Gru(net, Gru(net, x, 128, kHidden), kHidden, kHidden);
  x = b.Op("Transpose", {x}, {{"perm", Ints{1, 0, 2}}});
  const std::string mask = b.Op("Sigmoid", {Dense(b, x, kHidden, kBins)});
  return net.Finish(b.Op("Mul", {spectrum, mask}));
}

}  // namespace

std::vector<Architecture> SpeechModels() {
  constexpr std::string_view kFamily = "speech";
  return {
      {"wav2vec2_mini", kFamily, 16000, "seven convolutions over samples, 4 encoder layers", Wav2Vec2Mini},
      {"whisper_tiny_encoder", kFamily, 800, "two convolutions over a spectrogram, 4 layers of 384",
       WhisperTinyEncoder},
      {"ds_cnn_kws", kFamily, 49, "keyword spotter of depthwise separable convolutions", DsCnn},
      {"gru_enhancer", kFamily, 100, "two GRU layers that mask a spectrum", GruEnhancer},
  };
}

}  // namespace simpred::zoo
