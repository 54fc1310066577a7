#include "fusion/transpose/handlers.h"

#include <algorithm>
#include <map>

namespace simpred {
namespace {

std::vector<size_t> First(Rewriter&, NodeId) { return {0}; }

std::vector<size_t> All(Rewriter& r, NodeId n) {
  std::vector<size_t> positions(r.node(n).inputs.size());
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  return positions;
}

std::vector<size_t> NonScalar(Rewriter& r, NodeId n) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < r.node(n).inputs.size(); ++i)
    if (r.rank(r.input(n, i)) != 0) positions.push_back(i);
  return positions;
}

bool Simple(PushContext& c) {
  for (size_t i : c.inputs) TransposeInput(c.r, c.node, i, c.inverse);
  TransposeOutputs(c.r, c.node, c.perm);
  return true;
}

bool Broadcasting(PushContext& c) { return NormalizeRanks(c.r, c.node, c.perm.size(), c.inputs) && Simple(c); }

std::optional<int64_t> Normalize(int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis < 0) axis += r;
  return axis >= 0 && axis < r ? std::optional(axis) : std::nullopt;
}

std::optional<std::vector<int64_t>> Normalize(std::vector<int64_t> axes, size_t rank) {
  for (int64_t& a : axes) {
    const auto n = Normalize(a, rank);
    if (!n) return std::nullopt;
    a = *n;
  }
  return axes;
}

bool WithAxis(PushContext& c, std::optional<int64_t> fallback) {
  const auto own = c.r.node(c.node).Int("axis");
  if (!own && !fallback) return false;
  const auto axis = Normalize(own.value_or(fallback.value_or(0)), c.perm.size());
  if (!axis) return false;
  Simple(c);
  c.r.node(c.node).Set("axis", c.perm[static_cast<size_t>(*axis)]);
  return true;
}

bool Concat(PushContext& c) { return WithAxis(c, std::nullopt); }
bool Split(PushContext& c) { return WithAxis(c, 0); }

bool Softmax(PushContext& c) {
  if (c.r.opset() >= 13) return WithAxis(c, -1);
  // Before opset 13 the axis divides the dimensions into two groups; they must stay apart.
  const auto axis = Normalize(c.r.node(c.node).Int("axis", 1), c.perm.size());
  if (!axis) return false;
  for (size_t i = 0; i < c.perm.size(); ++i)
    if ((static_cast<int64_t>(i) < *axis) != (c.perm[i] < *axis)) return false;
  return Simple(c);
}

// The axes of the tensor before the Transpose.
std::vector<int64_t> AxesBefore(const std::vector<int64_t>& axes, const Permutation& perm) {
  std::vector<int64_t> result;
  for (int64_t a : axes) result.push_back(perm[static_cast<size_t>(a)]);
  return result;
}

std::vector<int64_t> SortedAxesBefore(const std::vector<int64_t>& axes, const Permutation& perm) {
  std::vector<int64_t> result = AxesBefore(axes, perm);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// What is left of a permutation when `axes` (of the tensor before it) are removed.
Permutation SqueezedPermutation(const std::vector<int64_t>& axes, const Permutation& perm) {
  std::vector<int64_t> shift(perm.size());
  int64_t removed = 0;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end()) ++removed;
    shift[i] = static_cast<int64_t>(i) - removed;
  }
  Permutation result;
  for (int64_t p : perm)
    if (std::find(axes.begin(), axes.end(), p) == axes.end()) result.push_back(shift[static_cast<size_t>(p)]);
  return result;
}

bool AxesAreInput(PushContext& c) {
  const Node& node = c.r.node(c.node);
  if (node.op_type == "ReduceSum" || node.op_type == "Squeeze" || node.op_type == "Unsqueeze") return c.r.opset() >= 13;
  return c.r.opset() >= 18;
}

void SetAxes(PushContext& c, const std::vector<int64_t>& axes) {
  if (AxesAreInput(c))
    c.r.SetInput(c.node, 1, c.r.NewInts("axes", axes));
  else
    c.r.node(c.node).Set("axes", axes);
}

