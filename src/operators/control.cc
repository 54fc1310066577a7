// What do branches and loops give, and what do they cost? If, Loop, Scan.
//
// A loop's body is inferred until the types that it carries no longer change; its cost is the work of the nodes inside,
// times the iterations. Of an If, the dearer branch counts.
#include <fmt/format.h>

#include <algorithm>

#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

// --- Types ---------------------------------------------------------------------------------------------------------

TensorType JoinTypes(const TensorType& a, const TensorType& b) {
  TensorType joined = a;
  if (joined.dtype == DataType::kUndefined) joined.dtype = b.dtype;
  joined.shape = Join(a.shape, b.shape);
  return joined;
}

// Unknown equals nothing, not even itself: compared as text.
bool SameType(const TensorType& a, const TensorType& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.shape.ToString() == b.shape.ToString();
}

Shape WithLeading(const Dim& d, const Shape& s) {
  if (!s.has_rank()) return {};
  std::vector<Dim> dims = {d};
  dims.insert(dims.end(), s.dims().begin(), s.dims().end());
  return Shape(std::move(dims));
}

// --- If ------------------------------------------------------------------------------------------------------------

Status IfShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const auto condition = IntOf(c, 0);
  // Both are inferred, so that kernels inside have shapes; a known condition decides which one gives the outputs.
  SIMPRED_ASSIGN_OR_RETURN(std::vector<TensorType> then_types, c.infer_subgraph("then_branch", {}));
  SIMPRED_ASSIGN_OR_RETURN(std::vector<TensorType> else_types, c.infer_subgraph("else_branch", {}));
  for (size_t i = 0; i < static_cast<size_t>(c.output_count()); ++i) {
    if (i >= then_types.size() || i >= else_types.size()) {
      return ModelError(fmt::format("{} outputs, but the branches give {} and {}", c.output_count(), then_types.size(),
                                    else_types.size()));
    }
    TensorType type =
        condition ? (*condition != 0 ? then_types[i] : else_types[i]) : JoinTypes(then_types[i], else_types[i]);
    c.set_output(static_cast<int>(i), std::move(type));
  }
  return OkStatus();
}

// --- Loop ----------------------------------------------------------------------------------------------------------

// Does the body leave its loop condition as it is (always true)?
bool RunsToTheEnd(InferenceContext& c) {
  if (c.has_input(1) && IntOf(c, 1).value_or(0) == 0) return false;
  const auto body = c.node().Subgraph("body");
  if (!body || body->outputs.empty() || body->inputs.size() < 2) return false;
  ValueId v = body->outputs[0];
  for (int hops = 0; hops < 16; ++hops) {
    const Value& value = body->value(v);
    if (value.constant) {
      return value.constant->ints.size() == 1 && value.constant->ints[0].known().value_or(0) != 0;
    }
    if (v == body->inputs[1]) return true;
    if (value.producer == kNoNode) return false;
    const Node& node = body->node(value.producer);
    if (!(node.Is("Identity") || node.Is("Cast")) || node.inputs.empty() || node.inputs[0] == kNoValue) return false;
    v = node.inputs[0];
  }
  return false;
}

Dim TripCount(InferenceContext& c) {
  if (auto given = c.trip_count()) return Dim(*given);
  Dim bound;
  if (c.has_input(0)) bound = DimOf(c, 0).value_or(Dim::Unknown());
  // While loops are exported with the largest integer as their bound.
  constexpr int64_t kNoBound = int64_t{1} << 31;
  if (bound.is_known() && bound.value() >= kNoBound) bound = Dim::Unknown();
  if (bound.is_known() && bound.value() < 0) bound = Dim(0);
  if (!bound.is_unknown() && RunsToTheEnd(c)) return bound;
  return c.data_dependent_dim("trip_count", bound);
}

// Types that a loop carries: those at its start, widened until one more iteration changes nothing. The result has the
// types of all of the body's outputs.
Result<std::vector<TensorType>> InferToFixpoint(InferenceContext& c, std::vector<TensorType>& carried,
                                                const std::vector<TensorType>& before,
                                                const std::vector<TensorType>& after, size_t skipped_outputs) {
  constexpr int kMaxRounds = 4;  // a shape only loses dimensions, then its rank; the last round gives up the rank
  for (int round = 0;; ++round) {
    std::vector<TensorType> inputs = before;
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    inputs.insert(inputs.end(), after.begin(), after.end());
    SIMPRED_ASSIGN_OR_RETURN(std::vector<TensorType> outputs, c.infer_subgraph("body", inputs));
    if (outputs.size() < carried.size() + skipped_outputs) {
      return ModelError(
          fmt::format("the body gives {} outputs, {} are needed", outputs.size(), carried.size() + skipped_outputs));
    }
    bool changed = false;
    for (size_t i = 0; i < carried.size(); ++i) {
      TensorType joined = JoinTypes(carried[i], outputs[i + skipped_outputs]);
      if (SameType(joined, carried[i])) continue;
      changed = true;
      if (round + 1 >= kMaxRounds) joined.shape = Shape();
      carried[i] = std::move(joined);
    }
    if (!changed || round >= kMaxRounds) return outputs;
  }
}

