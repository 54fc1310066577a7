// How are measured batches stored and found again? One process's run and its records are one transaction.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "calibrate/database_impl.h"
#include "calibrate/database_kernel.h"

namespace simpred {
namespace {

using nlohmann::json;

std::string Dump(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

void AddSummary(Statement& statement, const SampleSummary& s) {
  statement.Add(s.count);
  for (const Duration d : {s.min, s.p10, s.median, s.mean, s.p90, s.mad}) statement.Add(d / Nanoseconds(1));
}

std::optional<int64_t> CountOf(const std::optional<Bytes>& bytes) {
  return bytes ? std::optional<int64_t>(bytes->count()) : std::nullopt;
}

std::optional<Bytes> BytesAt(const Statement& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional<Bytes>(Bytes(row.Int(column)));
}

Result<int64_t> SubjectId(const Connection& connection, const Run& run) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement insert,
      connection.Prepare("INSERT OR IGNORE INTO subject(structure_sha256, model_name, family, input_shapes, precision, "
                         "fusion_mode) VALUES (?, ?, ?, ?, ?, ?)"));
  insert.Bind(run.structure_sha256, run.model_name, run.family, run.input_shapes, run.precision, run.fusion_mode);
  SIMPRED_RETURN_IF_ERROR(insert.Run());
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select,
      connection.Prepare("SELECT id FROM subject WHERE structure_sha256 = ? AND model_name = ? AND family = ? AND "
                         "input_shapes = ? AND precision = ? AND fusion_mode = ?"));
  select.Bind(run.structure_sha256, run.model_name, run.family, run.input_shapes, run.precision, run.fusion_mode);
  const int64_t id = select.Next() ? select.Int(0) : 0;
  if (!select.status().ok()) return select.status();
  return id;
}

// The id of the new run; nothing if it is there already, whose id then is in run.id.
Result<std::optional<int64_t>> InsertRun(const Connection& connection, int64_t subject, Run& run) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement insert,
      connection.Prepare(
          "INSERT OR IGNORE INTO run(session, subject, round, count, min, p10, median, mean, p90, mad, "
          "profiled_count, profiled_min, profiled_p10, profiled_median, profiled_mean, profiled_p90, "
          "profiled_mad, peak_memory, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
          "?, ?)"));
  insert.Bind(run.session, subject, run.round);
  AddSummary(insert, run.end_to_end);
  AddSummary(insert, run.profiled_end_to_end);
  insert.Add(CountOf(run.peak_memory)).Add(run.source);
  SIMPRED_RETURN_IF_ERROR(insert.Run());
  if (connection.changed()) return std::optional(connection.last_id());
  SIMPRED_ASSIGN_OR_RETURN(Statement select,
                           connection.Prepare("SELECT id FROM run WHERE session = ? AND subject = ? AND round = ?"));
  if (select.Bind(run.session, subject, run.round).Next()) run.id = select.Int(0);
  if (!select.status().ok()) return select.status();
  return std::optional<int64_t>();
}

// Stores each kernel once. `known` keeps the ids of this connection's kernels; it is filled only when the transaction
// is committed, so new ids are in `fresh` until then.
class KernelWriter {
 public:
  KernelWriter(const Connection& connection, const std::map<std::string, int64_t>& known)
      : connection_(connection), known_(known) {}

  Result<int64_t> IdOf(const Kernel& kernel) {
    const std::string detail = KernelDetail(kernel);
    const std::string hash = Sha256Hex(kernel.signature + "\n" + detail);
    if (const auto found = known_.find(hash); found != known_.end()) return found->second;
    if (const auto found = fresh_.find(hash); found != fresh_.end()) return found->second;
    SIMPRED_ASSIGN_OR_RETURN(
        Statement insert,
        connection_.Prepare(
            "INSERT OR IGNORE INTO kernel(sha256, signature_hash, signature, type, detail) VALUES (?, ?, "
            "?, ?, ?)"));
    insert.Bind(hash, SignatureHash(kernel.signature), kernel.signature, kernel.type, detail);
    SIMPRED_RETURN_IF_ERROR(insert.Run());
    SIMPRED_ASSIGN_OR_RETURN(Statement select, connection_.Prepare("SELECT id FROM kernel WHERE sha256 = ?"));
    const int64_t id = select.Bind(hash).Next() ? select.Int(0) : 0;
    if (!select.status().ok()) return select.status();
    fresh_[hash] = id;
    return id;
  }
  const std::map<std::string, int64_t>& fresh() const { return fresh_; }

 private:
  const Connection& connection_;
  const std::map<std::string, int64_t>& known_;
  std::map<std::string, int64_t> fresh_;
};

