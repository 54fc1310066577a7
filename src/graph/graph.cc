// How are nodes and values kept, ordered and checked? Nothing here recurses over nodes or over nested graphs: a model
// of any length and depth is handled with work lists.
#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace simpred {
namespace {

// Calls f(subgraph) for every subgraph that the node's attributes hold.
template <typename NodeType, typename F>
void ForEachSubgraph(NodeType& node, F f) {
  for (auto& [key, attribute] : node.attributes) {
    if (auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
      if (*one) f(*one);
    } else if (auto* many = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (auto& graph : *many) {
        if (graph) f(graph);
      }
    }
  }
}

// Calls f(value) for every value that the node reads, by itself or inside of its subgraphs. A value of a deeper
// subgraph is linked through all graphs in between, so one level is enough.
template <typename F>
void ForEachRead(const Node& node, F f) {
  for (ValueId v : node.inputs) {
    if (v != kNoValue) f(v);
  }
  ForEachSubgraph(node, [&](const std::shared_ptr<Graph>& graph) {
    for (ValueId v = 0; v < graph->value_count(); ++v) {
      if (const ValueId outer = graph->value(v).outer_scope; outer != kNoValue) f(outer);
    }
  });
}

std::string DescribeValue(const Graph& graph, ValueId v) {
  return graph.value(v).name.empty() ? fmt::format("value #{}", v) : fmt::format("value '{}'", graph.value(v).name);
}

// Node `n` waits for the living node that makes `v`, if there is one.
NodeId WaitsFor(const Graph& graph, ValueId v) {
  if (v < 0 || v >= graph.value_count()) return kNoNode;
  const NodeId producer = graph.value(v).producer;
  return producer != kNoNode && graph.node(producer).alive ? producer : kNoNode;
}

// In the order of the file already? Then there is nothing to sort.
bool IsInOrder(const Graph& graph) {
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (!graph.node(n).alive) continue;
    bool in_order = true;
    ForEachRead(graph.node(n), [&](ValueId v) { in_order = in_order && WaitsFor(graph, v) < n; });
    if (!in_order) return false;
  }
  return true;
}

// `waiting`: how many inputs each node still waits for. Every node that waits reads, in the end, from a cycle: going
// back from any of them over nodes that wait must come to a node for the second time.
Status CycleError(const Graph& graph, const std::vector<int32_t>& waiting) {
  constexpr size_t kMostPrinted = 20;
  const auto start = std::find_if(waiting.begin(), waiting.end(), [](int32_t w) { return w > 0; });
  std::vector<NodeId> path;
  std::vector<bool> seen(waiting.size());
  auto n = static_cast<NodeId>(start - waiting.begin());
  while (!seen[static_cast<size_t>(n)]) {
    seen[static_cast<size_t>(n)] = true;
    path.push_back(n);
    NodeId next = kNoNode;
    ForEachRead(graph.node(n), [&](ValueId v) {
      const NodeId producer = WaitsFor(graph, v);
      if (next == kNoNode && producer != kNoNode && waiting[static_cast<size_t>(producer)] > 0) next = producer;
    });
    n = next;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), n));
  path.push_back(n);
  std::string text = "the graph has a cycle: ";
  for (size_t i = 0; i < path.size(); ++i) {  // backwards: from producer to consumer
    if (i == kMostPrinted) return ModelError(fmt::format("{} -> ... ({} nodes)", text, path.size() - 1));
    const NodeId id = path[path.size() - 1 - i];
    if (i > 0) text += " -> ";
    text += graph.node(id).Describe(id);
  }
  return ModelError(std::move(text), "a model must be acyclic: export it again");
}

Status Inconsistent(std::string what) { return InternalError("graph is inconsistent: " + std::move(what)); }

