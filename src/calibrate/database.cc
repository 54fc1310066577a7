// Sessions, twins and saved predictions: the small tables. Records are in database_records.cc.
#include "calibrate/database.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "calibrate/database_impl.h"
#include "calibrate/database_schema.h"

namespace simpred {
namespace {

using nlohmann::json;

constexpr char kSessionColumns[] =
    "id, device, fingerprint, runtime, runtime_version, firmware, threads, execution, started_at, tool_version, kind, "
    "facts";

Session ReadSession(const Statement& row) {
  Session s;
  s.id = row.Int(0);
  s.device = row.Text(1);
  s.fingerprint = row.Text(2);
  s.runtime = row.Text(3);
  s.runtime_version = row.Text(4);
  s.firmware = row.Text(5);
  s.threads = static_cast<int>(row.Int(6));
  s.execution = row.Text(7);
  s.started_at = row.Text(8);
  s.tool_version = row.Text(9);
  s.kind = row.Text(10);
  const json facts = json::parse(row.View(11), nullptr, false);
  if (facts.is_object()) {
    for (const auto& [key, value] : facts.items()) s.facts[key] = value.is_string() ? value.get<std::string>() : "";
  }
  return s;
}

std::string FactsText(const std::map<std::string, std::string>& facts) {
  return json(facts).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

Database::Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::Open(const std::filesystem::path& path, Mode mode) {
  std::filesystem::path file = path;
  if (file.empty()) {
    SIMPRED_ASSIGN_OR_RETURN(const std::filesystem::path folder, UserDataFolder());
    file = folder / "calibration.db";
  }
  Result<Connection> connection = mode == Mode::kReadWrite ? OpenForWriting(file) : OpenForReading(file);
  if (!connection.ok()) return connection.status();
  Database database;
  database.impl_ = std::make_unique<Impl>(Impl{std::move(connection).value(), {}, {}});
  return database;
}

Result<int64_t> Database::AddSession(const Session& s) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement insert,
      impl_->connection.Prepare("INSERT INTO session(device, fingerprint, runtime, runtime_version, firmware, threads, "
                                "execution, started_at, "
                                "tool_version, kind, facts) VALUES (?, ?, ?, ?, ?, ?, ?, ifnull(nullif(?, ''), "
                                "strftime('%Y-%m-%dT%H:%M:%SZ', "
                                "'now')), ?, ?, ?)"));
  insert.Bind(s.device, s.fingerprint, s.runtime, s.runtime_version, s.firmware, s.threads, s.execution, s.started_at,
              s.tool_version, s.kind, FactsText(s.facts));
  SIMPRED_RETURN_IF_ERROR(insert.Run());
  return impl_->connection.last_id();
}

Status Database::SetBias(int64_t session, const MeasurementBias& bias) {
  SIMPRED_ASSIGN_OR_RETURN(Statement insert,
                           impl_->connection.Prepare("INSERT OR REPLACE INTO bias VALUES (?, ?, ?, ?, ?, ?)"));
  insert.Bind(session, bias.kernel_bias / Nanoseconds(1), bias.smallest / Nanoseconds(1),
              bias.run_cost / Nanoseconds(1), bias.kernel_bias_spread, bias.chains);
  return insert.Run();
}

Result<std::optional<MeasurementBias>> Database::FindBias(const std::string& fingerprint,
                                                          const std::string& runtime_version, int threads) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select,
      impl_->connection.Prepare(
          "SELECT kernel_bias, smallest, run_cost, kernel_bias_spread, chains FROM bias JOIN session ON session.id = "
          "bias.session WHERE fingerprint = ? AND runtime_version = ? AND threads = ? ORDER BY session.id DESC LIMIT "
          "1"));
  std::optional<MeasurementBias> found;
  if (select.Bind(fingerprint, runtime_version, threads).Next()) {
    found = MeasurementBias{.kernel_bias = Nanoseconds(select.Real(0)),
                            .smallest = Nanoseconds(select.Real(1)),
                            .run_cost = Nanoseconds(select.Real(2)),
                            .kernel_bias_spread = select.Real(3),
                            .chains = static_cast<int>(select.Int(4))};
  }
  if (!select.status().ok()) return select.status();
  return found;
}

