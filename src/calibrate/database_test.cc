#include "calibrate/database.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "base/file.h"
#include "base/work_folder.h"
#include "calibrate/database_kernel.h"

namespace simpred {
namespace {

// A filter or a tensor names only what matters; the rest stays at its default.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace fs = std::filesystem;
using MeasuredRun = Run;  // inside a fixture, Run is GoogleTest's
using Clock = std::chrono::steady_clock;

Kernel MakeKernel(const std::string& name, int64_t width) {
  Kernel k;
  k.name = name;
  k.type = "com.microsoft.FusedConv";
  k.op_class = OperatorClass::kConvolution;
  k.inputs = {{.name = "x", .dtype = DataType::kFloat32, .dims = {1, width, 8, 8}, .layout = Layout::kNchwc},
              {.name = "w", .dtype = DataType::kFloat32, .dims = {width, width, 3, 3}, .constant = true},
              {.name = "", .present = false}};
  k.outputs = {{.name = "y", .dtype = DataType::kFloat16, .dims = {}}};
  k.attributes = {{"strides", "2,2"}, {"activation", "Relu"}};
  k.fused_from = {"conv1", "relu \"1\""};
  k.work = {.flops = Flops(1e9 + 0.5), .read = Bytes(100), .weights = Bytes(200), .written = Bytes(300)};
  k.signature = fmt::format("FusedConv {}", width);
  return k;
}

SampleSummary Samples(double p10) {
  return {.count = 40,
          .min = Nanoseconds(p10 - 1),
          .p10 = Nanoseconds(p10),
          .median = Nanoseconds(p10 + 10),
          .mean = Nanoseconds(p10 + 0.1),
          .p90 = Nanoseconds(p10 + 100),
          .mad = Nanoseconds(0.25)};
}

Record MakeRecord(const Kernel& kernel, double time) {
  Record r;
  r.kernel = kernel;
  r.raw = Samples(time);
  r.corrected = Nanoseconds(time);
  r.counters = {{"stalls", 0.1}};
  r.bytes_moved = Bytes(123);
  r.source = "profile.json:7";
  return r;
}

Session MakeSession(const std::string& device = "cpu") {
  Session s;
  s.device = device;
  s.fingerprint = "processor of " + device;
  s.runtime = "onnxruntime";
  s.runtime_version = "1.30";
  s.threads = 2;
  s.kind = "model";
  s.facts = {{"plan", "p"}, {"governor", "performance"}};
  return s;
}

Run MakeRun(int64_t session, const std::string& model, int round) {
  Run run;
  run.session = session;
  run.round = round;
  run.model_name = model;
  run.structure_sha256 = "hash of " + model;
  run.family = "cnn";
  run.input_shapes = "x=1x3";
  run.precision = "FP32";
  run.fusion_mode = "auto";
  run.end_to_end = Samples(5000);
  run.profiled_end_to_end = Samples(6000);
  run.peak_memory = Bytes(int64_t{1} << 40);
  return run;
}

class DatabaseTest : public testing::Test {
 protected:
  Database OpenToWrite() { return Database::Open(path_, Database::Mode::kReadWrite).value(); }
  Database OpenToRead() { return Database::Open(path_, Database::Mode::kReadOnly).value(); }
  Status OpenStatus(Database::Mode mode = Database::Mode::kReadWrite) { return Database::Open(path_, mode).status(); }
  void Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(db);
  }

