// In which order do rules run, and how often?
//
// Level by level. Inside a level the list of rules is walked again and again until a walk changes nothing, ten times at
// most: rules make room for each other (a folded constant lets a Conv take a BatchNormalization). After each rule that
// rewrote something the graph is verified.
#include "fusion/fusion.h"

#include <algorithm>

#include "fusion/constant_nodes.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

// The runtime's own limit on walks per level.
constexpr int kMostWalks = 10;

class Engine {
 public:
  Engine(Model& model, const FusionOptions& options, const Registry& registry)
      : model_(model), context_{&options, &registry} {}

  Status RunLevel(const std::vector<FusionRule>& rules, FusionLevel level) {
    bool changed = true;
    for (int walk = 0; changed && walk < kMostWalks; ++walk) {
      changed = false;
      for (const FusionRule& rule : rules) {
        if (rule.level != level || context_.options->off.contains(rule.name)) continue;
        Result<int> rewrites = Apply(rule);
        if (!rewrites.ok()) return rewrites.status();
        changed = changed || rewrites.value() > 0;
      }
    }
    return OkStatus();
  }

  FusionReport TakeReport() { return std::move(report_); }

 private:
  Result<int> Apply(const FusionRule& rule) {
    Result<int> rewrites = rule.apply(model_, context_);
    if (!rewrites.ok()) return rewrites.status().With("fusion rule '" + rule.name + "'");
    if (rewrites.value() == 0) return 0;
    if (Status s = model_.graph.Verify(); !s.ok()) return s.With("after fusion rule '" + rule.name + "'");
    const auto it = std::find_if(report_.applied.begin(), report_.applied.end(),
                                 [&](const FusionReport::Applied& a) { return a.rule == rule.name; });
    if (it != report_.applied.end())
      it->rewrites += rewrites.value();
    else
      report_.applied.push_back({rule.name, rewrites.value()});
    return rewrites.value();
  }

  Model& model_;
  FusionContext context_;
  FusionReport report_;
};

}  // namespace

FusionRule MakeRule(std::string name, FusionLevel level, std::string summary, int (*rewrite)(Rewriter&)) {
  FusionRule rule;
  rule.name = std::move(name);
  rule.level = level;
  rule.summary = std::move(summary);
  rule.source = "ONNX Runtime, graph optimizations; optimised models saved by version 1.30";
  rule.apply = [rewrite](Model& model, FusionContext& context) -> Result<int> {
    Rewriter rewriter(model, context);
    return rewrite(rewriter);
  };
  return rule;
}

Result<FusionReport> Fuse(Model& model, const std::vector<FusionRule>& rules, const FusionOptions& options,
                          const Registry& registry) {
  MakeInitializersOfConstantNodes(model.graph);
  Engine engine(model, options, registry);
  for (FusionLevel level : {FusionLevel::kOff, FusionLevel::kBasic, FusionLevel::kExtended, FusionLevel::kAll}) {
    if (level > options.level) break;
    if (Status s = engine.RunLevel(rules, level); !s.ok()) return s;
  }
  return engine.TakeReport();
}

}  // namespace simpred
