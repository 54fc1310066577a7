#include "operators/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "operators/bind_inputs.h"
#include "operators/inline_functions.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// Subgraphs inside subgraphs; real models have three or four levels.
constexpr int kMaxNesting = 32;
// Bodies of loops are inferred more than once; nested ones could multiply without this.
constexpr int64_t kMaxNodeVisits = 4'000'000;
// What a chain of small nodes could otherwise grow without limit: shapes by Unsqueeze, copies of a constant by
// Identity. NumPy, and with it most of what makes models, knows at most 64 dimensions.
constexpr int kMaxRank = 64;
constexpr int64_t kMaxConstantElements = 4'000'000;
// The longest of symbolic values that is still shape arithmetic; each element of it may be a long expression.
constexpr int64_t kMaxSymbolicElements = 256;
// Beyond that nobody reads them; their names and shapes can be long.
constexpr size_t kMaxWarnings = 200;
constexpr size_t kMaxStops = 1000;

// One graph while it is inferred, and the graph around it.
struct Scope {
  Graph* graph = nullptr;
  Scope* outer = nullptr;
  int depth = 0;
};

bool IsLost(const TensorType& t) {
  if (t.kind != ValueKind::kTensor) return false;
  if (!t.shape.has_rank()) return true;
  return std::any_of(t.shape.dims().begin(), t.shape.dims().end(), [](const Dim& d) { return d.is_unknown(); });
}

int64_t ElementsOf(const std::vector<int64_t>& dims) {
  auto n = SmallElementCount(dims);
  return n ? static_cast<int64_t>(*n) : -1;
}

class Engine {
 public:
  Engine(Model& model, const InferOptions& options, const Registry& registry)
      : model_(model), options_(options), registry_(registry) {}

  Result<InferReport> Run();

 private:
  friend class NodeContext;

  Status InferGraph(Scope& scope);
  Status InferNode(Scope& scope, NodeId id);
  void Settle(Scope& scope, NodeId id, const std::vector<TensorType>& inferred, bool has_rule);
  TensorType MergedWithDeclared(const Node& node, NodeId id, const Value& value, const TensorType& inferred);
  void NoteStop(const Scope& scope, NodeId id, const std::string& why);
  void NoteUnshapedInputs();
  std::string WhyLost(const Scope& scope, NodeId id, int missing_input, bool has_rule) const;
  void Finish(const InputBinding& binding);
  void Warn(std::string text);
  bool MayKeep(const ConstantValue& value);
  Shape Bound(const Shape& s) const { return symbols_.empty() ? s : s.Bind(symbols_); }

  // The value that this one names, and the graph that holds it.
  static std::pair<Graph*, ValueId> Resolve(const Scope& scope, ValueId v) {
    const Scope* s = &scope;
    while (s->outer != nullptr && s->graph->value(v).outer_scope != kNoValue) {
      v = s->graph->value(v).outer_scope;
      s = s->outer;
    }
    return {s->graph, v};
  }
  std::shared_ptr<const ConstantValue> ConstantAt(const Scope& scope, ValueId v);
  bool IsConstantAt(const Scope& scope, ValueId v) const;

  Model& model_;
  const InferOptions& options_;
  const Registry& registry_;
  InferReport report_;
  SymbolBindings symbols_;
  std::set<std::string> warned_, without_rule_, made_symbols_;
  std::map<std::tuple<const Graph*, NodeId, std::string>, std::string> symbol_names_;
  std::map<std::string, int> last_number_;  // of the symbols of one stem
  std::string last_inner_stop_;
  int64_t visits_ = 0;
  int64_t constant_elements_ = 0;  // computed so far
  int64_t warnings_left_out_ = 0;
};

// What one node's rules see.
class NodeContext final : public InferenceContext {
 public:
  NodeContext(Engine& engine, Scope& scope, NodeId id)
      : engine_(engine), scope_(scope), id_(id), node_(scope.graph->node(id)), types_(node_.outputs.size()) {}

