#include "calibrate/database_schema.h"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

namespace simpred {
namespace {

namespace fs = std::filesystem;

constexpr int kApplicationId = 0x73696d70;  // "simp": tells our files from other SQLite files

// A subject is what was measured in a run: one model in one configuration. A run is one process's batch; its records
// have consecutive ids. A kernel is stored once, by the hash of everything that describes it; `signature_hash` finds it
// by signature. Times are nanoseconds.
constexpr char kTables[] = R"sql(
CREATE TABLE session(
  id INTEGER PRIMARY KEY, device TEXT NOT NULL, fingerprint TEXT NOT NULL, runtime TEXT NOT NULL,
  runtime_version TEXT NOT NULL, firmware TEXT NOT NULL, threads INTEGER NOT NULL, execution TEXT NOT NULL,
  started_at TEXT NOT NULL, tool_version TEXT NOT NULL, kind TEXT NOT NULL, facts TEXT NOT NULL,
  finished INTEGER NOT NULL DEFAULT 0);
CREATE TABLE bias(
  session INTEGER PRIMARY KEY REFERENCES session(id), kernel_bias REAL NOT NULL, smallest REAL NOT NULL,
  run_cost REAL NOT NULL, kernel_bias_spread REAL NOT NULL, chains INTEGER NOT NULL);
CREATE TABLE subject(
  id INTEGER PRIMARY KEY, structure_sha256 TEXT NOT NULL, model_name TEXT NOT NULL, family TEXT NOT NULL,
  input_shapes TEXT NOT NULL, precision TEXT NOT NULL, fusion_mode TEXT NOT NULL,
  UNIQUE(structure_sha256, model_name, family, input_shapes, precision, fusion_mode));
CREATE TABLE kernel(
  id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, signature_hash INTEGER NOT NULL, signature TEXT NOT NULL,
  type TEXT NOT NULL, detail TEXT NOT NULL);
CREATE INDEX kernel_signature ON kernel(signature_hash);
CREATE TABLE run(
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES session(id),
  subject INTEGER NOT NULL REFERENCES subject(id), round INTEGER NOT NULL,
  count INTEGER, min REAL, p10 REAL, median REAL, mean REAL, p90 REAL, mad REAL,
  profiled_count INTEGER, profiled_min REAL, profiled_p10 REAL, profiled_median REAL, profiled_mean REAL,
  profiled_p90 REAL, profiled_mad REAL,
  peak_memory INTEGER, source TEXT NOT NULL,
  first_record INTEGER NOT NULL DEFAULT 0, records INTEGER NOT NULL DEFAULT 0, sha256 TEXT NOT NULL DEFAULT '',
  UNIQUE(session, subject, round));
CREATE TABLE record(
  id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id), position INTEGER NOT NULL,
  kernel INTEGER NOT NULL REFERENCES kernel(id), session INTEGER NOT NULL, subject INTEGER NOT NULL,
  context INTEGER NOT NULL, name TEXT NOT NULL, fused_from TEXT NOT NULL,
  count INTEGER NOT NULL, min REAL, p10 REAL, median REAL, mean REAL, p90 REAL, mad REAL, corrected REAL,
  bytes_moved INTEGER, clock_hz REAL, counters TEXT NOT NULL, source TEXT NOT NULL);
CREATE INDEX record_kernel ON record(kernel, context, session, subject, position, corrected, p10, median, count);
CREATE TABLE twin(key TEXT PRIMARY KEY, bytes BLOB NOT NULL, created_at TEXT NOT NULL, summary TEXT NOT NULL);
CREATE TABLE prediction(
  id INTEGER PRIMARY KEY, created_at TEXT NOT NULL, config TEXT NOT NULL, config_sha256 TEXT NOT NULL,
  model_path TEXT NOT NULL, structure_sha256 TEXT NOT NULL, report_json TEXT NOT NULL);
)sql";

Status CreateTables(const Connection& connection) {
  SIMPRED_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection));
  // Another process may have been faster.
  SIMPRED_ASSIGN_OR_RETURN(const int64_t version, connection.Number("PRAGMA user_version"));
  if (version != 0) return OkStatus();
  SIMPRED_RETURN_IF_ERROR(connection.Execute(kTables));
  SIMPRED_RETURN_IF_ERROR(connection.Execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion)));
  return transaction.Commit();
}

// Ours, and not from the future? `is_empty`: a new file without any table.
Status CheckVersion(const Connection& connection, bool& is_empty) {
  SIMPRED_ASSIGN_OR_RETURN(const int64_t version, connection.Number("PRAGMA user_version"));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t application, connection.Number("PRAGMA application_id"));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t tables, connection.Number("SELECT count(*) FROM sqlite_master"));
  is_empty = tables == 0 && version == 0;
  if (is_empty) return OkStatus();
  if (application != kApplicationId) {
    return DatabaseError(fmt::format("'{}' is a database of another program", connection.path()),
                         "check the path of the key 'database'");
  }
  if (version > kSchemaVersion) {
    return DatabaseError(fmt::format("database '{}' has schema version {}, this program knows up to {}",
                                     connection.path(), version, kSchemaVersion),
                         "update sim_predict, or use another database");
  }
  return OkStatus();
}

Result<Connection> EmptyDatabase(const std::string& shown_path) {
  SIMPRED_ASSIGN_OR_RETURN(Connection connection,
                           Connection::Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, shown_path));
  SIMPRED_RETURN_IF_ERROR(CreateTables(connection));
  return connection;
}

// A path as the file part of a SQLite URI.
std::string UriOf(const fs::path& path) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return uri;
}

}  // namespace

Result<Connection> OpenForWriting(const fs::path& path) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  SIMPRED_ASSIGN_OR_RETURN(Connection connection,
                           Connection::Open(path.string(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path.string()));
  bool is_empty = false;
  SIMPRED_RETURN_IF_ERROR(CheckVersion(connection, is_empty));
  // FULL: what is acknowledged is on the disk, even if the power goes.
  SIMPRED_RETURN_IF_ERROR(
      connection.Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  if (is_empty) SIMPRED_RETURN_IF_ERROR(CreateTables(connection));
  if (::access(path.c_str(), W_OK) != 0) return SqliteError(SQLITE_READONLY, "", path.string());
  return connection;
}

Result<Connection> OpenForReading(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return EmptyDatabase(path.string());
  constexpr int kFlags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  SIMPRED_ASSIGN_OR_RETURN(Connection connection, Connection::Open(UriOf(path), kFlags, path.string()));
  bool is_empty = false;
  Status status = CheckVersion(connection, is_empty);
  // Reading a WAL database needs a file beside it for the lock. Where none can be made nobody writes either.
  if (!status.ok() && ::access(path.parent_path().empty() ? "." : path.parent_path().c_str(), W_OK) != 0) {
    SIMPRED_ASSIGN_OR_RETURN(connection, Connection::Open(UriOf(path) + "?immutable=1", kFlags, path.string()));
    status = CheckVersion(connection, is_empty);
  }
  SIMPRED_RETURN_IF_ERROR(status);
  if (is_empty) return EmptyDatabase(path.string());
  return connection;
}

}  // namespace simpred
