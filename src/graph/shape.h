// Dimensions that may be numbers, symbolic expressions or unknown; shapes that may have unknown rank.
//
//   Dim n = Dim::Symbol("N");
//   ((n + 5) * 2).ToString()             -> "2*N + 10"
//   ((n + 5) * 2).Bind({{"N", 3}})       -> 16
//   FloorDiv(n * 4, 2)                   -> 2*N (exact division cancels)
//
// An expression is a value; equal expressions compare equal after simplification (polynomials in the symbols with
// floor, ceil, min and max as opaque atoms). Arithmetic on an unknown is unknown; overflow saturates and is reported by
// IsHuge(). Expressions of more than kMaxTerms terms become unknown: hostile models cannot make them grow without
// limit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace simpred {

using SymbolBindings = std::map<std::string, int64_t>;

class Dim {
 public:
  static constexpr int kMaxTerms = 64;

  Dim() = default;     // unknown
  Dim(int64_t value);  // NOLINT: a number is a dimension
  static Dim Symbol(const std::string& name);
  static Dim Unknown() { return {}; }

  bool is_known() const { return kind_ == Kind::kNumber; }
  bool is_symbolic() const { return kind_ == Kind::kExpression; }
  bool is_unknown() const { return kind_ == Kind::kUnknown; }
  int64_t value() const { return number_; }  // only if known
  bool IsHuge() const;                       // a number that saturated
  std::optional<int64_t> known() const { return is_known() ? std::optional<int64_t>(number_) : std::nullopt; }

  Dim Bind(const SymbolBindings& bindings) const;
  void CollectSymbols(std::set<std::string>& into) const;
  std::string ToString() const;  // "224", "2*N + 10", "?"

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Division by zero gives unknown.
  friend Dim FloorDiv(const Dim& a, const Dim& b);
  friend Dim CeilDiv(const Dim& a, const Dim& b);
  friend Dim Min(const Dim& a, const Dim& b);
  friend Dim Max(const Dim& a, const Dim& b);
  friend Dim Mod(const Dim& a, const Dim& b);
  // Unknown is equal to nothing, not even itself.
  friend bool operator==(const Dim& a, const Dim& b);

  struct Expression;  // dim.cc

 private:
  enum class Kind : uint8_t { kUnknown, kNumber, kExpression };
  Kind kind_ = Kind::kUnknown;
  int64_t number_ = 0;
  std::shared_ptr<const Expression> expression_;
};

// Visible for plain numbers too, which argument-dependent lookup does not see.
Dim FloorDiv(const Dim& a, const Dim& b);
Dim CeilDiv(const Dim& a, const Dim& b);
Dim Min(const Dim& a, const Dim& b);
Dim Max(const Dim& a, const Dim& b);
Dim Mod(const Dim& a, const Dim& b);

// Rank known: a list of dimensions. Rank unknown: has_rank() is false.
class Shape {
 public:
  Shape() = default;                                                         // unknown rank
  Shape(std::vector<Dim> dims) : has_rank_(true), dims_(std::move(dims)) {}  // NOLINT
  Shape(std::initializer_list<Dim> dims) : has_rank_(true), dims_(dims) {}
  static Shape Scalar() { return Shape(std::vector<Dim>{}); }
  static Shape OfRank(int rank) { return Shape(std::vector<Dim>(static_cast<size_t>(rank))); }

  bool has_rank() const { return has_rank_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  const std::vector<Dim>& dims() const { return dims_; }
  std::vector<Dim>& dims() { return dims_; }
  // i may be negative, from the end. Out of range: unknown.
  Dim dim(int i) const;
  bool is_static() const;                                // rank and every dimension known
  std::optional<std::vector<int64_t>> ToVector() const;  // if static
  Dim ElementCount() const;                              // saturating
  Shape Bind(const SymbolBindings& bindings) const;
  std::string ToString() const;  // "[1, 3, 2*H, ?]", "[...]" for unknown rank
  friend bool operator==(const Shape& a, const Shape& b) = default;

 private:
  bool has_rank_ = false;
  std::vector<Dim> dims_;
};

// Multidirectional (NumPy) broadcast. nullopt when two known dimensions contradict each other.
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);
// What both say together: the more precise of each dimension. nullopt on contradiction.
std::optional<Shape> Merge(const Shape& a, const Shape& b);
// What is true of both (branches of an If): differing dimensions become unknown.
Shape Join(const Shape& a, const Shape& b);

}  // namespace simpred
