// Shared by the generators of kernels and of networks: the ranges from which sizes are drawn.
//
// Sizes of published layers are not spread evenly: channel counts are mostly multiples of 8, 16 or 32, feature maps are
// mostly input resolutions (96 to 640) divided by powers of two. Half of the draws follow that, the rest fill the gaps,
// so that the remainders of blocks and tiles are seen too.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "frontend/onnx/model_builder.h"

namespace simpred::generate {

using Ints = ModelBuilder::Ints;
using Dims = std::vector<ModelBuilder::DimSpec>;

inline int64_t RoundTo(double x, int64_t multiple) {
  const auto n = std::llround(x / static_cast<double>(multiple)) * multiple;
  return n < multiple ? multiple : n;
}

// Channels between low and high, log-uniform: 60 % multiples of 16, 25 % multiples of 8, else anything.
inline int64_t Channels(Random& r, double low, double high) {
  const double c = r.LogUniform(low, high);
  const double u = r.Uniform();
  if (u < 0.60 && c >= 12) return RoundTo(c, 16);
  if (u < 0.85 && c >= 6) return RoundTo(c, 8);
  return RoundTo(c, 1);
}

// Height or width of a feature map.
inline int64_t Extent(Random& r, double low, double high) {
  static const std::vector<int64_t> kCommon = {1,   2,   3,   4,   5,   6,   7,   8,   10,  12,  13,  14,  15, 16,
                                               20,  24,  26,  28,  30,  32,  40,  48,  52,  56,  60,  64,  80, 96,
                                               104, 112, 120, 128, 160, 192, 208, 224, 256, 288, 320, 384, 416};
  const double x = r.LogUniform(low, high);
  if (r.Uniform() < 0.35) return RoundTo(x, 1);
  int64_t best = kCommon.front();
  for (int64_t c : kCommon) {
    if (std::abs(std::log(static_cast<double>(c) / x)) < std::abs(std::log(static_cast<double>(best) / x))) best = c;
  }
  return best;
}

inline double Product(const Ints& dims) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(d);
  return n;
}

inline Dims AsDims(const Ints& dims) { return Dims(dims.begin(), dims.end()); }

// Inference-time parameters of a BatchNormalization over c channels; variance one, so that nothing explodes.
struct BatchNormParameters {
  std::string scale, bias, mean, variance;
};
inline BatchNormParameters BatchNorm(ModelBuilder& b, int64_t c) {
  return {b.Weight({c}, 0.5), b.Weight({c}, 0.1), b.Weight({c}, 0.1),
          b.ConstantFloats(std::vector<float>(static_cast<size_t>(c), 1.0F), {c})};
}

inline uint64_t StreamOf(uint64_t seed, uint64_t kind, int64_t i) {
  Random r(seed * 0x9E3779B97F4A7C15ULL + kind * 0xD1B54A32D192ED03ULL + static_cast<uint64_t>(i));
  r.Next();
  return r.Next();
}

}  // namespace simpred::generate
