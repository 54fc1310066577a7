// In which order do rules run, and how often?
//
// Level by level. Inside a level the list of rules is walked again and again until a walk changes nothing, ten times at
// most: rules make room for each other (a folded constant lets a Conv take a BatchNormalization). After each rule that
// rewrote something the graph is verified; when that fails, everything starts again without that rule.
#include "fusion/fusion.h"

#include <algorithm>

#include "fusion/constant_nodes.h"
#include "fusion/rules.h"
#include "fusion/runtime_shapes.h"

namespace simpred {
namespace {

// The runtime's own limit on walks per level.
constexpr int kMostWalks = 10;

// One run of all rules over one graph.
class Engine {
 public:
  // `infer` brings shapes up to date after a walk; null: they are static and stay.
  Engine(Model& model, const FusionOptions& options, const Registry& registry)
      : model_(model), context_{&options, &registry} {}
  void InferAfterWalks(std::function<Status()> infer) { infer_ = std::move(infer); }

  Status Run(const std::vector<FusionRule>& rules) {
    for (FusionLevel level : {FusionLevel::kOff, FusionLevel::kBasic, FusionLevel::kExtended, FusionLevel::kAll}) {
      if (level > context_.options->level) break;
      SIMPRED_RETURN_IF_ERROR(RunLevel(rules, level));
    }
    return OkStatus();
  }

  FusionReport TakeReport() { return std::move(report_); }
  const std::string& failed_rule() const { return failed_rule_; }

 private:
  Status RunLevel(const std::vector<FusionRule>& rules, FusionLevel level) {
    bool changed = true;
    for (int walk = 0; changed && walk < kMostWalks; ++walk) {
      changed = false;
      for (const FusionRule& rule : rules) {
        if (rule.level != level || context_.options->off.contains(rule.name)) continue;
        if (rule.hypothetical && !context_.options->aggressive) continue;
        Result<int> rewrites = Apply(rule);
        if (!rewrites.ok()) {
          failed_rule_ = rule.name;
          return rewrites.status().With("fusion rule '" + rule.name + "'");
        }
        changed = changed || rewrites.value() > 0;
      }
      if (changed && infer_) SIMPRED_RETURN_IF_ERROR(infer_());
    }
    return OkStatus();
  }

  Result<int> Apply(const FusionRule& rule) {
    SIMPRED_ASSIGN_OR_RETURN(const int rewrites, rule.apply(model_, context_));
    if (rewrites == 0) return 0;
    SIMPRED_RETURN_IF_ERROR(model_.graph.Verify());
    const auto it = std::find_if(report_.applied.begin(), report_.applied.end(),
                                 [&](const FusionReport::Applied& a) { return a.rule == rule.name; });
    if (it != report_.applied.end())
      it->rewrites += rewrites;
    else
      report_.applied.push_back({rule.name, rewrites});
    return rewrites;
  }

  Model& model_;
  FusionContext context_;
  FusionReport report_;
  std::string failed_rule_;
  std::function<Status()> infer_;
};

// The rules, with the shapes that the runtime has.
class Fusion {
 public:
  Fusion(Model& model, const std::vector<FusionRule>& rules, FusionOptions options, const Registry& registry)
      : model_(model), rules_(rules), options_(std::move(options)), registry_(registry) {}

  Result<FusionReport> Run() {
    const Graph original = model_.graph.Clone();
    std::vector<std::string> failed;
    bool hide = options_.binding != nullptr;
    for (;;) {
      Engine engine(model_, options_, registry_);
      const Status done = RunOnce(engine, hide);
      if (done.ok()) {
        FusionReport report = engine.TakeReport();
        report.failed = std::move(failed);
        return report;
      }
      model_.graph = original.Clone();
      if (!engine.failed_rule().empty()) {
        Drop(engine.failed_rule(), done);
        failed.push_back(engine.failed_rule());
      } else if (hide) {
        hide = false;
      } else {
        return done;
      }
    }
  }

 private:
  Status RunOnce(Engine& engine, bool hide) {
    MakeInitializersOfConstantNodes(model_.graph);
    if (!hide) return engine.Run(rules_);
    RuntimeShapes shapes(model_, *options_.binding, registry_);
    if (!shapes.AnyHidden()) return engine.Run(rules_);
    SIMPRED_RETURN_IF_ERROR(shapes.Hide());
    engine.InferAfterWalks([&shapes] { return shapes.Hide(); });
    SIMPRED_RETURN_IF_ERROR(engine.Run(rules_));
    return shapes.Restore();
  }

  void Drop(const std::string& rule, const Status& why) {
    options_.off.insert(rule);
    model_.warnings.push_back({"fusion rule '" + rule + "' failed and was not used: " + std::string(why.message())});
  }

  Model& model_;
  const std::vector<FusionRule>& rules_;
  FusionOptions options_;
  const Registry& registry_;
};

}  // namespace

FusionRule MakeRule(std::string name, FusionLevel level, std::string summary, int (*rewrite)(Rewriter&)) {
  FusionRule rule;
  rule.name = std::move(name);
  rule.level = level;
  rule.summary = std::move(summary);
  rule.source =
      "onnxruntime.ai/docs/performance/model-optimizations/graph-optimizations.html, and the optimised models that "
      "ONNX "
      "Runtime 1.30 saves";
  rule.apply = [rewrite](Model& model, FusionContext& context) -> Result<int> {
    Rewriter rewriter(model, context);
    return rewrite(rewriter);
  };
  return rule;
}

Result<FusionReport> Fuse(Model& model, const std::vector<FusionRule>& rules, const FusionOptions& options,
                          const Registry& registry) {
  return Fusion(model, rules, options, registry).Run();
}

}  // namespace simpred
