// validate: predicts models that were never measured, then measures them: how far off is the twin?
//
//   model       predicted   90 % interval            measured    deviation  inside  grade
//   vit_ti_16   21.4 ms     19.8 ms to 23.1 ms       21.9 ms     -2.3 %     yes     baseline
//
// All predictions are made before the first measurement, so that none can have seen one. What is measured is stored:
// afterwards these models are part of what is known.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

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

struct ValidateCommand {
  ModelOptions model;
  std::vector<std::string> more;
  std::string library;
  int rounds = 3;
};

constexpr char kFooter[] = R"(Examples:
  sim_predict validate resnet50.onnx mobilenet.onnx
  sim_predict validate a.yaml b.yaml --rounds 5 --format json
)";

struct Subject {
  Config config;
  std::string name;
  MeasureItem item;
  Report report;
  std::string input_shapes;
  bool seen = false;  // its records were in the database before: the deviation may flatter
  std::optional<GraphMeasurement> measured;
  double deviation() const { return report.latency / measured->end_to_end - 1; }
  bool inside() const { return report.low <= measured->end_to_end && measured->end_to_end <= report.high; }
};

std::string Percent(double share) { return FormatFixed(share * 100, 1) + " %"; }
std::string Signed(double share) { return (share > 0 ? "+" : "") + Percent(share); }

Result<std::optional<GraphMeasurement>> FindMeasured(Database& db, const Subject& s, const DeviceProfile& device,
                                                     int threads, int64_t session) {
  RecordFilter filter;
  filter.fingerprint = device.fingerprint;
  filter.threads = threads;
  filter.kinds = {"model"};
  filter.models = {s.report.run.model_sha256};
  SIMPRED_ASSIGN_OR_RETURN(std::vector<simpred::Run> runs, db.Runs(filter));
  if (session != 0) std::erase_if(runs, [&](const simpred::Run& r) { return r.session != session; });
  std::optional<GraphMeasurement> found;
  for (GraphMeasurement& g : JoinRuns(runs)) {
    if (g.fusion_mode == s.config.fusion_mode && g.input_shapes == s.input_shapes) found = std::move(g);
  }
  return found;
}

Result<Subject> PredictFirst(Database& db, const ModelOptions& options, const std::string& input,
                             const DeviceProfile& device) {
  ModelOptions o = options;
  o.input = input;
  Subject s;
  SIMPRED_ASSIGN_OR_RETURN(s.config, ConfigOf(o));
  if (s.config.fusion_mode == "aggressive")
    return UsageError("fusion_mode aggressive cannot be measured: it holds kernels that the runtime does not make",
                      "validate with fusion_mode: auto");
  SIMPRED_ASSIGN_OR_RETURN(const Prepared prepared, PrepareModel(s.config, device, {}));
  s.input_shapes = prepared.input_shapes;
  s.name = std::filesystem::path(input).stem().string();  // of the config, where one is given: it has the better name
  s.item.path = s.config.model_path;
  s.item.family = s.config.family;
  s.item.binding = BindingOf(s.config);
  s.item.level = s.config.fusion_mode == "off" ? FusionLevel::kOff : FusionLevel::kAll;
  SIMPRED_ASSIGN_OR_RETURN(s.report, PredictModel(s.config, {}));
  SIMPRED_ASSIGN_OR_RETURN(const auto before, FindMeasured(db, s, device, s.config.runtime.threads, 0));
  s.seen = before.has_value();
  return s;
}

std::string AsText(const std::vector<Subject>& subjects, const DeviceProfile& device) {
  Table t({{"model", Align::kLeft, 40},
           {"predicted", Align::kRight},
           {"90 % interval", Align::kRight},
           {"measured", Align::kRight},
           {"deviation", Align::kRight},
           {"inside"},
           {"rounds differ", Align::kRight},
           {"grade"}});
  double sum = 0;
  size_t inside = 0, n = 0;
  for (const Subject& s : subjects) {
    if (!s.measured) {
      t.Row({s.name, ToString(s.report.latency), "", "not measured"});
      continue;
    }
    ++n;
    sum += std::abs(s.deviation());
    inside += s.inside() ? 1 : 0;
    t.Row({s.name + (s.seen ? " (seen before)" : ""), ToString(s.report.latency),
           fmt::format("{} to {}", s.report.low, s.report.high), ToString(s.measured->end_to_end),
           Signed(s.deviation()), s.inside() ? "yes" : "no", Percent(s.measured->spread),
           std::string(Name(s.report.grade))});
  }
  std::string text = fmt::format("Predicted first, then measured on {}\n\n{}", TerminalSafe(device.name), t.ToString());
  if (n > 0)
    text += fmt::format("\n  mean absolute deviation {}; {} of {} measured times lie inside their interval\n",
                        Percent(sum / static_cast<double>(n)), inside, n);
  return text;
}

