// Commands that are known by name and not available in this version: they say so, and what to do instead.
#include <fmt/format.h>

#include "cli/command.h"

namespace simpred {
namespace {

struct Later {
  const char* name;
  const char* help;
  const char* instead;
};
constexpr Later kLater[] = {
    {"import", "profiler output into the database",
     "on this machine's cpu, `sim_predict measure MODEL` records without a file"},
    {"compare", "rank plans", "predict each plan with --format json and compare end_to_end.latency_us and interval_us"},
    {"sweep", "a grid over batch, shapes, precision", "call predict with --set for each point"},
    {"plan", "which measurements would help most", "`sim_predict predict` lists the kernels that are extrapolated"},
    {"diagnose", "why a prediction is off", "`sim_predict predict MODEL --compare` and the bias lines of `calibrate`"},
    {"history", "saved predictions", "`sim_predict show RUN` shows one"},
    {"verify", "re-run a saved prediction", "predict again with the config that `show RUN --format json` holds"},
    {"serve", "a local web page", "`predict --format html -o report.html` writes a page"},
};

}  // namespace

void AddLaterCommands(CLI::App& root, CommandContext& context) {
  for (const Later& later : kLater) {
    CLI::App* c = root.add_subcommand(later.name, fmt::format("{} (not in this version)", later.help));
    c->allow_extras();
    c->footer(fmt::format("Not available in this version. Instead: {}\n", later.instead));
    c->callback([&context, &later] {
      context.action = [&later](Console&) {
        return UsageError(fmt::format("not available in this version: {}", later.name), later.instead);
      };
    });
  }
}

}  // namespace simpred
