// Every rule: it fires where it should and leaves the kernels that it should; it lets alone what it should.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "frontend/onnx/onnx.h"
#include "fusion/rule_case.h"
#include "operators/infer.h"

namespace simpred {

std::string FusedKernels::Types() const {
  std::map<std::string, int> count;
  for (const Kernel& k : workload.kernels) ++count[k.type];
  std::string text;
  for (const auto& [type, n] : count)
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", type, n > 1 ? fmt::format("*{}", n) : "");
  return text;
}

bool FusedKernels::Fired(const std::string& rule) const {
  return std::any_of(report.applied.begin(), report.applied.end(),
                     [&](const FusionReport::Applied& a) { return a.rule == rule; });
}

FusedKernels FuseForTest(const std::function<void(ModelBuilder&)>& build, int64_t opset, const FusionOptions& options) {
  FusedKernels out;
  ModelBuilder b(opset);
  build(b);
  Result<Model> model = ReadOnnxBytes(b.Serialize());
  EXPECT_TRUE(model.ok()) << model.status().ToString();
  if (!model.ok()) return out;
  const Result<InferReport> inferred = InferShapes(*model, {});
  EXPECT_TRUE(inferred.ok()) << inferred.status().ToString();
  Result<FusionReport> report = Fuse(*model, OnnxRuntimeRules(), options);
  EXPECT_TRUE(report.ok()) << report.status().ToString();
  if (!report.ok()) return out;
  out.report = std::move(*report);
  EXPECT_TRUE(out.report.failed.empty());
  Result<Workload> w = Lower(*model);
  if (w.ok()) out.workload = std::move(*w);
  return out;
}

namespace {

std::vector<RuleCase> AllCases() {
  std::vector<RuleCase> all;
  for (auto cases :
       {LoadAndBasicRuleCases, BasicPatternRuleCases, ExtendedRuleCases, LayoutRuleCases, AggressiveRuleCases}) {
    const std::vector<RuleCase> some = cases();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

FusionOptions OptionsOf(const RuleCase& c) {
  FusionOptions options;
  options.level = c.level;
  for (const FusionRule& r : OnnxRuntimeRules())
    if (r.name == c.rule) options.aggressive = r.hypothetical;
  return options;
}

TEST(Rules, FireWhereTheyShould) {
  for (const RuleCase& c : AllCases()) {
    SCOPED_TRACE(c.rule);
    const FusedKernels k = FuseForTest(c.fires, c.opset, OptionsOf(c));
    EXPECT_TRUE(k.Fired(c.rule));
    EXPECT_EQ(k.Types(), c.kernels_after);
  }
}

TEST(Rules, LetAloneWhatTheyShould) {
  for (const RuleCase& c : AllCases()) {
    SCOPED_TRACE(c.rule);
    const FusedKernels k = FuseForTest(c.does_not, c.opset, OptionsOf(c));
    EXPECT_FALSE(k.Fired(c.rule));
    EXPECT_EQ(k.Types(), c.kernels_untouched);
  }
}

TEST(Rules, CanBeSwitchedOff) {
  for (const RuleCase& c : AllCases()) {
    SCOPED_TRACE(c.rule);
    FusionOptions options = OptionsOf(c);
    options.off = {c.rule};
    EXPECT_FALSE(FuseForTest(c.fires, c.opset, options).Fired(c.rule));
  }
}

TEST(Rules, AreAllTested) {
  std::set<std::string> tested;
  for (const RuleCase& c : AllCases()) tested.insert(c.rule);
  for (const FusionRule& r : OnnxRuntimeRules()) {
    EXPECT_TRUE(tested.contains(r.name)) << r.name;
    EXPECT_FALSE(r.summary.empty() || r.source.empty()) << r.name;
  }
}

}  // namespace
}  // namespace simpred
