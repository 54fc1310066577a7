// measure: runs the model on the target and records it; the collector alone.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/numbers.h"
#include "calibrate/calibrate.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/model_options.h"
#include "cli/pipeline.h"
#include "report/escape.h"
#include "report/table.h"

namespace simpred {
namespace {

using Align = Table::Align;

struct MeasureCommand {
  ModelOptions model;
  std::string library;
  int rounds = 3, iters = 0, top = 10;
};

constexpr char kFooter[] = R"(Examples:
  sim_predict measure resnet50.onnx --shape data=1x3x224x224
  sim_predict measure resnet50.onnx --rounds 5 --iters 200 --format json
)";

struct Outcome {
  GraphMeasurement graph;
  std::vector<simpred::Run> runs;
  struct KernelTime {
    std::string name, type;
    Duration raw;  // of the best round
    int rounds = 0;
  };
  std::vector<KernelTime> kernels;  // longest first
};

std::string Percent(double share) { return FormatFixed(share * 100, 1) + " %"; }
std::string Micros(Duration d) { return FormatFixed(d / Microseconds(1), 3); }

Result<Outcome> Load(Database& db, int64_t session) {
  Outcome out;
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db.Runs({}));
  for (const simpred::Run& r : runs)
    if (r.session == session) out.runs.push_back(r);
  const std::vector<GraphMeasurement> joined = JoinRuns(out.runs);
  if (joined.empty()) return UnavailableError("no round was finished", "run the command again; -v says more");
  out.graph = joined[0];
  RecordFilter filter;
  filter.models = {out.graph.structure_sha256};
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Record> records, db.Records(filter));
  std::map<std::string, Outcome::KernelTime> by_name;
  for (const Record& r : records) {
    if (r.session != session) continue;
    Outcome::KernelTime& k = by_name[r.kernel.name];
    if (k.rounds++ == 0 || r.raw.p10 < k.raw) k.raw = r.raw.p10;
    k.name = r.kernel.name;
    k.type = r.kernel.type;
  }
  for (auto& [name, k] : by_name) out.kernels.push_back(std::move(k));
  std::stable_sort(out.kernels.begin(), out.kernels.end(), [](const auto& a, const auto& b) { return a.raw > b.raw; });
  return out;
}

std::string AsText(const Outcome& o, const std::string& model, int top) {
  std::string text =
      fmt::format("{}\n\nEnd to end\n  {} (10th percentile, best of {} rounds; the two best differ by {})\n\n",
                  TerminalSafe(model), o.graph.end_to_end, o.graph.rounds, Percent(o.graph.spread));
  Table rounds({{"round", Align::kRight},
                {"runs", Align::kRight},
                {"min", Align::kRight},
                {"p10", Align::kRight},
                {"median", Align::kRight},
                {"p90", Align::kRight}});
  for (const simpred::Run& r : o.runs)
    rounds.Row({fmt::to_string(r.round), fmt::to_string(r.end_to_end.count), ToString(r.end_to_end.min),
                ToString(r.end_to_end.p10), ToString(r.end_to_end.median), ToString(r.end_to_end.p90)});
  text +=
      rounds.ToString() + fmt::format("\nKernels ({} of {}), as the profiler says: its own cost is still in\n",
                                      std::min<size_t>(static_cast<size_t>(top), o.kernels.size()), o.kernels.size());
  Table kernels({{"kernel", Align::kLeft, 50}, {"type"}, {"p10", Align::kRight}});
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(top), o.kernels.size()); ++i)
    kernels.Row({o.kernels[i].name, o.kernels[i].type, ToString(o.kernels[i].raw)});
  return text + kernels.ToString() + "\nStored; `sim_predict predict MODEL --compare` shows it beside a prediction.\n";
}

