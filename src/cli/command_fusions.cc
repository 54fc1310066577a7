// fusions: which rewrites of the runtime's optimiser are known, and from where.
#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/fusion_options.h"
#include "fusion/fusion.h"
#include "report/escape.h"
#include "report/table.h"

namespace simpred {
namespace {

const char* LevelName(FusionLevel level) {
  switch (level) {
    case FusionLevel::kOff:
      return "off";
    case FusionLevel::kBasic:
      return "basic";
    case FusionLevel::kExtended:
      return "extended";
    case FusionLevel::kAll:
      break;
  }
  return "all";
}

std::string AsJson() {
  std::string out = "[";
  for (const FusionRule& r : OnnxRuntimeRules())
    out += fmt::format("{}\n  {{\"name\": {}, \"level\": \"{}\", \"summary\": {}, \"source\": {}, \"verified\": {}}}",
                       out.size() > 1 ? "," : "", JsonString(r.name), LevelName(r.level), JsonString(r.summary),
                       JsonString(r.source), r.verified);
  return out + "\n]\n";
}

}  // namespace

void AddFusionOptions(CLI::App& command, std::vector<std::string>& off) {
  command.add_option("--fusion-off", off, "a fusion rule that is not applied; see sim_predict fusions")
      ->type_name("RULE")
      ->allow_extra_args(false);
}

Result<PredictionRequest> FusionRulesOff(const std::vector<std::string>& names) {
  PredictionRequest request;
  std::vector<std::string> known;
  if (!names.empty())
    for (const FusionRule& r : OnnxRuntimeRules()) known.push_back(r.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string near = Nearest(name, known);
      return UsageError(fmt::format("there is no fusion rule '{}'", name),
                        near.empty() ? "sim_predict fusions lists them" : fmt::format("did you mean '{}'?", near));
    }
    request.fusion_off.insert(name);
  }
  return request;
}

Status ListFusions(Console& console) {
  if (console.options().format == "json") return console.Print(AsJson());
  Table t({{"rule"}, {"level"}, {"what it does", Table::Align::kLeft, 80}, {"confirmed"}});
  for (const FusionRule& r : OnnxRuntimeRules())
    t.Row({r.name, LevelName(r.level), r.summary, r.verified ? "yes" : "no"});
  return console.Print("Fusion rules of onnxruntime, in the order in which they run\n\n" + t.ToString());
}

void AddFusionsCommand(CLI::App& root, CommandContext& context) {
  CLI::App* c = root.add_subcommand("fusions", "the fusion rules that are known");
  AddCommonOptions(*c, context.common, {"text", "json"});
  c->footer("Example:\n  sim_predict fusions\n  sim_predict predict model.onnx --fusion-off conv-add-activation\n");
  c->callback([&context] { context.action = ListFusions; });
}

}  // namespace simpred
