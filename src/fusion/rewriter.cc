#include "fusion/rewriter.h"

#include <algorithm>
#include <cmath>

namespace simpred {

const std::vector<NodeId> Rewriter::kNoUses;

namespace {

constexpr int64_t kFirstIrWithOverridableInitializers = 4;
// The runtime compares floats that exporters wrote with different precision.
constexpr double kRelativeTolerance = 1e-4;

}  // namespace

bool IsConstantValue(const Model& model, const Value& value) {
  if (!value.is_initializer || value.producer != kNoNode) return false;
  return !(value.is_graph_input && model.ir_version >= kFirstIrWithOverridableInitializers);
}

std::optional<std::vector<int64_t>> StaticDims(const Value& value) {
  if (value.type.kind != ValueKind::kTensor) return std::nullopt;
  return value.type.shape.ToVector();
}

bool IsIdentityPermutation(const std::vector<int64_t>& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

std::vector<int64_t> InvertPermutation(const std::vector<int64_t>& perm) {
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return inverse;
}

Rewriter::Rewriter(Model& model, const FusionContext& context)
    : model_(model), context_(context), opset_(model.opset("")) {}

const std::vector<NodeId>& Rewriter::order() {
  if (!order_built_) {
    Result<std::vector<NodeId>> order = model_.graph.TopologicalOrder();
    if (order.ok()) order_ = std::move(order).value();
    order_built_ = true;
  }
  return order_;
}

bool Rewriter::Has(std::initializer_list<std::string_view> types) const {
  for (NodeId n = 0; n < model_.graph.node_count(); ++n) {
    const Node& node = model_.graph.node(n);
    if (node.alive && std::find(types.begin(), types.end(), node.op_type) != types.end()) return true;
  }
  return false;
}

bool Rewriter::Is(NodeId n, std::string_view type, std::string_view domain) const {
  if (!alive(n)) return false;
  const Node& node = model_.graph.node(n);
  return domain == kOnnx ? node.Is(type) : node.Is(domain, type);
}

bool Rewriter::IsOneOf(NodeId n, std::initializer_list<std::string_view> types) const {
  return std::any_of(types.begin(), types.end(), [&](std::string_view t) { return Is(n, t); });
}

ValueId Rewriter::input(NodeId n, size_t i) const {
  const Node& node = model_.graph.node(n);
  return i < node.inputs.size() ? node.inputs[i] : kNoValue;
}

ValueId Rewriter::output(NodeId n, size_t i) const {
  const Node& node = model_.graph.node(n);
  return i < node.outputs.size() ? node.outputs[i] : kNoValue;
}

size_t Rewriter::PresentInputs(NodeId n) const {
  const Node& node = model_.graph.node(n);
  size_t count = node.inputs.size();
  while (count > 0 && node.inputs[count - 1] == kNoValue) --count;
  return count;
}

NodeId Rewriter::Producer(ValueId v) const {
  if (v == kNoValue) return kNoNode;
  const NodeId n = model_.graph.value(v).producer;
  return alive(n) ? n : kNoNode;
}

void Rewriter::BuildUses() {
  if (uses_built_) return;
  uses_ = model_.graph.Consumers();
  graph_output_.assign(static_cast<size_t>(model_.graph.value_count()), 0);
  for (ValueId v : model_.graph.outputs)
    if (v != kNoValue) graph_output_[static_cast<size_t>(v)] = 1;
  uses_built_ = true;
}

const std::vector<NodeId>& Rewriter::Uses(ValueId v) {
  if (v == kNoValue) return kNoUses;
  BuildUses();
  return uses_[static_cast<size_t>(v)];
}

size_t Rewriter::OutputUses(NodeId n) {
  size_t count = 0;
  for (ValueId v : node(n).outputs) count += UseCount(v);
  return count;
}

bool Rewriter::IsGraphOutput(ValueId v) {
  if (v == kNoValue) return false;
  BuildUses();
  return graph_output_[static_cast<size_t>(v)] != 0;
}

bool Rewriter::ProducesGraphOutput(NodeId n) {
  const Node& node = model_.graph.node(n);
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return IsGraphOutput(v); });
}

NodeId Rewriter::OnlyConsumer(ValueId v) {
  if (v == kNoValue || IsGraphOutput(v) || Uses(v).size() != 1) return kNoNode;
  const NodeId n = Uses(v)[0];
  return InputIndex(n, v) < 0 ? kNoNode : n;  // a read from inside a subgraph is no edge to fuse over
}

NodeId Rewriter::OnlyConsumerOf(NodeId n) {
  if (n == kNoNode || ProducesGraphOutput(n) || OutputUses(n) != 1) return kNoNode;
  for (ValueId v : node(n).outputs)
    if (UseCount(v) == 1) return OnlyConsumer(v);
  return kNoNode;
}

int Rewriter::InputIndex(NodeId n, ValueId v) const {
  const Node& node = model_.graph.node(n);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i] == v) return static_cast<int>(i);
  return -1;
}

