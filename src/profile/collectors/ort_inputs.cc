// Which inputs, of which shapes and with which values, does a model get when it is measured?
#include "profile/collectors/ort_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "graph/input_shapes.h"
#include "operators/bind_inputs.h"

namespace simpred {
namespace {

// Operators that hand an index on as it is.
bool KeepsValues(const Node& n) {
  constexpr std::array<std::string_view, 7> kTypes = {"Cast",    "Identity", "Reshape",  "Squeeze",
                                                      "Flatten", "Expand",   "Unsqueeze"};
  return std::any_of(kTypes.begin(), kTypes.end(), [&](std::string_view t) { return n.Is(t); });
}

class IndexLimits {
 public:
  explicit IndexLimits(const Graph& graph) : graph_(graph), consumers_(graph.Consumers()) {}

  // Rows of the smallest table that this value selects from.
  std::optional<int64_t> Of(ValueId start) {
    std::optional<int64_t> limit;
    std::set<ValueId> seen = {start};
    std::vector<ValueId> to_visit = {start};
    while (!to_visit.empty()) {
      const ValueId v = to_visit.back();
      to_visit.pop_back();
      for (const NodeId id : consumers_[static_cast<size_t>(v)]) {
        const Node& n = graph_.node(id);
        if (const std::optional<int64_t> rows = RowsSelected(n, v)) limit = std::min(limit.value_or(*rows), *rows);
        if (KeepsValues(n) && !n.inputs.empty() && n.inputs[0] == v && !n.outputs.empty() && n.outputs[0] != kNoValue &&
            seen.insert(n.outputs[0]).second) {
          to_visit.push_back(n.outputs[0]);
        }
      }
    }
    return limit;
  }

 private:
  std::optional<int64_t> RowsSelected(const Node& n, ValueId index) const {
    if (!n.Is("Gather") || n.inputs.size() != 2 || n.inputs[1] != index || n.inputs[0] == kNoValue) return std::nullopt;
    const Shape& table = graph_.value(n.inputs[0]).type.shape;
    if (!table.has_rank()) return std::nullopt;
    return table.dim(static_cast<int>(n.Int("axis", 0))).known();
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> consumers_;
};

void ChooseRange(RuntimeInput& in, std::optional<int64_t> rows) {
  if (rows) {
    in.low = 0;
    in.high = std::max<int64_t>(0, *rows - 1);
  } else if (in.name.find("mask") != std::string::npos) {
    in.low = in.high = 1;
  } else if (in.dtype == DataType::kUInt8) {
    in.high = 255;  // pixels
  }
}

}  // namespace

Result<InputPlan> PlanInputs(Model& model, const InferOptions& binding) {
  SIMPRED_ASSIGN_OR_RETURN(const InputBinding bound, BindInputs(model, binding));
  InputPlan plan;
  plan.symbols.insert(bound.symbols.begin(), bound.symbols.end());
  IndexLimits limits(model.graph);
  for (const ValueId v : model.graph.inputs) {
    const Value& value = model.graph.value(v);
    const std::string where = fmt::format("input '{}'", value.name);
    if (value.type.kind != ValueKind::kTensor) {
      return ModelError("only models whose inputs are tensors can be measured").With(where);
    }
    const std::optional<std::vector<int64_t>> dims = value.type.shape.Bind(bound.symbols).ToVector();
    if (!dims) {
      return UsageError(fmt::format("shape {} has dimensions without a value", value.type.shape.ToString()),
                        "give input_shape, or a value for each symbol")
          .With(where);
    }
    RuntimeInput in{.name = value.name, .dtype = value.type.dtype, .dims = *dims};
    ChooseRange(in, limits.Of(v));
    plan.inputs.push_back(std::move(in));
  }
  plan.shapes = InputShapesText(model.graph);  // all bound: each dimension is a number
  return plan;
}

}  // namespace simpred
