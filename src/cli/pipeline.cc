#include "cli/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "calibrate/calibrate.h"
#include "calibrate/database.h"
#include "cli/exclude.h"
#include "cli/git_commit.h"
#include "cli/precision.h"
#include "predict/predictor.h"

namespace simpred {
namespace {

// What the database knows of this device with this runtime and these switches.
struct Knowledge {
  Twin twin;
  std::map<std::string, KernelMeasurement> measured;
  std::optional<GraphMeasurement> graph;              // of this model, for comparison
  std::map<std::string, KernelMeasurement> compared;  // its kernels
  std::string runtime_version;
  std::string calibration;
  std::vector<std::string> warnings;
};

// Nothing was fitted; what was not measured either is the roofline.
constexpr char kPartlyMeasured[] =
    "no calibration of this device is known: kernels that were not measured themselves are the roofline of its "
    "profile; "
    "run `sim_predict calibrate --device {}`";
constexpr char kTrendOnly[] =
    "TREND ONLY: no calibration of this device is known, every time is the roofline of its profile; run `sim_predict "
    "calibrate --device {}` first";

// The version that the config or the device names, else the newest that was measured here.
Result<std::string> RuntimeVersion(Database& db, const Config& config, const DeviceProfile& device) {
  if (!config.runtime.version.empty()) return config.runtime.version;
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Session> sessions, db.Sessions());
  const Session* newest = nullptr;
  for (const Session& s : sessions)
    if (s.fingerprint == device.fingerprint && s.runtime == device.runtime && s.threads == config.runtime.threads &&
        (newest == nullptr || s.id > newest->id))
      newest = &s;
  return newest == nullptr ? device.runtime_version : newest->runtime_version;
}

RecordFilter FilterOf(const Config& config, const DeviceProfile& device, const std::string& runtime_version) {
  RecordFilter f;
  f.fingerprint = device.fingerprint;
  f.runtime = device.runtime;
  f.runtime_version = runtime_version;
  f.threads = config.runtime.threads;
  f.context = KernelContext::kInGraph;
  return f;
}

std::vector<std::string> Signatures(const Workload& w) {
  std::vector<std::string> signatures;
  signatures.reserve(w.kernels.size());
  for (const Kernel& k : w.kernels) signatures.push_back(k.signature);
  std::sort(signatures.begin(), signatures.end());
  signatures.erase(std::unique(signatures.begin(), signatures.end()), signatures.end());
  return signatures;
}

// The database keeps what the profiler said; a kernel's own time is without the profiler's part.
void TakeOutBias(const std::optional<MeasurementBias>& bias, std::map<std::string, KernelMeasurement>& measured) {
  if (!bias) return;
  for (auto& [signature, m] : measured) m.time = bias->Correct(m.time);
}

Status LoadComparison(Database& db, const Prepared& prepared, RecordFilter filter, Knowledge& k) {
  filter.models = {prepared.workload.structure_sha256};
  filter.kinds = {"model"};
  filter.context.reset();
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<simpred::Run> runs, db.Runs(filter));
  for (GraphMeasurement& g : JoinRuns(runs))
    if (g.fusion_mode == prepared.workload.fusion_mode && g.input_shapes == prepared.input_shapes)
      k.graph = std::move(g);
  if (!k.graph)
    return DatabaseError("there is no measurement of this model at these shapes and switches to compare with",
                         "measure it first: sim_predict measure MODEL");
  filter.context = KernelContext::kInGraph;
  SIMPRED_ASSIGN_OR_RETURN(k.compared, db.Lookup(Signatures(prepared.workload), filter));
  return OkStatus();
}

Status Load(Database& db, const Config& config, const PredictionRequest& request, const DeviceProfile& device,
            const Prepared& prepared, Knowledge& k) {
  SIMPRED_ASSIGN_OR_RETURN(k.runtime_version, RuntimeVersion(db, config, device));
  SIMPRED_ASSIGN_OR_RETURN(
      const std::optional<StoredTwin> stored,
      db.GetTwin(TwinKey(device.fingerprint, device.runtime, k.runtime_version, config.runtime.threads)));
  if (stored) {
    SIMPRED_ASSIGN_OR_RETURN(k.twin, Twin::Deserialize(stored->bytes));
    k.calibration = fmt::format("calibrated on {}", stored->summary);
  }
  RecordFilter filter = FilterOf(config, device, k.runtime_version);
  if (request.compare) {
    SIMPRED_RETURN_IF_ERROR(LoadComparison(db, prepared, filter, k));
    filter.without_models = {prepared.workload.structure_sha256};
  }
  SIMPRED_ASSIGN_OR_RETURN(k.measured, db.Lookup(Signatures(prepared.workload), filter));
  SIMPRED_ASSIGN_OR_RETURN(const std::optional<MeasurementBias> bias,
                           db.FindBias(device.fingerprint, k.runtime_version, config.runtime.threads));
  TakeOutBias(bias, k.measured);
  TakeOutBias(bias, k.compared);
  return OkStatus();
}