Status InsertRecords(const Connection& connection, KernelWriter& kernels, int64_t run_id, int64_t subject,
                     const Run& run, std::vector<Record>& records) {
  SIMPRED_ASSIGN_OR_RETURN(
      Statement insert,
      connection.Prepare(
          "INSERT INTO record(run, position, kernel, session, subject, context, name, fused_from, count, "
          "min, p10, median, mean, p90, mad, corrected, bytes_moved, clock_hz, counters, source) VALUES "
          "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  int64_t position = 0;
  for (Record& record : records) {
    SIMPRED_ASSIGN_OR_RETURN(const int64_t kernel, kernels.IdOf(record.kernel));
    insert.Bind(run_id, position++, kernel, run.session, subject, static_cast<int>(record.context), record.kernel.name,
                record.kernel.fused_from.empty() ? std::string() : Dump(record.kernel.fused_from));
    AddSummary(insert, record.raw);
    insert.Add(record.corrected / Nanoseconds(1)).Add(CountOf(record.bytes_moved)).Add(record.clock_hz);
    insert.Add(record.counters.empty() ? std::string() : Dump(record.counters)).Add(record.source);
    SIMPRED_RETURN_IF_ERROR(insert.Run());
    record.id = connection.last_id();
  }
  return OkStatus();
}

Status SealBatch(const Connection& connection, int64_t run_id, const std::vector<Record>& records) {
  SIMPRED_ASSIGN_OR_RETURN(Statement range,
                           connection.Prepare("UPDATE run SET first_record = ?, records = ? WHERE id = ?"));
  range.Bind(records.empty() ? int64_t{0} : records.front().id, static_cast<int64_t>(records.size()), run_id);
  SIMPRED_RETURN_IF_ERROR(range.Run());
  SIMPRED_ASSIGN_OR_RETURN(const std::string hash, HashBatch(connection, run_id));
  SIMPRED_ASSIGN_OR_RETURN(Statement seal, connection.Prepare("UPDATE run SET sha256 = ? WHERE id = ?"));
  return seal.Bind(hash, run_id).Run();
}

// The part of a query that keeps to a filter's sessions and subjects, with the texts to bind.
struct Condition {
  std::string sql = "1";
  std::vector<std::string> texts;
  void Equal(std::string_view column, const std::string& value) {
    if (value.empty()) return;
    sql += fmt::format(" AND {} = ?", column);
    texts.push_back(value);
  }
  void In(std::string_view column, const std::set<std::string>& values, bool inside) {
    if (values.empty()) return;
    std::string marks;
    for (const std::string& value : values) {
      marks += marks.empty() ? "?" : ", ?";
      texts.push_back(value);
    }
    sql += fmt::format(" AND {} {}IN ({})", column, inside ? "" : "NOT ", marks);
  }
};

Condition SessionCondition(const RecordFilter& f) {
  Condition c;
  c.Equal("device", f.device);
  c.Equal("fingerprint", f.fingerprint);
  c.Equal("runtime", f.runtime);
  c.Equal("runtime_version", f.runtime_version);
  if (f.threads != 0) c.sql += fmt::format(" AND threads = {}", f.threads);
  c.In("kind", f.kinds, true);
  return c;
}

Condition SubjectCondition(const RecordFilter& f) {
  Condition c;
  c.In("structure_sha256", f.models, true);
  c.In("structure_sha256", f.without_models, false);
  c.In("family", f.families, true);
  c.In("family", f.without_families, false);
  return c;
}

Result<std::set<int64_t>> IdsWhere(const Connection& connection, std::string_view table, const Condition& condition) {
  SIMPRED_ASSIGN_OR_RETURN(Statement select,
                           connection.Prepare(fmt::format("SELECT id FROM {} WHERE {}", table, condition.sql)));
  for (const std::string& text : condition.texts) select.Add(text);
  std::set<int64_t> ids;
  while (select.Next()) ids.insert(select.Int(0));
  if (!select.status().ok()) return select.status();
  return ids;
}

struct StoredRun {
  Run run;
  int64_t first_record = 0;
  int64_t records = 0;
};

StoredRun ReadRun(const Statement& row) {
  StoredRun stored;
  Run& run = stored.run;
  run.id = row.Int(0);
  run.session = row.Int(1);
  run.round = static_cast<int>(row.Int(2));
  run.end_to_end = ReadSummary(row, 3);
  run.profiled_end_to_end = ReadSummary(row, 10);
  run.peak_memory = BytesAt(row, 17);
  run.source = row.Text(18);
  stored.first_record = row.Int(19);
  stored.records = row.Int(20);
  run.structure_sha256 = row.Text(21);
  run.model_name = row.Text(22);
  run.family = row.Text(23);
  run.input_shapes = row.Text(24);
  run.precision = row.Text(25);
  run.fusion_mode = row.Text(26);
  return stored;
}

Result<std::vector<StoredRun>> RunsWhere(const Connection& connection, const RecordFilter& f) {
  const Condition session = SessionCondition(f);
  const Condition subject = SubjectCondition(f);
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select,
      connection.Prepare(fmt::format(
          "SELECT r.id, r.session, r.round, r.count, r.min, r.p10, r.median, r.mean, r.p90, r.mad, r.profiled_count, "
          "r.profiled_min, r.profiled_p10, r.profiled_median, r.profiled_mean, r.profiled_p90, r.profiled_mad, "
          "r.peak_memory, r.source, r.first_record, r.records, s.structure_sha256, s.model_name, s.family, "
          "s.input_shapes, s.precision, s.fusion_mode FROM run r JOIN subject s ON s.id = r.subject WHERE r.session IN "
          "(SELECT id FROM session WHERE {}) AND {} ORDER BY r.id",
          session.sql, subject.sql)));
  for (const std::string& text : session.texts) select.Add(text);
  for (const std::string& text : subject.texts) select.Add(text);
  std::vector<StoredRun> runs;
  while (select.Next()) runs.push_back(ReadRun(select));
  if (!select.status().ok()) return select.status();
  return runs;
}

template <typename T>
T FromJson(std::string_view text) {
  if (text.empty()) return {};
  const json parsed = json::parse(text, nullptr, false);
  try {
    return parsed.get<T>();
  } catch (const json::exception&) {
    return {};  // `db check` finds it by its checksum
  }
}

constexpr char kRecordColumns[] =
    "id, kernel, context, name, fused_from, count, min, p10, median, mean, p90, mad, corrected, bytes_moved, clock_hz, "
    "counters, source";

Record ReadRecord(const Statement& row, const Run& run, const Kernel& kernel) {
  Record r;
  r.id = row.Int(0);
  r.session = run.session;
  r.run = run.id;
  r.round = run.round;
  r.kernel = kernel;
  r.context = static_cast<KernelContext>(row.Int(2));
  r.kernel.name = row.Text(3);
  r.kernel.fused_from = FromJson<std::vector<std::string>>(row.View(4));
  r.model_name = run.model_name;
  r.structure_sha256 = run.structure_sha256;
  r.family = run.family;
  r.precision = run.precision;
  r.fusion_mode = run.fusion_mode;
  r.raw = ReadSummary(row, 5);
  r.corrected = Nanoseconds(row.Real(12));
  r.bytes_moved = BytesAt(row, 13);
  if (!row.IsNull(14)) r.clock_hz = row.Real(14);
  r.counters = FromJson<std::map<std::string, double>>(row.View(15));
  r.source = row.Text(16);
  return r;
}

// A kernel stands at several places, of one model or of several: each place has its own envelope over the rounds; the
// kernel's time is their mean, its doubt the largest of theirs. Places too noisy to learn from count only if all are.
KernelMeasurement OverPlaces(const std::map<std::pair<int64_t, int64_t>, std::vector<Record>>& places) {
  std::vector<KernelMeasurement> all;
  for (const auto& [place, rounds] : places) {
    std::vector<const Record*> pointers;
    for (const Record& r : rounds) pointers.push_back(&r);
    all.push_back(Envelope(pointers));
  }
  const auto is_noisy = [](const KernelMeasurement& m) { return m.verdict == NoiseVerdict::kNoisy; };
  if (!std::all_of(all.begin(), all.end(), is_noisy))
    all.erase(std::remove_if(all.begin(), all.end(), is_noisy), all.end());
  KernelMeasurement joined = all.front();
  Duration sum;
  for (const KernelMeasurement& m : all) {
    sum += m.time;
    joined.spread = std::max(joined.spread, m.spread);
    joined.rounds = std::max(joined.rounds, m.rounds);
    joined.verdict = std::max(joined.verdict, m.verdict);
  }
  joined.time = sum / static_cast<double>(all.size());
  return joined;
}

}  // namespace

