// How do shapes combine: broadcast, merge, join?
#include "graph/shape.h"

#include <algorithm>

namespace simpred {
namespace {

// nullopt: two numbers that contradict each other.
std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b) {
  if (a.is_known() && a.value() == 1) return b;
  if (b.is_known() && b.value() == 1) return a;
  if (a.is_known() && b.is_known()) return a.value() == b.value() ? std::optional<Dim>(a) : std::nullopt;
  if (a.is_known()) return a;  // the other one must be this, or 1
  if (b.is_known()) return b;
  return Max(a, b);
}

std::optional<Dim> MergeDim(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known() && a.value() != b.value()) return std::nullopt;
  if (a.is_unknown() || (b.is_known() && !a.is_known())) return b;
  return a;
}

}  // namespace

Dim Shape::dim(int i) const {
  if (i < 0) i += rank();
  return i < 0 || i >= rank() ? Dim() : dims_[static_cast<size_t>(i)];
}

bool Shape::is_static() const {
  return has_rank_ && std::all_of(dims_.begin(), dims_.end(), [](const Dim& d) { return d.is_known(); });
}

std::optional<std::vector<int64_t>> Shape::ToVector() const {
  if (!is_static()) return std::nullopt;
  std::vector<int64_t> numbers;
  numbers.reserve(dims_.size());
  for (const Dim& d : dims_) numbers.push_back(d.value());
  return numbers;
}

Dim Shape::ElementCount() const {
  if (!has_rank_) return {};
  Dim product(1);
  for (const Dim& d : dims_) product = product * d;
  return product;
}

Shape Shape::Bind(const SymbolBindings& bindings) const {
  Shape bound = *this;
  for (Dim& d : bound.dims_) {
    if (d.is_symbolic()) d = d.Bind(bindings);
  }
  return bound;
}

std::string Shape::ToString() const {
  if (!has_rank_) return "[...]";
  std::string text = "[";
  for (const Dim& d : dims_) {
    if (text.size() > 1) text += ", ";
    text += d.ToString();
  }
  return text + "]";
}

std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape();
  const Shape& longer = a.rank() >= b.rank() ? a : b;
  const Shape& shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  for (int i = 1; i <= shorter.rank(); ++i) {
    const std::optional<Dim> d = BroadcastDim(longer.dim(-i), shorter.dim(-i));
    if (!d) return std::nullopt;
    result.dims()[static_cast<size_t>(longer.rank() - i)] = *d;
  }
  return result;
}

std::optional<Shape> Merge(const Shape& a, const Shape& b) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  Shape result = a;
  for (int i = 0; i < a.rank(); ++i) {
    const std::optional<Dim> d = MergeDim(a.dim(i), b.dim(i));
    if (!d) return std::nullopt;
    result.dims()[static_cast<size_t>(i)] = *d;
  }
  return result;
}

Shape Join(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return {};
  Shape result = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (!(a.dim(i) == b.dim(i))) result.dims()[static_cast<size_t>(i)] = Dim();
  }
  return result;
}

}  // namespace simpred
