#include "operators/inline_functions.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace simpred {
namespace {

using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload

std::string Normalized(const std::string& domain) { return domain == "ai.onnx" ? std::string() : domain; }

// What a copy of a function's body takes.
struct BodySize {
  int64_t nodes = 0;
  int64_t weight = 0;      // nodes, values and the elements of attributes
  int64_t references = 0;  // attributes that take the caller's
};

// A number of an attribute takes a fraction of what a node or a value takes.
constexpr int64_t kElementsPerWeight = 16;

int64_t WeightOf(const Attribute& attribute) {
  struct Elements {
    size_t operator()(const std::vector<int64_t>& v) const { return v.size(); }
    size_t operator()(const std::vector<double>& v) const { return v.size(); }
    size_t operator()(const std::string& v) const { return v.size() / sizeof(int64_t); }
    size_t operator()(const std::vector<std::string>& v) const {
      size_t sum = 0;
      for (const std::string& text : v) sum += 4 + text.size() / sizeof(int64_t);
      return sum;
    }
    size_t operator()(const TensorAttribute& v) const { return v.dims.size(); }
    size_t operator()(const std::vector<TensorAttribute>& v) const { return v.size() * kElementsPerWeight; }
    size_t operator()(const std::monostate&) const { return 0; }
    size_t operator()(int64_t) const { return 0; }
    size_t operator()(double) const { return 0; }
    size_t operator()(const TensorType& v) const { return v.shape.dims().size(); }
    size_t operator()(const std::shared_ptr<Graph>&) const { return 0; }  // counted as graphs
    size_t operator()(const std::vector<std::shared_ptr<Graph>>&) const { return 0; }
  };
  return 1 + static_cast<int64_t>(std::visit(Elements(), attribute.value)) / kElementsPerWeight;
}

BodySize SizeOf(const Graph& body) {
  BodySize size;
  std::vector<const Graph*> pending = {&body};
  while (!pending.empty()) {
    const Graph& graph = *pending.back();
    pending.pop_back();
    size.nodes += graph.node_count();
    size.weight += graph.node_count() + graph.value_count();
    for (NodeId id = 0; id < graph.node_count(); ++id) {
      for (const auto& [key, attribute] : graph.node(id).attributes) {
        size.weight += WeightOf(attribute);
        size.references += attribute.reference.empty() ? 0 : 1;
      }
      for (const auto& sub : SubgraphsOf(graph.node(id))) pending.push_back(sub.get());
    }
  }
  return size;
}

class Inliner {
 public:
  explicit Inliner(Model& model) : model_(model) {
    for (size_t i = 0; i < model.functions.size(); ++i) {
      const FunctionDef& f = model.functions[i];
      if (f.body) functions_.emplace(FunctionKey{Normalized(f.domain), f.name, f.overload}, i);
    }
  }

  Status Run() {
    SIMPRED_RETURN_IF_ERROR(RefuseRecursion());
    std::vector<Graph*> pending = {&model_.graph};
    while (!pending.empty()) {
      Graph& graph = *pending.back();
      pending.pop_back();
      for (NodeId id = 0; id < graph.node_count(); ++id) {  // grows while bodies are copied in
        if (!graph.node(id).alive) continue;
        if (const FunctionDef* f = Find(graph.node(id))) {
          SIMPRED_RETURN_IF_ERROR(Expand(graph, id, *f));
          continue;
        }
        for (const auto& sub : SubgraphsOf(graph.node(id))) pending.push_back(sub.get());
      }
    }
    return OkStatus();
  }

 private:
  const FunctionDef* Find(const Node& node) const {
    auto it = functions_.find(FunctionKey{Normalized(node.domain), node.op_type, node.overload});
    return it == functions_.end() ? nullptr : &model_.functions[it->second];
  }

  // The functions that the body of this one calls, in subgraphs too.
  std::vector<size_t> Callees(const FunctionDef& f) const {
    std::vector<size_t> callees;
    std::vector<const Graph*> pending = {f.body.get()};
    while (!pending.empty()) {
      const Graph& graph = *pending.back();
      pending.pop_back();
      for (NodeId id = 0; id < graph.node_count(); ++id) {
        const Node& node = graph.node(id);
        if (const FunctionDef* callee = Find(node)) {
          callees.push_back(static_cast<size_t>(callee - model_.functions.data()));
        }
        for (const auto& sub : SubgraphsOf(node)) pending.push_back(sub.get());
      }
    }
    return callees;
  }

