// --fusion-off RULE and the list of rules.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/console.h"
#include "cli/pipeline.h"

namespace simpred {

void AddFusionOptions(CLI::App& command, std::vector<std::string>& off);
// Errors: kUsage for a rule that there is not, with the nearest.
Result<PredictionRequest> FusionRulesOff(const std::vector<std::string>& names);
Status ListFusions(Console& console);

}  // namespace simpred