SampleSummary ReadSummary(const Statement& row, int first_column) {
  SampleSummary s;
  s.count = row.Int(first_column);
  int column = first_column;
  for (Duration* d : {&s.min, &s.p10, &s.median, &s.mean, &s.p90, &s.mad}) *d = Nanoseconds(row.Real(++column));
  return s;
}

Result<const Kernel*> Database::Impl::KernelOf(int64_t id) {
  if (const auto known = kernels.find(id); known != kernels.end()) return &known->second;
  SIMPRED_ASSIGN_OR_RETURN(Statement select, connection.Prepare("SELECT detail, signature FROM kernel WHERE id = ?"));
  if (!select.Bind(id).Next()) {
    if (!select.status().ok()) return select.status();
    return DatabaseError(fmt::format("database '{}' lacks kernel {} that a record names", connection.path(), id),
                         "`sim_predict db check` lists what is wrong");
  }
  SIMPRED_ASSIGN_OR_RETURN(Kernel kernel, KernelFromDetail(select.Text(0), select.Text(1)));
  return &kernels.emplace(id, std::move(kernel)).first->second;
}

Status Database::AddMeasured(Run& run, std::vector<Record>& records) {
  const Connection& connection = impl_->connection;
  SIMPRED_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(connection));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t subject, SubjectId(connection, run));
  SIMPRED_ASSIGN_OR_RETURN(const std::optional<int64_t> run_id, InsertRun(connection, subject, run));
  if (!run_id) return OkStatus();  // stored before
  KernelWriter kernels(connection, impl_->kernel_ids);
  SIMPRED_RETURN_IF_ERROR(InsertRecords(connection, kernels, *run_id, subject, run, records));
  SIMPRED_RETURN_IF_ERROR(SealBatch(connection, *run_id, records));
  SIMPRED_RETURN_IF_ERROR(transaction.Commit());
  impl_->kernel_ids.insert(kernels.fresh().begin(), kernels.fresh().end());
  run.id = *run_id;
  for (Record& record : records) {
    record.run = run.id;
    record.session = run.session;
    record.round = run.round;
  }
  return OkStatus();
}

