// What the functions that make single-kernel models share: limits, sizes, and the model under construction.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "calibrate/generate_common.h"

namespace simpred::generate {

// No generated kernel does more work or moves more than this: at 50 GFLOP/s and 5 GB/s that is about 80 ms and 20 ms,
// the largest kernels of vision models at common resolutions.
constexpr double kMaxFlops = 4e9;
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

inline Ints SquareOrNot(Maker& m, double low, double high) {
  const int64_t h = Extent(m.r, low, high);
  return {h, m.Chance(0.7) ? h : Extent(m.r, low, high)};
}

inline int64_t Batch(Maker& m) {
  static const std::vector<int64_t> kBatches = {1, 1, 1, 1, 1, 1, 2, 4, 8, 16};
  return m.r.Pick(kBatches);
}

inline int64_t Rows(Maker& m) {
  static const std::vector<int64_t> kRows = {1, 1, 1, 2, 4, 8, 16, 32, 49, 64, 77, 100, 128, 196, 197, 256, 384, 512};
  return m.Chance(0.7) ? m.r.Pick(kRows) : RoundTo(m.r.LogUniform(1, 2048), 1);
}

// generate_products.cc: convolutions, matrix products, recurrent layers.
void ConvDense(Maker& m);
void ConvPointwise(Maker& m);
void ConvFirst(Maker& m);
void ConvDepthwise(Maker& m);
void ConvGrouped(Maker& m);
void Conv1d(Maker& m);
void ConvTransposed(Maker& m);
void MatMulWeights(Maker& m);
void MatMulActivations(Maker& m);
void MatMulVector(Maker& m);
void Recurrent(Maker& m);

}  // namespace simpred::generate