Status LoopShape(InferenceContext& c) {
  const auto body = c.node().Subgraph("body");
  if (!body) return ModelError("attribute 'body' with the subgraph is missing");
  std::vector<TensorType> carried;
  for (int i = 2; i < c.input_count(); ++i) carried.push_back(c.input(i));
  const size_t count = carried.size();
  const std::vector<TensorType> before = {Tensor(DataType::kInt64, Shape::Scalar()),
                                          Tensor(DataType::kBool, Shape::Scalar())};
  SIMPRED_ASSIGN_OR_RETURN(std::vector<TensorType> outputs, InferToFixpoint(c, carried, before, {}, 1));
  const Dim trips = TripCount(c);
  // With at least one iteration, the body decides; with none, the initial values remain.
  const bool some = trips.is_known() && trips.value() > 0;
  for (size_t i = 0; i < static_cast<size_t>(c.output_count()); ++i) {
    if (i + 1 >= outputs.size()) return ModelError(fmt::format("the body gives no output for output #{}", i));
    if (i < count) {
      c.set_output(static_cast<int>(i), some ? outputs[i + 1] : carried[i]);
    } else {
      TensorType stacked = outputs[i + 1];
      stacked.shape = WithLeading(trips, stacked.shape);
      c.set_output(static_cast<int>(i), std::move(stacked));
    }
  }
  return OkStatus();
}

// --- Scan ----------------------------------------------------------------------------------------------------------

int64_t AxisFor(const Node& node, const char* key, size_t i) {
  const auto axes = node.Ints(key);
  return axes && i < axes->size() ? (*axes)[i] : 0;
}

struct ScanInputs {
  std::vector<TensorType> states, elements;
  Dim batch;
  Dim length;
};

// Opset 8 has a leading batch axis everywhere and an optional first input with the sequence lengths.
Result<ScanInputs> ReadScanInputs(InferenceContext& c, bool batched) {
  ScanInputs in;
  const int first = batched ? 1 : 0;
  const int64_t scanned = c.node().Int("num_scan_inputs", 0);
  const int64_t states = c.input_count() - first - scanned;
  if (scanned < 0 || states < 0) return ModelError(fmt::format("num_scan_inputs is {}", scanned));
  for (int i = first; i < c.input_count(); ++i) {
    TensorType type = c.input(i);
    const bool is_state = i - first < states;
    std::vector<Dim> dims = type.shape.dims();
    if (batched && !dims.empty()) {
      in.batch = dims.front();
      dims.erase(dims.begin());
    }
    if (!is_state && type.shape.has_rank()) {
      const auto nth = static_cast<size_t>(i - first - states);
      const int64_t wanted = batched ? 0 : AxisFor(c.node(), "scan_input_axes", nth);
      SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(wanted, static_cast<int>(dims.size())));
      const Dim length = dims[static_cast<size_t>(axis)];
      if (in.length.is_unknown()) in.length = length;
      dims.erase(dims.begin() + axis);
    }
    if (type.shape.has_rank()) type.shape = Shape(std::move(dims));
    (is_state ? in.states : in.elements).push_back(std::move(type));
  }
  return in;
}

Status ScanShape(InferenceContext& c) {
  const bool batched = c.opset() > 0 && c.opset() < 9;
  SIMPRED_ASSIGN_OR_RETURN(ScanInputs in, ReadScanInputs(c, batched));
  std::vector<TensorType> carried = in.states;
  SIMPRED_ASSIGN_OR_RETURN(std::vector<TensorType> outputs, InferToFixpoint(c, carried, {}, in.elements, 0));
  for (size_t i = 0; i < static_cast<size_t>(c.output_count()); ++i) {
    if (i >= outputs.size()) return ModelError(fmt::format("the body gives no output for output #{}", i));
    TensorType type = i < carried.size() ? carried[i] : outputs[i];
    if (i >= carried.size() && type.shape.has_rank()) {
      std::vector<Dim> dims = type.shape.dims();
      const int64_t wanted = batched ? 0 : AxisFor(c.node(), "scan_output_axes", i - carried.size());
      SIMPRED_ASSIGN_OR_RETURN(int axis, ResolveAxis(wanted, static_cast<int>(dims.size()) + 1));
      dims.insert(dims.begin() + axis, in.length);
      type.shape = Shape(std::move(dims));
    }
    if (batched) type.shape = WithLeading(in.batch, type.shape);
    c.set_output(static_cast<int>(i), std::move(type));
  }
  return OkStatus();
}

