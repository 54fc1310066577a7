// Measures what is missing; see collect.h.
#include "collect.h"

#include <fmt/format.h>

#include <set>

namespace simpred::bench {
namespace {

MeasureItem ItemOf(const BenchModel& m) {
  MeasureItem item;
  item.path = m.path;
  item.name = m.name;
  item.family = m.family;
  item.binding = m.binding;
  return item;
}

Result<std::set<std::string>> MeasuredNames(Database& db, const CalibrateOptions& o) {
  RecordFilter f;
  f.fingerprint = o.device.fingerprint;
  f.threads = o.threads;
  f.kinds = {"model"};
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<Run> runs, db.Runs(f));
  std::set<std::string> names;
  for (const Run& r : runs) names.insert(r.model_name);
  return names;
}

Status MeasureAll(Database& db, const std::vector<MeasureItem>& items, CalibrateOptions options, int rounds) {
  if (items.empty()) return OkStatus();
  options.rounds = rounds;
  SIMPRED_ASSIGN_OR_RETURN(const MeasureSummary summary, MeasureModels(db, items, options));
  for (const auto& [name, why] : summary.failed) fmt::print(stderr, "not measured: {}: {}\n", name, why.message());
  return OkStatus();
}

}  // namespace

Status Collect(Database& db, std::vector<BenchModel>& models, std::vector<BenchModel>& variants, const Sources& sources,
               const CollectOptions& options) {
  SIMPRED_ASSIGN_OR_RETURN(const std::set<std::string> have, MeasuredNames(db, options.calibrate));
  std::vector<MeasureItem> items;
  for (BenchModel& m : models) {
    SIMPRED_RETURN_IF_ERROR(Materialize(m, sources));
    if (!have.contains(m.name)) items.push_back(ItemOf(m));
  }
  SIMPRED_RETURN_IF_ERROR(MeasureAll(db, items, options.calibrate, options.rounds));
  // The ranking's variants: other shapes, and every ranked model with nothing fused. End to end only.
  std::vector<MeasureItem> ranked;
  for (BenchModel& v : variants) {
    if (!options.ranking) break;
    SIMPRED_RETURN_IF_ERROR(Materialize(v, sources));
    if (have.contains(v.name)) continue;
    ranked.push_back(ItemOf(v));
    ranked.back().profile = false;
  }
  for (const BenchModel& m : models) {
    if (!options.ranking || !m.from_zoo || have.contains(m.name + "_off")) continue;
    ranked.push_back(ItemOf(m));
    ranked.back().name += "_off";
    ranked.back().level = FusionLevel::kOff;
    ranked.back().profile = false;
  }
  SIMPRED_RETURN_IF_ERROR(MeasureAll(db, ranked, options.calibrate, 2));
  SIMPRED_ASSIGN_OR_RETURN(const DeviceCalibration device, CalibrateDevice(db, options.calibrate));
  fmt::print(stderr, "generated: {} kernels, {} networks, {} samples; {} models refused by the runtime\n",
             device.kernels_measured, device.networks_measured, device.samples, device.failed);
  return OkStatus();
}

}  // namespace simpred::bench
