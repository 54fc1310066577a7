// What do the optimisers of training do? The domain ai.onnx.preview.training: new weights and moments from old ones.
#include <fmt/format.h>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

constexpr char kDomain[] = "ai.onnx.preview.training";

// Inputs: rate, step count, then groups of n tensors: weights, gradients, state...; outputs: the groups without the
// gradients. Each output has the type of the input that it replaces.
ShapeRule Optimizer(int state_tensors) {
  return [state_tensors](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
    const int groups = 2 + state_tensors;
    const int tensors = c.input_count() - 2;
    if (tensors % groups != 0) {
      return ModelError(fmt::format("{} tensors do not make groups of {}", tensors, groups));
    }
    const int n = tensors / groups;
    for (int i = 0; i < c.output_count(); ++i) {
      const int group = i / n == 0 ? 0 : i / n + 1;  // skips the gradients
      if (group < groups) c.set_output(i, c.input(2 + group * n + i % n));
    }
    return OkStatus();
  };
}

// Operations for each element of each weight tensor, of the formulas of the specification.
CostRule PerWeight(double flops, int state_tensors) {
  return [flops, state_tensors](const CostContext& c) {
    Work w = TrafficOf(c);
    double written = 0;
    for (size_t i = 0; i < c.outputs.size(); ++i) written += OutputElements(c, i);
    w.flops = Flops(flops * written / (1 + state_tensors));
    return w;
  };
}

}  // namespace

void RegisterTraining(Registry& r) {
  auto add = [&r](const char* type, int state, double flops) {
    r.Add({.type = type,
           .domain = kDomain,
           .op_class = OperatorClass::kElementwise,
           .shape = Optimizer(state),
           .value = nullptr,
           .cost = PerWeight(flops, state),
           .source = "ONNX preview training specification: the update formula, per weight"});
  };
  add("Adagrad", 1, 3 * cost::kMultiplyAdd + cost::kSqrt + cost::kDivide);
  add("Adam", 2, 5 * cost::kMultiplyAdd + cost::kSqrt + cost::kDivide);
  add("Momentum", 1, 3 * cost::kMultiplyAdd);
}

}  // namespace simpred
