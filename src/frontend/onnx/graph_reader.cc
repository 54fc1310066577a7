// How does a GraphProto become a Graph? See graph_reader.h.
#include "frontend/onnx/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "frontend/onnx/attributes.h"
#include "frontend/onnx/tensor.h"
#include "frontend/onnx/types.h"

namespace simpred::onnx {
namespace {

constexpr int kMaxSubgraphDepth = 64;
// From this IR version on, an initializer that is also an input is a default value, not a constant.
constexpr int64_t kFirstIrWithOverridableInitializers = 4;

std::string NormalisedDomain(std::string_view domain) { return domain == "ai.onnx" ? std::string() : Text(domain); }

class GraphReader {
 public:
  GraphReader(ReadContext& context, GraphReader* parent, int depth, int64_t ir_version)
      : context_(context), parent_(parent), depth_(depth), ir_version_(ir_version) {}

  Graph Read(std::string_view message);
  FunctionDef ReadFunctionDef(std::string_view message);

 private:
  struct PendingSubgraph {
    NodeId node;
    std::string key;
    std::vector<std::string_view> messages;
    bool is_list;
  };

  ValueId NewValue(std::string_view name);
  ValueId Define(std::string_view name);
  ValueId Use(std::string_view name);
  ValueId ResolveForChild(std::string_view name);

  void AddInput(std::string_view message);
  void AddInitializer(const TensorHeader& h);
  void AddNode(std::string_view message);
  void AddAttribute(Node& node, std::string_view message);
  void AddOutput(std::string_view message);
  void Declare(const ValueInfo& info);
  void ResolveOpenNames();
  void ReadSubgraphs();
  void Finish();

