#include "workload/work.h"

#include <algorithm>

namespace simpred {
namespace {

constexpr int kMostNesting = 16;

CostTensor TensorOf(const Graph& graph, ValueId v) {
  CostTensor t;
  if (v == kNoValue) return t;
  const Value& value = graph.value(v);
  t.present = true;
  t.dtype = value.type.dtype;
  t.constant = value.is_initializer;
  if (value.type.kind == ValueKind::kTensor && value.type.shape.has_rank())
    for (const Dim& d : value.type.shape.dims()) t.dims.push_back(d.is_known() ? d.value() : 1);
  return t;
}

Work Sum(const Work& a, const Work& b, double times = 1) {
  const auto scaled = [times](Bytes x) { return Bytes(static_cast<int64_t>(static_cast<double>(x.count()) * times)); };
  Work w = a;
  w.flops += b.flops * times;
  w.read += scaled(b.read);
  w.weights += b.weights;
  w.written += scaled(b.written);
  return w;
}

Work WorkAt(Model& model, Graph& graph, const Node& node, const Registry& registry, int depth);

Work WorkOfGraph(Model& model, Graph& graph, const Registry& registry, int depth) {
  Work sum;
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    const Node& node = graph.node(n);
    if (node.alive && !node.Is("Constant")) sum = Sum(sum, WorkAt(model, graph, node, registry, depth));
  }
  return sum;
}

// Trips of a Loop whose first input is a constant; of a Scan the length of what it walks over.
double TripsOf(Model& model, Graph& graph, const Node& node) {
  constexpr double kMostTrips = 1e9;
  if (node.Is("Loop") && !node.inputs.empty() && node.inputs[0] != kNoValue) {
    const auto c = ConstantOf(model, graph, node.inputs[0]);
    if (c && c->ints.size() == 1 && c->ints[0].is_known())
      return std::clamp(static_cast<double>(c->ints[0].value()), 0.0, kMostTrips);
  }
  if (node.Is("Scan") && !node.inputs.empty() && node.inputs.back() != kNoValue) {
    const Dim d = graph.value(node.inputs.back()).type.shape.dim(0);
    if (d.is_known()) return std::clamp(static_cast<double>(d.value()), 0.0, kMostTrips);
  }
  return 1;
}

Work WorkAt(Model& model, Graph& graph, const Node& node, const Registry& registry, int depth) {
  CostContext c;
  c.node = &node;
  for (ValueId v : node.inputs) c.inputs.push_back(TensorOf(graph, v));
  for (ValueId v : node.outputs) c.outputs.push_back(TensorOf(graph, v));
  c.constant = [&](int i) -> std::shared_ptr<const ConstantValue> {
    const auto k = static_cast<size_t>(i);
    if (i < 0 || k >= node.inputs.size() || node.inputs[k] == kNoValue) return nullptr;
    return ConstantOf(model, graph, node.inputs[k]);
  };
  Work work = CostOf(registry.Find(node), c);
  if (depth >= kMostNesting) return work;
  Work inner;
  for (const auto& [name, attribute] : node.attributes) {
    const auto* subgraph = std::get_if<std::shared_ptr<Graph>>(&attribute.value);
    if (subgraph == nullptr || !*subgraph) continue;
    const Work own = WorkOfGraph(model, **subgraph, registry, depth + 1);
    if (own.flops > inner.flops || (own.flops == inner.flops && own.total() > inner.total())) inner = own;
  }
  return Sum(work, inner, TripsOf(model, graph, node));
}

}  // namespace

Work WorkOfNode(Model& model, Graph& graph, const Node& node, const Registry& registry) {
  return WorkAt(model, graph, node, registry, 0);
}

}  // namespace simpred