  const Node& node() const override { return node_; }
  int64_t opset() const override { return engine_.model_.opset(node_.domain); }
  int input_count() const override { return static_cast<int>(node_.inputs.size()); }
  bool has_input(int i) const override {
    return i >= 0 && i < input_count() && node_.inputs[static_cast<size_t>(i)] != kNoValue;
  }
  const TensorType& input(int i) const override {
    static const TensorType absent{.kind = ValueKind::kUnknown, .dtype = DataType::kUndefined, .shape = {}};
    return has_input(i) ? scope_.graph->value(node_.inputs[static_cast<size_t>(i)]).type : absent;
  }
  std::shared_ptr<const ConstantValue> constant(int i) override {
    if (!has_input(i)) return nullptr;
    auto v = engine_.ConstantAt(scope_, node_.inputs[static_cast<size_t>(i)]);
    if (!v && missing_input_ < 0) missing_input_ = i;
    return v;
  }
  bool is_constant(int i) const override {
    return has_input(i) && engine_.IsConstantAt(scope_, node_.inputs[static_cast<size_t>(i)]);
  }
  int output_count() const override { return static_cast<int>(node_.outputs.size()); }
  void set_output(int i, TensorType type) override {
    if (i >= 0 && i < output_count()) types_[static_cast<size_t>(i)] = std::move(type);
  }
  void set_output_constant(int i, ConstantValue value) override;
  void warn(std::string text) override { engine_.Warn(fmt::format("{}: {}", node_.Describe(id_), text)); }
  Dim data_dependent_dim(std::string_view what, Dim upper_bound) override;
  Result<std::vector<TensorType>> infer_subgraph(std::string_view attribute,
                                                 const std::vector<TensorType>& inputs) override;
  std::optional<std::vector<TensorType>> sequence_elements(int i) const override;
  std::optional<int64_t> trip_count() const override {
    auto it = engine_.options_.trip_counts.find(node_.name);
    return it == engine_.options_.trip_counts.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }

  const std::vector<TensorType>& types() const { return types_; }
  int missing_input() const { return missing_input_; }

 private:
  Engine& engine_;
  Scope& scope_;
  NodeId id_;
  const Node& node_;
  std::vector<TensorType> types_;
  int missing_input_ = -1;
};

void NodeContext::set_output_constant(int i, ConstantValue value) {
  if (i < 0 || i >= output_count() || node_.outputs[static_cast<size_t>(i)] == kNoValue) return;
  Value& out = scope_.graph->value(node_.outputs[static_cast<size_t>(i)]);
  // Views keep the elements and change the dimensions.
  if (auto dims = out.type.shape.ToVector()) value.dims = std::move(*dims);
  if (ElementsOf(value.dims) != static_cast<int64_t>(value.size())) return;
  if (out.type.dtype != DataType::kUndefined && IsFloat(out.type.dtype) != value.is_float()) return;
  if (out.type.dtype != DataType::kUndefined) value.dtype = out.type.dtype;
  const bool nothing_known = !value.ints.empty() && std::all_of(value.ints.begin(), value.ints.end(),
                                                                [](const Dim& d) { return d.is_unknown(); });
  if (nothing_known || !engine_.MayKeep(value)) return;
  out.type.dtype = value.dtype;
  if (!out.type.shape.has_rank()) out.type.shape = Shape(std::vector<Dim>(value.dims.begin(), value.dims.end()));
  out.constant = std::make_shared<const ConstantValue>(std::move(value));
}

std::optional<std::vector<TensorType>> NodeContext::sequence_elements(int i) const {
  constexpr int kMaxHops = 1000;
  std::vector<TensorType> elements;
  ValueId v = has_input(i) ? node_.inputs[static_cast<size_t>(i)] : kNoValue;
  for (int hops = 0; hops < kMaxHops && v != kNoValue; ++hops) {
    const NodeId producer = scope_.graph->value(v).producer;
    if (producer == kNoNode) return std::nullopt;
    const Node& node = scope_.graph->node(producer);
    if (node.Is("SequenceEmpty")) return elements;
    const bool inserts = node.Is("SequenceInsert") && node.inputs.size() >= 2;
    if (!inserts && !node.Is("SequenceConstruct")) return std::nullopt;
    for (size_t k = inserts ? 1 : 0; k < (inserts ? 2 : node.inputs.size()); ++k) {
      if (node.inputs[k] == kNoValue) return std::nullopt;
      elements.push_back(scope_.graph->value(node.inputs[k]).type);
    }
    if (!inserts) return elements;
    v = node.inputs[0];
  }
  return std::nullopt;
}

