// What the runtime does not do itself: marked, the work kept, the bytes of vanished tensors gone.
#include <gtest/gtest.h>

#include "fusion/rule_case.h"

namespace simpred {
namespace {

std::string Swish(ModelBuilder& b, const std::string& x) { return b.Op("Mul", {x, b.Op("Sigmoid", {x})}); }

std::string FourDimensional(ModelBuilder& b, const char* name) {
  return b.Input(name, DataType::kFloat32, {int64_t{1}, int64_t{4}, int64_t{32}, int64_t{16}});
}

void Attention(ModelBuilder& b, int64_t softmax_axis) {
  const auto q = FourDimensional(b, "q"), k = FourDimensional(b, "k"), v = FourDimensional(b, "v");
  const auto turned = b.Op("Transpose", {k}, {{"perm", Ints{0, 1, 3, 2}}});
  const auto scores = b.Op("Mul", {b.Op("MatMul", {q, turned}), Scalar(b, 0.25F)});
  const auto masked = b.Op("Add", {scores, b.Weight({1, 1, 32, 32})});
  b.Output(b.Op("MatMul", {b.Op("Softmax", {masked}, {{"axis", softmax_axis}}), v}));
}

void Chain(ModelBuilder& b) {
  const auto x = Matrix(b, 64, 64);
  b.Output(b.Op("Tanh", {b.Op("Add", {b.Op("Exp", {x}), b.Weight({64})})}));
}

void ConvSwish(ModelBuilder& b) { b.Output(Swish(b, Conv(b, Image(b, 18), 18, 18))); }

Work Sum(const FusedKernels& k) {
  Work sum;
  for (const Kernel& kernel : k.workload.kernels) {
    sum.flops += kernel.work.flops;
    sum.read += kernel.work.read;
    sum.weights += kernel.work.weights;
    sum.written += kernel.work.written;
  }
  return sum;
}

FusedKernels Fused(const std::function<void(ModelBuilder&)>& build, bool aggressive) {
  FusionOptions options;
  options.aggressive = aggressive;
  return FuseForTest(build, 17, options);
}

TEST(Aggressive, KeepsTheWorkAndMovesFewerBytes) {
  const auto attention = [](ModelBuilder& b) { Attention(b, -1); };
  for (const std::function<void(ModelBuilder&)>& build :
       {std::function<void(ModelBuilder&)>(attention), std::function<void(ModelBuilder&)>(Chain),
        std::function<void(ModelBuilder&)>(ConvSwish)}) {
    const FusedKernels plain = Fused(build, false), fused = Fused(build, true);
    const double before = Sum(plain).flops.count(), after = Sum(fused).flops.count();
    EXPECT_NEAR(after / before, 1.0, 0.05) << fused.Types();
    EXPECT_LT(Sum(fused).total(), Sum(plain).total()) << fused.Types();
    EXPECT_LT(fused.workload.kernels.size(), plain.workload.kernels.size());
  }
}

TEST(Aggressive, MarksWhatTheRuntimeDoesNotMake) {
  for (const Kernel& k : Fused(Chain, true).workload.kernels) EXPECT_TRUE(k.hypothetical) << k.type;
  for (const Kernel& k : Fused(Chain, false).workload.kernels) EXPECT_FALSE(k.hypothetical) << k.type;
}

TEST(Aggressive, ChainRemembersItsMembers) {
  const FusedKernels k = Fused(Chain, true);
  ASSERT_EQ(k.workload.kernels.size(), 1U);
  EXPECT_EQ(k.workload.kernels[0].attributes.at("members"), "Exp,Add,Tanh");
  EXPECT_EQ(k.workload.kernels[0].fused_from.size(), 3U);
}

TEST(Aggressive, RulesAreNotVerifiedByARuntime) {
  for (const FusionRule& r : OnnxRuntimeRules()) EXPECT_EQ(r.hypothetical, !r.verified) << r.name;
}

}  // namespace

std::vector<RuleCase> AggressiveRuleCases() {
  constexpr auto kAll = FusionLevel::kAll;
  return {
      {"conv-gated-activation", kAll, ConvSwish, "com.microsoft.FusedConv",
       [](ModelBuilder& b) { b.Output(b.Op("Abs", {Conv(b, Image(b, 18), 18, 18)})); }, "Abs Conv"},
      {"attention-core", kAll, [](ModelBuilder& b) { Attention(b, -1); }, "Attention",
       [](ModelBuilder& b) { Attention(b, 2); }, "Add MatMul Softmax com.microsoft.FusedMatMul"},
      {"pointwise-chain", kAll, Chain, "simpred.Pointwise",
       [](ModelBuilder& b) {
         const auto y = b.Op("Exp", {Matrix(b)});
         b.Output(y);
         b.Output(b.Op("Tanh", {y}));
       },
       "Exp Tanh"},
  };
}

}  // namespace simpred
