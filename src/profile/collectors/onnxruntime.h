// Measures models on this machine's CPU with ONNX Runtime, loaded at run time.
//
//   Collector c({.threads = 1, .iters = 128});
//   c.Measure({{.path = "a.onnx"}, {.path = "b.onnx"}}, sink);
//
// Each (model, round) runs in its own forked process (single-kernel models share one): a runtime that crashes ends that
// process and becomes a Status for that model, nothing else. Rounds interleave models (a b c, a b c, ...), so that a
// busy phase of the machine cannot hit one model only. Whatever a process finished goes to the sink at once; the sink
// stores it before the next one starts.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "fusion/fusion.h"
#include "operators/infer.h"
#include "profile/bias.h"
#include "profile/record.h"

namespace simpred {

struct MeasureItem {
  std::filesystem::path path;  // .onnx
  std::string name;            // shown and stored; empty: the file's stem
  std::string family;
  InferOptions binding;  // shapes of inputs and symbols
  FusionLevel level = FusionLevel::kAll;
  KernelContext context = KernelContext::kInGraph;
  bool profile = true;  // also a profiled run with records per kernel
};

struct CollectorOptions {
  std::filesystem::path library;  // libonnxruntime.so; empty: search (see FindOnnxRuntime)
  int threads = 1;
  int iters = 128;           // runs of each kind in a process, fewer when `max_seconds` is reached first
  double max_seconds = 2.0;  // per model, process and kind of run; at least 5 runs are done whatever they take
  int warmup = 3;
  int rounds = 3;  // processes per model
  // Models with one kernel (KernelContext::kAloneWarm) are many and small: `batch` of them share a process, and each
  // kind of run takes about this long, at least 30 runs if they fit into five times of it.
  double small_model_seconds = 0.012;
  int batch = 64;
  double silence_seconds = 600;  // a model that gives no result for so long is given up
  // Where the optimised graphs and the profiles lie while measuring; empty: the system's temporary folder. Removed
  // afterwards.
  std::filesystem::path work_folder;
  const std::atomic<bool>* stop = nullptr;  // set by Ctrl-C: the process that runs has 3 s to end
};

// What one process measured of one model.
struct Measured {
  size_t item = 0;  // index into the items
  int round = 0;
  Status status;  // why there is nothing else in here
  Run run;
  std::vector<Record> records;  // kernels in execution order; raw times, not corrected
  // One sentence each: kernels of the profile that the graph does not have, a graph whose shapes are not static.
  std::vector<std::string> warnings;
  double joined_share = 1;                   // of the profiled time: belongs to a kernel of the graph
  std::map<std::string, std::string> facts;  // of the machine while it ran: "load", "steal_percent", "governor"
};

class Collector {
 public:
  explicit Collector(CollectorOptions options);
  // Errors: kUnavailable if the library is not there (the message says where it was looked for and how to get it).
  // A model that fails is reported through the sink and does not end the others. `sink` gives a Status: an error (disk
  // full) ends the measuring. Stopped by the flag: ok, with fewer results.
  Status Measure(const std::vector<MeasureItem>& items, const std::function<Status(Measured)>& sink,
                 const std::function<void(double done_fraction, const std::string& what)>& progress = {}) const;
  // Chains of equal kernels, see bias.h. About ten seconds.
  Result<MeasurementBias> MeasureBias() const;
  // "1.30.0"
  Result<std::string> RuntimeVersion() const;
  // The model as the runtime optimises it at `level`, saved to `to` (in a forked process).
  Status SaveOptimized(const MeasureItem& item, const std::filesystem::path& to) const;

 private:
  CollectorOptions options_;
};

// $SIMPRED_ONNXRUNTIME (the library or its folder), then beside the binary (../lib, and .deps/onnxruntime/lib of the
// repository that it was built in), the user's data folder, the system's library path. Errors: kUnavailable; says where
// it was looked for.
Result<std::filesystem::path> FindOnnxRuntime();

}  // namespace simpred
