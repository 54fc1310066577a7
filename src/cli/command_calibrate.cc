// calibrate: the device before any model is known, or a model's own kernels in a closed loop.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/numbers.h"
#include "base/units_parse.h"
#include "calibrate/calibrate.h"
#include "cli/calibration.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/pipeline.h"
#include "report/escape.h"
#include "report/table.h"

namespace simpred {
namespace {

using Align = Table::Align;

constexpr char kFooter[] = R"(Examples:
  sim_predict calibrate --device cpu --budget 4min      the device, before any model is known
  sim_predict calibrate resnet50.onnx                   and this model's own kernels
  sim_predict calibrate a.onnx b.onnx c.yaml            several models at once
  sim_predict calibrate --config simulation.yaml
)";

std::string Percent(double share) { return FormatFixed(share * 100, 1) + " %"; }
std::string Signed(double share) { return fmt::format("{}{}", share > 0 ? "+" : "", Percent(share)); }

// A calibration needs the device: measured here for cpu, through files for all others.
Status CheckMeasurable(const DeviceProfile& device) {
  if (device.kind == "cpu") return OkStatus();
  const std::string how = device.collector.empty() ? fmt::format("the profiler of {}", device.name) : device.collector;
  return UnavailableError(
      fmt::format("device {} is not here, and reading what its profiler wrote is not available in this version",
                  device.name),
      fmt::format(
          "on the board, run: {}; without records, `sim_predict predict` shows the trend from the device's profile",
          how));
}

constexpr Duration kDeviceFirst = Seconds(120);  // of measuring, when a model is calibrated on a device that never was

Result<CalibrateOptions> OptionsOf(const Config& config, const DeviceProfile& device, const CalibrateCommand& o,
                                   Console& console, const InterruptGuard& interrupt) {
  CalibrateOptions c;
  c.device = device;
  c.threads = config.runtime.threads;
  c.rounds = o.rounds;
  c.iters = config.calibrate.iters;
  c.library = o.library;
  c.measure_again = o.rerun;
  c.stop = interrupt.flag();
  c.progress = [&console](double fraction, const std::string& what) { console.Progress(fraction, what); };
  if (!o.budget.empty()) {
    const auto budget = ParseDuration(o.budget);
    if (!budget.ok())
      return UsageError(fmt::format("--budget {}: {}", o.budget, budget.status().message()), "write --budget 5min");
    c.budget = *budget;
  }
  return c;
}

std::string NoisyText(const std::vector<NoisyKernel>& noisy) {
  if (noisy.empty()) return {};
  constexpr size_t kMost = 5;
  std::string text = fmt::format("\n  {} kernels were too noisy and are kept out of the fit:\n", noisy.size());
  for (size_t i = 0; i < std::min(noisy.size(), kMost); ++i)
    text += TerminalSafe(fmt::format("    {} in {}: {}, spread {}", noisy[i].kernel, noisy[i].model, noisy[i].time,
                                     Percent(noisy[i].spread))) +
            "\n";
  if (noisy.size() > kMost) text += fmt::format("    and {} more\n", noisy.size() - kMost);
  return text;
}

std::string DeviceText(const DeviceProfile& device, const DeviceCalibration& d) {
  std::string text = fmt::format(
      "Calibrated {} ({}) with {} {}\n\n  {} generated kernels and {} generated networks, {} records, {} samples\n"
      "  the profiler adds {} to a kernel; the smallest kernel takes {}, a run costs {}\n"
      "  the rounds of a kernel differ by {} (median)\n",
      device.name, TerminalSafe(device.description), device.runtime, d.runtime_version, d.kernels_measured,
      d.networks_measured, d.records, d.samples, d.bias.kernel_bias, d.bias.smallest, d.bias.run_cost,
      Percent(d.noise_median));
  if (d.failed > 0)
    text += fmt::format("  {} generated models could not be run; the first: {}\n", d.failed,
                        d.failures.empty() ? "" : TerminalSafe(d.failures[0]));
  text += NoisyText(d.noisy);
  text += "\nHeld-out deviation of single kernels, by kind\n\n";
  Table t({{"kind"},
           {"samples", Align::kRight},
           {"mean", Align::kRight},
           {"median", Align::kRight},
           {"within 15 %", Align::kRight},
           {"learner"}});
  for (const FitSummary::Group& g : d.fit.groups)
    t.Row({g.group, fmt::to_string(g.samples), Percent(g.mean_error), Percent(g.median_error), Percent(g.within15),
           g.learner});
  return text + t.ToString();
}

std::string ModelText(const ModelCalibration& m, double threshold) {
  std::string text = fmt::format(
      "{}\n\n  {} kernels, {} distinct: {} fitted, {} to correct on, {} judge what nothing else has seen\n"
      "  measured {} ({} rounds, they differ by {}), predicted {}: deviation {}\n",
      TerminalSafe(m.model), m.kernels, m.distinct, m.fitted, m.corrected_on, m.judged, m.measured.end_to_end,
      m.measured.rounds, Percent(m.noise), m.predicted, Signed(m.deviation));
  if (m.judged > 0)
    text += fmt::format("  judge kernels: mean deviation {}, {} within 15 %\n", Percent(m.judge_mean),
                        Percent(m.judge_within15));
  text += NoisyText(m.noisy);
  Table t({{"round", Align::kRight}, {"action"}, {"end to end", Align::kRight}, {"kernels", Align::kRight}});
  for (const LoopRound& r : m.log)
    t.Row({fmt::to_string(r.round), r.action, Signed(r.end_to_end_deviation), Percent(r.kernel_deviation)});
  text += "\n  Closed loop\n" + t.ToString(4);
  if (!m.bias_analysis.empty()) text += "\n  Bias\n";
  for (const std::string& line : m.bias_analysis) text += "    " + TerminalSafe(line) + "\n";
  if (!m.within_threshold) {
    text += fmt::format("\n  The deviation stayed above the threshold of {}. To blame:\n", Percent(threshold));
    for (const std::string& line : m.to_blame) text += "    " + TerminalSafe(line) + "\n";
  }
  return text;
}

Status Emit(const std::string& text, Console& console, bool print) {
  if (print) return console.Print(text);
  console.Note(text);
  return OkStatus();
}

Status Interrupted(const InterruptGuard& interrupt, Console& console) {
  if (interrupt.flag()->load()) console.Note("stopped: what was measured is kept, the same command goes on from there");
  return OkStatus();
}

Status CalibrateTheDevice(const Config& config, const DeviceProfile& device, const CalibrateCommand& o,
                          Console& console, bool print) {
  const InterruptGuard interrupt;
  SIMPRED_ASSIGN_OR_RETURN(const CalibrateOptions options, OptionsOf(config, device, o, console, interrupt));
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(config.database, Database::Mode::kReadWrite));
  console.Detail(fmt::format("calibrating {} for {}", device.name, options.budget));
  SIMPRED_ASSIGN_OR_RETURN(const DeviceCalibration d, CalibrateDevice(db, options));
  SIMPRED_RETURN_IF_ERROR(Interrupted(interrupt, console));
  return Emit(DeviceText(device, d), console, print);
}