bool Reduce(PushContext& c) {
  const bool keep = c.r.node(c.node).Int("keepdims", 1) != 0;
  const bool given = AxesAreInput(c) ? c.r.input(c.node, 1) != kNoValue : c.r.node(c.node).Ints("axes").has_value();
  if (!given) {
    const bool noop = c.r.node(c.node).Int("noop_with_empty_axes", 0) != 0;
    TransposeInput(c.r, c.node, 0, c.inverse);
    if (keep || noop) TransposeOutputs(c.r, c.node, c.perm);
    return true;
  }
  const auto axes = c.r.Axes(c.node);
  const auto normal = axes ? Normalize(*axes, c.perm.size()) : std::nullopt;
  if (!normal) return false;
  const std::vector<int64_t> before = SortedAxesBefore(*normal, c.perm);
  SetAxes(c, before);
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, keep ? c.perm : SqueezedPermutation(before, c.perm));
  return true;
}

bool ArgMinMax(PushContext& c) {
  const auto axis = Normalize(c.r.node(c.node).Int("axis", 0), c.perm.size());
  if (!axis) return false;
  const int64_t before = c.perm[static_cast<size_t>(*axis)];
  const bool keep = c.r.node(c.node).Int("keepdims", 1) != 0;
  c.r.node(c.node).Set("axis", before);
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, keep ? c.perm : SqueezedPermutation({before}, c.perm));
  return true;
}

bool Squeeze(PushContext& c) {
  const auto axes = c.r.Axes(c.node);
  const auto normal = axes ? Normalize(*axes, c.perm.size()) : std::nullopt;
  if (!normal) return false;
  const std::vector<int64_t> before = SortedAxesBefore(*normal, c.perm);
  SetAxes(c, before);
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, SqueezedPermutation(before, c.perm));
  return true;
}

bool Unsqueeze(PushContext& c) {
  const auto axes = c.r.Axes(c.node);
  const auto normal = axes ? Normalize(*axes, c.perm.size() + axes->size()) : std::nullopt;
  if (!normal) return false;
  TransposeInput(c.r, c.node, 0, c.inverse);
  // Axes of the output that were there before, in their order.
  std::vector<int64_t> old_axes;
  const size_t rank = c.perm.size() + normal->size();
  for (size_t i = 0; i < rank; ++i)
    if (std::find(normal->begin(), normal->end(), static_cast<int64_t>(i)) == normal->end())
      old_axes.push_back(static_cast<int64_t>(i));
  Permutation longer;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool is_new = std::find(normal->begin(), normal->end(), static_cast<int64_t>(i)) != normal->end();
    longer.push_back(is_new ? static_cast<int64_t>(i) : old_axes[static_cast<size_t>(c.perm[next++])]);
  }
  TransposeOutputs(c.r, c.node, longer);
  return true;
}

// One index takes its axis out, a list of them keeps it.
bool Gather(PushContext& c) {
  const int indices = c.r.rank(c.r.input(c.node, 1));
  const auto axis = Normalize(c.r.node(c.node).Int("axis", 0), c.perm.size());
  if (!axis || indices < 0 || indices > 1) return false;
  const int64_t before = c.perm[static_cast<size_t>(*axis)];
  c.r.node(c.node).Set("axis", before);
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, indices == 1 ? c.perm : SqueezedPermutation({before}, c.perm));
  return true;
}

bool Slice(PushContext& c) {
  const auto iota = [](size_t count) {
    std::vector<int64_t> axes(count);
    for (size_t i = 0; i < count; ++i) axes[i] = static_cast<int64_t>(i);
    return axes;
  };
  if (c.r.opset() < 10) {
    const auto starts = c.r.node(c.node).Ints("starts");
    if (!starts) return false;
    const auto axes = Normalize(c.r.node(c.node).Ints("axes").value_or(iota(starts->size())), c.perm.size());
    if (!axes) return false;
    c.r.node(c.node).Set("axes", AxesBefore(*axes, c.perm));
  } else {
    std::optional<std::vector<int64_t>> axes;
    if (c.r.input(c.node, 3) == kNoValue) {
      const auto dims = c.r.dims(c.r.input(c.node, 1));
      if (!dims || dims->size() != 1) return false;
      axes = iota(static_cast<size_t>((*dims)[0]));
    } else {
      axes = c.r.ConstantInts(c.r.input(c.node, 3));
    }
    if (axes) axes = Normalize(*axes, c.perm.size());
    if (!axes) return false;
    const ValueId made = c.r.NewInts("axes", AxesBefore(*axes, c.perm));
    c.r.value(made).type.dtype =
        c.r.dtype(c.r.input(c.node, 3) == kNoValue ? c.r.input(c.node, 1) : c.r.input(c.node, 3));
    c.r.SetInput(c.node, 3, made);
  }
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, c.perm);
  return true;
}

