// Which model, on which device, with which switches? The options that predict, calibrate, measure and describe share;
// together with a config file they become one Config.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/config.h"

namespace simpred {

struct ModelOptions {
  std::string input;   // MODEL or CONFIG
  std::string config;  // --config
  std::vector<std::string> sets, shapes, binds;
  std::string device, precision, fusion_mode, database, family;
  int threads = 0;  // 0: as the config says
};

// `positional`: MODEL may stand in place of a config.
void AddModelOptions(CLI::App& command, ModelOptions& options, bool positional = true);

// Errors: kUsage, from the config or because nothing says which model.
Result<Config> ConfigOf(const ModelOptions& options, bool needs_model = true);

}  // namespace simpred