  // Depth first over the calls with an explicit stack; a call to a function on the stack is recursion.
  Status RefuseRecursion() const {
    enum class Mark : uint8_t { kNew, kOpen, kDone };
    std::vector<Mark> marks(model_.functions.size(), Mark::kNew);
    std::vector<std::vector<size_t>> callees(model_.functions.size());
    for (const auto& [key, root] : functions_) {
      if (marks[root] != Mark::kNew) continue;
      std::vector<size_t> stack = {root};
      while (!stack.empty()) {
        const size_t f = stack.back();
        if (marks[f] == Mark::kNew) {
          marks[f] = Mark::kOpen;
          callees[f] = Callees(model_.functions[f]);
        }
        if (callees[f].empty()) {
          marks[f] = Mark::kDone;
          stack.pop_back();
          continue;
        }
        const size_t next = callees[f].back();
        callees[f].pop_back();
        if (marks[next] == Mark::kOpen) {
          return ModelError(fmt::format("function '{}' calls itself through '{}'", model_.functions[next].name,
                                        model_.functions[f].name),
                            "ONNX does not allow recursive functions; export the model again");
        }
        if (marks[next] == Mark::kNew) stack.push_back(next);
      }
    }
    return OkStatus();
  }

  Status Expand(Graph& graph, NodeId call_id, const FunctionDef& f) {
    const Graph& body = *f.body;
    Node call = graph.node(call_id);
    for (const auto& [key, value] : f.attribute_defaults) call.attributes.emplace(key, value);  // what it left out
    SIMPRED_RETURN_IF_ERROR(CountCopy(f, call).With(call.Describe(call_id)));
    for (const auto& [domain, version] : f.opset_imports) model_.opset_imports.emplace(domain, version);
    graph.RemoveNode(call_id);
    // A long chain of calls would give names that take more memory than all else.
    constexpr size_t kLongestPrefix = 500;
    const bool usable = !call.name.empty() && call.name.size() < kLongestPrefix;
    const std::string prefix = (usable ? call.name : fmt::format("{}_{}", call.op_type, call_id)) + "/";
    const std::vector<ValueId> values = MapValues(graph, body, call, prefix);
    for (NodeId id = 0; id < body.node_count(); ++id) {
      if (body.node(id).alive) graph.AddNode(CopyNode(body.node(id), values, call, prefix));
    }
    ConnectPassThrough(graph, body, call, values, prefix);
    return OkStatus();
  }

  // A small file whose functions call each other, or hold much and are called often, must not fill the memory.
  Status CountCopy(const FunctionDef& f, const Node& call) {
    const auto [known, is_new] = sizes_.try_emplace(&f);
    if (is_new) known->second = SizeOf(*f.body);
    const BodySize& size = known->second;
    Bytes given(0);  // saturates
    for (const auto& [key, attribute] : call.attributes) given += Bytes(WeightOf(attribute));
    nodes_ += size.nodes;
    weight_ += (Bytes(size.weight) + given * size.references).count();
    if (nodes_ > kMaxInlinedNodes || weight_ > kMaxInlinedWeight) {
      return ModelError(
          fmt::format("the model's functions expand to more than {} nodes, or to as much memory", kMaxInlinedNodes));
    }
    return OkStatus();
  }

  // For each value of the body, the value of the calling graph that it becomes.
  static std::vector<ValueId> MapValues(Graph& graph, const Graph& body, const Node& call, const std::string& prefix) {
    constexpr ValueId kUnmapped = -2;
    std::vector<ValueId> map(static_cast<size_t>(body.value_count()), kUnmapped);
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      map[static_cast<size_t>(body.inputs[i])] = i < call.inputs.size() ? call.inputs[i] : kNoValue;
    }
    for (size_t i = 0; i < body.outputs.size(); ++i) {
      ValueId& target = map[static_cast<size_t>(body.outputs[i])];
      const bool used = i < call.outputs.size() && call.outputs[i] != kNoValue;
      const bool computed = body.value(body.outputs[i]).producer != kNoNode;
      if (target == kUnmapped && used && computed) target = call.outputs[i];
    }
    for (size_t v = 0; v < map.size(); ++v) {
      if (map[v] != kUnmapped) continue;
      Value copy = body.value(static_cast<ValueId>(v));
      copy.name = prefix + copy.name;
      copy.producer = kNoNode;
      map[v] = graph.AddValue(std::move(copy));
    }
    return map;
  }

