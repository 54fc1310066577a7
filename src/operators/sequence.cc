// What do lists of tensors and optional values hold? Sequence and Optional operators. For both, a type's dtype and
// shape are those of the element; building and taking apart moves nothing but handles, except where tensors are split
// or joined.
#include <algorithm>
#include <functional>

#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

TensorType SequenceOf(TensorType element) {
  element.kind = ValueKind::kSequence;
  return element;
}

TensorType Common(const TensorType& a, const TensorType& b) {
  TensorType t = a;
  if (t.dtype == DataType::kUndefined) t.dtype = b.dtype;
  t.shape = Join(a.shape, b.shape);
  return t;
}

Status ConstructShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  TensorType element = c.input(0);
  for (int i = 1; i < c.input_count(); ++i) element = Common(element, c.input(i));
  c.set_output(0, SequenceOf(std::move(element)));
  return OkStatus();
}

Status EmptyShape(InferenceContext& c) {
  c.set_output(0, SequenceOf(Tensor(FromOnnxType(c.node().Int("dtype", 1)))));
  return OkStatus();
}

Status AtShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  TensorType element = c.input(0);
  element.kind = ValueKind::kTensor;
  c.set_output(0, std::move(element));
  return OkStatus();
}

Status InsertShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  TensorType element = Common(c.input(0), c.input(1));
  // Into an empty sequence, of which nothing is known, the inserted tensor says what it holds.
  const auto elements = c.sequence_elements(0);
  if (elements && elements->empty()) element.shape = c.input(1).shape;
  c.set_output(0, SequenceOf(std::move(element)));
  return OkStatus();
}

void LengthValue(InferenceContext& c) {
  if (auto elements = c.sequence_elements(0)) {
    c.set_output_constant(0, IntScalar(Dim(static_cast<int64_t>(elements->size()))));
  }
}

ShapeRule ScalarResult(DataType t) {
  return [t](InferenceContext& c) {
    c.set_output(0, Tensor(t, Shape::Scalar()));
    return OkStatus();
  };
}

Status SplitToSequenceShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  TensorType element = c.input(0);
  if (element.shape.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", 0), element.shape.rank()));
    auto& dims = element.shape.dims();
    Dim& d = dims[static_cast<size_t>(axis)];
    const bool split_given = c.has_input(1);
    if (!split_given && c.node().Int("keepdims", 1) == 0) {
      dims.erase(dims.begin() + axis);
    } else if (!split_given) {
      d = Dim(1);
    } else {
      const auto lengths = IntsOf(c, 1);
      const bool scalar = c.input(1).shape.has_rank() && c.input(1).shape.rank() == 0;
      const bool all_alike =
          lengths && !lengths->empty() &&
          (scalar ? d.is_known() && lengths->front() > 0 && d.value() % lengths->front() == 0
                  : std::adjacent_find(lengths->begin(), lengths->end(), std::not_equal_to<>()) == lengths->end());
      d = all_alike ? Dim(lengths->front()) : Dim::Unknown();
    }
  }
  c.set_output(0, SequenceOf(std::move(element)));
  return OkStatus();
}

// How many tensors a sequence holds, and the sum of their sizes along the axis, is not part of its type: known only
// where the graph builds it tensor by tensor.
Dim JoinedExtent(const InferenceContext& c, int axis, bool new_axis) {
  const auto elements = c.sequence_elements(0);
  if (!elements) return Dim::Unknown();
  if (new_axis) return Dim(static_cast<int64_t>(elements->size()));
  Dim total(0);
  for (const TensorType& t : *elements) total = total + t.shape.dim(axis);
  return total;
}

Status ConcatFromSequenceShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  TensorType out = c.input(0);
  out.kind = ValueKind::kTensor;
  if (out.shape.has_rank()) {
    const bool new_axis = c.node().Int("new_axis", 0) != 0;
    const int rank = out.shape.rank() + (new_axis ? 1 : 0);
    SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(c.node().Int("axis", 0), rank));
    auto& dims = out.shape.dims();
    const Dim extent = JoinedExtent(c, axis, new_axis);
    if (new_axis) {
      dims.insert(dims.begin() + axis, extent);
    } else {
      dims[static_cast<size_t>(axis)] = extent;
    }
  }
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status SequenceMapShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  std::vector<TensorType> inputs;
  for (int i = 0; i < c.input_count(); ++i) {
    TensorType t = c.input(i);
    if (t.kind == ValueKind::kSequence) t.kind = ValueKind::kTensor;
    inputs.push_back(std::move(t));
  }
  SIMPRED_ASSIGN_OR_RETURN(std::vector<TensorType> outputs, c.infer_subgraph("body", inputs));
  for (size_t i = 0; i < outputs.size(); ++i) c.set_output(static_cast<int>(i), SequenceOf(outputs[i]));
  return OkStatus();
}

Status OptionalShape(InferenceContext& c) {
  TensorType t;
  if (c.has_input(0)) {
    t = c.input(0);
  } else if (const Attribute* a = c.node().Find("type"); a != nullptr) {
    if (const auto* type = std::get_if<TensorType>(&a->value)) t = *type;
  }
  t.kind = ValueKind::kOptional;
  c.set_output(0, std::move(t));
  return OkStatus();
}

Status OptionalGetElementShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  TensorType t = c.input(0);
  // What an optional of a sequence holds is said by the file's declared type of the output, if at all.
  if (t.kind == ValueKind::kOptional) t.kind = ValueKind::kTensor;
  c.set_output(0, std::move(t));
  return OkStatus();
}

// The types say nothing of how many tensors move: handles only.
Work Handles(const CostContext&) { return Work{}; }

}  // namespace

void RegisterSequence(Registry& r) {
  auto add = [&r](const char* type, ShapeRule shape, CostRule cost, const char* source, ValueRule value = nullptr) {
    r.Add({.type = type,
           .op_class = OperatorClass::kSequence,
           .shape = std::move(shape),
           .value = std::move(value),
           .cost = std::move(cost),
           .source = source});
  };
  const char* handles = "ONNX operator specification: tensors are handed on, not copied";
  add("SequenceConstruct", ConstructShape, Handles, handles);
  add("SequenceEmpty", EmptyShape, Handles, handles);
  add("SequenceAt", AtShape, Handles, handles);
  add("SequenceInsert", InsertShape, Handles, handles);
  add("SequenceErase", SameAsInput(), Handles, handles);
  add("SequenceLength", ScalarResult(DataType::kInt64), Handles, handles, LengthValue);
  add("SplitToSequence", SplitToSequenceShape, TrafficOf, "ONNX SplitToSequence: the input read and written once");
  add("ConcatFromSequence", ConcatFromSequenceShape, TrafficOf,
      "ONNX ConcatFromSequence: each tensor read and written once");
  add("SequenceMap", SequenceMapShape, TrafficOf, "ONNX SequenceMap: at least one pass over its tensors");
  add("Optional", OptionalShape, Handles, handles);
  add("OptionalGetElement", OptionalGetElementShape, Handles, handles);
  add("OptionalHasElement", ScalarResult(DataType::kBool), Handles, handles);
}

}  // namespace simpred
