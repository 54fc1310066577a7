// A thin layer over SQLite: connections and statements that close themselves, errors that carry their remedy.
//
//   SIMPRED_ASSIGN_OR_RETURN(Statement s, connection.Prepare("SELECT id FROM run WHERE session = ?"));
//   s.Bind(session);
//   while (s.Next()) ids.push_back(s.Int(0));
//   SIMPRED_RETURN_IF_ERROR(s.status());
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace simpred {

// kDatabase with what happened to which file and what to do: locked, full, no database, read-only, damaged.
Status SqliteError(int code, std::string_view detail, std::string_view path);

class Statement {
 public:
  Statement(sqlite3_stmt* statement, std::string path) : statement_(statement), path_(std::move(path)) {}

  // Binds all parameters from the first on, and makes the statement ready to run (again).
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    Reset();
    (BindOne(++bound_, values), ...);
    return *this;
  }
  // Binds the parameter after the last one that is bound.
  template <typename T>
  Statement& Add(const T& value) {
    BindOne(++bound_, value);
    return *this;
  }
  // Is there one more row? false also on error: see status().
  bool Next();
  Status Run();  // to the end
  const Status& status() const { return error_; }

  int columns() const { return sqlite3_column_count(statement_.get()); }
  int type(int column) const { return sqlite3_column_type(statement_.get(), column); }
  bool IsNull(int column) const { return type(column) == SQLITE_NULL; }
  int64_t Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  double Real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  std::string Text(int column) const { return std::string(View(column)); }
  std::string_view View(int column) const;  // until the next step

 private:
  void Reset();
  void BindOne(int index, int64_t value) { Note(sqlite3_bind_int64(statement_.get(), index, value)); }
  void BindOne(int index, int value) { BindOne(index, static_cast<int64_t>(value)); }
  void BindOne(int index, double value) { Note(sqlite3_bind_double(statement_.get(), index, value)); }
  void BindOne(int index, std::string_view value);
  void BindOne(int index, const char* value) { BindOne(index, std::string_view(value)); }
  void BindOne(int index, const std::string& value) { BindOne(index, std::string_view(value)); }
  template <typename T>
  void BindOne(int index, const std::optional<T>& value) {
    if (value) {
      BindOne(index, *value);
    } else {
      Note(sqlite3_bind_null(statement_.get(), index));
    }
  }
  void Note(int code);

  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string path_;
  int bound_ = 0;
  Status error_;
};

class Connection {
 public:
  // `flags` of sqlite3_open_v2. Another process may hold the lock for a few seconds before that is an error.
  static Result<Connection> Open(const std::string& name, int flags, std::string shown_path);

  Result<Statement> Prepare(std::string_view sql) const;
  Status Execute(const std::string& sql) const;  // one or more statements without results
  Result<int64_t> Number(std::string_view sql) const;
  int64_t last_id() const { return sqlite3_last_insert_rowid(db_.get()); }
  bool changed() const { return sqlite3_changes(db_.get()) > 0; }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  std::unique_ptr<sqlite3, Close> db_;
  std::string path_;
};

// Begins at once with the write lock; rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(const Connection& connection);
  Transaction(Transaction&& o) noexcept : connection_(std::exchange(o.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(const Connection& connection) : connection_(&connection) {}
  const Connection* connection_;
};

}  // namespace simpred
