// How is an input or an output of a node transposed? Constants are rewritten, transposes cancel or merge, and only
// where neither helps a new node appears.
#include <algorithm>

#include "fusion/transpose/handlers.h"

namespace simpred {
namespace {

Permutation Compose(const Permutation& first, const Permutation& second) {
  Permutation result;
  for (int64_t p : second) result.push_back(first[static_cast<size_t>(p)]);
  return result;
}

NodeId AddTranspose(Rewriter& r, ValueId in, ValueId out, const Permutation& perm) {
  const NodeId n = r.AddNode("Transpose", kOnnx, {in}, {out});
  r.node(n).Set("perm", perm);
  return n;
}

ValueId PermutedValue(Rewriter& r, std::string_view stem, ValueId like, const Permutation& perm) {
  const ValueId v = r.NewValueLike(stem, like);
  r.value(v).type.shape = PermuteShape(r.value(like).type.shape, perm);
  return v;
}

// The elements of a vector in another order, a larger tensor with its elements unknown.
ValueId PermutedConstant(Rewriter& r, ValueId v, const Permutation& perm) {
  const auto dims = *r.dims(v);
  const bool is_list = dims.size() == 1 && static_cast<size_t>(dims[0]) == perm.size();
  const std::shared_ptr<const ConstantValue> old = is_list ? r.Constant(v) : nullptr;
  const ValueId made = r.NewValueLike("transposed", v);
  r.value(made).is_initializer = true;
  if (!is_list) {
    r.value(made).type.shape = PermuteShape(r.value(v).type.shape, perm);
    return made;
  }
  if (!old) return made;
  auto c = std::make_shared<ConstantValue>(*old);
  for (size_t i = 0; i < perm.size(); ++i) {
    const auto from = static_cast<size_t>(perm[i]);
    if (c->is_float())
      c->floats[i] = old->floats[from];
    else
      c->ints[i] = old->ints[from];
  }
  r.value(made).constant = std::move(c);
  return made;
}

// Other readers of a constant that is rewritten get it turned back; folding makes a constant of that later. (The
// runtime rewrites the constant itself.)
void TurnBackForOthers(Rewriter& r, NodeId n, ValueId old, ValueId made, const Permutation& perm) {
  std::vector<NodeId> others;
  for (NodeId u : r.Uses(old))
    if (u != n && r.InputIndex(u, old) >= 0) others.push_back(u);
  if (others.empty()) return;
  const ValueId back = r.NewValueLike("turned_back", old);
  AddTranspose(r, made, back, InvertPermutation(perm));
  for (NodeId u : others)
    for (size_t i = 0; i < r.node(u).inputs.size(); ++i)
      if (r.input(u, i) == old) r.SetInput(u, i, back);
}

bool HasOneElement(const std::vector<int64_t>& dims) {
  return std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d == 1; });
}

void RemoveIfUnused(Rewriter& r, NodeId n) {
  if (r.alive(n) && r.OutputUses(n) == 0 && !r.ProducesGraphOutput(n)) r.Remove(n);
}

void UnsqueezeConstant(Rewriter& r, NodeId n, size_t i, const std::vector<int64_t>& dims) {
  const ValueId old = r.input(n, i);
  const std::shared_ptr<const ConstantValue> elements = r.Constant(old);
  const ValueId made = r.NewConstant("unsqueezed", r.dtype(old), dims);
  if (elements) {
    auto c = std::make_shared<ConstantValue>(*elements);
    c->dims = dims;
    r.value(made).constant = std::move(c);
  }
  r.SetInput(n, i, made);
}

