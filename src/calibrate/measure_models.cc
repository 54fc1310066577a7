// Measures whole models and stores what was measured, process by process.

#include "base/work_folder.h"
#include "calibrate/calibrate.h"

namespace simpred {

Result<MeasureSummary> MeasureModels(Database& db, const std::vector<MeasureItem>& items,
                                     const CalibrateOptions& options) {
  SIMPRED_ASSIGN_OR_RETURN(const std::unique_ptr<WorkFolder> folder, WorkFolder::Create());
  CollectorOptions settings;
  settings.library = options.library;
  settings.threads = options.threads;
  settings.iters = options.iters;
  settings.max_seconds = options.max_seconds;
  settings.rounds = options.rounds;
  settings.work_folder = folder->path();
  settings.stop = options.stop;
  Collector collector(settings);
  Session session;
  session.device = options.device.name;
  session.fingerprint = options.device.fingerprint;
  session.runtime = "onnxruntime";
  SIMPRED_ASSIGN_OR_RETURN(session.runtime_version, collector.RuntimeVersion());
  session.threads = options.threads;
  session.kind = "model";

  MeasureSummary out;
  SIMPRED_ASSIGN_OR_RETURN(out.session, db.AddSession(session));
  SIMPRED_ASSIGN_OR_RETURN(const std::optional<MeasurementBias> known,
                           db.FindBias(session.fingerprint, session.runtime_version, options.threads));
  if (!known) {
    if (options.progress) options.progress(0, "measuring the profiler's own bias with chains of equal kernels");
    SIMPRED_ASSIGN_OR_RETURN(const MeasurementBias bias, collector.MeasureBias());
    SIMPRED_RETURN_IF_ERROR(db.SetBias(out.session, bias));
  }
  const auto sink = [&](Measured m) -> Status {
    const MeasureItem& item = items[m.item];
    if (!m.status.ok()) {
      out.failed.emplace_back(item.name.empty() ? item.path.stem().string() : item.name, m.status);
      return OkStatus();
    }
    m.run.session = out.session;
    for (Record& r : m.records) r.session = out.session;
    return db.AddMeasured(m.run, m.records);
  };
  SIMPRED_RETURN_IF_ERROR(collector.Measure(items, sink, options.progress));
  SIMPRED_RETURN_IF_ERROR(db.FinishSession(out.session));
  return out;
}

}  // namespace simpred