  std::unique_ptr<WorkFolder> folder_ = WorkFolder::Create().value();
  fs::path path_ = folder_->path() / "calibration.db";
};

TEST_F(DatabaseTest, RecordsComeBackWhole) {
  int64_t session = 0;
  {
    Database db = OpenToWrite();
    session = db.AddSession(MakeSession()).value();
    MeasuredRun run = MakeRun(session, "resnet", 3);
    std::vector<Record> records = {MakeRecord(MakeKernel("a", 64), 1000), MakeRecord(MakeKernel("b", 32), 2000.125)};
    records[1].context = KernelContext::kAloneWarm;
    records[1].bytes_moved.reset();
    records[1].clock_hz = 2.6e9;
    ASSERT_TRUE(db.AddMeasured(run, records).ok());
    EXPECT_GT(run.id, 0);
    EXPECT_EQ(records[0].run, run.id);
    EXPECT_EQ(records[1].id, records[0].id + 1);
  }
  Database db = OpenToRead();
  const std::vector<Record> records = db.Records({}).value();
  ASSERT_EQ(records.size(), 2U);
  const Record& r = records[0];
  const Kernel expected = MakeKernel("a", 64);
  EXPECT_EQ(r.kernel.name, "a");
  EXPECT_EQ(r.kernel.signature, expected.signature);
  EXPECT_EQ(r.kernel.fused_from, expected.fused_from);
  EXPECT_EQ(r.kernel.attributes, expected.attributes);
  EXPECT_EQ(KernelDetail(r.kernel), KernelDetail(expected));
  EXPECT_EQ(r.kernel.work.flops, expected.work.flops);
  EXPECT_EQ(r.session, session);
  EXPECT_EQ(r.round, 3);
  EXPECT_EQ(r.model_name, "resnet");
  EXPECT_EQ(r.structure_sha256, "hash of resnet");
  EXPECT_EQ(r.fusion_mode, "auto");
  EXPECT_EQ(r.raw.p90, Nanoseconds(1100));
  EXPECT_EQ(r.raw.mad, Nanoseconds(0.25));
  EXPECT_EQ(r.counters.at("stalls"), 0.1);
  EXPECT_EQ(r.bytes_moved, Bytes(123));
  EXPECT_FALSE(r.clock_hz);
  EXPECT_FALSE(records[1].bytes_moved) << "absent is absent, not zero";
  EXPECT_EQ(records[1].clock_hz, 2.6e9);
  EXPECT_EQ(records[1].corrected, Nanoseconds(2000.125));
  const std::vector<MeasuredRun> runs = db.Runs({}).value();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].end_to_end.median, Nanoseconds(5010));
  EXPECT_EQ(runs[0].profiled_end_to_end.count, 40);
  EXPECT_EQ(runs[0].peak_memory, Bytes(int64_t{1} << 40));
  EXPECT_EQ(runs[0].input_shapes, "x=1x3");
  EXPECT_TRUE(db.Check().value().empty());
}

TEST_F(DatabaseTest, TheSameRoundTwiceIsStoredOnce) {
  Database db = OpenToWrite();
  const int64_t session = db.AddSession(MakeSession()).value();
  for (int i = 0; i < 2; ++i) {
    MeasuredRun run = MakeRun(session, "resnet", 0);
    std::vector<Record> records = {MakeRecord(MakeKernel("a", 64), 1000)};
    ASSERT_TRUE(db.AddMeasured(run, records).ok());
    EXPECT_EQ(run.id, 1);
  }
  MeasuredRun other_shape = MakeRun(session, "resnet", 0);
  other_shape.input_shapes = "x=4x3";
  std::vector<Record> records = {MakeRecord(MakeKernel("a", 64), 1000)};
  ASSERT_TRUE(db.AddMeasured(other_shape, records).ok());
  EXPECT_EQ(db.Runs({}).value().size(), 2U) << "another shape of the model is another run";
  EXPECT_EQ(db.Stats().value().records, 2);
  EXPECT_EQ(db.Stats().value().distinct_kernels, 1);
  EXPECT_EQ(db.RoundsDone(session).value(), (std::set<std::pair<std::string, int>>{{"resnet", 0}}));
}

