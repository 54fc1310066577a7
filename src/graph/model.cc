// What goes with a graph: operator set versions, local functions, constants in the file.
#include "graph/graph.h"

namespace simpred {

int64_t Model::opset(std::string_view domain) const {
  // "" and "ai.onnx" are the same domain.
  const bool is_default = domain.empty() || domain == "ai.onnx";
  for (const std::string& name :
       is_default ? std::vector<std::string>{"", "ai.onnx"} : std::vector<std::string>{std::string(domain)}) {
    if (const auto found = opset_imports.find(name); found != opset_imports.end()) return found->second;
  }
  return 0;
}

Model Model::Clone() const {
  Model copy = *this;
  copy.graph = graph.Clone();
  for (FunctionDef& function : copy.functions) {
    if (function.body) function.body = std::make_shared<Graph>(function.body->Clone());
  }
  return copy;
}

std::shared_ptr<const ConstantValue> ConstantOf(Model& model, Graph& graph, ValueId v) {
  if (v < 0 || v >= graph.value_count()) return nullptr;
  Value& value = graph.value(v);
  if (value.constant) return value.constant;
  if (!value.is_initializer || !model.read_constant || value.payload.where == Payload::Where::kNone) return nullptr;
  const TensorType& type = value.type.shape.is_static() ? value.type : value.declared;
  const std::optional<std::vector<int64_t>> dims = type.shape.ToVector();
  const std::optional<int64_t> count = type.shape.ElementCount().known();
  if (!dims || !count || *count < 0 || *count > ConstantValue::kMaxElements) return nullptr;
  value.constant = model.read_constant(value.payload, type.dtype, *dims);
  return value.constant;
}

}  // namespace simpred
