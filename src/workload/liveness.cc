#include "workload/liveness.h"

#include <algorithm>
#include <set>

namespace simpred {
namespace {

void ReadsOfSubgraph(const Graph& graph, const std::function<void(ValueId)>& f) {
  for (ValueId v = 0; v < graph.value_count(); ++v)
    if (graph.value(v).outer_scope != kNoValue) f(graph.value(v).outer_scope);
}

Bytes SizeOf(const Value& value) {
  if (value.type.kind != ValueKind::kTensor) return Bytes(0);
  const std::optional<int64_t> count = value.type.shape.ElementCount().known();
  return count ? StorageSize(value.type.dtype, *count) : Bytes(0);
}

}  // namespace

void ForEachRead(const Node& node, const std::function<void(ValueId)>& f) {
  for (ValueId v : node.inputs)
    if (v != kNoValue) f(v);
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
      if (*one) ReadsOfSubgraph(**one, f);
    } else if (const auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (const auto& g : *many)
        if (g) ReadsOfSubgraph(*g, f);
    }
  }
}

Bytes WeightsOf(const Graph& graph, const std::vector<NodeId>& order) {
  std::set<ValueId> seen;
  Bytes sum;
  for (NodeId n : order) {
    ForEachRead(graph.node(n), [&](ValueId v) {
      if (graph.value(v).is_initializer && seen.insert(v).second) sum += SizeOf(graph.value(v));
    });
  }
  return sum;
}

Bytes PeakActivationsOf(const Graph& graph, const std::vector<NodeId>& order) {
  const size_t steps = order.size();
  std::vector<size_t> last(static_cast<size_t>(graph.value_count()), 0);
  for (size_t i = 0; i < steps; ++i) {
    for (ValueId v : graph.node(order[i]).outputs)
      if (v != kNoValue) last[static_cast<size_t>(v)] = i;
    ForEachRead(graph.node(order[i]), [&](ValueId v) { last[static_cast<size_t>(v)] = i; });
  }
  for (ValueId v : graph.outputs)
    if (v != kNoValue && steps > 0) last[static_cast<size_t>(v)] = steps - 1;
  std::vector<Bytes> dies(steps + 1);
  Bytes living;
  const auto begin = [&](ValueId v) {
    if (v == kNoValue || graph.value(v).is_initializer) return;
    const Bytes size = SizeOf(graph.value(v));
    living += size;
    if (steps > 0) dies[last[static_cast<size_t>(v)]] += size;
  };
  for (ValueId v : graph.inputs) begin(v);
  Bytes peak = living;
  for (size_t i = 0; i < steps; ++i) {
    for (ValueId v : graph.node(order[i]).outputs) begin(v);
    peak = std::max(peak, living);
    living = living - dies[i];
  }
  return peak;
}

}  // namespace simpred