TEST_F(DatabaseTest, FiltersKeepToDeviceModelFamilyAndContext) {
  Database db = OpenToWrite();
  for (const char* device : {"cpu", "T4"}) {
    const int64_t session = db.AddSession(MakeSession(device)).value();
    for (const char* model : {"one", "two"}) {
      MeasuredRun run = MakeRun(session, model, 0);
      run.family = std::string("family ") + model;
      std::vector<Record> records = {MakeRecord(MakeKernel("a", 64), 1000), MakeRecord(MakeKernel("b", 64), 1000)};
      records[1].context = KernelContext::kAloneWarm;
      ASSERT_TRUE(db.AddMeasured(run, records).ok());
    }
  }
  const auto count = [&](const RecordFilter& f) { return db.Records(f).value().size(); };
  EXPECT_EQ(count({}), 8U);
  EXPECT_EQ(count({.device = "T4"}), 4U);
  EXPECT_EQ(count({.fingerprint = "processor of cpu", .threads = 2}), 4U);
  EXPECT_EQ(count({.threads = 1}), 0U);
  EXPECT_EQ(count({.device = "T4", .models = {"hash of one"}}), 2U);
  EXPECT_EQ(count({.without_models = {"hash of one"}}), 4U);
  EXPECT_EQ(count({.families = {"family two"}}), 4U);
  EXPECT_EQ(count({.without_families = {"family one", "family two"}}), 0U);
  EXPECT_EQ(count({.context = KernelContext::kInGraph}), 4U);
  EXPECT_EQ(count({.kinds = {"import"}}), 0U);
  EXPECT_EQ(count({.device = "' OR 1 --"}), 0U);
  EXPECT_EQ(db.Runs({.device = "T4"}).value().size(), 2U);
}

TEST_F(DatabaseTest, LookupTakesTheEnvelopeOverRoundsAndTheMeanOverPlaces) {
  Database db = OpenToWrite();
  const int64_t session = db.AddSession(MakeSession()).value();
  const double times[2][2] = {{100000, 301000}, {101000, 300000}};  // [round][place]
  for (int round = 0; round < 2; ++round) {
    MeasuredRun run = MakeRun(session, "resnet", round);
    std::vector<Record> records = {MakeRecord(MakeKernel("a", 64), times[round][0]),
                                   MakeRecord(MakeKernel("b", 64), times[round][1])};
    ASSERT_TRUE(db.AddMeasured(run, records).ok());
  }
  const auto found = db.Lookup({"FusedConv 64", "FusedConv 65", "FusedConv 64"}, {}).value();
  ASSERT_EQ(found.size(), 1U);
  const KernelMeasurement& m = found.at("FusedConv 64");
  EXPECT_EQ(m.time, Microseconds(200));
  EXPECT_NEAR(m.spread, 0.01, 1e-9);
  EXPECT_EQ(m.rounds, 2);
  EXPECT_TRUE(db.Lookup({"FusedConv 64"}, {.device = "T4"}).value().empty());
  EXPECT_TRUE(db.Lookup({"FusedConv 64"}, {.without_models = {"hash of resnet"}}).value().empty());
  EXPECT_TRUE(db.Lookup({"FusedConv 64"}, {.context = KernelContext::kAloneWarm}).value().empty());
}

