// x -> Gather(i) | Slice(a, b), several that cut one axis of x into all its parts    ==>    Split -> Squeeze (per
// Gather)
//
// From opset 13; every reader of x that is a Gather or a Slice must take part.
#include <algorithm>

#include "fusion/rules.h"

namespace simpred {
namespace {

struct Part {
  NodeId node = kNoNode;
  int64_t start = 0, size = 0;
  bool squeeze = false;
};

std::optional<int64_t> ScalarInt(Rewriter& r, ValueId v) {
  const auto ints = r.ConstantInts(v);
  if (!ints || ints->size() != 1 || r.dtype(v) != DataType::kInt64) return std::nullopt;
  return (*ints)[0];
}

std::optional<int64_t> AxisOf(Rewriter& r, NodeId n, int64_t rank) {
  std::optional<int64_t> axis = r.Is(n, "Gather") ? r.node(n).Int("axis", 0) : ScalarInt(r, r.input(n, 3));
  if (axis && *axis < 0) *axis += rank;
  return axis;
}

std::optional<Part> PartOf(Rewriter& r, NodeId n, int64_t size) {
  if (r.Is(n, "Gather")) {
    auto index = ScalarInt(r, r.input(n, 1));
    if (!index) return std::nullopt;
    if (*index < 0) *index += size;
    if (*index < 0 || *index >= size) return std::nullopt;
    return Part{n, *index, 1, r.rank(r.input(n, 1)) == 0};
  }
  auto start = ScalarInt(r, r.input(n, 1)), end = ScalarInt(r, r.input(n, 2));
  if (!start || !end) return std::nullopt;
  if (r.input(n, 4) != kNoValue && ScalarInt(r, r.input(n, 4)) != 1) return std::nullopt;
  for (auto* p : {&start, &end}) **p = std::clamp(**p < 0 ? **p + size : **p, int64_t{0}, size);
  if (*start >= *end) return std::nullopt;
  return Part{n, *start, *end - *start, false};
}

// The parts, sorted, if they cover the axis without a gap or an overlap.
std::vector<Part> PartsOf(Rewriter& r, const std::vector<NodeId>& readers, int64_t axis, int64_t rank, int64_t size) {
  std::vector<Part> parts;
  for (NodeId n : readers) {
    if (AxisOf(r, n, rank) != axis) return {};
    const auto part = PartOf(r, n, size);
    if (!part) return {};
    parts.push_back(*part);
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.start < b.start; });
  int64_t next = 0;
  for (const Part& p : parts) {
    if (p.start != next) return {};
    next = p.start + p.size;
  }
  return next == size ? parts : std::vector<Part>{};
}

bool Try(Rewriter& r, ValueId x) {
  const auto dims = r.dims(x);
  std::vector<NodeId> readers;
  for (NodeId u : r.Uses(x))
    if (r.IsOneOf(u, {"Gather", "Slice"}) && r.input(u, 0) == x) readers.push_back(u);
  if (readers.size() < 2 || !dims || dims->empty()) return false;
  const auto rank = static_cast<int64_t>(dims->size());
  const auto axis = AxisOf(r, readers[0], rank);
  if (!axis || *axis < 0 || *axis >= rank) return false;
  const std::vector<Part> parts = PartsOf(r, readers, *axis, rank, (*dims)[static_cast<size_t>(*axis)]);
  if (parts.empty()) return false;
  const std::vector<std::string> names = r.NamesOf(readers);
  std::vector<ValueId> outputs;
  std::vector<int64_t> sizes;
  std::vector<std::pair<ValueId, ValueId>> squeezes;
  for (const Part& p : parts) {
    sizes.push_back(p.size);
    ValueId out = r.output(p.node);
    r.Remove(p.node);
    if (p.squeeze) {
      std::vector<int64_t> part_dims = *dims;
      part_dims[static_cast<size_t>(*axis)] = p.size;
      const ValueId part = r.NewValue("split_output", r.dtype(x), part_dims);
      squeezes.emplace_back(part, out);
      out = part;
    }
    outputs.push_back(out);
  }
  const NodeId split = r.AddNode("Split", kOnnx, {x, r.NewInts("splits", sizes)}, outputs, names);
  r.node(split).Set("axis", *axis);
  for (const auto& [from, to] : squeezes) r.AddNode("Squeeze", kOnnx, {from, r.NewInts("squeeze_axes", {*axis})}, {to});
  return true;
}

int Rewrite(Rewriter& r) {
  if (r.opset() < 13 || !r.Has({"Gather", "Slice"})) return 0;
  int count = 0;
  const ValueId values = r.graph().value_count();
  for (ValueId v = 0; v < values; ++v) {
    const NodeId producer = r.Producer(v);
    if (r.value(v).producer != kNoNode && producer == kNoNode) continue;
    if (producer != kNoNode && (r.Is(producer, "Shape") || r.node(producer).outputs.size() > 1)) continue;
    if (r.UseCount(v) > 1 && Try(r, v)) ++count;
  }
  return count;
}

}  // namespace

FusionRule SplitFusion() {
  return MakeRule("gather-slice-to-split", FusionLevel::kExtended, "Gather and Slice of all parts ==> Split", Rewrite);
}

}  // namespace simpred
