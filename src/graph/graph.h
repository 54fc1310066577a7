// What is a model? A graph of nodes over values, with subgraphs in their place.
//
//   for (NodeId n : model.graph.nodes_in_order()) {
//     const Node& node = model.graph.node(n);
//     for (ValueId v : node.inputs) if (v != kNoValue) use(model.graph.value(v).type.shape);
//   }
//
// Identity is the index, never the name: names may be empty or repeated. Values of a subgraph that come from
// outside are linked by outer_scope. Weights are not here: an initializer knows where its bytes lie (Payload).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "graph/data_type.h"
#include "graph/shape.h"

namespace simpred {

using NodeId = int32_t;
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an omitted optional input or output
inline constexpr NodeId kNoNode = -1;

class Graph;

enum class ValueKind : uint8_t { kTensor, kSequence, kOptional, kMap, kSparseTensor, kUnknown };

// For sequences and optionals, dtype and shape are those of the element.
struct TensorType {
  ValueKind kind = ValueKind::kTensor;
  DataType dtype = DataType::kUndefined;
  Shape shape;
};

// A small constant whose elements are known: shape arithmetic, axes, scales, epsilon. Elements of integer and bool
// types are Dim (symbolic values flow), others double. Never larger than kMaxElements.
struct ConstantValue {
  static constexpr int64_t kMaxElements = 4096;
  DataType dtype = DataType::kUndefined;
  std::vector<int64_t> dims;  // rank 0: scalar
  std::vector<Dim> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  bool is_float() const { return IsFloat(dtype); }
  size_t size() const { return is_float() ? floats.size() : dtype == DataType::kString ? strings.size() : ints.size(); }
};

// Where the bytes of an initializer lie. Nothing is read until ReadConstant asks for it.
struct Payload {
  enum class Where : uint8_t {
    kNone,      // there are none (weights stripped, or made by folding: only the type is known)
    kRaw,       // little-endian bytes at [offset, offset+size) of the model file
    kTyped,     // protobuf repeated field inside the TensorProto at [offset, offset+size) of the model file
    kExternal,  // bytes of another file
  };
  Where where = Where::kNone;
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string external_file;  // relative to the model's folder
};

struct Value {
  std::string name;
  TensorType type;              // what inference knows; before it: what the file declares
  TensorType declared;          // what the file declares (value_info, graph inputs and outputs)
  NodeId producer = kNoNode;    // none: graph input, initializer or outer scope
  bool is_initializer = false;  // constant tensor of the file or folded to one
  bool is_graph_input = false;
  ValueId outer_scope = kNoValue;  // the value of the enclosing graph that this one names
  Payload payload;
  std::shared_ptr<const ConstantValue> constant;  // elements, if small and known
};

// A tensor inside an attribute (Constant's value).
struct TensorAttribute {
  DataType dtype = DataType::kUndefined;
  std::vector<int64_t> dims;
  Payload payload;
  std::shared_ptr<const ConstantValue> constant;  // if small
};

struct Attribute {
  std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
               std::vector<std::string>, TensorAttribute, std::vector<TensorAttribute>, std::shared_ptr<Graph>,
               std::vector<std::shared_ptr<Graph>>, TensorType>
      value;
  std::string reference = {};  // in a function's body: the caller's attribute whose value this one takes
};

struct Node {
  std::string name;
  std::string domain;  // "" is ai.onnx
  std::string op_type;
  std::string overload;
  std::vector<ValueId> inputs;  // kNoValue: omitted
  std::vector<ValueId> outputs;
  std::map<std::string, Attribute> attributes;
  std::vector<std::string> fused_from;  // names of the model's nodes that this one stands for; empty: itself
  bool alive = true;                    // false: removed by a rewrite; ids stay valid

  // Attribute access with defaults; a wrong kind reads as absent.
  const Attribute* Find(std::string_view key) const;
  std::optional<int64_t> Int(std::string_view key) const;
  int64_t Int(std::string_view key, int64_t fallback) const { return Int(key).value_or(fallback); }
  std::optional<double> Float(std::string_view key) const;
  double Float(std::string_view key, double fallback) const { return Float(key).value_or(fallback); }
  std::string String(std::string_view key, std::string_view fallback) const;
  std::optional<std::vector<int64_t>> Ints(std::string_view key) const;
  std::optional<std::vector<double>> Floats(std::string_view key) const;
  std::shared_ptr<Graph> Subgraph(std::string_view key) const;  // null if absent
  void Set(std::string key, int64_t v);
  void Set(std::string key, double v);
  void Set(std::string key, std::string v);
  void Set(std::string key, std::vector<int64_t> v);
  void Set(std::string key, std::vector<double> v);