  static ValueId Mapped(const std::vector<ValueId>& map, ValueId v) {
    return v == kNoValue ? kNoValue : map[static_cast<size_t>(v)];
  }

  static Node CopyNode(const Node& source, const std::vector<ValueId>& map, const Node& call,
                       const std::string& prefix) {
    Node node = source;
    node.name = prefix + (source.name.empty() ? source.op_type : source.name);
    for (ValueId& v : node.inputs) v = Mapped(map, v);
    for (ValueId& v : node.outputs) v = Mapped(map, v);
    ResolveReferences(node, call);
    for (auto& [key, attribute] : node.attributes) {
      if (auto* g = std::get_if<std::shared_ptr<Graph>>(&attribute.value); g != nullptr && *g) {
        *g = CopySubgraph(**g, map, call);
      } else if (auto* list = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
        for (auto& sub : *list) {
          if (sub) sub = CopySubgraph(*sub, map, call);
        }
      }
    }
    return node;
  }

  static std::shared_ptr<Graph> CopySubgraph(const Graph& source, const std::vector<ValueId>& map, const Node& call) {
    auto copy = std::make_shared<Graph>(source.Clone());
    for (ValueId v = 0; v < copy->value_count(); ++v) {
      Value& value = copy->value(v);
      value.outer_scope = Mapped(map, value.outer_scope);
    }
    std::vector<Graph*> pending = {copy.get()};
    while (!pending.empty()) {
      Graph& graph = *pending.back();
      pending.pop_back();
      for (NodeId id = 0; id < graph.node_count(); ++id) {
        ResolveReferences(graph.node(id), call);
        for (const auto& sub : SubgraphsOf(graph.node(id))) pending.push_back(sub.get());
      }
    }
    return copy;
  }

  static void ResolveReferences(Node& node, const Node& call) {
    for (auto it = node.attributes.begin(); it != node.attributes.end();) {
      if (it->second.reference.empty()) {
        ++it;
        continue;
      }
      const Attribute* given = call.Find(it->second.reference);
      if (given == nullptr) {  // the operator's own default applies
        it = node.attributes.erase(it);
      } else {
        it->second = *given;
        ++it;
      }
    }
  }

  // A body output that is no fresh value of a body node (an input handed through, or the same value twice) is copied.
  static void ConnectPassThrough(Graph& graph, const Graph& body, const Node& call, const std::vector<ValueId>& map,
                                 const std::string& prefix) {
    for (size_t i = 0; i < body.outputs.size() && i < call.outputs.size(); ++i) {
      const ValueId source = map[static_cast<size_t>(body.outputs[i])];
      if (call.outputs[i] == kNoValue || source == call.outputs[i] || source == kNoValue) continue;
      Node identity;
      identity.name = fmt::format("{}output_{}", prefix, i);
      identity.op_type = "Identity";
      identity.inputs = {source};
      identity.outputs = {call.outputs[i]};
      graph.AddNode(std::move(identity));
    }
  }

  Model& model_;
  std::map<FunctionKey, size_t> functions_;
  std::map<const FunctionDef*, BodySize> sizes_;  // of those that were called
  int64_t nodes_ = 0;
  int64_t weight_ = 0;
};

}  // namespace

std::vector<std::shared_ptr<Graph>> SubgraphsOf(const Node& node) {
  std::vector<std::shared_ptr<Graph>> graphs;
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* g = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
      if (*g) graphs.push_back(*g);
    } else if (const auto* list = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (const auto& sub : *list) {
        if (sub) graphs.push_back(sub);
      }
    }
  }
  return graphs;
}

Status InlineFunctions(Model& model) {
  if (model.functions.empty()) return OkStatus();
  return Inliner(model).Run();
}

}  // namespace simpred
