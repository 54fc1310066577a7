// The calibrate command as other commands use it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "cli/console.h"
#include "cli/model_options.h"

namespace simpred {

struct CalibrateCommand {
  ModelOptions model;
  std::vector<std::string> more;  // further models or configs, calibrated in the same sessions and with the same fit
  std::string budget;             // of the device's calibration, "5min"
  std::string library;            // ONNX Runtime
  int rounds = 3;
  bool rerun = false;
};

// Without a model: the device. With one or more: the closed loop of each, status kDeviation if one stayed above its
// threshold; a device that was never calibrated is calibrated first. `print`: the result to standard output, else to
// standard error.
Status RunCalibrate(const CalibrateCommand& o, Console& console, bool print);

// Before a prediction with calibrate.enable: measures the model's own kernels where the database has none of them.
// What cannot be measured here (another device, no runtime) is a note, not an error.
Status CollectWhatIsMissing(const Config& config, Console& console);

}  // namespace simpred
