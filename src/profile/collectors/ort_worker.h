// How are jobs run so that a runtime that crashes costs its own job only?
//
// All jobs of a call share one child process, which sends each result as soon as it has it. If the process ends early,
// the job it was at runs once more in a process of its own, and the rest goes on in another one.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "profile/collectors/child_process.h"
#include "profile/collectors/ort_job.h"

namespace simpred {

struct WorkerEnd {
  Status status;         // the runtime cannot be loaded: no job was run
  bool stopped = false;  // results are missing because of the stop flag
};

// `done` is called in this process, once for each job that was run, in order, after the process that ran it has ended:
// nothing that it does disturbs a measurement.
WorkerEnd RunJobs(const std::filesystem::path& library, const std::vector<Job>& jobs, const ChildOptions& options,
                  const std::function<void(size_t job, JobResult result)>& done);

struct RuntimeIdentity {
  std::string version;
  std::filesystem::path file;
};
Result<RuntimeIdentity> IdentifyRuntime(const std::filesystem::path& library, const ChildOptions& options);

// The model as the runtime optimises it, saved to job.optimized.
Status SaveOptimizedModel(const std::filesystem::path& library, const Job& job, const ChildOptions& options);

}  // namespace simpred