std::string AsJson(const std::vector<Subject>& subjects) {
  std::string out = "{\n  \"schema\": \"sim_predict.validation/1\",\n  \"models\": [";
  const char* separator = "\n    ";
  for (const Subject& s : subjects) {
    out += fmt::format(
        "{}{{\"model\": {}, \"predicted_us\": {}, \"interval_us\": [{}, {}], \"grade\": {}, \"seen_before\": {}",
        separator, JsonString(s.name), FormatFixed(s.report.latency / Microseconds(1), 3),
        FormatFixed(s.report.low / Microseconds(1), 3), FormatFixed(s.report.high / Microseconds(1), 3),
        JsonString(std::string(Name(s.report.grade))), s.seen);
    if (s.measured)
      out += fmt::format(", \"measured_us\": {}, \"deviation\": {}, \"inside\": {}, \"rounds\": {}",
                         FormatFixed(s.measured->end_to_end / Microseconds(1), 3), FormatFixed(s.deviation(), 5),
                         s.inside(), s.measured->rounds);
    out += "}";
    separator = ",\n    ";
  }
  return out + "\n  ]\n}\n";
}

Status RunValidate(const ValidateCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const Config config, ConfigOf(o.model));
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile device, DeviceOf(config));
  if (device.kind != "cpu")
    return UnavailableError(fmt::format("device {} is not here, so nothing can be measured on it", device.name),
                            "compare with what its profiler wrote, or validate with device: cpu");
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(config.database, Database::Mode::kReadWrite));
  std::vector<std::string> inputs{o.model.input};
  inputs.insert(inputs.end(), o.more.begin(), o.more.end());
  std::vector<Subject> subjects;
  std::vector<MeasureItem> items;
  for (const std::string& input : inputs) {
    SIMPRED_ASSIGN_OR_RETURN(Subject s, PredictFirst(db, o.model, input, device));
    items.push_back(s.item);
    subjects.push_back(std::move(s));
  }
  const InterruptGuard interrupt;
  CalibrateOptions options;
  options.device = device;
  options.threads = config.runtime.threads;
  options.rounds = o.rounds;
  options.iters = config.calibrate.iters;
  options.library = o.library;
  options.stop = interrupt.flag();
  options.progress = [&console](double fraction, const std::string& what) { console.Progress(fraction, what); };
  SIMPRED_ASSIGN_OR_RETURN(const MeasureSummary summary, MeasureModels(db, items, options));
  for (const auto& [name, why] : summary.failed) console.Note(fmt::format("not measured: {}: {}", name, why.message()));
  for (Subject& s : subjects) {
    SIMPRED_ASSIGN_OR_RETURN(s.measured, FindMeasured(db, s, device, options.threads, summary.session));
  }
  return console.Print(console.options().format == "json" ? AsJson(subjects) : AsText(subjects, device));
}

}  // namespace

void AddValidateCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<ValidateCommand>();
  CLI::App* c = root.add_subcommand("validate", "predict models, then measure them: how far off is the twin?");
  AddModelOptions(*c, o->model);
  c->add_option("MORE", o->more, "further models or configs");
  c->add_option("--rounds", o->rounds, "processes per model, interleaved")->check(CLI::Range(1, 1000))->type_name("N");
  c->add_option("--onnxruntime", o->library, "libonnxruntime.so; default: searched")->type_name("FILE");
  AddCommonOptions(*c, context.common, {"text", "json"});
  c->footer(kFooter);
  c->callback([&context, o] { context.action = [o](Console& console) { return RunValidate(*o, console); }; });
}

}  // namespace simpred