Result<Knowledge> KnowledgeOf(const Config& config, const PredictionRequest& request, const DeviceProfile& device,
                              const Prepared& prepared) {
  Knowledge k{.twin = Twin::Analytic(device, config.runtime.threads),
              .measured = {},
              .graph = {},
              .compared = {},
              .runtime_version = device.runtime_version,
              .calibration = {},
              .warnings = {}};
  auto db = Database::Open(config.database, Database::Mode::kReadOnly);
  const Status loaded = db.ok() ? Load(*db, config, request, device, prepared, k) : db.status();
  if (!loaded.ok()) {
    if (request.compare) return loaded;
    k.twin = Twin::Analytic(device, config.runtime.threads);
    k.measured.clear();
    k.calibration.clear();
    k.warnings.push_back(fmt::format("the calibration database cannot be used: {}{}{}", loaded.message(),
                                     loaded.hint().empty() ? "" : "; ", loaded.hint()));
  }
  if (k.calibration.empty()) {
    k.warnings.push_back(k.measured.empty() ? fmt::format(kTrendOnly, device.name)
                                            : fmt::format(kPartlyMeasured, device.name));
    k.calibration =
        k.measured.empty() ? "not calibrated: trend only" : "not calibrated, but some kernels were measured";
  }
  return k;
}

Result<PredictOptions> OptionsOf(const Config& config, const Workload& w, const Knowledge& k) {
  PredictOptions o;
  o.measured = k.measured;
  o.known_deviation = config.known_deviation;
  SIMPRED_ASSIGN_OR_RETURN(o.exclude, ExcludedKernels(w, config.exclude));
  o.latency_overrides = config.latency_overrides;
  o.memory_correction = config.memory_correction;
  o.compute_correction = config.compute_correction;
  return o;
}

RunInfo InfoOf(const Config& config, const DeviceProfile& device, const Prepared& p, const Knowledge& k) {
  RunInfo i;
  i.tool_version = ToolVersion();
  i.config = config.text;
  i.config_sha256 = Sha256Hex(config.text);
  i.model_path = config.model_path.string();
  i.model_name = config.model_path.stem().string();
  i.model_sha256 = p.workload.structure_sha256;
  i.model_version = !config.model_version.empty() ? config.model_version
                    : p.model_version > 0         ? fmt::to_string(p.model_version)
                                                  : "";
  i.commit = CommitOf(config.model_path);
  i.input_shapes = p.input_shapes;
  i.device = device.name;
  i.device_description = device.description;
  i.runtime = device.runtime;
  i.runtime_version = k.runtime_version;
  i.threads = config.runtime.threads;
  i.precision = p.workload.precision;
  i.fusion_mode = p.workload.fusion_mode;
  i.family = config.family;
  i.calibration = k.calibration;
  return i;
}

void AddComparison(const Workload& w, const Knowledge& k, Report& r) {
  if (!k.graph) return;
  r.comparison = Comparison{k.graph->end_to_end, std::string(Name(Statistic::kP10)), k.graph->rounds, k.graph->spread};
  for (size_t i = 0; i < r.operators.size(); ++i)
    if (const auto found = k.compared.find(w.kernels[i].signature); found != k.compared.end())
      r.operators[i].measured = found->second.time;
}

void AddWarning(Report& r, const std::string& text) {
  if (std::find(r.warnings.begin(), r.warnings.end(), text) == r.warnings.end()) r.warnings.push_back(text);
}

}  // namespace

std::string ToolVersion() { return SIMPRED_VERSION; }

Result<DeviceProfile> DeviceOf(const Config& config) {
  auto device = LoadDevice(config.device, config.folder);
  if (!device.ok()) return device;
  if (!config.runtime.name.empty()) device->runtime = config.runtime.name;
  if (!config.runtime.version.empty()) device->runtime_version = config.runtime.version;
  if (config.runtime.queue_depth > 0) device->launch_queue = config.runtime.queue_depth;
  if (device->kind == "cpu" && device->runtime != "onnxruntime")
    return UnavailableError(fmt::format("runtime '{}' is not available on device '{}'", device->runtime, device->name),
                            "use runtime: {name: onnxruntime}, or leave the key out");
  return device;
}

InferOptions BindingOf(const Config& config) {
  InferOptions o;
  o.input_shapes = config.input_shapes;
  o.symbols = config.symbols;
  return o;
}

Result<Prepared> PrepareModel(const Config& config, const DeviceProfile& device,
                              const std::set<std::string>& fusion_off) {
  PrepareOptions o;
  o.path = config.model_path;
  o.binding = BindingOf(config);
  o.fusion_mode = config.fusion_mode;
  o.fusion_off = fusion_off;
  o.device = &device;
  o.threads = config.runtime.threads;
  SIMPRED_ASSIGN_OR_RETURN(Prepared p, Prepare(o));
  SIMPRED_RETURN_IF_ERROR(
      ApplyPrecision(config.precision, device, p.workload).With("model " + config.model_path.string()));
  return p;
}

Result<Report> PredictModel(const Config& config, const PredictionRequest& request) {
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile device, DeviceOf(config));
  SIMPRED_ASSIGN_OR_RETURN(const Prepared prepared, PrepareModel(config, device, request.fusion_off));
  SIMPRED_ASSIGN_OR_RETURN(Knowledge k, KnowledgeOf(config, request, device, prepared));
  SIMPRED_ASSIGN_OR_RETURN(const PredictOptions options, OptionsOf(config, prepared.workload, k));
  SIMPRED_ASSIGN_OR_RETURN(Prediction prediction, Predict(prepared.workload, k.twin, device, options));
  Report r = BuildReport(InfoOf(config, device, prepared, k), prepared.workload, std::move(prediction), device);
  AddComparison(prepared.workload, k, r);
  for (size_t i = 0; i < k.warnings.size(); ++i)
    r.warnings.insert(r.warnings.begin() + static_cast<std::ptrdiff_t>(i), k.warnings[i]);
  for (const Warning& w : prepared.inference.warnings) AddWarning(r, w.text);
  return r;
}

}  // namespace simpred
