// In which precision are the kernels costed? The runtime's, not the file's.
#pragma once

#include <string>

#include "base/status.h"
#include "device/profile.h"
#include "workload/workload.h"

namespace simpred {

// The precision in which most of the model's floating-point work is stored: "FP32", "FP16", "BF16", "INT8" (already
// quantised) or "FP64".
std::string StoredPrecision(const Workload& w);

// Where the device's runtime converts by itself, floating-point tensors become `precision` and bytes shrink with them.
// Where it does not and the model is stored otherwise: kUsage with how to convert it. "model": nothing changes.
Status ApplyPrecision(const std::string& precision, const DeviceProfile& device, Workload& w);

}  // namespace simpred