TEST_F(DatabaseTest, SessionsBiasTwinsAndPredictions) {
  Database db = OpenToWrite();
  const int64_t first = db.AddSession(MakeSession()).value();
  EXPECT_EQ(db.FindResumable(MakeSession()).value(), first);
  Session other = MakeSession();
  other.facts["plan"] = "another";
  EXPECT_EQ(db.FindResumable(other).value(), 0);
  ASSERT_TRUE(db.FinishSession(first).ok());
  EXPECT_EQ(db.FindResumable(MakeSession()).value(), 0);
  EXPECT_EQ(db.Sessions().value().at(0).facts, MakeSession().facts);
  EXPECT_EQ(db.Sessions().value().at(0).started_at.size(), std::string("2025-01-01T00:00:00Z").size())
      << "a session that does not say when it started starts now";

  EXPECT_FALSE(db.FindBias("processor of cpu", "1.30", 2).value());
  ASSERT_TRUE(db.SetBias(first, {.kernel_bias = Nanoseconds(2500), .chains = 3}).ok());
  EXPECT_EQ(db.FindBias("processor of cpu", "1.30", 2).value()->kernel_bias, Nanoseconds(2500));
  EXPECT_FALSE(db.FindBias("processor of cpu", "1.30", 1).value());
  EXPECT_FALSE(db.SetBias(99, {}).ok()) << "there is no such session";

  const std::string bytes("\0binary\xff", 8);
  ASSERT_TRUE(db.PutTwin({.key = "k", .bytes = "old", .created_at = "t", .summary = "s"}).ok());
  ASSERT_TRUE(db.PutTwin({.key = "k", .bytes = bytes, .created_at = "t", .summary = "s"}).ok());
  EXPECT_EQ(db.GetTwin("k").value()->bytes, bytes);
  EXPECT_FALSE(db.GetTwin("none").value());

  const int64_t saved = db.SavePrediction({.config = "a: 1", .report_json = "{}"}).value();
  EXPECT_EQ(db.LoadPrediction(saved).value()->config, "a: 1");
  EXPECT_FALSE(db.LoadPrediction(saved + 1).value());
}

TEST_F(DatabaseTest, AMissingFileReadsAsEmptyAndIsNotMade) {
  Database db = OpenToRead();
  EXPECT_TRUE(db.Records({}).value().empty());
  EXPECT_EQ(db.Stats().value().sessions, 0);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(DatabaseTest, NotADatabaseSaysSo) {
  ASSERT_TRUE(WriteAtomically(path_, std::string(5000, 'x')).ok());
  for (const auto mode : {Database::Mode::kReadOnly, Database::Mode::kReadWrite}) {
    const Status status = OpenStatus(mode);
    EXPECT_EQ(status.code(), StatusCode::kDatabase);
    EXPECT_NE(status.message().find("is not a database"), std::string::npos) << status.ToString();
    EXPECT_FALSE(status.hint().empty());
  }
  EXPECT_EQ(ReadText(path_).value().size(), 5000U) << "somebody's file was changed";
}

TEST_F(DatabaseTest, AnotherProgramsDatabaseIsLeftAlone) {
  Sql("CREATE TABLE theirs(x)");
  EXPECT_NE(OpenStatus().message().find("another program"), std::string::npos) << OpenStatus().ToString();
}

TEST_F(DatabaseTest, ANewerSchemaSaysSo) {
  OpenToWrite();
  Sql("PRAGMA user_version = 99");
  EXPECT_NE(OpenStatus().message().find("schema version 99"), std::string::npos) << OpenStatus().ToString();
  EXPECT_NE(OpenStatus().hint().find("update sim_predict"), std::string_view::npos);
  EXPECT_EQ(OpenStatus(Database::Mode::kReadOnly).code(), StatusCode::kDatabase);
}

TEST_F(DatabaseTest, ALockedDatabaseSaysSo) {
  Database db = OpenToWrite();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto start = Clock::now();
  const Status status = db.AddSession(MakeSession()).status();
  EXPECT_GT(Clock::now() - start, std::chrono::seconds(4)) << "somebody who only writes for a moment is waited for";
  EXPECT_EQ(status.code(), StatusCode::kDatabase);
  EXPECT_NE(status.message().find("locked"), std::string::npos) << status.ToString();
  EXPECT_TRUE(db.Sessions().ok()) << "reading goes on";
  sqlite3_close(other);
  EXPECT_TRUE(db.AddSession(MakeSession()).ok());
}

TEST_F(DatabaseTest, AFullDiskLosesNothingThatWasStored) {
  Database db = OpenToWrite();
  const int64_t session = db.AddSession(MakeSession()).value();
  MeasuredRun kept = MakeRun(session, "kept", 0);
  std::vector<Record> records = {MakeRecord(MakeKernel("a", 64), 1000)};
  ASSERT_TRUE(db.AddMeasured(kept, records).ok());
  // A limit on the size of files stands in for a full disk.
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 200000, .rlim_max = 200000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Database writer = OpenToWrite();
    for (int round = 1; round < 10000; ++round) {
      MeasuredRun run = MakeRun(session, "more", round);
      std::vector<Record> more(50, MakeRecord(MakeKernel("a", round), 1000));
      const Status status = writer.AddMeasured(run, more);
      if (status.ok()) continue;
      ::_exit(status.code() == StatusCode::kDatabase && !status.hint().empty() ? 0 : 2);
    }
    ::_exit(3);
  }
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_EQ(WEXITSTATUS(result), 0);
  EXPECT_TRUE(db.Check().value().empty());
  EXPECT_EQ(db.Records({.models = {"hash of kept"}}).value().size(), 1U);
}

