// What does the user want predicted? The YAML config, checked key by key with line and column.
//
//   Result<Config> c = ReadConfig("simulation.yaml", {"calibrate.iters=64"});
//
//   error: simulation.yaml:4:3: unknown key 'input_shapes'
//     hint: did you mean 'input_shape'?
//
// Keys that this version knows but cannot honour are errors, never ignored. docs/formats.md lists all keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "graph/shape.h"

namespace simpred {

struct CalibrateConfig {
  bool enable = false;
  int iters = 128;
  double sample_ratio = 0.5;
  double threshold = 0.15;
};

struct RuntimeConfig {
  std::string name;     // empty: the device's own
  std::string version;  // empty: the newest that the database knows
  int threads = 1;
  std::string execution = "sequential";
  int queue_depth = 0;  // 0: the device's own
  std::string policy = "fifo";
};

// Kernels that are left out: one by name, those that depend on one, or those on a way from one to another.
struct ExcludeRule {
  enum class Kind : uint8_t { kNode, kAfter, kBetween };
  Kind kind = Kind::kNode;
  std::string first, second;  // second: kBetween only
};

struct ReportConfig {
  std::string format;  // empty: text
  std::string output;
  int top = 0;  // operators in the text table; 0: the view's own choice
};

struct Config {
  std::string device;
  std::filesystem::path model_path;           // absolute, or as given where there is no config file
  std::map<std::string, Shape> input_shapes;  // key "": the model's only input
  SymbolBindings symbols;
  std::string precision = "model";   // "model", "FP32", "FP16", "BF16", "INT8"
  std::string fusion_mode = "auto";  // "off", "auto", "aggressive"
  CalibrateConfig calibrate;
  RuntimeConfig runtime;
  std::string family;
  std::filesystem::path database;  // empty: the user's data folder
  std::vector<std::string> known_deviation;
  std::vector<ExcludeRule> exclude;
  double memory_correction = 1.0, compute_correction = 1.0;
  std::map<std::string, Duration> latency_overrides;  // node name or type
  std::string model_version;
  ReportConfig report;

  // Where it came from.
  std::filesystem::path folder;  // of the config file; relative paths start here
  std::string text;              // of the file, with a comment line for each override
};

// `overrides`: "key=value" with dotted keys ("calibrate.iters=64"), values in YAML; they win over the file.
// Errors: kUsage with file, line and column, or with the override that is wrong.
Result<Config> ReadConfig(const std::filesystem::path& file, const std::vector<std::string>& overrides);
// No file: only overrides; `shown_as` names the text in errors.
Result<Config> ParseConfig(std::string_view text, const std::string& shown_as, const std::filesystem::path& folder,
                           const std::vector<std::string>& overrides);
// Without a file: everything from overrides, relative paths from the current folder.
Result<Config> ConfigFromOverrides(const std::vector<std::string>& overrides);

// "data=1x3x224x224", "data=N,3,224,224" or "1x3x224x224" (the model's only input), as a line of input_shape.
Status AddShape(std::string_view text, std::map<std::string, Shape>& shapes);
// "N=4"
Status AddSymbol(std::string_view text, SymbolBindings& symbols);

// All keys, dotted, in the order of the tables: for messages, documentation and tests.
std::vector<std::string> ConfigKeys();

}  // namespace simpred
