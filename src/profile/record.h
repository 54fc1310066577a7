// What did a profiler measure? One kernel in one session, and one run of one whole model.
//
// Absent is absent, never zero: optional fields. Times are of one named statistic, never pooled with another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "workload/workload.h"

namespace simpred {

enum class Statistic : uint8_t { kMin, kP10, kMedian, kMean };
std::string_view Name(Statistic s);  // "min", "p10", "median", "mean"

// Repeated measurements of one thing, summarised. From one process ("round").
struct SampleSummary {
  int64_t count = 0;
  Duration min, p10, median, mean, p90;
  Duration mad;  // median absolute deviation
  Duration get(Statistic s) const;
};
// Sorts a copy. Empty input gives count 0.
SampleSummary Summarize(std::vector<double> nanoseconds);

// A measuring occasion: one device, one runtime, one set of switches.
struct Session {
  int64_t id = 0;           // in the database; 0: not stored
  std::string device;       // profile name
  std::string fingerprint;  // DeviceProfile::fingerprint
  std::string runtime, runtime_version, firmware;
  int threads = 1;
  std::string execution = "sequential";
  std::string started_at;  // ISO 8601 UTC
  std::string tool_version;
  std::string kind;  // "model", "generated-kernels", "generated-networks", "bias-chains", "import"
  std::map<std::string, std::string> facts;  // governor, load, steal time...
};

struct Record {
  int64_t id = 0;
  int64_t session = 0;
  int64_t run = 0;  // the Run it belongs to; 0: none
  int round = 0;    // process number inside the session
  Kernel kernel;    // type, shapes, dtypes, layout, attributes, work, signature, names
  KernelContext context = KernelContext::kInGraph;
  std::string model_name;  // where it was seen
  std::string structure_sha256;
  std::string family;
  std::string precision, fusion_mode;
  SampleSummary raw;   // as the profiler says
  Duration corrected;  // p10 with the profiler's bias taken out: the kernel's own time
  std::optional<Bytes> bytes_moved;
  std::optional<double> clock_hz;
  std::map<std::string, double> counters;  // busy time per pipe, stalls, utilisation
  std::string source;                      // file:line, or the collector's name
};

struct Run {
  int64_t id = 0;
  int64_t session = 0;
  int round = 0;
  std::string model_name, structure_sha256, family;
  std::string input_shapes;  // canonical text "data=1x3x224x224"
  std::string precision, fusion_mode;
  SampleSummary end_to_end;  // unprofiled
  SampleSummary profiled_end_to_end;
  std::optional<Bytes> peak_memory;
  std::string source;
};

// The same kernel over all rounds: the lower envelope and how far the rounds disagree.
enum class NoiseVerdict : uint8_t { kClean, kFewSamples, kNoisy };
std::string_view Name(NoiseVerdict v);
struct KernelMeasurement {
  Duration time;      // lower envelope over rounds of the corrected p10
  double spread = 0;  // (second best round - best) / best; a round alone: (median - p10) / p10
  int rounds = 0;
  NoiseVerdict verdict = NoiseVerdict::kClean;
};
KernelMeasurement Envelope(const std::vector<const Record*>& rounds_of_one_kernel);

}  // namespace simpred
