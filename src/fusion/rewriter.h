// How does a rule look at the graph and change it? Uses, producers and constants in constant time, kept right while the
// rule rewrites.
//
//   Rewriter r(model, context);
//   for (NodeId n : r.order()) {
//     if (!r.Is(n, "Conv")) continue;
//     NodeId relu = r.OnlyConsumer(r.output(n));          // the one reader, if the value has no other use
//     if (relu != kNoNode && r.Is(relu, "Relu")) r.Fuse({n, relu}, "FusedConv", kMicrosoft, r.node(n).inputs);
//   }
//
// A rewriter is made for one application of one rule and dies with it.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fusion/fusion.h"
#include "graph/graph.h"

namespace simpred {

inline constexpr std::string_view kOnnx = "";
inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kNchwc = "com.microsoft.nchwc";

// An initializer that the caller of the model may replace (it is listed among the graph's inputs) is no constant;
// before IR version 4 every initializer had to be listed there and is one.
bool IsConstantValue(const Model& model, const Value& value);
// The shape as numbers; nothing if any dimension is not known.
std::optional<std::vector<int64_t>> StaticDims(const Value& value);
bool IsIdentityPermutation(const std::vector<int64_t>& perm);
std::vector<int64_t> InvertPermutation(const std::vector<int64_t>& perm);

class Rewriter {
 public:
  Rewriter(Model& model, const FusionContext& context);

  Model& model() { return model_; }
  Graph& graph() { return model_.graph; }
  const FusionOptions& options() const { return *context_.options; }
  const Registry& registry() const { return *context_.registry; }
  int64_t opset() const { return opset_; }

  // Topological order when this rewriter was made; nodes removed since are still in it and not alive.
  const std::vector<NodeId>& order();
  bool Has(std::initializer_list<std::string_view> types) const;  // any living node of one of these types

  // --- looking ---
  bool alive(NodeId n) const { return n != kNoNode && model_.graph.node(n).alive; }
  Node& node(NodeId n) { return model_.graph.node(n); }
  Value& value(ValueId v) { return model_.graph.value(v); }
  bool Is(NodeId n, std::string_view type, std::string_view domain = kOnnx) const;  // alive and of that type
  bool IsOneOf(NodeId n, std::initializer_list<std::string_view> types) const;      // of domain ai.onnx
  ValueId input(NodeId n, size_t i) const;                                          // kNoValue if omitted or not there
  ValueId output(NodeId n, size_t i = 0) const;
  size_t PresentInputs(NodeId n) const;  // without trailing omitted ones
  NodeId Producer(ValueId v) const;      // living, else kNoNode
  NodeId InputNode(NodeId n, size_t i) const { return Producer(input(n, i)); }
  // Reads of `v`: a node twice if it reads twice, nodes holding a subgraph that reads it included; graph outputs not.
  const std::vector<NodeId>& Uses(ValueId v);
  size_t UseCount(ValueId v) { return v == kNoValue ? 0 : Uses(v).size(); }
  size_t OutputUses(NodeId n);  // over all outputs
  bool IsGraphOutput(ValueId v);
  bool ProducesGraphOutput(NodeId n);
  // The only read of v, and v is no graph output; else kNoNode.
  NodeId OnlyConsumer(ValueId v);
  NodeId OnlyConsumerOf(NodeId n);  // the same for a node: one use over all its outputs
  // Position of v among the inputs of n; -1 if it does not read it.
  int InputIndex(NodeId n, ValueId v) const;

  bool IsConstant(ValueId v) const;
  std::shared_ptr<const ConstantValue> Constant(ValueId v);
  std::optional<std::vector<int64_t>> ConstantInts(ValueId v);
  // The value of a constant with one element.
  std::optional<double> Scalar(ValueId v);
  bool IsScalarNear(ValueId v, double expected);
  DataType dtype(ValueId v) const { return model_.graph.value(v).type.dtype; }
  int rank(ValueId v) const;  // -1: unknown
  std::optional<std::vector<int64_t>> dims(ValueId v) const;
  // The `perm` of a Transpose, default filled in; nothing if it is no permutation of the input's rank.
  std::optional<std::vector<int64_t>> Permutation(NodeId transpose) const;
  // `axes` of Squeeze, Unsqueeze and reductions: attribute or constant input `index`.
  std::optional<std::vector<int64_t>> Axes(NodeId n, size_t index = 1);

  // --- changing ---
  ValueId NewValue(std::string_view stem, DataType dtype, std::vector<int64_t> dims);
  ValueId NewValueLike(std::string_view stem, ValueId like);
  // A value of another graph, without its producer.
  ValueId NewValueLikeOf(const Value& other);
  ValueId NewInts(std::string_view stem, const std::vector<int64_t>& values, bool scalar = false);
  // A constant whose elements are not known (weights that the runtime rewrites).
  ValueId NewConstant(std::string_view stem, DataType dtype, std::vector<int64_t> dims);
  // `outputs` may be values whose producer has been removed. fused_from: the names that the new node stands for.
  NodeId AddNode(std::string_view type, std::string_view domain, std::vector<ValueId> inputs,
                 std::vector<ValueId> outputs, std::vector<std::string> fused_from = {});
  void SetInput(NodeId n, size_t i, ValueId v);
  void DropInputsFrom(NodeId n, size_t count);  // keep the first `count`
  void ReplaceUses(ValueId from, ValueId to);
  void Remove(NodeId n);
  // Removes the node and lets the readers of its output read its input `i`. False (nothing done) where the runtime
  // cannot do it either: the output is a graph output, or a second output is used.
  bool Bypass(NodeId n, size_t i = 0);
  // Removes `olds` and puts one node in their place that writes what the last of them wrote.
  NodeId Fuse(const std::vector<NodeId>& olds, std::string_view type, std::string_view domain,
              std::vector<ValueId> inputs);
  // Removes n if nothing reads it and, upwards, what then has no reader left. Makers of graph outputs stay.
  void RemoveUpwards(NodeId n);
  // Turns the outputs of a node into constants and removes it.
  void MakeConstant(NodeId n);
  std::vector<std::string> NamesOf(const std::vector<NodeId>& nodes);

 private:
  void BuildUses();
  std::string Fresh(std::string_view stem);

  Model& model_;
  const FusionContext& context_;
  int64_t opset_;
  std::vector<NodeId> order_;
  bool order_built_ = false, uses_built_ = false;
  std::vector<std::vector<NodeId>> uses_;
  std::vector<uint8_t> graph_output_;
  static const std::vector<NodeId> kNoUses;
};

}  // namespace simpred
