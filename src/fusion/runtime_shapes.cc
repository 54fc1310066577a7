#include "fusion/runtime_shapes.h"

#include <algorithm>

#include "operators/rules_common.h"

namespace simpred {
namespace {

bool HasNoName(const Dim& declared) { return declared.is_unknown() || (declared.is_known() && declared.value() < 0); }

// A Reshape whose shape is computed: ours still knows the rank (the length of the shape), the runtime's knows nothing
// where a Cast stands between Shape and Reshape, because open dimensions do not pass it.
void ForgetComputedReshapes(Registry& rules) {
  const OperatorRule* reshape = rules.Find("", "Reshape");
  const OperatorRule* cast = rules.Find("", "Cast");
  if (reshape == nullptr || cast == nullptr) return;
  OperatorRule own_reshape = *reshape, own_cast = *cast;
  own_reshape.shape = [shape = reshape->shape](InferenceContext& c) -> Status {
    const auto wanted = DimsOf(c, 1);
    const auto is_lost = [](const Dim& d) { return d.is_unknown(); };
    if (wanted && std::none_of(wanted->begin(), wanted->end(), is_lost)) return shape(c);
    if (c.input_count() > 0) c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  };
  own_cast.value = [value = cast->value](InferenceContext& c) {
    if (value && (IntsOf(c, 0) || FloatsOf(c, 0))) value(c);
  };
  rules.Add(std::move(own_reshape));
  rules.Add(std::move(own_cast));
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