// The model as it is stored is what is measured; a precision that it is not stored in is refused here.
Result<ModelToCalibrate> RequestOf(const Config& config, const DeviceProfile& device, bool rerun) {
  SIMPRED_ASSIGN_OR_RETURN(const Prepared prepared, PrepareModel(config, device, {}));
  if (config.fusion_mode == "aggressive")
    return UsageError("fusion_mode aggressive cannot be measured: it holds kernels that the runtime does not make",
                      "calibrate with fusion_mode: auto, predict with aggressive");
  ModelToCalibrate m;
  m.item.path = config.model_path;
  m.item.family = config.family;
  m.item.binding = BindingOf(config);
  m.item.level = config.fusion_mode == "off" ? FusionLevel::kOff : FusionLevel::kAll;
  m.sample_ratio = config.calibrate.sample_ratio;
  m.threshold = config.calibrate.threshold;
  m.measure_again = rerun;
  return m;
}

// Has this device, at this number of threads, been measured with generated models? Without that the twin would know the
// kernels of this one model only.
Result<bool> IsDeviceCalibrated(Database& db, const CalibrateOptions& options) {
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Session> sessions, db.Sessions());
  return std::any_of(sessions.begin(), sessions.end(), [&](const Session& s) {
    return s.kind == "generated-networks" && s.fingerprint == options.device.fingerprint &&
           s.threads == options.threads;
  });
}

Status CalibrateTheDeviceFirst(Database& db, CalibrateOptions options, const CalibrateCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const bool calibrated, IsDeviceCalibrated(db, options));
  if (calibrated) return OkStatus();
  if (o.budget.empty()) options.budget = kDeviceFirst;
  console.Note(
      fmt::format("the device was never calibrated: generated kernels and networks are measured first, for {} "
                  "(--budget for more or less)",
                  options.budget));
  SIMPRED_ASSIGN_OR_RETURN(const DeviceCalibration d, CalibrateDevice(db, options));
  console.Detail(fmt::format("{} generated kernels, {} networks", d.kernels_measured, d.networks_measured));
  return OkStatus();
}

