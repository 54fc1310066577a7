#include "calibrate/database_sqlite.h"

#include <fmt/format.h>

namespace simpred {
namespace {

constexpr int kBusyMilliseconds = 5000;

}  // namespace

Status SqliteError(int code, std::string_view detail, std::string_view path) {
  switch (code & 0xff) {  // the primary code
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return DatabaseError(fmt::format("database '{}' is locked by another process", path),
                           "wait until the other process that writes to it has ended, or use another database");
    case SQLITE_FULL:
      return DatabaseError(fmt::format("database '{}' cannot grow: the disk is full", path),
                           "free some space and run the command again: everything that was stored before is kept");
    case SQLITE_NOTADB:
      return DatabaseError(fmt::format("'{}' is not a database", path), "check the path of the key 'database'");
    case SQLITE_CORRUPT:
      return DatabaseError(fmt::format("database '{}' is damaged: {}", path, detail),
                           "`sim_predict db check` lists what is wrong; a copy or a new database is needed to go on");
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return DatabaseError(fmt::format("database '{}' may not be written to", path),
                           "change the permissions of the file and its folder, or use another database");
    case SQLITE_CANTOPEN:
      return DatabaseError(fmt::format("database '{}' cannot be opened: {}", path, detail),
                           "check that the folder exists and that you may read and write it");
    case SQLITE_IOERR:
      return DatabaseError(fmt::format("database '{}' cannot be read or written: {}", path, detail),
                           "check the disk and its free space");
    default:
      return DatabaseError(fmt::format("database '{}': {}", path, detail));
  }
}

bool Statement::Next() {
  if (!error_.ok()) return false;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) Note(code);
  return false;
}

Status Statement::Run() {
  while (Next()) {
  }
  return error_;
}

std::string_view Statement::View(int column) const {
  const auto* text = sqlite3_column_blob(statement_.get(), column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return text != nullptr ? std::string_view(static_cast<const char*>(text), size) : std::string_view();
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  bound_ = 0;
}

void Statement::BindOne(int index, std::string_view value) {
  // Copied: the caller's text need not outlive the statement. A null pointer would bind NULL.
  Note(sqlite3_bind_text64(statement_.get(), index, value.data() == nullptr ? "" : value.data(), value.size(),
                           SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::Note(int code) {
  if (code == SQLITE_OK || !error_.ok()) return;
  error_ = SqliteError(code, sqlite3_errmsg(sqlite3_db_handle(statement_.get())), path_);
}

Result<Connection> Connection::Open(const std::string& name, int flags, std::string shown_path) {
  Connection connection;
  connection.path_ = std::move(shown_path);
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags, nullptr);
  connection.db_.reset(db);
  if (code != SQLITE_OK) {
    return SqliteError(code, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code), connection.path_);
  }
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  return connection;
}

Result<Statement> Connection::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(code, sqlite3_errmsg(db_.get()), path_);
  return Statement(statement, path_);
}

Status Connection::Execute(const std::string& sql) const {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? OkStatus() : SqliteError(code, sqlite3_errmsg(db_.get()), path_);
}

Result<int64_t> Connection::Number(std::string_view sql) const {
  SIMPRED_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  const int64_t number = statement.Next() ? statement.Int(0) : 0;
  if (!statement.status().ok()) return statement.status();
  return number;
}

Result<Transaction> Transaction::Begin(const Connection& connection) {
  SIMPRED_RETURN_IF_ERROR(connection.Execute("BEGIN IMMEDIATE"));
  return Transaction(connection);
}

Transaction::~Transaction() {
  if (connection_ != nullptr) (void)connection_->Execute("ROLLBACK").ok();
}

Status Transaction::Commit() {
  SIMPRED_RETURN_IF_ERROR(connection_->Execute("COMMIT"));
  connection_ = nullptr;
  return OkStatus();
}

}  // namespace simpred