TEST_F(DatabaseTest, AReadOnlyFolderCanBeReadAndSaysWhyItCannotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  { OpenToWrite(); }
  fs::permissions(path_, fs::perms::owner_read);
  fs::permissions(folder_->path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(OpenStatus(Database::Mode::kReadOnly).ok()) << OpenStatus(Database::Mode::kReadOnly).ToString();
  EXPECT_NE(OpenStatus().message().find("may not be written"), std::string::npos) << OpenStatus().ToString();
  fs::permissions(folder_->path(), fs::perms::owner_all);
}

TEST_F(DatabaseTest, CheckFindsWhatWasChangedBehindItsBack) {
  {
    Database db = OpenToWrite();
    const int64_t session = db.AddSession(MakeSession()).value();
    for (int round = 0; round < 3; ++round) {
      MeasuredRun run = MakeRun(session, "resnet", round);
      std::vector<Record> records(4, MakeRecord(MakeKernel("a", 64), 1000));
      ASSERT_TRUE(db.AddMeasured(run, records).ok());
    }
    ASSERT_TRUE(db.Check().value().empty());
  }
  Sql("UPDATE record SET corrected = 1 WHERE id = 2; DELETE FROM record WHERE id = 6; UPDATE kernel SET type = 'x', "
      "detail = '{}'");
  Database db = OpenToRead();
  const std::vector<std::string> findings = db.Check().value();
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0], "run 1 (resnet): its checksum does not fit its records");
  EXPECT_EQ(findings[1], "run 2 (resnet): has 3 of its 4 records");
  EXPECT_EQ(findings[3], "kernel 1: its checksum does not fit its description");
  EXPECT_EQ(db.Records({}).status().code(), StatusCode::kDatabase);
}

TEST_F(DatabaseTest, AKilledWriterLeavesAllAcknowledgedBatchesAndNothingHalf) {
  { OpenToWrite(); }
  for (int kill_after : {3, 10, 25}) {
    int channel[2];
    ASSERT_EQ(::pipe(channel), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      Database db = OpenToWrite();
      const int64_t session = db.AddSession(MakeSession()).value();
      for (int round = 0;; ++round) {
        MeasuredRun run = MakeRun(session, "resnet", round);
        std::vector<Record> records(40, MakeRecord(MakeKernel("a", 64 + round), 1000));
        if (!db.AddMeasured(run, records).ok()) ::_exit(1);
        if (::write(channel[1], "x", 1) != 1) ::_exit(1);
      }
    }
    ::close(channel[1]);
    int acknowledged = 0;
    for (char c = 0; acknowledged < kill_after && ::read(channel[0], &c, 1) == 1;) ++acknowledged;
    ::usleep(1500);  // into the middle of the next batch
    ::kill(child, SIGKILL);
    for (char c = 0; ::read(channel[0], &c, 1) == 1;) ++acknowledged;
    ::close(channel[0]);
    ::waitpid(child, nullptr, 0);
    Database db = OpenToWrite();
    const std::vector<std::string> findings = db.Check().value();
    EXPECT_TRUE(findings.empty()) << findings[0];
    const int64_t session = db.Sessions().value().back().id;
    const auto done = db.RoundsDone(session).value();
    EXPECT_GE(done.size(), static_cast<size_t>(acknowledged));
    EXPECT_LE(done.size(), static_cast<size_t>(acknowledged) + 1) << "one may be stored and not yet acknowledged";
    EXPECT_EQ(db.Records({}).value().size(), 40 * db.Runs({}).value().size());
  }
}

