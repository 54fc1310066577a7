// Kernels out of a graph: one for each living node, in execution order, with static tensors, canonical attributes, work
// and the kernels that it waits for.
//
// Nodes that hold subgraphs (If, Loop, Scan) are one kernel whose work includes their subgraphs': the dearest branch of
// an If, one trip of a loop unless its trip count is a constant.
#include "workload/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "workload/attributes.h"
#include "workload/liveness.h"
#include "workload/work.h"

namespace simpred {
namespace {

class Lowering {
 public:
  Lowering(Model& model, const Registry& registry)
      : model_(model),
        graph_(model.graph),
        registry_(registry),
        results_(model.graph.outputs.begin(), model.graph.outputs.end()) {}

  Result<Workload> Run() {
    Result<std::vector<NodeId>> order = graph_.TopologicalOrder();
    if (!order.ok()) return order.status();
    Workload w;
    w.model_name = model_.path.stem().string();
    w.structure_sha256 = model_.structure_sha256;
    w.runtime = "onnxruntime";
    w.fusion_mode = "auto";
    w.precision = "model";
    w.warnings = model_.warnings;
    layouts_.assign(static_cast<size_t>(graph_.value_count()), Layout::kPlain);
    for (NodeId n : order.value()) {
      if (graph_.node(n).Is("Constant")) continue;
      Result<Kernel> kernel = LowerNode(n);
      if (!kernel.ok()) return kernel.status();
      for (ValueId v : graph_.node(n).outputs)
        if (v != kNoValue) made_by_[v] = static_cast<int32_t>(w.kernels.size());
      w.kernels.push_back(std::move(kernel).value());
    }
    w.weights = WeightsOf(graph_, order.value());
    w.peak_activations = PeakActivationsOf(graph_, order.value());
    WarnOfMissingRules(w);
    return w;
  }

 private:
  Result<Kernel> LowerNode(NodeId id) {
    const Node& node = graph_.node(id);
    const OperatorRule* rule = registry_.Find(node);
    Kernel k;
    k.name = UniqueName(node);
    k.type = node.QualifiedType();
    k.op_class = rule != nullptr ? rule->op_class : OperatorClass::kOther;
    k.has_rule = rule != nullptr;
    k.hypothetical = node.Int(kHypotheticalAttribute, 0) != 0;
    k.fused_from = node.fused_from;
    if (k.fused_from.empty() && !node.name.empty()) k.fused_from = {node.name};
    AssignLayouts(node);
    for (ValueId v : node.inputs)
      if (Status s = AddTensor(v, id, k.inputs); !s.ok()) return s;
    while (!k.inputs.empty() && !k.inputs.back().present) k.inputs.pop_back();
    for (ValueId v : node.outputs)
      if (Status s = AddTensor(v, id, k.outputs); !s.ok()) return s;
    k.attributes = CanonicalAttributes(node, k);
    k.work = WorkOfNode(model_, graph_, node, registry_);
    if (k.op_class == OperatorClass::kView && MakesGraphOutput(node)) MakeCopy(k);
    k.inputs_from = WaitsFor(id);
    k.signature = SignatureOf(k);
    return k;
  }

  bool MakesGraphOutput(const Node& node) const {
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return results_.count(v) > 0; });
  }

  // A view shares its input's memory, but a result of the whole graph has memory of its own: there it is a copy.
  static void MakeCopy(Kernel& k) {
    k.attributes["copies"] = "1";
    if (!k.inputs.empty()) k.work.read = k.work.read + k.inputs[0].bytes();
    for (const KernelTensor& t : k.outputs) k.work.written += t.bytes();
  }

  // Blocked values come from blocked kernels and pass through what works element by element.
  void AssignLayouts(const Node& node) {
    const bool blocked_kernel = node.domain == "com.microsoft.nchwc";
    bool blocked = blocked_kernel && node.op_type != "ReorderOutput";
    if (!blocked_kernel && !node.inputs.empty()) {
      const ValueId first = node.inputs[0];
      blocked = first != kNoValue && layouts_[static_cast<size_t>(first)] == Layout::kNchwc;
    }
    for (ValueId v : node.outputs)
      if (v != kNoValue) layouts_[static_cast<size_t>(v)] = blocked ? Layout::kNchwc : Layout::kPlain;
  }