Dim NodeContext::data_dependent_dim(std::string_view what, Dim upper_bound) {
  std::string& name = engine_.symbol_names_[{scope_.graph, id_, std::string(what)}];
  if (name.empty()) {
    const std::string stem = fmt::format("{}_{}", what, id_);
    name = stem;
    for (int& n = engine_.last_number_.try_emplace(stem, 1).first->second;
         !engine_.made_symbols_.insert(name).second;) {
      name = fmt::format("{}_{}", stem, ++n);
    }
  }
  engine_.report_.data_dependent[name] = upper_bound;
  if (auto it = engine_.symbols_.find(name); it != engine_.symbols_.end()) return Dim(it->second);
  if (engine_.options_.assume_upper_bounds && !upper_bound.is_unknown()) {
    warn(fmt::format("'{}' depends on the data; its upper bound {} is assumed", name, upper_bound.ToString()));
    return upper_bound;
  }
  return Dim::Symbol(name);
}

Result<std::vector<TensorType>> NodeContext::infer_subgraph(std::string_view attribute,
                                                            const std::vector<TensorType>& inputs) {
  const std::shared_ptr<Graph> graph = node_.Subgraph(attribute);
  if (!graph) return ModelError(fmt::format("attribute '{}' with the subgraph is missing", attribute));
  if (scope_.depth + 1 > kMaxNesting) {
    return ModelError(fmt::format("subgraphs are nested more than {} deep", kMaxNesting));
  }
  if (inputs.size() < graph->inputs.size()) {
    return ModelError(fmt::format("subgraph '{}' has {} inputs, but the node gives {}", attribute, graph->inputs.size(),
                                  inputs.size()));
  }
  for (ValueId v = 0; v < graph->value_count(); ++v) {
    Value& value = graph->value(v);
    if (value.outer_scope == kNoValue) continue;
    if (value.outer_scope < 0 || value.outer_scope >= scope_.graph->value_count()) {
      return ModelError(fmt::format("'{}' refers to no value of the enclosing graph", value.name));
    }
    value.type = scope_.graph->value(value.outer_scope).type;
  }
  for (size_t i = 0; i < graph->inputs.size(); ++i) {
    Value& value = graph->value(graph->inputs[i]);
    value.type = engine_.MergedWithDeclared(node_, id_, value, inputs[i]);
  }
  Scope inner{.graph = graph.get(), .outer = &scope_, .depth = scope_.depth + 1};
  if (Status s = engine_.InferGraph(inner); !s.ok()) return s.With(fmt::format("subgraph '{}'", attribute));
  std::vector<TensorType> types;
  types.reserve(graph->outputs.size());
  for (ValueId v : graph->outputs) types.push_back(graph->value(v).type);
  return types;
}

std::shared_ptr<const ConstantValue> Engine::ConstantAt(const Scope& scope, ValueId v) {
  auto [graph, id] = Resolve(scope, v);
  Value& value = graph->value(id);
  auto constant = value.constant;
  if (!constant && value.is_initializer) constant = ConstantOf(model_, *graph, id);
  if (!constant || ElementsOf(constant->dims) != static_cast<int64_t>(constant->size())) return nullptr;
  return constant;
}

bool Engine::IsConstantAt(const Scope& scope, ValueId v) const {
  auto [graph, id] = Resolve(scope, v);
  const Value& value = graph->value(id);
  if (value.is_initializer) return true;
  if (value.producer != kNoNode && graph->node(value.producer).Is("Constant")) return true;
  if (!value.constant) return false;
  return std::all_of(value.constant->ints.begin(), value.constant->ints.end(),
                     [](const Dim& d) { return d.is_known(); });
}