// Reorders the list at input `i` (repeats, scales, sizes): a constant is rewritten, else a Gather appears.
void PermuteList(PushContext& c, size_t i, const Permutation& order) {
  const ValueId v = c.r.input(c.node, i);
  if (c.r.IsConstant(v)) {
    TransposeInput(c.r, c.node, i, order);
    return;
  }
  const ValueId made = c.r.NewValueLike("permuted", v);
  const NodeId gather = c.r.AddNode("Gather", kOnnx, {v, c.r.NewInts("order", order)}, {made});
  c.r.node(gather).Set("axis", int64_t{0});
  c.r.SetInput(c.node, i, made);
}

Permutation Twice(const Permutation& order) {
  Permutation result = order;
  for (int64_t p : order) result.push_back(p + static_cast<int64_t>(order.size()));
  return result;
}

bool Pad(PushContext& c) {
  if (c.r.opset() < 11) {
    const auto pads = c.r.node(c.node).Ints("pads");
    if (!pads || pads->size() != 2 * c.perm.size()) return false;
    std::vector<int64_t> reordered;
    for (int64_t p : Twice(c.inverse)) reordered.push_back((*pads)[static_cast<size_t>(p)]);
    c.r.node(c.node).Set("pads", reordered);
  } else {
    if (c.r.input(c.node, 3) != kNoValue) return false;
    PermuteList(c, 1, Twice(c.inverse));
  }
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, c.perm);
  return true;
}

bool Tile(PushContext& c) {
  PermuteList(c, 1, c.inverse);
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, c.perm);
  return true;
}

// Only between channels first and channels last, and only once the node is known to run on the CPU.
bool Resize(PushContext& c) {
  const Permutation to_last = {0, 2, 3, 1}, to_first = {0, 3, 1, 2};
  if (!c.on_cpu || (c.perm != to_last && c.perm != to_first)) return false;
  const size_t first_list = c.r.opset() < 11 ? 1 : 2;
  if (c.r.opset() >= 11 && c.r.input(c.node, 1) != kNoValue) {
    const auto dims = c.r.dims(c.r.input(c.node, 1));
    if (!dims || dims->size() != 1 || (*dims)[0] != 0) PermuteList(c, 1, Twice(c.inverse));
  }
  for (size_t i = first_list; i < c.r.node(c.node).inputs.size(); ++i) {
    const ValueId v = c.r.input(c.node, i);
    const auto dims = v == kNoValue ? std::nullopt : c.r.dims(v);
    if (v != kNoValue && !(dims && dims->size() == 1 && (*dims)[0] == 0)) PermuteList(c, i, c.inverse);
  }
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, c.perm);
  return true;
}

bool QuantizeLinear(PushContext& c) {
  if (c.r.opset() >= 13 && c.r.rank(c.r.input(c.node, 1)) != 0) {
    const auto axis = Normalize(c.r.node(c.node).Int("axis", 1), c.perm.size());
    if (!axis) return false;
    c.r.node(c.node).Set("axis", c.perm[static_cast<size_t>(*axis)]);
  }
  TransposeInput(c.r, c.node, 0, c.inverse);
  TransposeOutputs(c.r, c.node, c.perm);
  return true;
}

void RemoveIfUnused(Rewriter& r, NodeId n) {
  if (r.alive(n) && r.OutputUses(n) == 0 && !r.ProducesGraphOutput(n)) r.Remove(n);
}

// The two permutations undo each other: readers of the second read what the first read.
bool Cancel(PushContext& c) {
  const ValueId source = c.r.input(c.transpose, 0), out = c.r.output(c.node);
  if (c.r.IsGraphOutput(out) && (c.r.Producer(source) == kNoNode || c.r.IsGraphOutput(source))) {
    c.r.Fuse({c.node}, "Identity", kOnnx, {source});
  } else {
    c.r.ReplaceUses(out, source);
    c.r.Remove(c.node);
  }
  RemoveIfUnused(c.r, c.transpose);
  return true;
}

