// What does an operator do? One registry; per operator a shape rule, a value rule, a cost rule and a class.
//
//   // src/operators/activation.cc: one family a file, one line of registration an operator
//   void RegisterActivations(Registry& r) {
//     r.Add({.type = "Relu", .op_class = OperatorClass::kElementwise, .shape = SameAsInput, .cost = PerElement(1)});
//   }
//
// Rules never trust the model: a rule gets whatever inputs the file gave, and answers with Status on contradiction
// (kModel, naming shapes); the engine adds node and model to the context.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "graph/graph.h"

namespace simpred {

// Which resource an operator lives on; the first grouping of every table.
enum class OperatorClass : uint8_t {
  kConvolution,    // Conv, ConvTranspose, their fused and quantised kin
  kMatMul,         // MatMul, Gemm, attention and their kin
  kRecurrent,      // LSTM, GRU, RNN
  kElementwise,    // one output element from few input elements at the same place
  kNormalization,  // softmax, layer, batch, instance norms
  kReduction,      // ReduceX, ArgMax, CumSum
  kPooling,
  kDataMovement,   // Transpose, Concat, Slice, Gather, Pad, reorders: bytes only
  kView,           // Reshape, Squeeze, Identity: no bytes in most runtimes
  kQuantization,   // Quantize, Dequantize
  kDataDependent,  // work depends on the data: NonMaxSuppression, TopK, NonZero
  kControl,        // If, Loop, Scan
  kRandom,
  kSequence,
  kOther,
};
std::string_view Name(OperatorClass c);

// Work of one operator at given shapes. Bytes are those that must move if nothing is cached: each input once,
// each output once; a Gather reads what it takes, not its whole table.
struct Work {
  Flops flops;
  Bytes read;     // activations
  Bytes weights;  // constants (part of no `read`)
  Bytes written;
  Bytes total() const { return read + weights + written; }
};

// What a shape rule sees and fills.
class InferenceContext {
 public:
  virtual ~InferenceContext() = default;
  virtual const Node& node() const = 0;
  virtual int64_t opset() const = 0;  // of the node's domain
  virtual int input_count() const = 0;
  virtual bool has_input(int i) const = 0;                           // present and not omitted
  virtual const TensorType& input(int i) const = 0;                  // type-only "unknown" if absent
  virtual std::shared_ptr<const ConstantValue> constant(int i) = 0;  // elements if known and small, else null
  virtual bool is_constant(int i) const = 0;                         // initializer or folded, elements known or not
  virtual int output_count() const = 0;
  virtual void set_output(int i, TensorType type) = 0;  // ignored if the node omits it
  virtual void set_output_constant(int i, ConstantValue value) = 0;
  virtual void warn(std::string text) = 0;
  // A fresh symbol for a size that only the data decides ("nonzero_12"); its upper bound, if one is known.
  virtual Dim data_dependent_dim(std::string_view what, Dim upper_bound) = 0;
  // For control flow: infer a subgraph of this node with its inputs' types given; gives its outputs' types.
  virtual Result<std::vector<TensorType>> infer_subgraph(std::string_view attribute,
                                                         const std::vector<TensorType>& inputs) = 0;
  // The tensors of sequence input i, in no particular order, where the graph builds it tensor by tensor.
  virtual std::optional<std::vector<TensorType>> sequence_elements(int) const { return std::nullopt; }
  // Iterations of this loop that the user gave, if any.
  virtual std::optional<int64_t> trip_count() const = 0;
};

// What a cost rule sees: everything static.
struct CostTensor {
  DataType dtype = DataType::kUndefined;
  std::vector<int64_t> dims;
  bool present = false;
  bool constant = false;
  int64_t elements() const;  // saturating product; 1 for a scalar
  Bytes bytes() const;       // packed
};
struct CostContext {
  const Node* node = nullptr;
  std::vector<CostTensor> inputs, outputs;
  // Elements of a small constant input (axes, k), or null.
  std::function<std::shared_ptr<const ConstantValue>(int)> constant;
};

using ShapeRule = std::function<Status(InferenceContext&)>;  // types of the outputs
using ValueRule = std::function<void(InferenceContext&)>;    // elements of the outputs, if they can be known
using CostRule =
    std::function<Work(const CostContext&)>;  // null: bytes in, bytes out, one operation per output element

struct OperatorRule {
  std::string type;         // "Conv"
  std::string domain = "";  // "" is ai.onnx; "com.microsoft", "com.microsoft.nchwc"
  OperatorClass op_class = OperatorClass::kOther;
  ShapeRule shape = {};
  ValueRule value = {};
  CostRule cost = {};
  // What the fused or blocked forms need to know; where the formula of cost comes from.
  std::string source = {};
};

class Registry {
 public:
  // All families. Built once, then constant.
  static const Registry& Default();

  void Add(OperatorRule rule);
  // Null if there is no rule. "ai.onnx" and "" are the same domain.
  const OperatorRule* Find(std::string_view domain, std::string_view type) const;
  const OperatorRule* Find(const Node& node) const { return Find(node.domain, node.op_type); }
  std::vector<const OperatorRule*> all() const;

 private:
  std::map<std::string, OperatorRule, std::less<>> rules_;  // key: QualifiedType
};

// Each input read once, each output written once, one operation per output element; for operators without a cost rule,
// and the base on which cost rules build. Never zero for a node with any tensor.
Work BytesOfTensors(const CostContext& c);
Work CostOf(const OperatorRule* rule, const CostContext& c);

}  // namespace simpred
