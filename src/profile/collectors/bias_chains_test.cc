#include "profile/collectors/bias_chains.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"

namespace simpred {
namespace {

double Ns(Duration d) { return d / Nanoseconds(1); }

// Chains whose kernels take `time`, on a machine with the given bias.
std::vector<ChainTimes> Machine(const std::map<std::string, double>& time, double run_cost, double bias,
                                double noise = 0) {
  Random random(5);
  std::vector<ChainTimes> chains;
  for (const auto& [kind, t] : time) {
    for (const int length : {8, 64, 256}) {
      const double run = (run_cost + length * t) * (1 + noise * random.Uniform());
      chains.push_back({kind, length, Nanoseconds(run), Nanoseconds(t + bias)});
    }
  }
  return chains;
}

TEST(SolveBias, FindsWhatMadeTheTimes) {
  const auto b = SolveBias(Machine({{"Relu", 250}, {"Add", 400}, {"Conv", 9000}}, 1700, 2500));
  ASSERT_TRUE(b.ok());
  EXPECT_NEAR(Ns(b->run_cost), 1700, 1e-3);
  EXPECT_NEAR(Ns(b->kernel_bias), 2500, 1e-3);
  EXPECT_NEAR(Ns(b->smallest), 250, 1e-3);
  EXPECT_NEAR(b->kernel_bias_spread, 0, 1e-3);
  EXPECT_EQ(b->chains, 9);
}

TEST(SolveBias, BearsNoise) {
  const auto b = SolveBias(Machine({{"a", 250}, {"b", 300}, {"c", 900}, {"d", 5000}}, 1700, 2500, 0.02));
  ASSERT_TRUE(b.ok());
  EXPECT_NEAR(Ns(b->run_cost), 1700, 150);
  EXPECT_NEAR(Ns(b->kernel_bias), 2500, 60);
}

TEST(SolveBias, NeedsTwoLengths) {
  EXPECT_EQ(SolveBias({}).status().code(), StatusCode::kUnavailable);
  EXPECT_FALSE(SolveBias({{"a", 8, Microseconds(5), Microseconds(3)}}).ok());
}

TEST(BiasChains, EveryKindHasSeveralLengths) {
  std::map<std::string, std::set<int>> lengths;
  for (const Chain& c : BiasChains()) {
    EXPECT_TRUE(lengths[c.kind].insert(c.length).second) << c.kind;
    EXPECT_FALSE(c.onnx.empty());
  }
  EXPECT_GE(lengths.size(), 8U);
  for (const auto& [kind, of] : lengths) EXPECT_GE(of.size(), 2U) << kind;
}

}  // namespace
}  // namespace simpred
