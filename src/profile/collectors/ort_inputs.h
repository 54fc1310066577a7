// Which inputs, of which shapes and with which values, does a model get when it is measured?
//
// Shapes: the file's, overlaid with the binding. Integers that select rows of a table (directly, or through a Cast or a
// change of shape) are drawn from all its rows, so that the table is as cold as in use; inputs that are called a mask
// are all ones, as for a full batch; other integers are 0 or 1.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "operators/infer.h"
#include "profile/collectors/ort_values.h"

namespace simpred {

struct InputPlan {
  std::vector<RuntimeInput> inputs;
  std::map<std::string, int64_t> symbols;  // of the file's free dimensions
  std::string shapes;                      // canonical text: "data=1x3x224x224,mask=1x128"
};

// Errors: kUsage; a binding that contradicts the file, a dimension that nothing binds, an input that is no tensor.
Result<InputPlan> PlanInputs(Model& model, const InferOptions& binding);

}  // namespace simpred
