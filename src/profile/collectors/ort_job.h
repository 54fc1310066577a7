// What does one process measure of one model?
//
// The model is optimised at its level and saved once; that file is what is run, at level 0, so that the names in the
// profile are the names in the file (they differ between sessions that optimise). First runs without the profiler,
// which slows small kernels down; then, in a session of their own, runs with it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profile/collectors/ort_session.h"
#include "profile/record.h"

namespace simpred {

// Ends at max_runs; or after `seconds` with wanted_runs done; or, for slow models, after `patience` times `seconds`
// with fewest_runs done.
struct RunBudget {
  static constexpr int64_t kFewestRuns = 5;
  static constexpr double kPatience = 5;
  int warmup = 3;
  int64_t wanted_runs = kFewestRuns;
  int64_t max_runs = 128;
  double seconds = 2;
  bool IsSpent(int64_t runs, double elapsed) const;
};

struct Job {
  std::filesystem::path model;
  std::filesystem::path optimized;  // made if it is not there; empty: `model` is run as it is at level 0
  FusionLevel level = FusionLevel::kAll;
  int threads = 1;
  std::vector<RuntimeInput> inputs;
  std::map<std::string, int64_t> symbols;
  RunBudget budget;
  bool profile = true;
  RunBudget profiled_budget;
  std::filesystem::path profile_file_prefix;
};

struct NodeSamples {
  std::string name, op;
  int64_t index = -1;
  SampleSummary kernel_time;
};

struct JobResult {
  Status status;
  SampleSummary end_to_end;
  SampleSummary profiled_end_to_end;
  std::vector<NodeSamples> nodes;  // in order of execution
};

JobResult RunJob(const RuntimeLibrary& library, const Job& job);

// For the pipe between the process that measures and the one that keeps.
std::string Encode(const JobResult& result);
Result<JobResult> DecodeJobResult(std::string_view bytes);

}  // namespace simpred
