#include "fusion/constant_nodes.h"

namespace simpred {
namespace {

std::shared_ptr<ConstantValue> NumericConstant(const Node& node) {
  auto c = std::make_shared<ConstantValue>();
  if (const auto i = node.Int("value_int")) {
    c->dtype = DataType::kInt64;
    c->ints = {Dim(*i)};
  } else if (const auto f = node.Float("value_float")) {
    c->dtype = DataType::kFloat32;
    c->floats = {*f};
  } else if (const auto is = node.Ints("value_ints")) {
    c->dtype = DataType::kInt64;
    c->ints.assign(is->begin(), is->end());
    c->dims = {static_cast<int64_t>(is->size())};
  } else if (const auto fs = node.Floats("value_floats")) {
    c->dtype = DataType::kFloat32;
    c->floats = *fs;
    c->dims = {static_cast<int64_t>(fs->size())};
  } else {
    return nullptr;
  }
  return c;
}

void SetType(Value& value, DataType dtype, const std::vector<int64_t>& dims) {
  value.type.dtype = dtype;
  value.type.shape = Shape(std::vector<Dim>(dims.begin(), dims.end()));
}

// False: neither a tensor nor numbers (strings, sparse tensors); the node stays.
bool FillFrom(const Node& node, Value& value) {
  if (const Attribute* a = node.Find("value")) {
    const auto* tensor = std::get_if<TensorAttribute>(&a->value);
    if (tensor == nullptr) return false;
    SetType(value, tensor->dtype, tensor->dims);
    value.payload = tensor->payload;
    if (tensor->constant) value.constant = tensor->constant;
    return true;
  }
  std::shared_ptr<ConstantValue> c = NumericConstant(node);
  if (!c) return false;
  SetType(value, c->dtype, c->dims);
  value.constant = std::move(c);
  return true;
}

}  // namespace

void MakeInitializersOfConstantNodes(Graph& graph) {
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (!node.alive || !node.Is("Constant") || node.outputs.size() != 1 || node.outputs[0] == kNoValue) continue;
    Value& value = graph.value(node.outputs[0]);
    if (!FillFrom(node, value)) continue;
    graph.RemoveNode(n);
    value.producer = kNoNode;
    value.is_initializer = true;
  }
}

}  // namespace simpred
