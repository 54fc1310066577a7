// What does one process measure of one model?
#include "profile/collectors/ort_job.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "profile/collectors/ort_trace.h"

namespace simpred {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double NanosecondsBetween(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double, std::nano>(b - a).count();
}

Status OptimizeOnce(const RuntimeLibrary& library, const Job& job) {
  std::error_code error;
  if (std::filesystem::exists(job.optimized, error)) return OkStatus();
  std::filesystem::path half = job.optimized;
  half += ".half";
  RuntimeSessionOptions options{.model = job.model, .level = job.level, .threads = job.threads, .symbols = job.symbols};
  options.save_optimized_to = half;
  SIMPRED_ASSIGN_OR_RETURN(const RuntimeSession saved, RuntimeSession::Open(library, options));
  std::filesystem::rename(half, job.optimized, error);
  if (error) return UnavailableError(fmt::format("'{}': {}", job.optimized.string(), error.message()));
  return OkStatus();
}

Result<RuntimeSession> OpenToRun(const RuntimeLibrary& library, const Job& job, bool profiled) {
  RuntimeSessionOptions options{.model = job.optimized.empty() ? job.model : job.optimized,
                                .level = FusionLevel::kOff,
                                .threads = job.threads,
                                .symbols = job.symbols};
  if (profiled) options.profile_file_prefix = job.profile_file_prefix;
  SIMPRED_ASSIGN_OR_RETURN(RuntimeSession session, RuntimeSession::Open(library, options));
  SIMPRED_RETURN_IF_ERROR(session.SetInputs(job.inputs));
  return session;
}

// Nanoseconds of each run after the warm-up.
Result<std::vector<double>> TimeRuns(RuntimeSession& session, const RunBudget& budget) {
  for (int i = 0; i < budget.warmup; ++i) SIMPRED_RETURN_IF_ERROR(session.Run());
  std::vector<double> times;
  times.reserve(static_cast<size_t>(budget.max_runs));  // no allocation between the runs
  const auto start = Clock::now();
  auto before = start;
  while (!budget.IsSpent(std::ssize(times), NanosecondsBetween(start, before) * 1e-9)) {
    before = Clock::now();
    SIMPRED_RETURN_IF_ERROR(session.Run());
    const auto after = Clock::now();
    times.push_back(NanosecondsBetween(before, after));
    before = after;
  }
  return times;
}

Status MeasureUnprofiled(const RuntimeLibrary& library, const Job& job, JobResult& out) {
  SIMPRED_ASSIGN_OR_RETURN(RuntimeSession session, OpenToRun(library, job, false));
  SIMPRED_ASSIGN_OR_RETURN(std::vector<double> times, TimeRuns(session, job.budget));
  out.end_to_end = Summarize(std::move(times));
  return OkStatus();
}

Result<Trace> ReadAndRemove(const std::filesystem::path& profile, int warmup) {
  Result<MappedFile> file = MappedFile::Open(profile);
  std::error_code ignored;
  std::filesystem::remove(profile, ignored);
  if (!file.ok()) return file.status();
  return ParseOrtTrace(file->bytes(), warmup);
}

Status MeasureProfiled(const RuntimeLibrary& library, const Job& job, JobResult& out) {
  SIMPRED_ASSIGN_OR_RETURN(RuntimeSession session, OpenToRun(library, job, true));
  SIMPRED_ASSIGN_OR_RETURN(std::vector<double> times, TimeRuns(session, job.profiled_budget));
  out.profiled_end_to_end = Summarize(std::move(times));
  SIMPRED_ASSIGN_OR_RETURN(const std::filesystem::path profile, session.EndProfiling());
  SIMPRED_ASSIGN_OR_RETURN(Trace trace, ReadAndRemove(profile, job.profiled_budget.warmup));
  for (TraceNode& n : trace.nodes) {
    out.nodes.push_back({n.name, n.op, n.index, Summarize(SpreadTicks(std::move(n.nanoseconds)))});
  }
  return OkStatus();
}

Status Measure(const RuntimeLibrary& library, const Job& job, JobResult& out) {
  if (!job.optimized.empty()) SIMPRED_RETURN_IF_ERROR(OptimizeOnce(library, job));
  SIMPRED_RETURN_IF_ERROR(MeasureUnprofiled(library, job, out));
  if (job.profile) SIMPRED_RETURN_IF_ERROR(MeasureProfiled(library, job, out));
  return OkStatus();
}

Json ToJson(const SampleSummary& s) {
  Json numbers = Json::array({s.count});
  for (const Duration d : {s.min, s.p10, s.median, s.mean, s.p90, s.mad}) numbers.push_back(d / Nanoseconds(1));
  return numbers;
}

SampleSummary SummaryFrom(const Json& j) {
  SampleSummary s;
  s.count = j.at(0).get<int64_t>();
  size_t next = 1;
  for (Duration* d : {&s.min, &s.p10, &s.median, &s.mean, &s.p90, &s.mad}) *d = Nanoseconds(j.at(next++).get<double>());
  return s;
}

}  // namespace

bool RunBudget::IsSpent(int64_t runs, double elapsed) const {
  if (runs >= max_runs) return true;
  if (runs >= wanted_runs && elapsed >= seconds) return true;
  return runs >= kFewestRuns && elapsed >= kPatience * seconds;
}

JobResult RunJob(const RuntimeLibrary& library, const Job& job) {
  JobResult result;
  result.status = Measure(library, job, result);
  return result;
}

std::string Encode(const JobResult& result) {
  Json j = {{"code", static_cast<int>(result.status.code())},
            {"message", std::string(result.status.message())},
            {"hint", std::string(result.status.hint())},
            {"context", result.status.context()},
            {"end_to_end", ToJson(result.end_to_end)},
            {"profiled", ToJson(result.profiled_end_to_end)},
            {"nodes", Json::array()}};
  for (const NodeSamples& n : result.nodes) {
    j["nodes"].push_back({n.name, n.op, n.index, ToJson(n.kernel_time)});
  }
  std::string bytes;
  Json::to_cbor(j, bytes);
  return bytes;
}

Result<JobResult> DecodeJobResult(std::string_view bytes) {
  try {
    const Json j = Json::from_cbor(bytes.begin(), bytes.end());
    JobResult r;
    if (const int code = j.at("code").get<int>(); code != 0) {
      r.status = Status(static_cast<StatusCode>(code), j.at("message").get<std::string>(), j.at("hint"));
      for (const Json& link : j.at("context")) r.status = std::move(r.status).With(link.get<std::string>());
    }
    r.end_to_end = SummaryFrom(j.at("end_to_end"));
    r.profiled_end_to_end = SummaryFrom(j.at("profiled"));
    for (const Json& n : j.at("nodes")) {
      r.nodes.push_back({n.at(0), n.at(1), n.at(2).get<int64_t>(), SummaryFrom(n.at(3))});
    }
    return r;
  } catch (const Json::exception& e) {
    return InternalError(fmt::format("the measuring process sent something that is not a result: {}", e.what()));
  }
}

}  // namespace simpred
