// From a config to a report: device, model, kernels, twin, schedule.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/config.h"
#include "cli/console.h"
#include "device/profile.h"
#include "predict/prepare.h"
#include "report/report.h"

namespace simpred {

// The device of the config, with the config's runtime written over the device's own.
Result<DeviceProfile> DeviceOf(const Config& config);

InferOptions BindingOf(const Config& config);

// Read, bound, fused and lowered, in the precision in which the device's runtime executes.
// Errors: kUsage where the model would have to be converted first, with how to.
Result<Prepared> PrepareModel(const Config& config, const DeviceProfile& device,
                              const std::set<std::string>& fusion_off);

struct PredictionRequest {
  std::set<std::string> fusion_off;  // rules that are not applied
  // Beside what was measured of this model, which the prediction then does not see.
  bool compare = false;
};

// A database that cannot be opened makes the prediction analytic, and a warning of the report says so.
Result<Report> PredictModel(const Config& config, const PredictionRequest& request);

// The tool's version, "0.1.0".
std::string ToolVersion();

}  // namespace simpred