bool Rewriter::IsConstant(ValueId v) const { return v != kNoValue && IsConstantValue(model_, model_.graph.value(v)); }

std::shared_ptr<const ConstantValue> Rewriter::Constant(ValueId v) {
  return IsConstant(v) ? ConstantOf(model_, model_.graph, v) : nullptr;
}

std::optional<std::vector<int64_t>> Rewriter::ConstantInts(ValueId v) {
  const std::shared_ptr<const ConstantValue> c = Constant(v);
  if (!c || c->is_float() || c->dtype == DataType::kString) return std::nullopt;
  std::vector<int64_t> ints;
  for (const Dim& d : c->ints) {
    if (!d.is_known()) return std::nullopt;
    ints.push_back(d.value());
  }
  return ints;
}

std::optional<double> Rewriter::Scalar(ValueId v) {
  const std::shared_ptr<const ConstantValue> c = Constant(v);
  if (!c || c->size() != 1) return std::nullopt;
  if (c->is_float()) return c->floats[0];
  if (c->dtype == DataType::kString || !c->ints[0].is_known()) return std::nullopt;
  return static_cast<double>(c->ints[0].value());
}

bool Rewriter::IsScalarNear(ValueId v, double expected) {
  const std::optional<double> s = Scalar(v);
  return s && std::abs(*s - expected) <= kRelativeTolerance * std::max(std::abs(expected), 1e-3);
}

int Rewriter::rank(ValueId v) const {
  if (v == kNoValue) return -1;
  const Shape& shape = model_.graph.value(v).type.shape;
  return shape.has_rank() ? shape.rank() : -1;
}

std::optional<std::vector<int64_t>> Rewriter::dims(ValueId v) const {
  return v == kNoValue ? std::nullopt : StaticDims(model_.graph.value(v));
}

std::optional<std::vector<int64_t>> Rewriter::Permutation(NodeId transpose) const {
  const Node& node = model_.graph.node(transpose);
  std::optional<std::vector<int64_t>> perm = node.Ints("perm");
  const int r = rank(input(transpose, 0));
  if (!perm) {
    if (r < 0) return std::nullopt;
    perm.emplace();
    for (int i = r - 1; i >= 0; --i) perm->push_back(i);
  }
  std::vector<uint8_t> seen(perm->size());
  for (int64_t p : *perm) {
    if (p < 0 || p >= static_cast<int64_t>(perm->size()) || seen[static_cast<size_t>(p)]) return std::nullopt;
    seen[static_cast<size_t>(p)] = 1;
  }
  if (r >= 0 && static_cast<size_t>(r) != perm->size()) return std::nullopt;
  return perm;
}

std::optional<std::vector<int64_t>> Rewriter::Axes(NodeId n, size_t index) {
  if (std::optional<std::vector<int64_t>> axes = node(n).Ints("axes")) return axes;
  return ConstantInts(input(n, index));
}

std::string Rewriter::Fresh(std::string_view stem) {
  return std::string(stem) + "__" + std::to_string(model_.graph.value_count());
}

ValueId Rewriter::NewValue(std::string_view stem, DataType dtype, std::vector<int64_t> dims) {
  Value v;
  v.name = Fresh(stem);
  v.type.dtype = dtype;
  v.type.shape = Shape(std::vector<Dim>(dims.begin(), dims.end()));
  const ValueId id = model_.graph.AddValue(std::move(v));
  if (uses_built_) {
    uses_.resize(static_cast<size_t>(id) + 1);
    graph_output_.resize(static_cast<size_t>(id) + 1, 0);
  }
  return id;
}

ValueId Rewriter::NewValueLike(std::string_view stem, ValueId like) {
  const TensorType type = value(like).type;
  const ValueId v = NewValue(stem, type.dtype, {});
  value(v).type = type;
  return v;
}

ValueId Rewriter::NewValueLikeOf(const Value& other) {
  const ValueId v = NewValue(other.name, other.type.dtype, {});
  Value& made = value(v);
  made.type = other.type;
  made.declared = other.declared;
  made.is_initializer = other.is_initializer;
  made.payload = other.payload;
  made.constant = other.constant;
  return v;
}

ValueId Rewriter::NewInts(std::string_view stem, const std::vector<int64_t>& values, bool scalar) {
  const std::vector<int64_t> dims =
      scalar ? std::vector<int64_t>{} : std::vector<int64_t>{static_cast<int64_t>(values.size())};
  const ValueId v = NewConstant(stem, DataType::kInt64, dims);
  auto c = std::make_shared<ConstantValue>();
  c->dtype = DataType::kInt64;
  c->dims = dims;
  c->ints.assign(values.begin(), values.end());
  value(v).constant = std::move(c);
  return v;
}

ValueId Rewriter::NewConstant(std::string_view stem, DataType dtype, std::vector<int64_t> dims) {
  const ValueId v = NewValue(stem, dtype, std::move(dims));
  value(v).is_initializer = true;
  return v;
}