  bool Is(std::string_view type) const { return op_type == type && (domain.empty() || domain == "ai.onnx"); }
  bool Is(std::string_view dom, std::string_view type) const { return op_type == type && domain == dom; }
  // "node 'conv1' (Conv)", "node #12 (com.microsoft.Gelu)"
  std::string Describe(NodeId id) const;
  // "Conv", "com.microsoft.Gelu": the key of the operator registry and the type of a kernel.
  std::string QualifiedType() const;
};

class Graph {
 public:
  std::string name;
  std::vector<ValueId> inputs;  // without initializers (IR 3 lists them as inputs too)
  std::vector<ValueId> outputs;

  ValueId AddValue(Value v);
  NodeId AddNode(Node n);  // sets producer of its outputs; consumers are derived
  Node& node(NodeId id) { return nodes_[static_cast<size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  int32_t node_count() const { return static_cast<int32_t>(nodes_.size()); }  // dead ones included
  int32_t value_count() const { return static_cast<int32_t>(values_.size()); }

  // Living nodes in topological order, stable: among ready nodes the one that stands first in the file. A cycle
  // is an error that prints it. Subgraphs' references to outer values count as inputs of the node that holds them.
  Result<std::vector<NodeId>> TopologicalOrder() const;
  // For every value, the living nodes that read it (with their input positions flattened: a node twice if it reads
  // twice); reads from inside subgraphs are counted for the node that holds the subgraph.
  std::vector<std::vector<NodeId>> Consumers() const;
  bool IsOutput(ValueId v) const;
  // Every use of `from` (inputs, graph outputs, subgraphs' outer_scope) becomes `to`.
  void ReplaceUses(ValueId from, ValueId to);
  // The same when the readers of `from` are known (Consumers()[from]): takes the time of the readers, not of the graph.
  void ReplaceUses(ValueId from, ValueId to, const std::vector<NodeId>& readers);
  void RemoveNode(NodeId id);  // marks dead
  // Producers, ids and order are consistent; for use after every rewrite. Error text names what is not.
  Status Verify() const;
  // Deep: subgraphs are copied too.
  Graph Clone() const;

 private:
  void ReplaceUsesIn(NodeId reader, ValueId from, ValueId to);

  std::vector<Node> nodes_;
  std::vector<Value> values_;
};

struct FunctionDef {  // a local function of the model
  std::string domain, name, overload;
  std::vector<std::string> inputs, outputs, attributes;
  std::map<std::string, Attribute> attribute_defaults;  // of those that a call may leave out
  std::map<std::string, int64_t> opset_imports;
  std::shared_ptr<Graph> body;
};

struct Warning {
  std::string text;  // one sentence: where, what, what was assumed
};

struct Model {
  Graph graph;
  std::map<std::string, int64_t> opset_imports;  // "" is ai.onnx
  std::vector<FunctionDef> functions;
  std::string format;  // "onnx", "mindir"
  int64_t ir_version = 0;
  std::string producer;  // name and version
  int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
  std::filesystem::path path;
  uint64_t file_size = 0;
  // SHA-256 over everything but the bytes of weights (their types, sizes and places are in): two files that differ only
  // in weights have the same structure hash. Reading all of a 10 GB file to name it would break "weights are never
  // read".
  std::string structure_sha256;
  std::vector<Warning> warnings;

  // Elements of a constant, read from the file on demand; null if larger than limit or not there.
  // Reads the pages of this tensor only.
  std::function<std::shared_ptr<const ConstantValue>(const Payload&, DataType, const std::vector<int64_t>& dims)>
      read_constant;

  int64_t opset(std::string_view domain) const;  // 0 if not imported
  Model Clone() const;
};

// The elements of `v` if it is a small constant: v.constant, or read from its payload now (and kept).
std::shared_ptr<const ConstantValue> ConstantOf(Model& model, Graph& graph, ValueId v);

}  // namespace simpred