Status CalibrateTheModels(const std::vector<Config>& configs, const DeviceProfile& device, const CalibrateCommand& o,
                          Console& console, bool print) {
  std::vector<ModelToCalibrate> requests;
  for (const Config& config : configs) {
    SIMPRED_ASSIGN_OR_RETURN(ModelToCalibrate request, RequestOf(config, device, o.rerun));
    requests.push_back(std::move(request));
  }
  const InterruptGuard interrupt;
  SIMPRED_ASSIGN_OR_RETURN(const CalibrateOptions options, OptionsOf(configs[0], device, o, console, interrupt));
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(configs[0].database, Database::Mode::kReadWrite));
  SIMPRED_RETURN_IF_ERROR(CalibrateTheDeviceFirst(db, options, o, console));
  if (interrupt.flag()->load()) return Interrupted(interrupt, console);
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<ModelCalibration> models, CalibrateModels(db, requests, options));
  SIMPRED_RETURN_IF_ERROR(Interrupted(interrupt, console));
  std::string text;
  std::vector<std::string> above;
  for (size_t i = 0; i < models.size(); ++i) {
    const ModelCalibration& m = models[i];
    text += (i > 0 ? "\n" : "") + ModelText(m, requests[i].threshold);
    if (m.within_threshold) continue;
    above.push_back(fmt::format("{}: end to end {}, judge kernels {}, threshold {}", m.model, Signed(m.deviation),
                                Percent(m.judge_mean), Percent(requests[i].threshold)));
  }
  SIMPRED_RETURN_IF_ERROR(Emit(text, console, print));
  if (above.empty()) return OkStatus();
  return Status(StatusCode::kDeviation,
                fmt::format("calibrated, but the deviation stayed above the threshold ({})", fmt::join(above, "; ")),
                "the kernels to blame are listed; more rounds (--rounds), more calibration of the device (calibrate "
                "--device cpu --budget 10min), or a larger calibrate.threshold");
}

// Does the database hold this model at these shapes and switches?
Result<bool> IsMeasured(const Config& config, const DeviceProfile& device) {
  SIMPRED_ASSIGN_OR_RETURN(const Prepared prepared, PrepareModel(config, device, {}));
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(config.database, Database::Mode::kReadOnly));
  RecordFilter filter;
  filter.fingerprint = device.fingerprint;
  filter.runtime_version = config.runtime.version;
  filter.threads = config.runtime.threads;
  filter.kinds = {"model"};
  filter.models = {prepared.workload.structure_sha256};
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db.Runs(filter));
  for (const GraphMeasurement& g : JoinRuns(runs))
    if (g.fusion_mode == config.fusion_mode && g.input_shapes == prepared.input_shapes) return true;
  return false;
}

}  // namespace

Status RunCalibrate(const CalibrateCommand& o, Console& console, bool print) {
  SIMPRED_ASSIGN_OR_RETURN(const Config config, ConfigOf(o.model, /*needs_model=*/false));
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile device, DeviceOf(config));
  SIMPRED_RETURN_IF_ERROR(CheckMeasurable(device));
  if (config.model_path.empty()) return CalibrateTheDevice(config, device, o, console, print);
  std::vector<Config> configs{config};
  for (const std::string& input : o.more) {
    ModelOptions next = o.model;
    next.input = input;
    SIMPRED_ASSIGN_OR_RETURN(Config c, ConfigOf(next));
    configs.push_back(std::move(c));
  }
  return CalibrateTheModels(configs, device, o, console, print);
}

Status CollectWhatIsMissing(const Config& config, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile device, DeviceOf(config));
  if (device.kind != "cpu") return OkStatus();
  if (const auto library = FindOnnxRuntime(); !library.ok()) {
    console.Note(fmt::format("calibrate.enable: nothing is collected: {}", library.status().message()));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(const bool measured, IsMeasured(config, device));
  if (measured) return OkStatus();
  const Status status = CalibrateTheModels({config}, device, {}, console, /*print=*/false);
  return status.code() == StatusCode::kDeviation ? OkStatus() : status;  // the report states its doubt
}

void AddCalibrateCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<CalibrateCommand>();
  CLI::App* c = root.add_subcommand("calibrate", "measure, fit and correct");
  AddModelOptions(*c, o->model);
  c->add_option("MORE", o->more, "further models or configs, measured interleaved and fitted together");
  c->add_option("--budget", o->budget, "time for measuring the device, such as 5min (default 4min)")->type_name("TIME");
  c->add_option("--rounds", o->rounds, "processes per model, spread over time")
      ->check(CLI::Range(1, 100))
      ->type_name("N");
  c->add_option("--onnxruntime", o->library, "libonnxruntime.so; default: searched")->type_name("FILE");
  c->add_flag("--rerun", o->rerun, "measure again what the database holds");
  AddCommonOptions(*c, context.common, {"text"});
  c->footer(kFooter);
  c->callback(
      [&context, o] { context.action = [o](Console& console) { return RunCalibrate(*o, console, /*print=*/true); }; });
}

}  // namespace simpred