TEST_F(DatabaseTest, TwoWritersTakeTurns) {
  { OpenToWrite(); }
  const auto write = [this](const std::string& model) {
    Database db = OpenToWrite();
    const int64_t session = db.AddSession(MakeSession()).value();
    for (int round = 0; round < 20; ++round) {
      MeasuredRun run = MakeRun(session, model, round);
      std::vector<Record> records(20, MakeRecord(MakeKernel("a", round), 1000));
      if (!db.AddMeasured(run, records).ok()) return 1;
    }
    return 0;
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(write("child"));
  EXPECT_EQ(write("parent"), 0);
  int result = 0;
  ::waitpid(child, &result, 0);
  EXPECT_EQ(WEXITSTATUS(result), 0);
  Database db = OpenToRead();
  EXPECT_EQ(db.Stats().value().records, 800);
  EXPECT_TRUE(db.Check().value().empty());
}

TEST_F(DatabaseTest, LookupInAHalfMillionRecordsIsFast) {
  constexpr int kKernels = 20000;
  constexpr int kRounds = 25;
  {
    Database db = OpenToWrite();
    std::vector<Record> records;
    for (int i = 0; i < kKernels; ++i) records.push_back(MakeRecord(MakeKernel("a", i), 1000));
    MeasuredRun run = MakeRun(db.AddSession(MakeSession()).value(), "big", 0);
    ASSERT_TRUE(db.AddMeasured(run, records).ok());
  }
  // The other rounds are copies of the first.
  Sql(fmt::format(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO run(session, subject, "
      "round, source) SELECT session, subject, i, source FROM run, n;"
      "INSERT INTO record(run, position, kernel, session, subject, context, name, fused_from, count, min, p10, median, "
      "mean, p90, mad, corrected, counters, source) SELECT run.id, position, kernel, r.session, r.subject, context, "
      "name, "
      "fused_from, r.count, r.min, r.p10, r.median, r.mean, r.p90, r.mad, corrected, counters, r.source FROM record r, "
      "run "
      "WHERE run.round > 0",
      kRounds - 1));
  std::vector<std::string> signatures;
  for (int i = 0; i < 100; ++i) signatures.push_back(fmt::format("FusedConv {}", i * 197));
  auto open_time = Clock::duration::max();
  auto lookup_time = Clock::duration::max();
  for (int attempt = 0; attempt < 5; ++attempt) {  // other tests may run beside this one
    const auto start = Clock::now();
    Database db = OpenToRead();
    const auto opened = Clock::now();
    EXPECT_EQ(db.Lookup(signatures, {.device = "cpu"}).value().size(), signatures.size());
    open_time = std::min(open_time, opened - start);
    lookup_time = std::min(lookup_time, Clock::now() - opened);
  }
  const auto micros = [](Clock::duration d) {
    return std::chrono::duration_cast<std::chrono::microseconds>(d).count();
  };
  RecordProperty("open_us", std::to_string(micros(open_time)));
  RecordProperty("lookup_us", std::to_string(micros(lookup_time)));
  fmt::print("open {} us, lookup of 100 in {} records {} us\n", micros(open_time), kKernels * kRounds,
             micros(lookup_time));
  EXPECT_LT(open_time, std::chrono::milliseconds(10));
  EXPECT_LT(lookup_time, std::chrono::milliseconds(20));
}

}  // namespace
}  // namespace simpred
