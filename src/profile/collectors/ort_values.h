// What are a model's inputs filled with when it is measured?
//
// Floats: standard normal. Bools: either. Integers: uniform in [low, high], which PlanInputs (ort_inputs.h) chooses so
// that they are valid as indices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/status.h"
#include "graph/data_type.h"

namespace simpred {

struct RuntimeInput {
  std::string name = {};
  DataType dtype = DataType::kFloat32;
  std::vector<int64_t> dims = {};
  int64_t low = 0, high = 1;
};

// The tensor's bytes in the machine's order. Errors: kModel; a type that cannot be filled (strings, packed 4-bit
// types), or more than 8 GiB.
Result<std::string> RandomTensor(const RuntimeInput& input, Random& random);

}  // namespace simpred
