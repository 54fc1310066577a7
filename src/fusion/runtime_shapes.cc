#include "fusion/runtime_shapes.h"

#include "operators/rules_common.h"

namespace simpred {
namespace {

bool HasNoName(const Dim& declared) { return declared.is_unknown() || (declared.is_known() && declared.value() < 0); }

// What ours finds out and the runtime's does not: the rank of a Reshape whose shape is computed from open dimensions
// (the length of the shape), and what attributes and weights say of an output whose input has no known rank.
void ForgetWhatTheRuntimeDoesNotSee(Registry& rules) {
  for (const char* type : {"Reshape", "Transpose", "Conv", "MaxPool", "AveragePool"}) {
    const OperatorRule* known = rules.Find("", type);
    if (known == nullptr) continue;
    OperatorRule rule = *known;
    const bool reads_shape = rule.type == "Reshape";
    rule.shape = [shape = known->shape, reads_shape](InferenceContext& c) -> Status {
      const bool seen = reads_shape ? IntsOf(c, 1).has_value() : c.has_input(0) && c.input(0).shape.has_rank();
      if (seen) return shape(c);
      for (int i = 0; i < c.output_count(); ++i)
        c.set_output(i, Tensor(i == 0 && c.has_input(0) ? c.input(0).dtype : DataType::kInt64));
      return OkStatus();
    };
    rules.Add(std::move(rule));
  }
  // Of a shape that is open in any place it does not follow the numbers that are known either.
  if (const OperatorRule* known = rules.Find("", "Shape")) {
    OperatorRule rule = *known;
    rule.value = [value = known->value](InferenceContext& c) {
      if (value && c.has_input(0) && c.input(0).shape.is_static()) value(c);
    };
    rules.Add(std::move(rule));
  }
}

}  // namespace

RuntimeShapes::RuntimeShapes(Model& model, const InferOptions& binding, const Registry& registry)
    : model_(model), registry_(registry), runtime_rules_(registry), full_(binding), partial_(binding) {
  ForgetWhatTheRuntimeDoesNotSee(runtime_rules_);
  full_.input_shapes.clear();
  partial_.input_shapes.clear();
  for (ValueId v : model.graph.inputs) {
    const Value& input = model.graph.value(v);
    if (input.type.kind != ValueKind::kTensor || !input.type.shape.has_rank()) continue;
    full_.input_shapes[input.name] = input.type.shape;
    const Shape& declared = input.declared.shape;
    if (!declared.has_rank() || declared.rank() != input.type.shape.rank()) continue;
    Shape partial = input.type.shape;
    for (size_t i = 0; i < partial.dims().size(); ++i) {
      if (!HasNoName(declared.dims()[i]) || !partial.dims()[i].is_known()) continue;
      partial.dims()[i] = Dim::Unknown();
      any_hidden_ = true;
    }
    partial_.input_shapes[input.name] = std::move(partial);
  }
}

Status RuntimeShapes::Hide() { return InferShapes(model_, partial_, runtime_rules_).status(); }

Status RuntimeShapes::Restore() { return InferShapes(model_, full_, registry_).status(); }

}  // namespace simpred
