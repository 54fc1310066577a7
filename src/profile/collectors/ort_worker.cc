// How are jobs run so that a runtime that crashes costs its own job only?
#include "profile/collectors/ort_worker.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace simpred {
namespace {

// The first message of a process says whether the runtime was loaded; each further one is a result.
constexpr char kLoaded = 'L';
constexpr char kResult = 'R';

JobResult Failed(Status why) {
  JobResult r;
  r.status = std::move(why);
  return r;
}

std::string Message(char kind, const JobResult& result) { return kind + Encode(result); }

void ChildWork(const std::filesystem::path& library, const std::vector<const Job*>& jobs, const SendMessage& send) {
  const Result<RuntimeLibrary> loaded = RuntimeLibrary::Load(library);
  send(Message(kLoaded, Failed(loaded.status())));
  if (!loaded.ok()) return;
  for (const Job* job : jobs) send(Message(kResult, RunJob(*loaded, *job)));
}

struct ProcessEnd {
  ChildEnd child;
  std::optional<Status> loaded;    // absent: ended before it could say
  std::vector<JobResult> results;  // of the first jobs
};

ProcessEnd RunProcess(const std::filesystem::path& library, const std::vector<const Job*>& jobs,
                      const ChildOptions& options) {
  ProcessEnd end;
  const auto receive = [&](const std::string& message) {
    Result<JobResult> result = DecodeJobResult(std::string_view(message).substr(message.empty() ? 0 : 1));
    if (!result.ok()) result = Failed(result.status());
    if (message.starts_with(kLoaded)) end.loaded = result->status;
    if (message.starts_with(kResult)) end.results.push_back(*std::move(result));
  };
  end.child = RunInChild([&](const SendMessage& send) { ChildWork(library, jobs, send); }, receive, options);
  return end;
}

Status LoadStatus(const ProcessEnd& end, const std::filesystem::path& library) {
  if (end.loaded) return *end.loaded;
  if (end.child.status.ok()) return InternalError("the measuring process ended without a word");
  return UnavailableError(
      fmt::format("loading ONNX Runtime from '{}' failed: {}", library.string(), end.child.status.message()));
}

// Takes jobs [first, jobs.size()) through processes.
class JobQueue {
 public:
  JobQueue(const std::filesystem::path& library, const std::vector<Job>& jobs, const ChildOptions& options,
           const std::function<void(size_t, JobResult)>& done)
      : library_(library), jobs_(jobs), options_(options), done_(done) {}

  WorkerEnd Run() {
    while (next_ < jobs_.size()) {
      const size_t before = next_;
      ProcessEnd end = RunSome(jobs_.size());
      if (!end.loaded || !end.loaded->ok()) {
        if (end.child.stopped) return {OkStatus(), true};
        return {LoadStatus(end, library_), false};
      }
      Deliver(end);
      if (end.child.stopped) return {OkStatus(), true};
      if (next_ == jobs_.size()) break;
      const bool was_alone = jobs_.size() - before == 1;
      if (was_alone)
        Blame(end.child.status);
      else if (RunSuspectAlone())
        return {OkStatus(), true};
    }
    return {};
  }

 private:
  ProcessEnd RunSome(size_t end) const {
    std::vector<const Job*> some;
    for (size_t i = next_; i < end; ++i) some.push_back(&jobs_[i]);
    return RunProcess(library_, some, options_);
  }

  void Deliver(ProcessEnd& end) {
    for (JobResult& r : end.results) done_(next_++, std::move(r));
  }

  void Blame(const Status& why) {
    done_(next_++, Failed(why.ok() ? InternalError("the measuring process ended without a result") : why));
  }

  // The job at which a process ended may have been hit by what an earlier one broke. True: stopped.
  bool RunSuspectAlone() {
    const size_t suspect = next_;
    ProcessEnd end = RunSome(suspect + 1);
    Deliver(end);
    if (end.child.stopped) return true;
    if (next_ == suspect) Blame(end.child.status);
    return false;
  }

  const std::filesystem::path& library_;
  const std::vector<Job>& jobs_;
  const ChildOptions& options_;
  const std::function<void(size_t, JobResult)>& done_;
  size_t next_ = 0;
};

// Runs `work` with the runtime in a child; gives its answer, or why there is none.
Result<std::string> AskRuntime(const std::filesystem::path& library, const ChildOptions& options,
                               const std::function<Result<std::string>(const RuntimeLibrary&)>& work) {
  std::optional<Status> failed;
  std::optional<std::string> answer;
  const ChildEnd end = RunInChild(
      [&](const SendMessage& send) {
        const Result<RuntimeLibrary> loaded = RuntimeLibrary::Load(library);
        const Result<std::string> text = loaded.ok() ? work(*loaded) : Result<std::string>(loaded.status());
        send(text.ok() ? kResult + *text : Message(kLoaded, Failed(text.status())));
      },
      [&](const std::string& message) {
        if (message.starts_with(kResult)) {
          answer = message.substr(1);
        } else if (const Result<JobResult> r = DecodeJobResult(std::string_view(message).substr(1)); r.ok()) {
          failed = r->status;
        }
      },
      options);
  if (answer) return *std::move(answer);
  if (failed && !failed->ok()) return *std::move(failed);
  if (!end.status.ok()) return end.status;
  return InternalError("the measuring process ended without a word");
}

}  // namespace

WorkerEnd RunJobs(const std::filesystem::path& library, const std::vector<Job>& jobs, const ChildOptions& options,
                  const std::function<void(size_t job, JobResult result)>& done) {
  return JobQueue(library, jobs, options, done).Run();
}

Result<RuntimeIdentity> IdentifyRuntime(const std::filesystem::path& library, const ChildOptions& options) {
  SIMPRED_ASSIGN_OR_RETURN(const std::string text,
                           AskRuntime(library, options, [](const RuntimeLibrary& runtime) -> Result<std::string> {
                             return runtime.version() + '\n' + runtime.file().string();
                           }));
  const size_t line = text.find('\n');
  return RuntimeIdentity{text.substr(0, line), text.substr(line + 1)};
}

Status SaveOptimizedModel(const std::filesystem::path& library, const Job& job, const ChildOptions& options) {
  return AskRuntime(library, options,
                    [&](const RuntimeLibrary& runtime) -> Result<std::string> {
                      RuntimeSessionOptions o{
                          .model = job.model, .level = job.level, .threads = job.threads, .symbols = job.symbols};
                      o.save_optimized_to = job.optimized;
                      SIMPRED_ASSIGN_OR_RETURN(const RuntimeSession session, RuntimeSession::Open(runtime, o));
                      return std::string("saved");
                    })
      .status();
}

}  // namespace simpred