// Which values stand among the outputs of the node that they name as their producer?
std::vector<bool> MadeByTheirProducer(const Graph& graph) {
  std::vector<bool> made(static_cast<size_t>(graph.value_count()));
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    for (ValueId v : graph.node(n).outputs) {
      if (v >= 0 && v < graph.value_count() && graph.value(v).producer == n) made[static_cast<size_t>(v)] = true;
    }
  }
  return made;
}

Status VerifyValues(const Graph& graph, const Graph* parent) {
  const std::vector<bool> made = MadeByTheirProducer(graph);
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    const Value& value = graph.value(v);
    if (value.outer_scope != kNoValue &&
        (value.outer_scope < 0 || (parent != nullptr && value.outer_scope >= parent->value_count()))) {
      return Inconsistent(fmt::format("{} names a value of an outer graph that is not there", DescribeValue(graph, v)));
    }
    if (value.producer == kNoNode) continue;
    if (value.producer < 0 || value.producer >= graph.node_count()) {
      return Inconsistent(fmt::format("{} has a producer that is not there", DescribeValue(graph, v)));
    }
    const Node& producer = graph.node(value.producer);
    if (producer.alive && !made[static_cast<size_t>(v)]) {
      return Inconsistent(fmt::format("{} says that {} makes it, which does not", DescribeValue(graph, v),
                                      producer.Describe(value.producer)));
    }
  }
  return OkStatus();
}

// Is there something that gives `v` its content?
bool IsMade(const Graph& graph, ValueId v) {
  const Value& value = graph.value(v);
  if (value.producer != kNoNode) return graph.node(value.producer).alive;
  return value.is_initializer || value.is_graph_input || value.outer_scope != kNoValue || value.constant != nullptr ||
         value.type.kind == ValueKind::kUnknown ||  // the file uses a name that it does not define
         std::find(graph.inputs.begin(), graph.inputs.end(), v) != graph.inputs.end();
}

Status VerifyNode(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (ValueId v : node.inputs) {
    if (v == kNoValue) continue;
    if (v < 0 || v >= graph.value_count()) {
      return Inconsistent(fmt::format("{} reads a value that is not there", node.Describe(id)));
    }
    if (!IsMade(graph, v)) {
      return Inconsistent(fmt::format("{} reads {}, which nobody makes", node.Describe(id), DescribeValue(graph, v)));
    }
  }
  for (ValueId v : node.outputs) {
    if (v == kNoValue) continue;
    if (v < 0 || v >= graph.value_count()) {
      return Inconsistent(fmt::format("{} makes a value that is not there", node.Describe(id)));
    }
    if (graph.value(v).producer != id) {
      return Inconsistent(
          fmt::format("{} makes {}, which names another producer", node.Describe(id), DescribeValue(graph, v)));
    }
  }
  return OkStatus();
}

Status VerifyOne(const Graph& graph, const Graph* parent) {
  SIMPRED_RETURN_IF_ERROR(VerifyValues(graph, parent));
  for (NodeId n = 0; n < graph.node_count(); ++n) {
    if (graph.node(n).alive) SIMPRED_RETURN_IF_ERROR(VerifyNode(graph, n));
  }
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    for (ValueId v : *list) {
      if (v < 0 || v >= graph.value_count()) return Inconsistent("a graph input or output is not there");
    }
  }
  for (ValueId v : graph.outputs) {
    if (!IsMade(graph, v)) {
      return Inconsistent(fmt::format("graph output {} is made by nobody", DescribeValue(graph, v)));
    }
  }
  return graph.TopologicalOrder().status();
}

}  // namespace

ValueId Graph::AddValue(Value v) {
  values_.push_back(std::move(v));
  return value_count() - 1;
}

NodeId Graph::AddNode(Node n) {
  const NodeId id = node_count();
  for (ValueId v : n.outputs) {
    if (v != kNoValue) value(v).producer = id;
  }
  nodes_.push_back(std::move(n));
  return id;
}

