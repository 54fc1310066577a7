// What can a device do? Numbers from devices/*.yaml with the document they come from, or detected on this machine.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "graph/data_type.h"

namespace simpred {

struct MemoryLevel {
  std::string name;          // "L1", "L2", "L3", "DRAM", "HBM", "UB"
  Bytes capacity;            // per core for private levels; 0: not known
  BytesPerSecond bandwidth;  // one core reading; of the whole device where `shared`
  bool shared = false;
  std::string source;
  BytesPerSecond one_core = {};  // what one core alone draws from a shared level; 0: not known
};

struct DeviceProfile {
  std::string name;                                // "Ascend310P", "cpu"
  std::string kind;                                // "cpu", "npu", "gpu"
  std::string description;                         // for people: processor's name, cores, vectors
  int cores = 1;                                   // AI cores, SMs or CPU cores
  std::map<DataType, FlopsPerSecond> peak;         // of the whole device; one core: divide by cores
  std::map<DataType, FlopsPerSecond> peak_matrix;  // matrix units (cube, tensor cores, AMX), if apart
  std::vector<MemoryLevel> memory;                 // nearest first; the last is main memory
  Bytes memory_capacity;
  Duration launch_cost;  // host's cost per kernel
  Duration run_cost;     // fixed cost of one run
  int launch_queue = 0;  // 0: no asynchronous queue
  std::string runtime;   // "onnxruntime", "acl", "tensorrt"
  std::string runtime_version;
  std::vector<std::string> features;           // "avx512f", "amx_bf16"
  std::string sibling_of;                      // a device whose records may stand in, with a larger stated deviation
  std::string collector;                       // command template; empty: in process for cpu
  std::map<std::string, std::string> sources;  // key -> document
  // Identifies the hardware in records: processor model, cores, instruction sets (cpu) or name. Records of another
  // fingerprint are another device's.
  std::string fingerprint;
};

// `name`: a profile in the profile folders, a path to a YAML file, or "cpu". Errors: kUsage with the nearest known
// names.
Result<DeviceProfile> LoadDevice(const std::string& name, const std::filesystem::path& config_folder = {});
Result<DeviceProfile> ParseDeviceYaml(const std::string& text, const std::string& file);
std::vector<std::string> KnownDevices();
std::string ToYaml(const DeviceProfile& d);

// This machine's processor. Peak and bandwidths are measured once (about two seconds) and kept in the user's data
// folder with the fingerprint; `measure_again` ignores what is kept.
Result<DeviceProfile> DetectCpu(bool measure_again = false);
// Without measuring: names, cores, caches, instruction sets, fingerprint.
Result<DeviceProfile> IdentifyCpu();

}  // namespace simpred
