// Which measured times does a fit see? See samples.h.
#include "calibrate/samples.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace simpred {
namespace {

// One model at the same shapes and switches.
struct ModelKey {
  std::string structure_sha256, name, input_shapes, fusion_mode;
  auto operator<=>(const ModelKey&) const = default;
};

// One place of one kernel in one model: what the rounds have in common.
using PlaceKey = std::tuple<ModelKey, std::string, std::string, KernelContext>;  // kernel's name, signature

// The kernel's own time: the lower envelope over the rounds with the measuring's bias taken out. A model of a single
// kernel was also run without the profiler, whose clock ticks in microseconds; that time is the better one.
Duration OwnTime(const std::vector<const Record*>& rounds, const MeasurementBias& bias) {
  std::optional<Duration> profiled, unprofiled;
  for (const Record* r : rounds) {
    if (!profiled || r->raw.p10 < *profiled) profiled = r->raw.p10;
    const auto alone = r->counters.find("unprofiled_ns");
    if (alone != r->counters.end()) {
      const Duration t = Nanoseconds(alone->second);
      if (!unprofiled || t < *unprofiled) unprofiled = t;
    }
  }
  if (unprofiled) return std::max(*unprofiled - bias.run_cost, bias.smallest);
  return bias.Correct(*profiled);
}

struct Distinct {  // one kernel of one model: the mean over its places
  const Record* first = nullptr;
  Duration sum;
  double spread = 0;
  int places = 0;
};

}  // namespace

std::vector<GraphMeasurement> JoinRuns(const std::vector<Run>& runs) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::vector<const Run*>> by_model;
  for (const Run& r : runs) by_model[{r.model_name, r.structure_sha256, r.input_shapes, r.fusion_mode}].push_back(&r);
  std::vector<GraphMeasurement> out;
  for (const auto& [key, rounds] : by_model) {
    std::vector<Duration> times;
    for (const Run* r : rounds) {
      if (r->end_to_end.count > 0) times.push_back(r->end_to_end.p10);
    }
    if (times.empty()) continue;
    std::sort(times.begin(), times.end());
    GraphMeasurement m;
    m.model_name = rounds[0]->model_name;
    m.structure_sha256 = rounds[0]->structure_sha256;
    m.family = rounds[0]->family;
    m.input_shapes = rounds[0]->input_shapes;
    m.fusion_mode = rounds[0]->fusion_mode;
    m.end_to_end = times[0];
    m.rounds = static_cast<int>(times.size());
    const SampleSummary& s = rounds[0]->end_to_end;
    m.spread = times.size() > 1 ? times[1] / times[0] - 1 : s.median / s.p10 - 1;
    out.push_back(std::move(m));
  }
  return out;
}

Result<SampleSet> CollectSamples(Database& db, const SampleFilter& filter, const MeasurementBias& bias) {
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Record> records, db.Records(filter.records));
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Run> runs, db.Runs(filter.records));
  SampleSet set;
  set.records = static_cast<int64_t>(records.size());

  std::map<int64_t, ModelKey> model_of_run;
  for (const Run& r : runs) {
    model_of_run[r.id] = {.structure_sha256 = r.structure_sha256,
                          .name = r.model_name,
                          .input_shapes = r.input_shapes,
                          .fusion_mode = r.fusion_mode};
  }
  std::map<PlaceKey, std::vector<const Record*>> places;
  for (const Record& r : records) {
    places[{model_of_run[r.run], r.kernel.name, r.kernel.signature, r.context}].push_back(&r);
  }

  std::map<std::tuple<ModelKey, std::string, KernelContext>, Distinct> distinct;
  std::map<ModelKey, std::vector<const Record*>> kernels_of_model;  // one record a place
  std::set<ModelKey> models_with_hidden;
  for (const auto& [key, rounds] : places) {
    const Record& first = *rounds[0];
    const ModelKey& model = std::get<0>(key);
    kernels_of_model[model].push_back(&first);
    if (filter.hide && filter.hide(first)) {
      models_with_hidden.insert(model);
      continue;
    }
    KernelMeasurement m = Envelope(rounds);
    if (m.verdict == NoiseVerdict::kNoisy) {
      set.noisy.push_back({first.model_name, first.kernel.name, m.spread, m.time});
      continue;
    }
    Distinct& d = distinct[{model, first.kernel.signature, first.context}];
    if (d.first == nullptr) d.first = &first;
    d.sum += OwnTime(rounds, bias);
    d.spread = std::max(d.spread, m.spread);
    ++d.places;
  }
  for (const auto& [key, d] : distinct) {
    set.kernels.push_back(d.first->kernel);
    set.fit.push_back({.kernel = &set.kernels.back(),
                       .context = d.first->context,
                       .time = d.sum / static_cast<double>(d.places),
                       .spread = d.spread,
                       .group = d.first->model_name,
                       .family = d.first->family});
  }

  for (const GraphMeasurement& g : JoinRuns(runs)) {
    const ModelKey model = {.structure_sha256 = g.structure_sha256,
                            .name = g.model_name,
                            .input_shapes = g.input_shapes,
                            .fusion_mode = g.fusion_mode};
    if (filter.drop_graphs_of_hidden && models_with_hidden.contains(model)) continue;
    const auto found = kernels_of_model.find(model);
    if (found == kernels_of_model.end()) continue;
    GraphSample sample{.name = g.model_name, .family = g.family, .kernels = {}, .end_to_end = g.end_to_end};
    for (const Record* r : found->second) {
      if (r->context != KernelContext::kInGraph) break;
      set.kernels.push_back(r->kernel);
      sample.kernels.push_back(&set.kernels.back());
    }
    if (sample.kernels.size() == found->second.size()) set.graphs.push_back(std::move(sample));
  }
  return set;
}

}  // namespace simpred