  Status AddTensor(ValueId v, NodeId node, std::vector<KernelTensor>& to) {
    KernelTensor t;
    if (v == kNoValue) {
      t.present = false;
      to.push_back(t);
      return OkStatus();
    }
    const Value& value = graph_.value(v);
    t.name = value.name;
    t.dtype = value.type.dtype;
    t.constant = value.is_initializer;
    t.layout = layouts_[static_cast<size_t>(v)];
    if (value.type.kind == ValueKind::kTensor) {
      std::optional<std::vector<int64_t>> dims = value.type.shape.ToVector();
      if (!dims) return NotStatic(value, node);
      t.dims = std::move(*dims);
    }
    to.push_back(std::move(t));
    return OkStatus();
  }

  Status NotStatic(const Value& value, NodeId node) const {
    std::set<std::string> symbols;
    for (const Dim& d : value.type.shape.dims()) d.CollectSymbols(symbols);
    const std::string hint = symbols.empty() ? std::string("give input_shape, or trip_counts where a loop decides it")
                                             : fmt::format("bind {}", fmt::join(symbols, ", "));
    return ModelError(fmt::format("tensor '{}': shape {} is not static", value.name, value.type.shape.ToString()), hint)
        .With(graph_.node(node).Describe(node));
  }

  std::string UniqueName(const Node& node) {
    const std::string stem = node.name.empty() ? node.QualifiedType() : node.name;
    std::string name = stem;
    // Goes on where the last node of this name stopped: thousands of nodes may have one name, or none.
    int& number = last_number_[stem];
    while (name.empty() || !names_.insert(name).second) name = fmt::format("{}#{}", stem, ++number);
    return name;
  }

  std::vector<int32_t> WaitsFor(NodeId id) const {
    std::set<int32_t> from;
    ForEachRead(graph_.node(id), [&](ValueId v) {
      const auto it = made_by_.find(v);
      if (it != made_by_.end()) from.insert(it->second);
    });
    return {from.begin(), from.end()};
  }

  static void WarnOfMissingRules(Workload& w) {
    std::set<std::string> types;
    for (const Kernel& k : w.kernels)
      if (!k.has_rule) types.insert(k.type);
    for (const std::string& t : types)
      w.warnings.push_back({fmt::format("operator {} has no rule: it costs what its bytes cost", t)});
  }

  Model& model_;
  Graph& graph_;
  const Registry& registry_;
  const std::set<ValueId> results_;  // of the whole graph
  std::vector<Layout> layouts_;
  std::unordered_map<ValueId, int32_t> made_by_;
  std::set<std::string> names_;
  std::map<std::string, int> last_number_;
};

void AppendTensor(std::string& text, const KernelTensor& t) {
  if (!t.present) {
    text += "-";
    return;
  }
  text += fmt::format("{}[{}]", Name(t.dtype), fmt::join(t.dims, ","));
  if (t.layout != Layout::kPlain) text += fmt::format("@{}", Name(t.layout));
  if (t.constant) text += "!";
}

}  // namespace

Result<Workload> Lower(Model& model, const Registry& registry) { return Lowering(model, registry).Run(); }

std::string SignatureOf(const Kernel& k) {
  std::string text = k.type;
  text += "{";
  bool first = true;
  for (const auto& [name, value] : k.attributes) {
    if (!first) text += ";";
    text += name + "=" + value;
    first = false;
  }
  text += "}(";
  for (size_t i = 0; i < k.inputs.size(); ++i) {
    if (i > 0) text += " ";
    AppendTensor(text, k.inputs[i]);
  }
  text += ")->(";
  for (size_t i = 0; i < k.outputs.size(); ++i) {
    if (i > 0) text += " ";
    AppendTensor(text, k.outputs[i]);
  }
  return text + ")";
}

}  // namespace simpred
