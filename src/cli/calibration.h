// The calibrate command as other commands use it.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/console.h"
#include "cli/model_options.h"

namespace simpred {

struct CalibrateCommand {
  ModelOptions model;
  std::string budget;   // of the device's calibration, "5min"
  std::string library;  // ONNX Runtime
  int rounds = 3;
  bool rerun = false;
};

// Without a model: the device. With one: the closed loop, status kDeviation if it stayed above the threshold.
// `print`: the result to standard output, else to standard error.
Status RunCalibrate(const CalibrateCommand& o, Console& console, bool print);

// Before a prediction with calibrate.enable: measures the model's own kernels where the database has none of them.
// What cannot be measured here (another device, no runtime) is a note, not an error.
Status CollectWhatIsMissing(const Config& config, Console& console);

}  // namespace simpred
