// The calibration database: what was measured, in which session; the fitted twins; the saved predictions.
//
// One SQLite file in WAL mode. Each call that writes is one transaction: killed at any moment, the file holds all
// batches that were acknowledged and nothing half. Records are never destroyed by a fit.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "profile/bias.h"
#include "profile/record.h"

namespace simpred {

struct RecordFilter {
  std::string device, fingerprint, runtime, runtime_version;  // empty: any
  int threads = 0;                                            // 0: any
  std::optional<KernelContext> context;
  std::set<std::string> kinds;           // session kinds; empty: any
  std::set<std::string> models;          // structure hashes; empty: any
  std::set<std::string> without_models;  // structure hashes
  std::set<std::string> families, without_families;
};

struct StoredTwin {
  std::string key;    // device fingerprint, runtime, version, threads
  std::string bytes;  // Twin::Serialize
  std::string created_at;
  std::string summary;  // for people
};

struct DatabaseStats {
  std::string path;
  int64_t schema_version = 0, file_bytes = 0, sessions = 0, runs = 0, records = 0, distinct_kernels = 0, models = 0,
          twins = 0;
  std::map<std::string, int64_t> records_by_type, records_by_kind, records_by_device;
};

class Database {
 public:
  enum class Mode { kReadOnly, kReadWrite };
  // Empty path: the default in the user's data folder. Errors: kDatabase (locked, not a database, newer schema, disk
  // full), each with its remedy. A read-only open of a file that is not there gives an empty database.
  static Result<Database> Open(const std::filesystem::path& path, Mode mode);

  // Without a started_at, it starts now.
  Result<int64_t> AddSession(const Session& s);
  // One process's results: run and records in one transaction; ids are filled in. The same (session, model, round)
  // twice is recognised and ignored.
  Status AddMeasured(Run& run, std::vector<Record>& records);
  Status SetBias(int64_t session, const MeasurementBias& bias);
  // The newest bias measured on this device, runtime version and thread count.
  Result<std::optional<MeasurementBias>> FindBias(const std::string& fingerprint, const std::string& runtime_version,
                                                  int threads);
  // Has this (session, model, round) been stored already? For resuming.
  Result<std::set<std::pair<std::string, int>>> RoundsDone(int64_t session);
  // The newest unfinished session of this kind with the same device, runtime, version, threads and facts["plan"]; 0:
  // none.
  Result<int64_t> FindResumable(const Session& like);
  Status FinishSession(int64_t session);

  Result<std::vector<Session>> Sessions();
  Result<std::vector<Record>> Records(const RecordFilter& f);
  Result<std::vector<Run>> Runs(const RecordFilter& f);
  // Envelope over all rounds of each of these signatures in the given context; fast: for predict.
  Result<std::map<std::string, KernelMeasurement>> Lookup(const std::vector<std::string>& signatures,
                                                          const RecordFilter& f);

  Status PutTwin(const StoredTwin& t);
  Result<std::optional<StoredTwin>> GetTwin(const std::string& key);

  // A saved prediction: config, report, model hash; id is given back.
  struct SavedRun {
    int64_t id = 0;
    std::string created_at, config, config_sha256, model_path, structure_sha256, report_json;
  };
  Result<int64_t> SavePrediction(const SavedRun& r);
  Result<std::optional<SavedRun>> LoadPrediction(int64_t id);

  Result<DatabaseStats> Stats();
  // Integrity of the file, checksums of batches, dangling references; one line a finding.
  Result<std::vector<std::string>> Check();

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

 private:
  Database();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace simpred