Result<std::vector<NodeId>> Graph::TopologicalOrder() const {
  std::vector<NodeId> order;
  order.reserve(nodes_.size());
  if (IsInOrder(*this)) {
    for (NodeId n = 0; n < node_count(); ++n) {
      if (node(n).alive) order.push_back(n);
    }
    return order;
  }
  std::vector<std::vector<NodeId>> readers(nodes_.size());
  std::vector<int32_t> waiting(nodes_.size());
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;  // the first of the file first
  size_t alive = 0;
  for (NodeId n = 0; n < node_count(); ++n) {
    if (!node(n).alive) continue;
    ++alive;
    ForEachRead(node(n), [&](ValueId v) {
      const NodeId producer = WaitsFor(*this, v);
      if (producer == kNoNode) return;
      readers[static_cast<size_t>(producer)].push_back(n);
      ++waiting[static_cast<size_t>(n)];
    });
    if (waiting[static_cast<size_t>(n)] == 0) ready.push(n);
  }
  while (!ready.empty()) {
    const NodeId n = ready.top();
    ready.pop();
    order.push_back(n);
    for (NodeId reader : readers[static_cast<size_t>(n)]) {
      if (--waiting[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  if (order.size() != alive) return CycleError(*this, waiting);
  return order;
}

std::vector<std::vector<NodeId>> Graph::Consumers() const {
  std::vector<std::vector<NodeId>> consumers(values_.size());
  for (NodeId n = 0; n < node_count(); ++n) {
    if (!node(n).alive) continue;
    ForEachRead(node(n), [&](ValueId v) { consumers[static_cast<size_t>(v)].push_back(n); });
  }
  return consumers;
}

bool Graph::IsOutput(ValueId v) const { return std::find(outputs.begin(), outputs.end(), v) != outputs.end(); }

void Graph::ReplaceUses(ValueId from, ValueId to) {
  for (NodeId n = 0; n < node_count(); ++n) ReplaceUsesIn(n, from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
}

void Graph::ReplaceUses(ValueId from, ValueId to, const std::vector<NodeId>& readers) {
  for (NodeId n : readers) ReplaceUsesIn(n, from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
}

void Graph::ReplaceUsesIn(NodeId id, ValueId from, ValueId to) {
  Node& reader = node(id);
  std::replace(reader.inputs.begin(), reader.inputs.end(), from, to);
  ForEachSubgraph(reader, [&](const std::shared_ptr<Graph>& graph) {
    for (ValueId v = 0; v < graph->value_count(); ++v) {
      if (graph->value(v).outer_scope == from) graph->value(v).outer_scope = to;
    }
  });
}

void Graph::RemoveNode(NodeId id) { node(id).alive = false; }

Status Graph::Verify() const {
  struct Item {
    const Graph* graph;
    const Graph* parent;
  };
  std::vector<Item> work = {{this, nullptr}};  // no parent: a subgraph may be verified by itself
  while (!work.empty()) {
    const Item item = work.back();
    work.pop_back();
    if (Status status = VerifyOne(*item.graph, item.parent); !status.ok()) {
      return item.parent == nullptr ? status : std::move(status).With(fmt::format("subgraph '{}'", item.graph->name));
    }
    for (const Node& n : item.graph->nodes_) {
      if (!n.alive) continue;
      ForEachSubgraph(n, [&](const std::shared_ptr<Graph>& graph) { work.push_back({graph.get(), item.graph}); });
    }
  }
  return OkStatus();
}

Graph Graph::Clone() const {
  Graph copy = *this;
  std::vector<Graph*> work = {&copy};
  while (!work.empty()) {
    Graph* graph = work.back();
    work.pop_back();
    for (Node& n : graph->nodes_) {
      ForEachSubgraph(n, [&](std::shared_ptr<Graph>& subgraph) {
        subgraph = std::make_shared<Graph>(*subgraph);
        work.push_back(subgraph.get());
      });
    }
  }
  return copy;
}

}  // namespace simpred
