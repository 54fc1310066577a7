// What is a command? One file command_NAME.cc, one Add function, one line in cli.cc.
//
// Parsing only sets `action`; it runs once parsing is done, so that wrong usage never has effects.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/console.h"

namespace simpred {

struct CommandContext {
  CommonOptions common;
  std::function<Status(Console&)> action;
};

// --format (one of `formats`, the first is the default), --output, --quiet, -v.
void AddCommonOptions(CLI::App& command, CommonOptions& common, const std::vector<std::string>& formats);

void AddPredictCommand(CLI::App& root, CommandContext& context);
void AddCalibrateCommand(CLI::App& root, CommandContext& context);
void AddDescribeCommand(CLI::App& root, CommandContext& context);
void AddMeasureCommand(CLI::App& root, CommandContext& context);
void AddDevicesCommand(CLI::App& root, CommandContext& context);
void AddDatabaseCommand(CLI::App& root, CommandContext& context);
void AddValidateCommand(CLI::App& root, CommandContext& context);
void AddShowCommand(CLI::App& root, CommandContext& context);
void AddFusionsCommand(CLI::App& root, CommandContext& context);
void AddLaterCommands(CLI::App& root, CommandContext& context);

// The flags of the root: --config F --calibrate --predict, --list-fusions.
void AddRootFlags(CLI::App& root, CommandContext& context);

}  // namespace simpred