NodeId Rewriter::AddNode(std::string_view type, std::string_view domain, std::vector<ValueId> inputs,
                         std::vector<ValueId> outputs, std::vector<std::string> fused_from) {
  Node n;
  n.op_type = type;
  n.domain = domain;
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  n.fused_from = std::move(fused_from);
  n.name = std::string(type) + "__" + std::to_string(model_.graph.node_count());
  const std::vector<ValueId> reads = n.inputs;
  const NodeId id = model_.graph.AddNode(std::move(n));
  if (uses_built_)
    for (ValueId v : reads)
      if (v != kNoValue) uses_[static_cast<size_t>(v)].push_back(id);
  return id;
}

void Rewriter::SetInput(NodeId n, size_t i, ValueId v) {
  Node& node = this->node(n);
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, kNoValue);
  const ValueId old = node.inputs[i];
  if (old == v) return;
  node.inputs[i] = v;
  if (!uses_built_) return;
  if (old != kNoValue) {
    std::vector<NodeId>& uses = uses_[static_cast<size_t>(old)];
    const auto it = std::find(uses.begin(), uses.end(), n);
    if (it != uses.end()) uses.erase(it);
  }
  if (v != kNoValue) uses_[static_cast<size_t>(v)].push_back(n);
}

void Rewriter::DropInputsFrom(NodeId n, size_t count) {
  for (size_t i = count; i < node(n).inputs.size(); ++i) SetInput(n, i, kNoValue);
  if (node(n).inputs.size() > count) node(n).inputs.resize(count);
}

void Rewriter::ReplaceUses(ValueId from, ValueId to) {
  BuildUses();
  model_.graph.ReplaceUses(from, to, uses_[static_cast<size_t>(from)]);
  auto& source = uses_[static_cast<size_t>(from)];
  auto& target = uses_[static_cast<size_t>(to)];
  target.insert(target.end(), source.begin(), source.end());
  source.clear();
  if (graph_output_[static_cast<size_t>(from)] != 0) {
    graph_output_[static_cast<size_t>(from)] = 0;
    graph_output_[static_cast<size_t>(to)] = 1;
  }
}

void Rewriter::Remove(NodeId n) {
  if (uses_built_) {
    for (ValueId v : node(n).inputs) {
      if (v == kNoValue) continue;
      std::vector<NodeId>& uses = uses_[static_cast<size_t>(v)];
      const auto it = std::find(uses.begin(), uses.end(), n);
      if (it != uses.end()) uses.erase(it);
    }
  }
  model_.graph.RemoveNode(n);
}

bool Rewriter::Bypass(NodeId n, size_t i) {
  const ValueId from = output(n), to = input(n, i);
  if (from == kNoValue || to == kNoValue || ProducesGraphOutput(n)) return false;
  for (size_t k = 1; k < node(n).outputs.size(); ++k)
    if (UseCount(node(n).outputs[k]) > 0) return false;
  ReplaceUses(from, to);
  Remove(n);
  return true;
}

std::vector<std::string> Rewriter::NamesOf(const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (NodeId id : nodes) {
    const Node& n = node(id);
    const std::vector<std::string> own = n.fused_from.empty() ? std::vector<std::string>{n.name} : n.fused_from;
    for (const std::string& name : own)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

NodeId Rewriter::Fuse(const std::vector<NodeId>& olds, std::string_view type, std::string_view domain,
                      std::vector<ValueId> inputs) {
  std::vector<std::string> names = NamesOf(olds);
  const std::vector<ValueId> outputs = node(olds.back()).outputs;
  const std::string name = node(olds.back()).name;
  for (NodeId old : olds)
    if (alive(old)) Remove(old);
  const NodeId n = AddNode(type, domain, std::move(inputs), outputs, std::move(names));
  if (!name.empty()) node(n).name = name;
  return n;
}

void Rewriter::RemoveUpwards(NodeId n) {
  std::vector<NodeId> pending = {n};
  while (!pending.empty()) {
    const NodeId current = pending.back();
    pending.pop_back();
    if (!alive(current) || OutputUses(current) > 0 || ProducesGraphOutput(current)) continue;
    const std::vector<ValueId> inputs = node(current).inputs;
    Remove(current);
    for (ValueId v : inputs)
      if (const NodeId p = Producer(v); p != kNoNode) pending.push_back(p);
  }
}

void Rewriter::MakeConstant(NodeId n) {
  const std::vector<ValueId> outputs = node(n).outputs;
  const std::vector<ValueId> inputs = node(n).inputs;
  Remove(n);
  for (ValueId v : inputs)
    if (const NodeId p = Producer(v); p != kNoNode) RemoveUpwards(p);
  for (ValueId v : outputs) {
    if (v == kNoValue) continue;
    value(v).producer = kNoNode;
    value(v).is_initializer = true;
  }
}

}  // namespace simpred
