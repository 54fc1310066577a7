// db: what the calibration database holds, and whether it is sound.
#include <fmt/format.h>

#include <memory>

#include "calibrate/database.h"
#include "cli/command.h"
#include "report/escape.h"
#include "report/table.h"

namespace simpred {
namespace {

using Align = Table::Align;

struct DatabaseCommand {
  std::string path;
};

Result<Database> Open(const DatabaseCommand& o) { return Database::Open(o.path, Database::Mode::kReadOnly); }

std::string CountsText(const char* title, const std::map<std::string, int64_t>& counts) {
  if (counts.empty()) return {};
  Table t({{title}, {"records", Align::kRight}});
  for (const auto& [name, count] : counts) t.Row({name, fmt::to_string(count)});
  return "\n" + t.ToString();
}

std::string CountsJson(const std::map<std::string, int64_t>& counts) {
  std::string out = "{";
  for (const auto& [name, count] : counts)
    out += fmt::format("{}{}: {}", out.size() > 1 ? ", " : "", JsonString(name), count);
  return out + "}";
}

Status RunStats(const DatabaseCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(Database db, Open(o));
  SIMPRED_ASSIGN_OR_RETURN(const DatabaseStats s, db.Stats());
  if (console.options().format == "json")
    return console.Print(fmt::format(
        "{{\n  \"path\": {},\n  \"schema_version\": {},\n  \"file_bytes\": {},\n  \"sessions\": {},\n  \"runs\": {},\n"
        "  \"records\": {},\n  \"distinct_kernels\": {},\n  \"models\": {},\n  \"twins\": {},\n  \"records_by_type\": "
        "{},\n"
        "  \"records_by_kind\": {},\n  \"records_by_device\": {}\n}}\n",
        JsonString(s.path), s.schema_version, s.file_bytes, s.sessions, s.runs, s.records, s.distinct_kernels, s.models,
        s.twins, CountsJson(s.records_by_type), CountsJson(s.records_by_kind), CountsJson(s.records_by_device)));
  return console.Print(fmt::format("{}\n  schema {}, {}\n  {} sessions, {} runs, {} records of {} distinct kernels, {} "
                                   "models, {} fitted twins\n",
                                   TerminalSafe(s.path), s.schema_version, Bytes(s.file_bytes), s.sessions, s.runs,
                                   s.records, s.distinct_kernels, s.models, s.twins) +
                       CountsText("device", s.records_by_device) + CountsText("kind of session", s.records_by_kind) +
                       CountsText("kernel type", s.records_by_type));
}

Status RunList(const DatabaseCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(Database db, Open(o));
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Session> sessions, db.Sessions());
  if (console.options().format == "json") {
    std::string out = "[";
    for (const Session& s : sessions)
      out += fmt::format(
          "{}\n  {{\"id\": {}, \"kind\": {}, \"device\": {}, \"fingerprint\": {}, \"runtime\": {}, "
          "\"runtime_version\": {}, "
          "\"threads\": {}, \"started_at\": {}, \"tool_version\": {}}}",
          out.size() > 1 ? "," : "", s.id, JsonString(s.kind), JsonString(s.device), JsonString(s.fingerprint),
          JsonString(s.runtime), JsonString(s.runtime_version), s.threads, JsonString(s.started_at),
          JsonString(s.tool_version));
    return console.Print(out + "\n]\n");
  }
  Table t({{"session", Align::kRight}, {"kind"}, {"device"}, {"runtime"}, {"threads", Align::kRight}, {"started"}});
  for (const Session& s : sessions)
    t.Row({fmt::to_string(s.id), s.kind, s.device, s.runtime + " " + s.runtime_version, fmt::to_string(s.threads),
           s.started_at});
  std::string text = t.ToString(0);
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db.Runs([] {
    RecordFilter f;
    f.kinds = {"model"};
    return f;
  }()));
  if (runs.empty()) return console.Print(text);
  Table models({{"session", Align::kRight},
                {"round", Align::kRight},
                {"model", Align::kLeft, 40},
                {"inputs", Align::kLeft, 40},
                {"fusion"},
                {"p10", Align::kRight}});
  for (const simpred::Run& r : runs)
    models.Row({fmt::to_string(r.session), fmt::to_string(r.round), r.model_name, r.input_shapes, r.fusion_mode,
                ToString(r.end_to_end.p10)});
  return console.Print(text + "\n" + models.ToString(0));
}

Status RunCheck(const DatabaseCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(Database db, Open(o));
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<std::string> findings, db.Check());
  std::string text;
  for (const std::string& f : findings) text += TerminalSafe(f) + "\n";
  SIMPRED_RETURN_IF_ERROR(console.Print(findings.empty() ? "the database is sound\n" : text));
  if (findings.empty()) return OkStatus();
  return DatabaseError(fmt::format("{} findings in the database", findings.size()),
                       "restore a copy, or move the file away and calibrate again");
}

}  // namespace

void AddDatabaseCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<DatabaseCommand>();
  CLI::App* db = root.add_subcommand("db", "the calibration database");
  db->require_subcommand(1);
  db->footer(
      "Examples:\n  sim_predict db stats\n  sim_predict db list --format json\n  sim_predict db check --database "
      "team.sqlite\n");
  const auto add = [&](const char* name, const char* help, const std::vector<std::string>& formats, const char* example,
                       Status (*run)(const DatabaseCommand&, Console&)) {
    CLI::App* c = db->add_subcommand(name, help);
    c->add_option("--database", o->path, "the file; default: in the user's data folder")->type_name("FILE");
    AddCommonOptions(*c, context.common, formats);
    c->footer(std::string("Example:\n  ") + example + "\n");
    c->callback([&context, o, run] { context.action = [o, run](Console& console) { return run(*o, console); }; });
  };
  add("stats", "how much of what it holds", {"text", "json"}, "sim_predict db stats", RunStats);
  add("list", "sessions and measured models", {"text", "json"}, "sim_predict db list", RunList);
  add("check", "whether it is sound", {"text"}, "sim_predict db check", RunCheck);
}

}  // namespace simpred