// --- Cost ----------------------------------------------------------------------------------------------------------

CostTensor TensorForCost(const Graph& graph, ValueId v) {
  CostTensor t;
  if (v == kNoValue) return t;
  const Value& value = graph.value(v);
  const auto dims = value.type.shape.ToVector();
  if (!dims) return t;  // not static: left out, as nothing is known of it
  t.dtype = value.type.dtype;
  t.dims = *dims;
  t.present = true;
  t.constant = value.is_initializer;
  return t;
}

// The work of all nodes of a body with static shapes. Depth is that of the nesting, which inference has bounded.
Work WorkInside(const Graph& graph) {
  Work total;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (!node.alive) continue;
    CostContext c{.node = &node, .inputs = {}, .outputs = {}, .constant = nullptr};
    for (ValueId v : node.inputs) c.inputs.push_back(TensorForCost(graph, v));
    for (ValueId v : node.outputs) c.outputs.push_back(TensorForCost(graph, v));
    c.constant = [&graph, &node](int i) -> std::shared_ptr<const ConstantValue> {
      const bool there = i >= 0 && static_cast<size_t>(i) < node.inputs.size();
      const ValueId v = there ? node.inputs[static_cast<size_t>(i)] : kNoValue;
      return v == kNoValue ? nullptr : graph.value(v).constant;
    };
    const Work w = CostOf(Registry::Default().Find(node), c);
    total.flops += w.flops;
    total.read += w.read;
    total.weights += w.weights;
    total.written += w.written;
  }
  return total;
}

Work Times(const Work& w, int64_t n) {
  return {w.flops * static_cast<double>(n), w.read * n, w.weights * n, w.written * n};
}

Work IfCost(const CostContext& c) {
  Work dearest;
  for (const char* branch : {"then_branch", "else_branch"}) {
    const auto graph = c.node == nullptr ? nullptr : c.node->Subgraph(branch);
    if (!graph) continue;
    const Work w = WorkInside(*graph);
    if (w.flops > dearest.flops || (w.flops == dearest.flops && w.total() > dearest.total())) dearest = w;
  }
  return dearest;
}

// Iterations that are known when the cost is asked for: the constant bound, or the length of a stacked output.
int64_t KnownTrips(const CostContext& c, size_t carried) {
  for (size_t i = carried; i < c.outputs.size(); ++i) {
    if (c.outputs[i].present && !c.outputs[i].dims.empty()) return c.outputs[i].dims[0];
  }
  auto bound = c.constant ? c.constant(0) : nullptr;
  constexpr int64_t kNoBound = int64_t{1} << 31;
  if (bound && bound->ints.size() == 1) {
    const int64_t n = bound->ints[0].known().value_or(1);
    if (n >= 0 && n < kNoBound) return n;
  }
  return 1;
}

Work LoopCost(const CostContext& c) {
  const auto body = c.node == nullptr ? nullptr : c.node->Subgraph("body");
  if (!body) return BytesOfTensors(c);
  const size_t carried = c.inputs.size() > 2 ? c.inputs.size() - 2 : 0;
  return Times(WorkInside(*body), KnownTrips(c, carried));
}

Work ScanCost(const CostContext& c) {
  const auto body = c.node == nullptr ? nullptr : c.node->Subgraph("body");
  if (!body || c.inputs.empty()) return BytesOfTensors(c);
  const auto scanned = static_cast<size_t>(std::max<int64_t>(0, c.node->Int("num_scan_inputs", 0)));
  if (scanned == 0 || scanned > c.inputs.size()) return WorkInside(*body);
  const CostTensor& first = c.inputs[c.inputs.size() - scanned];
  auto axis = ResolveAxis(AxisFor(*c.node, "scan_input_axes", 0), static_cast<int>(first.dims.size()));
  return Times(WorkInside(*body), axis.ok() ? first.dims[static_cast<size_t>(*axis)] : 1);
}

}  // namespace

void RegisterControl(Registry& r) {
  using enum OperatorClass;
  r.Add({.type = "If",
         .op_class = kControl,
         .shape = IfShape,
         .cost = IfCost,
         .source = "ONNX If: the dearer of the two branches"});
  r.Add({.type = "Loop",
         .op_class = kControl,
         .shape = LoopShape,
         .cost = LoopCost,
         .source = "ONNX Loop: the body's work times the iterations"});
  r.Add({.type = "Scan",
         .op_class = kControl,
         .shape = ScanShape,
         .cost = ScanCost,
         .source = "ONNX Scan: the body's work times the length of the scanned axis"});
}

}  // namespace simpred
