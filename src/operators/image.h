// GridSample, which ONNX Runtime also has in its own domain.
#pragma once

#include "operators/registry.h"

namespace simpred {

Status GridSampleShape(InferenceContext& c);
Work GridSampleWork(const CostContext& c);

}  // namespace simpred