std::string AsJson(const Outcome& o, const std::string& model, int64_t session) {
  std::string out = fmt::format(
      "{{\n  \"model\": {},\n  \"session\": {},\n  \"input_shapes\": {},\n  \"end_to_end\": {{\"latency_us\": {}, "
      "\"statistic\": \"p10\", \"rounds\": {}, \"spread\": {}}},\n  \"rounds\": [",
      JsonString(model), session, JsonString(o.graph.input_shapes), Micros(o.graph.end_to_end), o.graph.rounds,
      FormatDouble(o.graph.spread));
  const char* separator = "\n    ";
  for (const simpred::Run& r : o.runs) {
    out += fmt::format(
        "{}{{\"round\": {}, \"count\": {}, \"min_us\": {}, \"p10_us\": {}, \"median_us\": {}, \"p90_us\": {}}}",
        separator, r.round, r.end_to_end.count, Micros(r.end_to_end.min), Micros(r.end_to_end.p10),
        Micros(r.end_to_end.median), Micros(r.end_to_end.p90));
    separator = ",\n    ";
  }
  out += "\n  ],\n  \"kernels\": [";
  separator = "\n    ";
  for (const Outcome::KernelTime& k : o.kernels) {
    out += fmt::format("{}{{\"name\": {}, \"type\": {}, \"raw_p10_us\": {}}}", separator, JsonString(k.name),
                       JsonString(k.type), Micros(k.raw));
    separator = ",\n    ";
  }
  return out + "\n  ]\n}\n";
}

Status RunMeasure(const MeasureCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const Config config, ConfigOf(o.model));
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile device, DeviceOf(config));
  if (device.kind != "cpu")
    return UnavailableError(
        fmt::format("device {} is not here", device.name),
        device.collector.empty() ? "measure on the board with its profiler" : "on the board, run: " + device.collector);
  // What cannot be read or bound is said before the runtime is started, in better words.
  SIMPRED_ASSIGN_OR_RETURN(const Prepared prepared, PrepareModel(config, device, {}));
  MeasureItem item;
  item.path = config.model_path;
  item.family = config.family;
  item.binding = BindingOf(config);
  item.level = config.fusion_mode == "off" ? FusionLevel::kOff : FusionLevel::kAll;
  const InterruptGuard interrupt;
  CalibrateOptions options;
  options.device = device;
  options.threads = config.runtime.threads;
  options.rounds = o.rounds;
  options.iters = o.iters > 0 ? o.iters : config.calibrate.iters;
  options.library = o.library;
  options.stop = interrupt.flag();
  options.progress = [&console](double fraction, const std::string& what) { console.Progress(fraction, what); };
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(config.database, Database::Mode::kReadWrite));
  SIMPRED_ASSIGN_OR_RETURN(const MeasureSummary summary, MeasureModels(db, {item}, options));
  if (!summary.failed.empty()) return summary.failed[0].second.With("measuring model " + summary.failed[0].first);
  SIMPRED_ASSIGN_OR_RETURN(const Outcome outcome, Load(db, summary.session));
  const std::string model = config.model_path.stem().string();
  return console.Print(console.options().format == "json" ? AsJson(outcome, model, summary.session)
                                                          : AsText(outcome, model, o.top));
}

}  // namespace

void AddMeasureCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<MeasureCommand>();
  CLI::App* c = root.add_subcommand("measure", "run the model on the target and record it");
  AddModelOptions(*c, o->model);
  c->add_option("--rounds", o->rounds, "processes, one after the other")->check(CLI::Range(1, 1000))->type_name("N");
  c->add_option("--iters", o->iters, "runs of each kind in a process (default: calibrate.iters)")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  c->add_option("--top", o->top, "number of kernels in the table")->check(CLI::Range(1, 1'000'000))->type_name("N");
  c->add_option("--onnxruntime", o->library, "libonnxruntime.so; default: searched")->type_name("FILE");
  AddCommonOptions(*c, context.common, {"text", "json"});
  c->footer(kFooter);
  c->callback([&context, o] { context.action = [o](Console& console) { return RunMeasure(*o, console); }; });
}

}  // namespace simpred