bool Engine::MayKeep(const ConstantValue& value) {
  const auto size = static_cast<int64_t>(value.size());
  const bool symbolic = std::any_of(value.ints.begin(), value.ints.end(), [](const Dim& d) { return d.is_symbolic(); });
  if (symbolic && size > kMaxSymbolicElements) return false;
  if (constant_elements_ + size > kMaxConstantElements) {
    Warn(fmt::format("more than {} elements of constants were computed; further ones are taken as unknown",
                     kMaxConstantElements));
    return false;
  }
  constant_elements_ += size;
  return true;
}

void Engine::Warn(std::string text) {
  if (report_.warnings.size() >= kMaxWarnings) {
    ++warnings_left_out_;
  } else if (warned_.insert(text).second) {
    report_.warnings.push_back({std::move(text)});
  }
}

// What the file says besides: more is merged in; a contradiction is reported and the computed shape stays.
TensorType Engine::MergedWithDeclared(const Node& node, NodeId id, const Value& value, const TensorType& inferred) {
  TensorType type = inferred;
  const TensorType& declared = value.declared;
  if (type.dtype == DataType::kUndefined) {
    type.dtype = declared.dtype;
    if (!type.shape.has_rank() && declared.shape.has_rank()) type.kind = declared.kind;
  } else if (declared.dtype != DataType::kUndefined && declared.dtype != type.dtype) {
    Warn(fmt::format("{}: '{}' is declared as {}, but is {}", node.Describe(id), value.name, Name(declared.dtype),
                     Name(type.dtype)));
  }
  if (!declared.shape.has_rank()) return type;
  const Shape bound = Bound(declared.shape);
  if (auto merged = Merge(type.shape, bound)) {
    type.shape = std::move(*merged);
  } else {
    Warn(fmt::format("{}: '{}' is declared as {}, but is {}", node.Describe(id), value.name, bound.ToString(),
                     type.shape.ToString()));
  }
  return type;
}

void Engine::Settle(Scope& scope, NodeId id, const std::vector<TensorType>& inferred, bool has_rule) {
  Graph& graph = *scope.graph;
  const Node& node = graph.node(id);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    Value& value = graph.value(node.outputs[i]);
    value.type = MergedWithDeclared(node, id, value, has_rule ? inferred[i] : value.type);
    value.constant = nullptr;  // of an earlier inference with other bindings
  }
}

std::string Engine::WhyLost(const Scope& scope, NodeId id, int missing_input, bool has_rule) const {
  const Graph& graph = *scope.graph;
  const Node& node = graph.node(id);
  if (!has_rule) return fmt::format("operator {} has no shape rule", node.QualifiedType());
  if (!last_inner_stop_.empty() && !SubgraphsOf(node).empty()) return "inside its subgraph: " + last_inner_stop_;
  if (missing_input < 0) return "the shape depends on the data";
  const ValueId v = node.inputs[static_cast<size_t>(missing_input)];
  const Value& value = graph.value(v);
  std::string origin = "which is computed elsewhere";
  if (value.producer != kNoNode) {
    const Node& producer = graph.node(value.producer);
    origin = fmt::format("which is computed by {} '{}'", producer.op_type, producer.name);
  } else if (value.is_graph_input) {
    origin = "which is an input of the model";
  } else if (value.is_initializer) {
    origin = "a constant whose elements cannot be read";
  }
  return fmt::format("needs the value of input #{} '{}', {}", missing_input, value.name, origin);
}

void Engine::NoteStop(const Scope& scope, NodeId id, const std::string& why) {
  if (scope.depth == 0) {
    if (report_.stops.size() < kMaxStops) report_.stops.push_back({id, why});
  } else {
    last_inner_stop_ = fmt::format("{} {}", scope.graph->node(id).Describe(id), why);
  }
}

