// show RUN: a saved prediction, in any view.
#include <fmt/format.h>

#include <memory>

#include "calibrate/database.h"
#include "cli/command.h"
#include "report/report.h"

namespace simpred {
namespace {

struct ShowCommand {
  int64_t run = 0;
  std::string database;
  bool all = false;
};

Status RunShow(const ShowCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(o.database, Database::Mode::kReadOnly));
  SIMPRED_ASSIGN_OR_RETURN(const std::optional<Database::SavedRun> saved, db.LoadPrediction(o.run));
  if (!saved)
    return UsageError(fmt::format("there is no saved run {}", o.run),
                      "sim_predict predict --save keeps a prediction and says its number");
  auto report = ReportFromJson(saved->report_json);
  if (!report.ok()) return report.status().With(fmt::format("saved run {}", o.run));
  report->run.id = saved->id;
  const View* view = FindView(console.options().format.empty() ? "text" : console.options().format);
  return console.Print(view->render(*report, {.top = 0, .all = o.all, .color = console.color()}));
}

}  // namespace

void AddShowCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<ShowCommand>();
  CLI::App* c = root.add_subcommand("show", "a saved prediction");
  c->add_option("RUN", o->run, "its number, as `predict --save` said")->required();
  c->add_option("--database", o->database, "the file; default: in the user's data folder")->type_name("FILE");
  c->add_flag("--all", o->all, "all operators, not only the longest");
  AddCommonOptions(*c, context.common, ViewNames());
  c->footer("Example:\n  sim_predict show 3 --format html -o run3.html\n");
  c->callback([&context, o] { context.action = [o](Console& console) { return RunShow(*o, console); }; });
}

}  // namespace simpred
