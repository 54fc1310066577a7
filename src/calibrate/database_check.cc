// What is in the database, and is it sound?
#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/hash.h"
#include "calibrate/database_impl.h"

namespace simpred {
namespace {

// Column by column with its type, so that no two rows have the same text.
Status HashRows(Statement& rows, Sha256& hash) {
  std::string line;
  while (rows.Next()) {
    line.clear();
    for (int i = 0; i < rows.columns(); ++i) {
      const int type = rows.type(i);  // asked before the text, which converts
      const std::string_view text = rows.View(i);
      fmt::format_to(std::back_inserter(line), "{}:{}:{}", type, text.size(), text);
    }
    line += '\n';
    hash.Update(line);
  }
  return rows.status();
}

Result<std::map<std::string, int64_t>> Counts(const Connection& connection, std::string_view sql) {
  SIMPRED_ASSIGN_OR_RETURN(Statement select, connection.Prepare(sql));
  std::map<std::string, int64_t> counts;
  while (select.Next()) counts[select.Text(0)] = select.Int(1);
  if (!select.status().ok()) return select.status();
  return counts;
}

Status CheckFile(const Connection& connection, std::vector<std::string>& findings) {
  SIMPRED_ASSIGN_OR_RETURN(Statement integrity, connection.Prepare("PRAGMA integrity_check"));
  while (integrity.Next()) {
    if (integrity.View(0) != "ok") findings.push_back(fmt::format("file: {}", integrity.View(0)));
  }
  SIMPRED_RETURN_IF_ERROR(integrity.status());
  SIMPRED_ASSIGN_OR_RETURN(Statement references, connection.Prepare("PRAGMA foreign_key_check"));
  while (references.Next()) {
    findings.push_back(fmt::format("table {}: row {} names a row of {} that is not there", references.View(0),
                                   references.Int(1), references.View(2)));
  }
  return references.status();
}

Status CheckBatches(const Connection& connection, std::vector<std::string>& findings) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement runs,
      connection.Prepare(
          "SELECT run.id, run.sha256, records, (SELECT count(*) FROM record WHERE record.id >= "
          "first_record AND record.id < first_record + records AND record.run = run.id), model_name FROM "
          "run LEFT JOIN subject ON subject.id = run.subject ORDER BY run.id"));
  while (runs.Next()) {
    if (runs.Int(2) != runs.Int(3)) {
      findings.push_back(
          fmt::format("run {} ({}): has {} of its {} records", runs.Int(0), runs.View(4), runs.Int(3), runs.Int(2)));
    }
    SIMPRED_ASSIGN_OR_RETURN(const std::string hash, HashBatch(connection, runs.Int(0)));
    if (hash != runs.View(1)) {
      findings.push_back(fmt::format("run {} ({}): its checksum does not fit its records", runs.Int(0), runs.View(4)));
    }
  }
  SIMPRED_RETURN_IF_ERROR(runs.status());
  SIMPRED_ASSIGN_OR_RETURN(const int64_t orphans,
                           connection.Number("SELECT count(*) FROM record WHERE run NOT IN (SELECT id FROM run)"));
  if (orphans > 0) findings.push_back(fmt::format("{} records belong to no run", orphans));
  return OkStatus();
}

Status CheckKernels(const Connection& connection, std::vector<std::string>& findings) {
  SIMPRED_ASSIGN_OR_RETURN(Statement kernels,
                           connection.Prepare("SELECT id, sha256, signature, detail FROM kernel ORDER BY id"));
  while (kernels.Next()) {
    const std::string text = fmt::format("{}\n{}", kernels.View(2), kernels.View(3));
    if (Sha256Hex(text) != kernels.View(1)) {
      findings.push_back(fmt::format("kernel {}: its checksum does not fit its description", kernels.Int(0)));
    }
  }
  return kernels.status();
}

}  // namespace

Result<std::string> HashBatch(const Connection& connection, int64_t run) {
  Sha256 hash;
  SIMPRED_ASSIGN_OR_RETURN(
      Statement head,
      connection.Prepare("SELECT session, subject, round, count, min, p10, median, mean, p90, mad, profiled_count, "
                         "profiled_min, profiled_p10, profiled_median, profiled_mean, profiled_p90, profiled_mad, "
                         "peak_memory, source, first_record, records FROM run WHERE id = ?"));
  SIMPRED_RETURN_IF_ERROR(HashRows(head.Bind(run), hash));
  SIMPRED_ASSIGN_OR_RETURN(
      Statement rows,
      connection.Prepare(
          "SELECT r.*, k.sha256 FROM run JOIN record r ON r.id >= first_record AND r.id < first_record + records LEFT "
          "JOIN kernel k ON k.id = r.kernel WHERE run.id = ? ORDER BY r.id"));
  SIMPRED_RETURN_IF_ERROR(HashRows(rows.Bind(run), hash));
  return hash.HexDigest();
}

Result<DatabaseStats> Database::Stats() {
  const Connection& connection = impl_->connection;
  DatabaseStats stats;
  stats.path = connection.path();
  std::error_code error;
  const auto size = std::filesystem::file_size(stats.path, error);
  stats.file_bytes = error ? 0 : static_cast<int64_t>(size);
  const std::pair<int64_t*, const char*> numbers[] = {
      {&stats.schema_version, "PRAGMA user_version"},
      {&stats.sessions, "SELECT count(*) FROM session"},
      {&stats.runs, "SELECT count(*) FROM run"},
      {&stats.records, "SELECT count(*) FROM record"},
      {&stats.distinct_kernels, "SELECT count(DISTINCT signature) FROM kernel"},
      {&stats.models, "SELECT count(DISTINCT structure_sha256 || model_name) FROM subject"},
      {&stats.twins, "SELECT count(*) FROM twin"},
  };
  for (const auto& [number, sql] : numbers) {
    SIMPRED_ASSIGN_OR_RETURN(*number, connection.Number(sql));
  }
  const std::pair<std::map<std::string, int64_t>*, const char*> maps[] = {
      {&stats.records_by_type,
       "SELECT type, sum(n) FROM (SELECT kernel, count(*) AS n FROM record GROUP BY kernel) JOIN kernel ON kernel.id = "
       "kernel GROUP BY type"},
      {&stats.records_by_kind,
       "SELECT kind, sum(records) FROM run JOIN session ON session.id = run.session GROUP BY kind"},
      {&stats.records_by_device,
       "SELECT device, sum(records) FROM run JOIN session ON session.id = run.session GROUP BY device"},
  };
  for (const auto& [map, sql] : maps) {
    SIMPRED_ASSIGN_OR_RETURN(*map, Counts(connection, sql));
  }
  return stats;
}

Result<std::vector<std::string>> Database::Check() {
  std::vector<std::string> findings;
  SIMPRED_RETURN_IF_ERROR(CheckFile(impl_->connection, findings));
  SIMPRED_RETURN_IF_ERROR(CheckBatches(impl_->connection, findings));
  SIMPRED_RETURN_IF_ERROR(CheckKernels(impl_->connection, findings));
  return findings;
}

}  // namespace simpred