  ReadContext& context_;
  GraphReader* parent_;
  int depth_;
  int64_t ir_version_;
  Graph graph_;
  std::map<std::string_view, ValueId> names_;
  std::map<std::string_view, ValueId> open_;  // used, not defined so far
  std::vector<std::string_view> value_infos_;
  std::vector<PendingSubgraph> subgraphs_;
};

ValueId GraphReader::NewValue(std::string_view name) {
  context_.Count();
  Value v;
  v.name = Text(name);
  return graph_.AddValue(std::move(v));
}

ValueId GraphReader::Define(std::string_view name) {
  if (const auto open = open_.find(name); open != open_.end()) {
    const ValueId id = open->second;
    open_.erase(open);
    names_[name] = id;
    return id;
  }
  const auto [entry, is_new] = names_.emplace(name, kNoValue);
  if (!is_new) {
    context_.Warn(
        fmt::format("value {} is defined more than once; each use takes the last definition before it", Quote(name)));
  }
  return entry->second = NewValue(name);
}

ValueId GraphReader::Use(std::string_view name) {
  if (name.empty()) return kNoValue;
  if (const auto known = names_.find(name); known != names_.end()) return known->second;
  const auto [entry, is_new] = open_.emplace(name, kNoValue);
  if (is_new) entry->second = NewValue(name);
  return entry->second;
}

// The id in this graph of a value that a subgraph refers to; kNoValue if neither this graph nor those around it have
// it.
ValueId GraphReader::ResolveForChild(std::string_view name) {
  if (const auto known = names_.find(name); known != names_.end()) return known->second;
  if (parent_ == nullptr) return kNoValue;
  const ValueId outer = parent_->ResolveForChild(name);
  if (outer == kNoValue) return kNoValue;
  const ValueId id = NewValue(name);
  graph_.value(id).outer_scope = outer;
  names_[name] = id;
  return id;
}

void GraphReader::AddInput(std::string_view message) {
  ValueInfo info = ReadValueInfo(context_, message);
  if (const auto known = names_.find(info.name); known != names_.end()) {
    Value& v = graph_.value(known->second);
    if (v.is_initializer) {  // its own dims are exact; the declaration adds nothing to them
      v.declared = std::move(info.type);
      v.is_graph_input = ir_version_ >= kFirstIrWithOverridableInitializers;
      return;
    }
  }
  const ValueId id = Define(info.name);
  Value& v = graph_.value(id);
  v.is_graph_input = true;
  v.type = info.type;
  v.declared = std::move(info.type);
  graph_.inputs.push_back(id);
}

void GraphReader::AddInitializer(const TensorHeader& h) {
  if (h.name.empty() || context_.failed()) return;
  Value& v = graph_.value(Define(h.name));
  v.is_initializer = true;
  v.type = {ValueKind::kTensor, h.dtype, Shape(std::vector<Dim>(h.dims.begin(), h.dims.end()))};
  v.payload = h.payload;
}

void GraphReader::AddAttribute(Node& node, std::string_view message) {
  if (!context_.Count()) return;
  ReadAttributeResult a = ReadAttribute(context_, message);
  if (!a.graphs.empty() || a.is_graph_list) {
    subgraphs_.push_back({graph_.node_count(), a.name, std::move(a.graphs), a.is_graph_list});
  }
  node.attributes[std::move(a.name)] = std::move(a.attribute);
}

void GraphReader::AddNode(std::string_view message) {
  if (!context_.Count()) return;
  Node node;
  std::vector<std::string_view> outputs;
  Fields f(context_, message, "node");
  while (f.Next()) {
    switch (f.tag()) {
      case node::kInput:
        node.inputs.push_back(Use(f.Bytes()));
        break;
      case node::kOutput:
        outputs.push_back(f.Bytes());
        break;
      case node::kName:
        node.name = Text(f.Bytes());
        break;
      case node::kOpType:
        node.op_type = Text(f.Bytes());
        break;
      case node::kDomain:
        node.domain = NormalisedDomain(f.Bytes());
        break;
      case node::kOverload:
        node.overload = Text(f.Bytes());
        break;
      case node::kAttribute:
        AddAttribute(node, f.Bytes());
        break;
      default:
        break;
    }
  }
  if (context_.failed()) return;
  if (node.op_type.empty()) {
    context_.Fault(fmt::format("{} has no operator type", node.Describe(graph_.node_count())));
    return;
  }
  for (std::string_view name : outputs) node.outputs.push_back(name.empty() ? kNoValue : Define(name));
  context_.used_domains().emplace(node.domain, node.op_type);
  graph_.AddNode(std::move(node));
}

void GraphReader::AddOutput(std::string_view message) {
  ValueInfo info = ReadValueInfo(context_, message);
  if (info.name.empty()) return;
  graph_.outputs.push_back(Use(info.name));
  Declare(info);
}

// What value_info and outputs say about a value. What a constant's own dims say is exact and stays.
void GraphReader::Declare(const ValueInfo& info) {
  auto known = names_.find(info.name);
  if (known == names_.end()) {
    known = open_.find(info.name);
    if (known == open_.end()) return;  // value_info of a node that is gone
  }
  Value& v = graph_.value(known->second);
  v.declared = info.type;
  if (!v.is_initializer) v.type = info.type;
}

void GraphReader::ResolveOpenNames() {
  for (const auto& [name, id] : open_) {
    const ValueId outer = parent_ != nullptr ? parent_->ResolveForChild(name) : kNoValue;
    graph_.value(id).outer_scope = outer;
    names_.emplace(name, id);
    if (outer != kNoValue) continue;
    graph_.value(id).type.kind = ValueKind::kUnknown;
    context_.Warn(fmt::format("value {} is used, but nothing defines it; its type is unknown", Quote(name)));
  }
  open_.clear();
}

void GraphReader::ReadSubgraphs() {
  for (const PendingSubgraph& s : subgraphs_) {
    if (depth_ >= kMaxSubgraphDepth) {
      context_.Fault(fmt::format("{}: subgraphs are nested deeper than {}", graph_.node(s.node).Describe(s.node),
                                 kMaxSubgraphDepth));
    }
    std::vector<std::shared_ptr<Graph>> graphs;
    for (std::string_view message : s.messages) {
      if (!context_.Count()) return;
      GraphReader reader(context_, this, depth_ + 1, ir_version_);
      graphs.push_back(std::make_shared<Graph>(reader.Read(message)));
    }
    auto& value = graph_.node(s.node).attributes[s.key].value;
    if (s.is_list) {
      value = std::move(graphs);
    } else {
      value = graphs.front();
    }
  }
}

void GraphReader::Finish() {
  for (std::string_view message : value_infos_) Declare(ReadValueInfo(context_, message));
  ResolveOpenNames();
  ReadSubgraphs();
}

Graph GraphReader::Read(std::string_view message) {
  std::vector<std::string_view> nodes;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  Fields f(context_, message, "graph");
  while (f.Next()) {
    if (!f.is_bytes()) continue;
    switch (f.tag()) {
      case graph::kNode:
        nodes.push_back(f.Bytes());
        break;
      case graph::kName:
        graph_.name = Text(f.Bytes());
        break;
      case graph::kInitializer:
        AddInitializer(ReadTensorHeader(context_, f.Bytes(), "initializer"));
        break;
      case graph::kSparseInitializer:
        AddInitializer(ReadSparseTensorHeader(context_, f.Bytes()));
        break;
      case graph::kInput:
        inputs.push_back(f.Bytes());
        break;
      case graph::kOutput:
        outputs.push_back(f.Bytes());
        break;
      case graph::kValueInfo:
        value_infos_.push_back(f.Bytes());
        break;
      default:
        break;
    }
  }
  for (std::string_view m : inputs) AddInput(m);
  for (std::string_view m : nodes) AddNode(m);
  for (std::string_view m : outputs) AddOutput(m);
  Finish();
  return std::move(graph_);
}

FunctionDef GraphReader::ReadFunctionDef(std::string_view message) {
  FunctionDef function;
  std::vector<std::string_view> nodes;
  std::vector<std::string_view> outputs;
  Fields f(context_, message, "function");
  while (f.Next()) {
    switch (f.tag()) {
      case function::kName:
        function.name = Text(f.Bytes());
        break;
      case function::kDomain:
        function.domain = NormalisedDomain(f.Bytes());
        break;
      case function::kOverload:
        function.overload = Text(f.Bytes());
        break;
      case function::kInput:
        function.inputs.push_back(Text(f.Bytes()));
        graph_.inputs.push_back(Define(f.Bytes()));
        graph_.value(graph_.inputs.back()).is_graph_input = true;
        break;
      case function::kOutput:
        function.outputs.push_back(Text(f.Bytes()));
        outputs.push_back(f.Bytes());
        break;
      case function::kAttribute:
        function.attributes.push_back(Text(f.Bytes()));
        break;
      case function::kAttributeProto: {
        ReadAttributeResult a = ReadAttribute(context_, f.Bytes());
        function.attributes.push_back(a.name);
        function.attribute_defaults[std::move(a.name)] = std::move(a.attribute);
        break;
      }
      case function::kNode:
        nodes.push_back(f.Bytes());
        break;
      case function::kOpsetImport:
        ReadOpsetImport(context_, f.Bytes(), function.opset_imports);
        break;
      case function::kValueInfo:
        value_infos_.push_back(f.Bytes());
        break;
      default:
        break;
    }
  }
  for (std::string_view m : nodes) AddNode(m);
  for (std::string_view name : outputs) graph_.outputs.push_back(Use(name));
  Finish();
  graph_.name = function.name;
  function.body = std::make_shared<Graph>(std::move(graph_));
  return function;
}

}  // namespace

void ReadOpsetImport(ReadContext& context, std::string_view message, std::map<std::string, int64_t>& into) {
  std::string domain;
  int64_t version = 0;
  Fields f(context, message, "opset_import");
  while (f.Next()) {
    if (f.tag() == opset::kDomain) domain = NormalisedDomain(f.Bytes());
    if (f.tag() == opset::kVersion) version = f.Int();
  }
  int64_t& known = into[domain];
  known = std::max(known, version);
}

Graph ReadGraph(ReadContext& context, std::string_view message, int64_t ir_version) {
  return GraphReader(context, nullptr, 0, ir_version).Read(message);
}

FunctionDef ReadFunction(ReadContext& context, std::string_view message, int64_t ir_version) {
  return GraphReader(context, nullptr, 0, ir_version).ReadFunctionDef(message);
}

}  // namespace simpred::onnx
