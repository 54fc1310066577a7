#include "cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>

#include "base/nearest.h"
#include "cli/command.h"

namespace simpred {
namespace {

constexpr char kFooter[] = R"(Examples:
  sim_predict --config simulation.yaml --calibrate --predict
  sim_predict calibrate --device cpu --budget 4min
  sim_predict predict resnet50.onnx --shape data=1x3x224x224
  sim_predict describe resnet50.onnx

Exit status: 0 fine, 1 internal fault, 2 wrong usage or config, 3 the model cannot be read, 4 the device, profiler or
runtime is not there, 5 calibrated but above the threshold, 6 a gate failed, 7 the database cannot be used.
)";

// CLI11's words for a wrong command line, with a way out.
Status UsageOf(const CLI::App& root, const CLI::ParseError& e, int argc, const char* const* argv) {
  std::vector<std::string> commands;
  for (const CLI::App* c : root.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(c->get_name());
  const std::string first = argc > 1 ? argv[1] : "";
  const bool is_command = std::find(commands.begin(), commands.end(), first) != commands.end();
  std::string hint = fmt::format("see sim_predict {}--help", is_command ? first + " " : "");
  if (!is_command && !first.empty() && first[0] != '-')
    if (const std::string near = Nearest(first, commands); !near.empty())
      hint = fmt::format("did you mean '{}'?", near);
  return UsageError(e.what(), hint);
}

Status RunAction(const CommandContext& context, Console& console) {
  try {
    return context.action(console);
  } catch (const std::bad_alloc&) {
    return InternalError("out of memory");
  } catch (const std::exception& e) {
    return InternalError(fmt::format("a fault of this program: {}", e.what()));
  }
}

void AddCommands(CLI::App& root, CommandContext& context) {
  AddRootFlags(root, context);
  AddPredictCommand(root, context);
  AddCalibrateCommand(root, context);
  AddDescribeCommand(root, context);
  AddMeasureCommand(root, context);
  AddDevicesCommand(root, context);
  AddDatabaseCommand(root, context);
  AddValidateCommand(root, context);
  AddShowCommand(root, context);
  AddFusionsCommand(root, context);
  AddLaterCommands(root, context);
}

}  // namespace

void AddCommonOptions(CLI::App& command, CommonOptions& common, const std::vector<std::string>& formats) {
  command.add_option("--format", common.format, fmt::format("one of {}", fmt::join(formats, ", ")))
      ->check(CLI::IsMember(formats))
      ->type_name("FORMAT");
  command.add_option("--output,-o", common.output, "write the result to FILE instead of standard output")
      ->type_name("FILE");
  command.add_flag("--quiet,-q", common.quiet, "no notes and no progress on standard error");
  command.add_flag("-v,--verbose", common.verbose, "say more on standard error");
}

int Run(int argc, const char* const* argv) {
  CLI::App root("Predicts how long a model will take on a device, operator by operator, and how sure that is.",
                "sim_predict");
  CommandContext context;
  root.set_version_flag("--version", "sim_predict " SIMPRED_VERSION);
  root.require_subcommand(0, 1);
  root.footer(kFooter);
  AddCommands(root, context);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return root.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return root.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return root.exit(e);
  } catch (const CLI::ParseError& e) {
    Console(context.common).Error(UsageOf(root, e, argc, argv));
    return static_cast<int>(StatusCode::kUsage);
  }
  Console console(context.common);
  const Status status =
      context.action ? RunAction(context, console) : UsageError("nothing to do", "see sim_predict --help");
  if (!status.ok()) console.Error(status);
  return static_cast<int>(status.code());
}

}  // namespace simpred