Status Engine::InferNode(Scope& scope, NodeId id) {
  Graph& graph = *scope.graph;
  const Node& node = graph.node(id);
  if (++visits_ > kMaxNodeVisits) return ModelError("nested loops multiply to too many nodes to infer");
  const OperatorRule* rule = registry_.Find(node);
  const bool has_rule = rule != nullptr && rule->shape;
  if (!has_rule) without_rule_.insert(node.QualifiedType());
  last_inner_stop_.clear();
  NodeContext context(*this, scope, id);
  if (has_rule) SIMPRED_RETURN_IF_ERROR(rule->shape(context));
  const int missing_input = context.missing_input();
  for (const TensorType& t : context.types()) {
    if (t.shape.rank() > kMaxRank) {
      return ModelError(fmt::format("an output has {} dimensions; at most {} are supported", t.shape.rank(), kMaxRank));
    }
  }
  Settle(scope, id, context.types(), has_rule);
  if (rule != nullptr && rule->value) rule->value(context);

  bool lost = false;
  for (ValueId v : node.outputs) lost = lost || (v != kNoValue && IsLost(graph.value(v).type));
  if (!lost) return OkStatus();
  const bool inherited = std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId v) { return v != kNoValue && IsLost(graph.value(v).type); });
  if (!inherited) NoteStop(scope, id, WhyLost(scope, id, missing_input, has_rule));
  return OkStatus();
}

Status Engine::InferGraph(Scope& scope) {
  SIMPRED_ASSIGN_OR_RETURN(std::vector<NodeId> order, scope.graph->TopologicalOrder());
  for (NodeId id : order) {
    if (Status s = InferNode(scope, id); !s.ok()) return std::move(s).With(scope.graph->node(id).Describe(id));
  }
  return OkStatus();
}

// Inputs without any shape lose every shape behind them: the first reader of each is a root cause.
void Engine::NoteUnshapedInputs() {
  const Graph& graph = model_.graph;
  if (std::none_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId v) { return IsLost(graph.value(v).type); })) {
    return;
  }
  const auto consumers = graph.Consumers();
  for (ValueId v : graph.inputs) {
    const Value& value = graph.value(v);
    if (report_.stops.size() >= kMaxStops) return;
    if (!IsLost(value.type) || consumers[static_cast<size_t>(v)].empty()) continue;
    report_.stops.push_back({consumers[static_cast<size_t>(v)].front(),
                             fmt::format("input '{}' has no declared shape: give input_shape", value.name)});
  }
}

void Engine::Finish(const InputBinding& binding) {
  const Graph& graph = model_.graph;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    if (!graph.node(id).alive) continue;
    for (ValueId v : graph.node(id).outputs) {
      if (v == kNoValue || graph.value(v).type.kind != ValueKind::kTensor) continue;
      const Shape& s = graph.value(v).type.shape;
      ++report_.outputs_total;
      report_.outputs_ranked += s.has_rank() ? 1 : 0;
      report_.outputs_static += s.is_static() ? 1 : 0;
    }
  }
  report_.operators_without_rule.assign(without_rule_.begin(), without_rule_.end());
  std::set<std::string> all = binding.declared;
  for (const auto& [name, bound] : report_.data_dependent) all.insert(name);
  for (const std::string& name : all) {
    if (!symbols_.contains(name)) report_.free_symbols.insert(name);
  }
  for (const auto& [name, value] : options_.symbols) {
    if (all.contains(name)) continue;
    const std::string nearest = NearestNames(name, {all.begin(), all.end()});
    Warn(fmt::format("symbol '{}' is bound, but the model has no such symbol{}", name,
                     nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest)));
  }
  if (warnings_left_out_ > 0) report_.warnings.push_back({fmt::format("{} further warnings", warnings_left_out_)});
}

Result<InferReport> Engine::Run() {
  const std::string in_model = fmt::format("model {}", model_.path.filename().string());
  if (Status s = InlineFunctions(model_); !s.ok()) return s.With(in_model);
  Result<InputBinding> binding = BindInputs(model_, options_);
  if (!binding.ok()) return binding.status().With(in_model);
  symbols_ = binding->symbols;
  NoteUnshapedInputs();
  Scope scope{.graph = &model_.graph, .outer = nullptr, .depth = 0};
  if (Status s = InferGraph(scope); !s.ok()) return s.With(in_model);
  Finish(*binding);
  return std::move(report_);
}

}  // namespace

Result<InferReport> InferShapes(Model& model, const InferOptions& options, const Registry& registry) {
  return Engine(model, options, registry).Run();
}

}  // namespace simpred
