// How are the profiler's bias and the cost of a run found from chains of equal kernels?
#include "profile/collectors/bias_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "frontend/onnx/model_builder.h"

namespace simpred {
namespace {

constexpr std::array<int, 3> kLengths = {8, 64, 192};

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  const size_t half = v.size() / 2;
  return v.size() % 2 == 1 ? v[half] : (v[half - 1] + v[half]) / 2;
}

// Weighted sums of one kind's chains, in nanoseconds.
struct KindSums {
  double w = 0, wk = 0, wkk = 0, wt = 0, wkt = 0;
  std::set<int> lengths;
  std::vector<double> kernel_times;

  void Add(const ChainTimes& c) {
    const double t = c.run / Nanoseconds(1), k = c.length, weight = 1 / (t * t);
    w += weight;
    wk += weight * k;
    wkk += weight * k * k;
    wt += weight * t;
    wkt += weight * k * t;
    lengths.insert(c.length);
    kernel_times.push_back(c.kernel_time / Nanoseconds(1));
  }
  double TimePerKernel(double run_cost) const { return (wkt - run_cost * wk) / wkk; }
};

using Step = std::function<std::string(ModelBuilder&, const std::string&)>;

Chain MakeChain(const std::string& kind, int length, const std::vector<ModelBuilder::DimSpec>& dims, const Step& step) {
  ModelBuilder b(17);
  std::string x = b.Input("x", DataType::kFloat32, dims);
  for (int i = 0; i < length; ++i) x = step(b, x);
  b.Output(x, DataType::kFloat32, dims);
  return {kind, length, b.Serialize()};
}

// Plus and minus one in turn.
std::string Signs(ModelBuilder& b, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1.F : -1.F;
  return b.ConstantFloats(values, {1, n});
}

void AddElementwise(int64_t n, std::vector<Chain>& chains) {
  for (const int length : kLengths) {
    chains.push_back(MakeChain(fmt::format("Relu {}", n), length, {1, n},
                               [](ModelBuilder& b, const std::string& x) { return b.Op("Relu", {x}); }));
    for (const char* type : {"Add", "Mul"}) {
      chains.push_back(
          MakeChain(fmt::format("{} {}", type, n), length, {1, n}, [&](ModelBuilder& b, const std::string& x) {
            return b.Op(type, {x, Signs(b, n)});
          }));
    }
  }
}

void AddProducts(int64_t n, std::vector<Chain>& chains) {
  for (const int length : kLengths) {
    chains.push_back(MakeChain(fmt::format("MatMul {}", n), length, {1, n}, [&](ModelBuilder& b, const std::string& x) {
      return b.Op("MatMul", {x, b.Weight({n, n})});
    }));
  }
}

void AddConvolutions(int64_t channels, std::vector<Chain>& chains) {
  for (const int length : kLengths) {
    chains.push_back(MakeChain(
        fmt::format("Conv {}", channels), length, {1, channels, 8, 8}, [&](ModelBuilder& b, const std::string& x) {
          return b.Op("Conv", {x, b.Weight({channels, channels, 3, 3})}, {{"pads", ModelBuilder::Ints{1, 1, 1, 1}}});
        }));
  }
}

}  // namespace

Result<MeasurementBias> SolveBias(const std::vector<ChainTimes>& chains) {
  std::map<std::string, KindSums> kinds;
  for (const ChainTimes& c : chains) kinds[c.kind].Add(c);
  std::erase_if(kinds, [](const auto& k) { return k.second.lengths.size() < 2; });
  if (kinds.empty()) {
    return UnavailableError("the profiler's bias is not known: no two lengths of a chain could be measured");
  }
  // The normal equations with every kind's own time eliminated leave one equation for the cost of a run.
  double numerator = 0, denominator = 0;
  for (const auto& [kind, s] : kinds) {
    numerator += s.wt - s.wk * s.wkt / s.wkk;
    denominator += s.w - s.wk * s.wk / s.wkk;
  }
  const double run_cost = std::max(0.0, numerator / denominator);
  std::vector<double> biases, times;
  for (const auto& [kind, s] : kinds) {
    times.push_back(s.TimePerKernel(run_cost));
    for (const double t : s.kernel_times) biases.push_back(t - times.back());
  }
  MeasurementBias b;
  b.run_cost = Nanoseconds(run_cost);
  b.kernel_bias = Nanoseconds(Median(biases));
  b.smallest = Nanoseconds(std::max(0.0, *std::min_element(times.begin(), times.end())));
  for (double& x : biases) x = std::abs(x - b.kernel_bias / Nanoseconds(1));
  b.kernel_bias_spread = Median(biases);
  b.chains = static_cast<int>(chains.size());
  return b;
}

std::vector<Chain> BiasChains() {
  std::vector<Chain> chains;
  for (const int64_t n : {64, 4096}) AddElementwise(n, chains);
  for (const int64_t n : {16, 64, 128}) AddProducts(n, chains);
  for (const int64_t channels : {4, 16}) AddConvolutions(channels, chains);
  return chains;
}

}  // namespace simpred