Result<std::vector<Run>> Database::Runs(const RecordFilter& f) {
  SIMPRED_ASSIGN_OR_RETURN(std::vector<StoredRun> stored, RunsWhere(impl_->connection, f));
  std::vector<Run> runs;
  runs.reserve(stored.size());
  for (StoredRun& s : stored) runs.push_back(std::move(s.run));
  return runs;
}

Result<std::vector<Record>> Database::Records(const RecordFilter& f) {
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, RunsWhere(impl_->connection, f));
  const std::string context = f.context ? fmt::format(" AND context = {}", static_cast<int>(*f.context)) : "";
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select,
      impl_->connection.Prepare(fmt::format("SELECT {} FROM record WHERE id >= ? AND id < ? AND run = ?{} ORDER BY id",
                                            kRecordColumns, context)));
  std::vector<Record> records;
  for (const StoredRun& stored : runs) {
    select.Bind(stored.first_record, stored.first_record + stored.records, stored.run.id);
    while (select.Next()) {
      SIMPRED_ASSIGN_OR_RETURN(const Kernel* kernel, impl_->KernelOf(select.Int(1)));
      records.push_back(ReadRecord(select, stored.run, *kernel));
    }
    if (!select.status().ok()) return select.status();
  }
  return records;
}

Result<std::map<std::string, KernelMeasurement>> Database::Lookup(const std::vector<std::string>& signatures,
                                                                  const RecordFilter& f) {
  const Connection& connection = impl_->connection;
  SIMPRED_ASSIGN_OR_RETURN(const std::set<int64_t> sessions, IdsWhere(connection, "session", SessionCondition(f)));
  const Condition subject_condition = SubjectCondition(f);
  const bool any_subject = subject_condition.texts.empty();
  std::set<int64_t> subjects;
  if (!any_subject) {
    SIMPRED_ASSIGN_OR_RETURN(subjects, IdsWhere(connection, "subject", subject_condition));
  }
  const std::string context = f.context ? fmt::format(" AND r.context = {}", static_cast<int>(*f.context)) : "";
  SIMPRED_ASSIGN_OR_RETURN(
      Statement select,  // reads two indexes and no table but the kernel's own row
      connection.Prepare(fmt::format("SELECT r.session, r.subject, r.position, r.corrected, r.p10, r.median, r.count "
                                     "FROM kernel k CROSS JOIN record "
                                     "r ON r.kernel = k.id{} WHERE k.signature_hash = ? AND k.signature = ?",
                                     context)));
  std::map<std::string, KernelMeasurement> found;
  for (const std::string& signature : signatures) {
    if (found.count(signature) > 0) continue;
    std::map<std::pair<int64_t, int64_t>, std::vector<Record>> places;
    select.Bind(SignatureHash(signature), signature);
    while (select.Next()) {
      if (sessions.count(select.Int(0)) == 0 || (!any_subject && subjects.count(select.Int(1)) == 0)) continue;
      Record& r = places[{select.Int(1), select.Int(2)}].emplace_back();
      r.corrected = Nanoseconds(select.Real(3));
      r.raw.p10 = Nanoseconds(select.Real(4));
      r.raw.median = Nanoseconds(select.Real(5));
      r.raw.count = select.Int(6);
    }
    if (!select.status().ok()) return select.status();
    if (!places.empty()) found.emplace(signature, OverPlaces(places));
  }
  return found;
}

}  // namespace simpred
