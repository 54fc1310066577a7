#include "fusion/runtime_shapes.h"

#include "operators/rules_common.h"

namespace simpred {
namespace {

bool HasNoName(const Dim& declared) { return declared.is_unknown() || (declared.is_known() && declared.value() < 0); }

// A Reshape whose shape is computed from open dimensions: ours still knows the rank (the length of the shape), the
// runtime's does not.
void ForgetComputedReshapes(Registry& rules) {
  const OperatorRule* known = rules.Find("", "Reshape");
  if (known == nullptr) return;
  OperatorRule rule = *known;
  rule.shape = [shape = known->shape](InferenceContext& c) -> Status {
    if (IntsOf(c, 1)) return shape(c);
    if (c.input_count() > 0) c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  };
  rules.Add(std::move(rule));
}

}  // namespace

RuntimeShapes::RuntimeShapes(Model& model, const InferOptions& binding, const Registry& registry)
    : model_(model), registry_(registry), runtime_rules_(registry), full_(binding), partial_(binding) {
  ForgetComputedReshapes(runtime_rules_);
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