Result<std::set<std::pair<std::string, int>>> Database::RoundsDone(int64_t session) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select,
      impl_->connection.Prepare(
          "SELECT model_name, round FROM run JOIN subject ON subject.id = run.subject WHERE session = ?"));
  select.Bind(session);
  std::set<std::pair<std::string, int>> done;
  while (select.Next()) done.emplace(select.Text(0), static_cast<int>(select.Int(1)));
  if (!select.status().ok()) return select.status();
  return done;
}

Result<int64_t> Database::FindResumable(const Session& like) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select, impl_->connection.Prepare(fmt::format("SELECT {} FROM session WHERE finished = 0 AND kind = ? "
                                                              "AND device = ? AND fingerprint = ? AND runtime = ? AND "
                                                              "runtime_version = ? AND threads = ? ORDER BY id DESC",
                                                              kSessionColumns)));
  select.Bind(like.kind, like.device, like.fingerprint, like.runtime, like.runtime_version, like.threads);
  const auto plan_of = [](const Session& s) {
    const auto plan = s.facts.find("plan");
    return plan != s.facts.end() ? plan->second : std::string();
  };
  while (select.Next()) {
    const Session candidate = ReadSession(select);
    if (plan_of(candidate) == plan_of(like)) return candidate.id;
  }
  if (!select.status().ok()) return select.status();
  return 0;
}

Status Database::FinishSession(int64_t session) {
  SIMPRED_ASSIGN_OR_RETURN(Statement update, impl_->connection.Prepare("UPDATE session SET finished = 1 WHERE id = ?"));
  return update.Bind(session).Run();
}

Result<std::vector<Session>> Database::Sessions() {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select, impl_->connection.Prepare(fmt::format("SELECT {} FROM session ORDER BY id", kSessionColumns)));
  std::vector<Session> sessions;
  while (select.Next()) sessions.push_back(ReadSession(select));
  if (!select.status().ok()) return select.status();
  return sessions;
}

Status Database::PutTwin(const StoredTwin& t) {
  SIMPRED_ASSIGN_OR_RETURN(Statement insert,
                           impl_->connection.Prepare("INSERT OR REPLACE INTO twin VALUES (?, ?, ?, ?)"));
  return insert.Bind(t.key, t.bytes, t.created_at, t.summary).Run();
}

Result<std::optional<StoredTwin>> Database::GetTwin(const std::string& key) {
  SIMPRED_ASSIGN_OR_RETURN(Statement select,
                           impl_->connection.Prepare("SELECT key, bytes, created_at, summary FROM twin WHERE key = ?"));
  std::optional<StoredTwin> twin;
  if (select.Bind(key).Next()) {
    twin = StoredTwin{
        .key = select.Text(0), .bytes = select.Text(1), .created_at = select.Text(2), .summary = select.Text(3)};
  }
  if (!select.status().ok()) return select.status();
  return twin;
}

Result<int64_t> Database::SavePrediction(const SavedRun& r) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement insert, impl_->connection.Prepare(
                            "INSERT INTO prediction(created_at, config, config_sha256, model_path, structure_sha256, "
                            "report_json) VALUES (?, ?, ?, ?, ?, ?)"));
  insert.Bind(r.created_at, r.config, r.config_sha256, r.model_path, r.structure_sha256, r.report_json);
  SIMPRED_RETURN_IF_ERROR(insert.Run());
  return impl_->connection.last_id();
}

Result<std::optional<Database::SavedRun>> Database::LoadPrediction(int64_t id) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select, impl_->connection.Prepare(
                            "SELECT id, created_at, config, config_sha256, model_path, structure_sha256, report_json "
                            "FROM prediction WHERE id = ?"));
  std::optional<SavedRun> saved;
  if (select.Bind(id).Next()) {
    saved = SavedRun{.id = select.Int(0),
                     .created_at = select.Text(1),
                     .config = select.Text(2),
                     .config_sha256 = select.Text(3),
                     .model_path = select.Text(4),
                     .structure_sha256 = select.Text(5),
                     .report_json = select.Text(6)};
  }
  if (!select.status().ok()) return select.status();
  return saved;
}

}  // namespace simpred
