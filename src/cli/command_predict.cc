// predict: from a config or a model to a report.
#include <fmt/format.h>

#include <memory>

#include "calibrate/database.h"
#include "cli/calibration.h"
#include "cli/command.h"
#include "cli/fusion_options.h"
#include "cli/model_options.h"
#include "cli/pipeline.h"
#include "report/report.h"

namespace simpred {
namespace {

struct PredictCommand {
  ModelOptions model;
  std::vector<std::string> fusion_off;
  bool all = false;
  int top = 0;
  bool save = false;
  bool compare = false;
};

constexpr char kFooter[] = R"(Examples:
  sim_predict predict --config simulation.yaml
  sim_predict predict resnet50.onnx --shape data=1x3x224x224 --format html -o resnet50.html
  sim_predict predict resnet50.onnx --compare          beside what `measure` measured, without having seen it
  sim_predict predict simulation.yaml --set precision=FP16 --format json
)";

Status Save(const Config& config, Report& report, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(config.database, Database::Mode::kReadWrite));
  Database::SavedRun saved;
  saved.config = config.text;
  saved.config_sha256 = report.run.config_sha256;
  saved.model_path = report.run.model_path;
  saved.structure_sha256 = report.run.model_sha256;
  saved.report_json = RenderJson(report, {});
  SIMPRED_ASSIGN_OR_RETURN(const int64_t id, db.SavePrediction(saved));
  report.run.id = id;
  console.Note(fmt::format("saved as run {}: sim_predict show {}", id, id));
  return OkStatus();
}

Status RunPredict(const PredictCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const Config config, ConfigOf(o.model));
  SIMPRED_ASSIGN_OR_RETURN(PredictionRequest request, FusionRulesOff(o.fusion_off));
  request.compare = o.compare;
  if (config.calibrate.enable && !o.compare) SIMPRED_RETURN_IF_ERROR(CollectWhatIsMissing(config, console));
  SIMPRED_ASSIGN_OR_RETURN(Report report, PredictModel(config, request));
  if (o.save) SIMPRED_RETURN_IF_ERROR(Save(config, report, console));
  if (console.options().format.empty()) console.options().format = config.report.format;
  if (console.options().output.empty()) console.options().output = config.report.output;
  const std::string& format = console.options().format;
  const View* view = FindView(format.empty() ? "text" : format);
  if (view == nullptr) return InternalError(fmt::format("no view '{}'", format));
  ViewOptions v;
  v.all = o.all;
  v.top = o.top > 0 ? o.top : config.report.top;
  v.color = console.color();
  // A result that goes to a file or a program must not hide what a person should know.
  if (view->name != "text" || !console.options().output.empty())
    for (const std::string& w : report.warnings) console.Note("warning: " + w);
  return console.Print(view->render(report, v));
}

}  // namespace

void AddPredictCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<PredictCommand>();
  CLI::App* c = root.add_subcommand("predict", "predict how long a model will take");
  AddModelOptions(*c, o->model);
  AddFusionOptions(*c, o->fusion_off);
  c->add_flag("--all", o->all, "all operators, not only the longest");
  c->add_option("--top", o->top, "number of operators in the table")->check(CLI::Range(1, 1'000'000));
  c->add_flag("--save", o->save, "keep the prediction in the database");
  c->add_flag("--compare", o->compare, "beside the measurement in the database, which the prediction does not see");
  AddCommonOptions(*c, context.common, ViewNames());
  c->footer(kFooter);
  c->callback([&context, o] { context.action = [o](Console& console) { return RunPredict(*o, console); }; });
}

void AddRootFlags(CLI::App& root, CommandContext& context) {
  struct Flags {
    PredictCommand predict;
    CalibrateCommand calibrate;
    bool predicts = false, calibrates = false, lists = false;
  };
  auto o = std::make_shared<Flags>();
  AddModelOptions(root, o->predict.model, /*positional=*/false);
  AddFusionOptions(root, o->predict.fusion_off);
  root.add_flag("--calibrate", o->calibrates, "calibrate the device for the config's model");
  root.add_flag("--predict", o->predicts, "predict the config's model");
  root.add_flag("--all", o->predict.all, "all operators, not only the longest");
  root.add_flag("--list-fusions", o->lists, "the fusion rules that are known");
  AddCommonOptions(root, context.common, ViewNames());
  root.parse_complete_callback([&context, &root, o] {
    if (!root.get_subcommands().empty()) return;
    context.action = [o](Console& console) -> Status {
      if (o->lists) return ListFusions(console);
      if (!o->calibrates && !o->predicts)
        return UsageError("nothing to do", o->predict.model.config.empty() ? "see sim_predict --help"
                                                                           : "add --predict, --calibrate or both");
      o->calibrate.model = o->predict.model;
      if (o->calibrates) SIMPRED_RETURN_IF_ERROR(RunCalibrate(o->calibrate, console, /*print=*/!o->predicts));
      return o->predicts ? RunPredict(o->predict, console) : OkStatus();
    };
  });
}

}  // namespace simpred
