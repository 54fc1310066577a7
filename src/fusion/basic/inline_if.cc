#include "fusion/basic/inline_if.h"

#include <map>

#include "fusion/constant_nodes.h"

namespace simpred {
namespace {

// Copies the values and nodes of a branch into the outer graph and gives, for each of its values, the outer one.
class Inliner {
 public:
  Inliner(Rewriter& r, Graph& branch) : r_(r), branch_(branch) {}

  void CopyNodes(const std::vector<NodeId>& order) {
    for (NodeId n : order) {
      Node copy = branch_.node(n);
      for (ValueId& v : copy.inputs) v = Outer(v);
      for (ValueId& v : copy.outputs) v = Outer(v);
      RelinkSubgraphs(copy);
      const NodeId id = r_.AddNode(copy.op_type, copy.domain, copy.inputs, copy.outputs, copy.fused_from);
      r_.node(id).name = copy.name;
      r_.node(id).attributes = copy.attributes;
    }
  }

  ValueId Outer(ValueId inner) {
    if (inner == kNoValue) return kNoValue;
    const auto it = map_.find(inner);
    if (it != map_.end()) return it->second;
    const Value& v = branch_.value(inner);
    ValueId outer = v.outer_scope;
    if (outer == kNoValue) {
      outer = r_.NewValueLikeOf(v);
    }
    map_[inner] = outer;
    return outer;
  }

 private:
  void RelinkSubgraphs(Node& node) {
    for (auto& [key, attribute] : node.attributes) {
      auto* graph = std::get_if<std::shared_ptr<Graph>>(&attribute.value);
      if (graph == nullptr || !*graph) continue;
      *graph = std::make_shared<Graph>((*graph)->Clone());
      for (ValueId v = 0; v < (*graph)->value_count(); ++v) {
        Value& value = (*graph)->value(v);
        if (value.outer_scope != kNoValue) value.outer_scope = Outer(value.outer_scope);
      }
    }
  }

  Rewriter& r_;
  Graph& branch_;
  std::map<ValueId, ValueId> map_;
};

}  // namespace

bool InlineIf(Rewriter& r, NodeId n) {
  const auto condition = r.Scalar(r.input(n, 0));
  if (!condition) return false;
  const std::shared_ptr<Graph> branch = r.node(n).Subgraph(*condition != 0 ? "then_branch" : "else_branch");
  if (!branch || branch->outputs.size() != r.node(n).outputs.size()) return false;
  Graph copy = branch->Clone();
  MakeInitializersOfConstantNodes(copy);
  const Result<std::vector<NodeId>> order = copy.TopologicalOrder();
  if (!order.ok()) return false;
  const std::vector<ValueId> outputs = r.node(n).outputs;
  r.Remove(n);
  Inliner inliner(r, copy);
  inliner.CopyNodes(order.value());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i] != kNoValue) r.ReplaceUses(outputs[i], inliner.Outer(copy.outputs[i]));
  return true;
}

}  // namespace simpred