bool MergeWith(PushContext& c, const Permutation& second) {
  if (second == c.inverse) return Cancel(c);
  Permutation both;
  for (int64_t p : second) both.push_back(c.perm[static_cast<size_t>(p)]);
  const NodeId n = c.r.Fuse({c.node}, "Transpose", kOnnx, {c.r.input(c.transpose, 0)});
  c.r.node(n).Set("perm", both);
  RemoveIfUnused(c.r, c.transpose);
  return true;
}

bool Transpose(PushContext& c) {
  const auto second = c.r.Permutation(c.node);
  return second && second->size() == c.perm.size() && MergeWith(c, *second);
}

// A Reshape that only moves dimensions of size one is a Transpose too.
bool Reshape(PushContext& c) {
  const auto from = c.r.dims(c.r.output(c.transpose));
  const auto to = c.r.dims(c.r.output(c.node));
  if (!from || !to || from->size() != to->size() || !c.r.ConstantInts(c.r.input(c.node, 1))) return false;
  std::vector<int64_t> left = *from;
  Permutation perm;
  for (int64_t wanted : *to) {
    size_t k = 0;
    for (; k < left.size() && left[k] != wanted; ++k)
      if (left[k] != -1 && left[k] != 1 && wanted != 1) return false;
    if (k == left.size()) return false;
    perm.push_back(static_cast<int64_t>(k));
    left[k] = -1;
  }
  return MergeWith(c, perm);
}

std::map<std::string_view, PushHandler> MakeHandlers() {
  std::map<std::string_view, PushHandler> h;
  for (const char* op : {"Cast",        "Exp",
                         "Identity",    "LeakyRelu",
                         "Log",         "Reciprocal",
                         "Relu",        "Sigmoid",
                         "Sqrt",        "Tanh",
                         "Abs",         "Not",
                         "Ceil",        "Floor",
                         "Neg",         "Erf",
                         "HardSigmoid", "Round",
                         "IsInf",       "IsNaN",
                         "Selu",        "Shrink",
                         "Sign",        "Softplus",
                         "Softsign",    "ThresholdedRelu",
                         "Celu",        "HardSwish",
                         "Sin",         "Cos",
                         "Tan",         "Sinh",
                         "Cosh",        "Asin",
                         "Acos",        "Atan",
                         "Asinh",       "Acosh",
                         "Atanh"})
    h[op] = {All, Simple};
  for (const char* op : {"Add",         "Max",  "Min",   "Mul",      "Sub",   "Div",     "And",  "Or",
                         "Xor",         "Mod",  "PRelu", "BitShift", "Equal", "Greater", "Less", "GreaterOrEqual",
                         "LessOrEqual", "Mean", "Sum",   "Pow",      "Where"})
    h[op] = {NonScalar, Broadcasting};
  for (const char* op : {"Clip", "CastLike"}) h[op] = {First, Simple};
  for (const char* op : {"ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                         "ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2"})
    h[op] = {First, Reduce};
  for (const char* op : {"ArgMin", "ArgMax"}) h[op] = {First, ArgMinMax};
  for (const char* op : {"Softmax", "Hardmax", "LogSoftmax"}) h[op] = {First, Softmax};
  for (const char* op : {"QuantizeLinear", "DequantizeLinear"}) h[op] = {First, QuantizeLinear};
  h["Concat"] = {All, Concat};
  h["Split"] = {First, Split};
  h["Pad"] = {First, Pad};
  h["Squeeze"] = {First, Squeeze};
  h["Unsqueeze"] = {First, Unsqueeze};
  h["Gather"] = {First, Gather};
  h["Slice"] = {First, Slice};
  h["Tile"] = {First, Tile};
  h["Resize"] = {First, Resize};
  h["Transpose"] = {First, Transpose, false};
  h["Reshape"] = {First, Reshape, false};
  return h;
}

}  // namespace

const PushHandler* FindPushHandler(const Node& node) {
  static const std::map<std::string_view, PushHandler> handlers = MakeHandlers();
  if (!node.domain.empty() && node.domain != "ai.onnx") return nullptr;
  const auto it = handlers.find(node.op_type);
  return it == handlers.end() ? nullptr : &it->second;
}

}  // namespace simpred