void UnsqueezeInput(Rewriter& r, NodeId n, size_t i, size_t missing) {
  const ValueId old = r.input(n, i);
  std::vector<int64_t> axes;
  for (size_t k = 0; k < missing; ++k) axes.push_back(static_cast<int64_t>(k));
  if (r.IsConstant(old) && r.dims(old)) {
    std::vector<int64_t> dims = *r.dims(old);
    dims.insert(dims.begin(), missing, 1);
    UnsqueezeConstant(r, n, i, dims);
    return;
  }
  const NodeId squeeze = r.Producer(old);
  if (r.Is(squeeze, "Squeeze") && r.Axes(squeeze) == axes) {
    r.SetInput(n, i, r.input(squeeze, 0));
    RemoveIfUnused(r, squeeze);
    return;
  }
  std::vector<Dim> dims = r.value(old).type.shape.dims();
  dims.insert(dims.begin(), missing, Dim(1));
  const ValueId made = r.NewValueLike("unsqueezed", old);
  r.value(made).type.shape = Shape(dims);
  if (r.opset() >= 13) {
    r.AddNode("Unsqueeze", kOnnx, {old, r.NewInts("unsqueeze_axes", axes)}, {made});
  } else {
    const NodeId u = r.AddNode("Unsqueeze", kOnnx, {old}, {made});
    r.node(u).Set("axes", axes);
  }
  r.SetInput(n, i, made);
  const NodeId transpose = r.Producer(old);  // goes behind the Unsqueeze at once
  const auto perm = r.Is(transpose, "Transpose") ? r.Permutation(transpose) : std::nullopt;
  if (!perm) return;
  const NodeId unsqueeze = r.Producer(made);
  TransposeInput(r, unsqueeze, 0, InvertPermutation(*perm));
  Permutation longer = axes;
  for (int64_t p : *perm) longer.push_back(p + static_cast<int64_t>(missing));
  TransposeOutputs(r, unsqueeze, longer);
}

}  // namespace

Shape PermuteShape(const Shape& s, const Permutation& perm) {
  if (!s.has_rank() || static_cast<size_t>(s.rank()) != perm.size()) return s;
  std::vector<Dim> dims;
  for (int64_t p : perm) dims.push_back(s.dims()[static_cast<size_t>(p)]);
  return Shape(dims);
}

void TransposeInput(Rewriter& r, NodeId n, size_t i, const Permutation& perm) {
  const ValueId v = r.input(n, i);
  if (v == kNoValue) return;
  if (r.IsConstant(v) && r.dims(v)) {
    if (HasOneElement(*r.dims(v))) return;
    const ValueId made = PermutedConstant(r, v, perm);
    if (r.dims(v)->size() == perm.size()) TurnBackForOthers(r, n, v, made, perm);
    r.SetInput(n, i, made);
    return;
  }
  const NodeId producer = r.Producer(v);
  const auto above = r.Is(producer, "Transpose") ? r.Permutation(producer) : std::nullopt;
  if (above && above->size() == perm.size()) {
    const ValueId source = r.input(producer, 0);
    if (*above == InvertPermutation(perm)) {
      r.SetInput(n, i, source);
    } else {
      const ValueId made = PermutedValue(r, "transposed", v, perm);
      AddTranspose(r, source, made, Compose(*above, perm));
      r.SetInput(n, i, made);
    }
    RemoveIfUnused(r, producer);
    return;
  }
  for (NodeId u : r.Uses(v)) {
    if (u == n || !r.Is(u, "Transpose") || r.Permutation(u) != perm) continue;
    r.SetInput(n, i, r.output(u));
    return;
  }
  const ValueId made = PermutedValue(r, "transposed", v, perm);
  AddTranspose(r, v, made, perm);
  r.SetInput(n, i, made);
}

void TransposeOutputs(Rewriter& r, NodeId n, const Permutation& perm) {
  if (IsIdentityPermutation(perm)) return;
  const size_t count = r.node(n).outputs.size();
  for (size_t i = 0; i < count; ++i) {
    const ValueId out = r.output(n, i);
    if (out == kNoValue) continue;
    const ValueId inner = PermutedValue(r, "pretransposed", out, InvertPermutation(perm));
    r.node(n).outputs[i] = inner;
    r.value(inner).producer = n;
    AddTranspose(r, inner, out, perm);
  }
}

bool NormalizeRanks(Rewriter& r, NodeId n, size_t rank, const std::vector<size_t>& positions) {
  for (size_t i : positions) {
    const int own = r.rank(r.input(n, i));
    if (own < 0 || static_cast<size_t>(own) > rank) return false;
  }
  for (size_t i : positions) {
    const size_t missing = rank - static_cast<size_t>(r.rank(r.input(n, i)));
    if (missing > 0) UnsqueezeInput(r, n, i, missing);
  }
  return true;
}

}  // namespace simpred
