#include "cli/exclude.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

using Kind = ExcludeRule::Kind;
using Names = std::vector<std::string>;

// a -> b -> c -> e, a -> d -> e
Workload Diamond() {
  Workload w;
  const auto add = [&](const char* name, std::vector<int32_t> from, Names fused = {}) {
    Kernel k;
    k.name = name;
    k.inputs_from = std::move(from);
    k.fused_from = std::move(fused);
    w.kernels.push_back(k);
  };
  add("a", {});
  add("b", {0}, {"conv", "relu"});
  add("c", {1});
  add("d", {0});
  add("e", {2, 3});
  return w;
}

Names Excluded(const std::vector<ExcludeRule>& rules) {
  const auto r = ExcludedKernels(Diamond(), rules);
  EXPECT_TRUE(r.ok()) << r.status().ToString();
  return r.ok() ? *r : Names{};
}

TEST(Exclude, Rules) {
  EXPECT_EQ(Excluded({}), Names{});
  EXPECT_EQ(Excluded({{Kind::kNode, "c", ""}}), (Names{"c"}));
  EXPECT_EQ(Excluded({{Kind::kNode, "relu", ""}}), (Names{"b"}));
  EXPECT_EQ(Excluded({{Kind::kAfter, "b", ""}}), (Names{"c", "e"}));
  EXPECT_EQ(Excluded({{Kind::kAfter, "e", ""}}), Names{});
  EXPECT_EQ(Excluded({{Kind::kBetween, "a", "e"}}), (Names{"b", "c", "d"}));
  EXPECT_EQ(Excluded({{Kind::kBetween, "b", "e"}}), (Names{"c"}));
  EXPECT_EQ(Excluded({{Kind::kNode, "d", ""}, {Kind::kAfter, "c", ""}}), (Names{"d", "e"}));
}

TEST(Exclude, UnknownNodeIsAnError) {
  const auto r = ExcludedKernels(Diamond(), {{Kind::kNode, "convv", ""}});
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace simpred
