#include "operators/recurrent.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

struct Sizes {
  Dim steps, batch, inputs, hidden;
  int directions = 1;
  bool batch_first = false;
};

Status Agree(const Dim& a, const Dim& b, std::string_view what, const Shape& shape) {
  if (a.is_known() && b.is_known() && a.value() != b.value()) {
    return ModelError(fmt::format("{} of weights {} must be {}, is {}", what, shape.ToString(), b.value(), a.value()));
  }
  return OkStatus();
}

Status CheckRank3(const Shape& s, std::string_view tensor) {
  if (s.has_rank() && s.rank() != 3) {
    return ModelError(fmt::format("{} needs 3 dimensions, has shape {}", tensor, s.ToString()));
  }
  return OkStatus();
}

Result<Sizes> Read(const Node& node, const RecurrentForm& form, const Shape& x, const Shape& w, const Shape& r) {
  Sizes s;
  SIMPRED_RETURN_IF_ERROR(CheckRank3(x, "X"));
  SIMPRED_RETURN_IF_ERROR(CheckRank3(w, "W"));
  SIMPRED_RETURN_IF_ERROR(CheckRank3(r, "R"));
  const std::string direction = node.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return ModelError(fmt::format("direction '{}' is not one of forward, reverse, bidirectional", direction));
  }
  s.directions = direction == "bidirectional" ? 2 : 1;
  s.batch_first = node.Int("layout", 0) != 0;
  s.steps = x.dim(s.batch_first ? 1 : 0);
  s.batch = x.dim(s.batch_first ? 0 : 1);
  s.inputs = x.dim(2);
  s.hidden = r.dim(form.weights_transposed ? 1 : 2);
  const Dim gates(form.gates);
  if (const std::optional<int64_t> given = node.Int("hidden_size")) {
    if (*given < 1) return ModelError(fmt::format("hidden_size must not be {}", *given));
    SIMPRED_RETURN_IF_ERROR(Agree(s.hidden, Dim(*given), "hidden size", r));
    s.hidden = Dim(*given);
  }
  SIMPRED_RETURN_IF_ERROR(Agree(w.dim(0), Dim(s.directions), "number of directions", w));
  SIMPRED_RETURN_IF_ERROR(Agree(r.dim(0), Dim(s.directions), "number of directions", r));
  SIMPRED_RETURN_IF_ERROR(Agree(w.dim(form.weights_transposed ? 1 : 2), s.inputs, "input size", w));
  SIMPRED_RETURN_IF_ERROR(Agree(w.dim(form.weights_transposed ? 2 : 1), gates * s.hidden, "gates", w));
  SIMPRED_RETURN_IF_ERROR(Agree(r.dim(form.weights_transposed ? 2 : 1), gates * s.hidden, "gates", r));
  return s;
}

}  // namespace

RecurrentForm LstmForm() {
  // Three gates by sigmoid, candidate and output by tanh, four products and sums of states.
  return {.gates = 4, .per_cell = 3 * cost::kSigmoid + 2 * cost::kTanh + 4};
}

ShapeRule RecurrentShapeRule(RecurrentForm form) {
  return [form](InferenceContext& c) -> Status {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
    SIMPRED_ASSIGN_OR_RETURN(const Sizes s, Read(c.node(), form, c.input(0).shape, c.input(1).shape, c.input(2).shape));
    const Dim directions(s.directions);
    const DataType type = c.input(0).dtype;
    const Shape last = s.batch_first ? Shape({s.batch, directions, s.hidden}) : Shape({directions, s.batch, s.hidden});
    c.set_output(0, Tensor(type, s.batch_first ? Shape({s.batch, s.steps, directions, s.hidden})
                                               : Shape({s.steps, directions, s.batch, s.hidden})));
    c.set_output(1, Tensor(type, last));
    c.set_output(2, Tensor(type, last));
    return OkStatus();
  };
}

CostRule RecurrentCostRule(RecurrentForm form) {
  return [form](const CostContext& c) {
    Work work = TrafficOf(c);
    if (c.node == nullptr) return work;
    const Result<Sizes> s = Read(*c.node, form, ShapeOf(c, 0), ShapeOf(c, 1), ShapeOf(c, 2));
    if (!s.ok()) return work;
    const double hidden = Number(s->hidden);
    const double gates = form.gates;
    const bool biased = c.inputs.size() > 3 && c.inputs[3].present;
    const double per_step = cost::kMultiplyAdd * gates * hidden * (Number(s->inputs) + hidden) +
                            gates * hidden * cost::kAdd * (biased ? 2 : 1) + hidden * form.per_cell;
    work.flops = Flops(Number(s->steps) * Number(s->batch) * s->directions * per_step);
    return work;
  };
}

void RegisterRecurrent(Registry& r) {
  const auto add = [&](const char* type, const RecurrentForm& form) {
    r.Add({.type = type,
           .op_class = OperatorClass::kRecurrent,
           .shape = RecurrentShapeRule(form),
           .cost = RecurrentCostRule(form),
           .source = "ONNX operator page: two products, biases and the cell's arithmetic per time step"});
  };
  add("LSTM", LstmForm());
  // Two gates by sigmoid, the candidate by tanh, five products and sums.
  add("GRU", {.gates = 3, .per_cell = 2 * cost::kSigmoid + cost::kTanh + 5});
  add("RNN", {.gates = 1, .per_cell = cost::kTanh});
}

}  // namespace simpred
