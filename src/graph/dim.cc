// How do symbolic dimensions add, multiply and divide?
//
// A symbolic dimension is a polynomial with integer coefficients: a sum of terms, each a coefficient times powers of
// atoms. An atom is a symbol, or an operation that is no polynomial (floor division, mod, min, max) over two
// dimensions. Terms are sorted and merged, so equal polynomials have equal texts (`key`) and compare by them.
//
//   FloorDiv(4*N + 5, 2):   4*N leaves with the quotient 2*N, 5 with 2, and floor(1/2) is 0  ->  2*N + 2
//   CeilDiv(N, 2):          floor((N + 1)/2), so that it equals the (N - 1)/2 + 1 of a strided convolution
//
// Symbols stand for dimensions: they are not negative. Where that decides (Max(N, 0) is N), it is used.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/polynomial.h"
#include "graph/shape.h"

namespace simpred {

using namespace polynomial;  // NOLINT(google-build-using-namespace): this file is its other half

namespace {

constexpr int64_t kLargest = INT64_MAX;
constexpr int64_t kSmallest = INT64_MIN;
constexpr int kMaxDepth = 16;      // operations inside operations
constexpr int kMaxWeight = 256;    // atoms in an expression, those inside of operations included
constexpr size_t kMaxText = 8192;  // of a key: long names times many atoms

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t r = 0;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return a > 0 ? kLargest : kSmallest;
}

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t r = 0;
  if (!__builtin_mul_overflow(a, b, &r)) return r;
  return (a > 0) == (b > 0) ? kLargest : kSmallest;
}

int64_t SaturatingNegate(int64_t a) { return a == kSmallest ? kLargest : -a; }

int64_t FloorQuotient(int64_t a, int64_t b) {
  if (b == -1) return SaturatingNegate(a);
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t FloorRemainder(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace

struct Dim::Expression {
  std::vector<std::pair<Monomial, int64_t>> terms;
  std::string key;
  int depth = 0;
  int weight = 0;

  static Dim ToDim(const Polynomial& p);
  static Dim ToDim(const std::optional<Polynomial>& p) { return p ? ToDim(*p) : Dim(); }
  static Polynomial Of(const Dim& d);
  static Dim OfAtom(Operation operation, const Dim& a, const Dim& b);
  static Dim OfAtom(Atom atom);
  static const Expression* Get(const Dim& d) { return d.expression_.get(); }
};

namespace {

using Expression = Dim::Expression;

std::string KeyOf(const Dim& d) { return d.is_known() ? std::to_string(d.value()) : Expression::Get(d)->key; }
int DepthOf(const Dim& d) { return d.is_known() ? 0 : Expression::Get(d)->depth; }
int WeightOf(const Dim& d) { return d.is_known() ? 1 : Expression::Get(d)->weight; }
bool IsNonNegative(const Dim& d) { return !d.is_unknown() && IsNonNegative(Expression::Of(d)); }
bool IsPositiveNumber(const Dim& d) { return d.is_known() && d.value() > 0; }

bool IsNonNegative(Operation operation, const Dim& a, const Dim& b) {
  switch (operation) {
    case Operation::kSymbol:
      return true;
    case Operation::kFloorDiv:
    case Operation::kCeilDiv:
      return IsNonNegative(a) && IsNonNegative(b);
    case Operation::kMod:
      return IsNonNegative(b);
    case Operation::kMin:
      return IsNonNegative(a) && IsNonNegative(b);
    case Operation::kMax:
      return IsNonNegative(a) || IsNonNegative(b);
  }
  return false;
}

// If p is one floor(x / known) with coefficient 1, plus a constant.
struct NestedFloor {
  Dim x;
  int64_t divisor;
  int64_t constant;
};
std::optional<NestedFloor> AsNestedFloor(const Polynomial& p) {
  if (p.empty() || p.size() > 2) return std::nullopt;
  const auto& [m, k] = *p.begin();
  if (k != 1 || m.size() != 1 || m[0].second != 1 || m[0].first->operation != Operation::kFloorDiv) return std::nullopt;
  const Atom& atom = *m[0].first;
  if (!IsPositiveNumber(atom.b)) return std::nullopt;
  if (p.size() == 1) return NestedFloor{atom.a, atom.b.value(), 0};
  const auto& [rest, constant] = *std::next(p.begin());
  if (!rest.empty()) return std::nullopt;
  return NestedFloor{atom.a, atom.b.value(), constant};
}

// floor(p / divisor) for a known divisor > 0.
Dim FloorDivByNumber(const Polynomial& p, int64_t divisor) {
  Polynomial whole;
  Polynomial rest;
  int64_t g = divisor;  // of the divisor and the coefficients that stay, without the constant
  for (const auto& [m, k] : p) {
    const bool leaves = m.empty() || k % divisor == 0;
    if (leaves) AddTerm(whole, m, FloorQuotient(k, divisor));
    const int64_t remainder = leaves ? FloorRemainder(k, divisor) : k;
    AddTerm(rest, m, remainder);
    if (!m.empty() && remainder != 0) g = remainder == kSmallest ? 1 : std::gcd(g, remainder);
  }
  const Dim quotient = Expression::ToDim(whole);
  if (rest.empty() || rest.begin()->first.empty()) return quotient;  // 0 <= constant < divisor
  if (g > 1) {  // floor((g*x + c) / (g*d)) = floor((x + floor(c/g)) / d)
    Polynomial reduced;
    for (const auto& [m, k] : rest) AddTerm(reduced, m, FloorQuotient(k, g));
    return quotient + FloorDiv(Expression::ToDim(reduced), Dim(divisor / g));
  }
  // floor((floor(x/a) + c) / b) = floor((x + a*c) / (a*b))
  int64_t product = 0;
  if (const auto nested = AsNestedFloor(rest); nested && !__builtin_mul_overflow(nested->divisor, divisor, &product)) {
    return quotient + FloorDiv(nested->x + Dim(nested->constant) * Dim(nested->divisor), Dim(product));
  }
  return quotient + Expression::OfAtom(Operation::kFloorDiv, Expression::ToDim(rest), Dim(divisor));
}

std::string TextOf(const Dim& d, bool as_factor);

std::string TextOf(const Atom& atom) {
  switch (atom.operation) {
    case Operation::kSymbol:
      return atom.symbol;
    case Operation::kFloorDiv:
      return fmt::format("floor({}/{})", TextOf(atom.a, true), TextOf(atom.b, true));
    case Operation::kCeilDiv:
      return fmt::format("ceil({}/{})", TextOf(atom.a, true), TextOf(atom.b, true));
    case Operation::kMod:
      return fmt::format("mod({}, {})", TextOf(atom.a, false), TextOf(atom.b, false));
    case Operation::kMin:
      return fmt::format("min({}, {})", TextOf(atom.a, false), TextOf(atom.b, false));
    case Operation::kMax:
      return fmt::format("max({}, {})", TextOf(atom.a, false), TextOf(atom.b, false));
  }
  return {};
}

std::string TextOf(const Monomial& m) {
  std::string text;
  for (const auto& [atom, exponent] : m) {
    if (!text.empty()) text += "*";
    text += TextOf(*atom);
    if (exponent > 1) text += fmt::format("^{}", exponent);
  }
  return text;
}

std::string TextOf(const Dim& d, bool as_factor) {
  if (d.is_unknown()) return "?";
  if (d.is_known()) return std::to_string(d.value());
  const auto& terms = Expression::Get(d)->terms;
  std::string text;
  for (const auto& [m, k] : terms) {
    if (text.empty()) {
      if (k < 0) text += '-';
    } else {
      text += k < 0 ? " - " : " + ";
    }
    const std::string powers = TextOf(m);
    const uint64_t magnitude = k < 0 ? 0 - static_cast<uint64_t>(k) : static_cast<uint64_t>(k);
    text += powers.empty()   ? fmt::to_string(magnitude)
            : magnitude == 1 ? powers
                             : fmt::format("{}*{}", magnitude, powers);
  }
  const bool one_power = terms.size() == 1 && terms[0].first.size() == 1 && terms[0].second == 1;
  return as_factor && !one_power ? fmt::format("({})", text) : text;
}

Dim Apply(Operation operation, const Dim& a, const Dim& b) {
  switch (operation) {
    case Operation::kFloorDiv:
      return FloorDiv(a, b);
    case Operation::kCeilDiv:
      return CeilDiv(a, b);
    case Operation::kMod:
      return Mod(a, b);
    case Operation::kMin:
      return Min(a, b);
    case Operation::kMax:
      return Max(a, b);
    case Operation::kSymbol:
      break;
  }
  return {};
}

void CollectSymbolsOf(const Dim& d, std::set<std::string>& into) {
  if (!d.is_symbolic()) return;
  for (const auto& [m, k] : Expression::Get(d)->terms) {
    for (const auto& [atom, exponent] : m) {
      if (atom->operation == Operation::kSymbol) into.insert(atom->symbol);
      CollectSymbolsOf(atom->a, into);
      CollectSymbolsOf(atom->b, into);
    }
  }
}

}  // namespace

Dim Dim::Expression::ToDim(const Polynomial& p) {
  if (p.empty()) return Dim(0);
  if (p.size() == 1 && p.begin()->first.empty()) return Dim(p.begin()->second);
  if (p.size() > static_cast<size_t>(kMaxTerms)) return {};
  auto e = std::make_shared<Expression>();
  e->terms.assign(p.begin(), p.end());
  for (const auto& [m, k] : e->terms) {
    e->key += std::to_string(k);
    ++e->weight;
    for (const auto& [atom, exponent] : m) {
      e->key += fmt::format("*{}^{}", atom->key, exponent);
      e->depth = std::max(e->depth, atom->depth);
      e->weight += atom->weight;
    }
    e->key += "+";
    if (e->weight > kMaxWeight || e->key.size() > kMaxText) return {};
  }
  Dim d;
  d.kind_ = Kind::kExpression;
  d.expression_ = std::move(e);
  return d;
}

Polynomial Dim::Expression::Of(const Dim& d) {
  if (d.is_known()) return d.number_ == 0 ? Polynomial() : Polynomial{{Monomial(), d.number_}};
  return {d.expression_->terms.begin(), d.expression_->terms.end()};
}

Dim Dim::Expression::OfAtom(Atom atom) {
  return ToDim(Polynomial{{Monomial{{std::make_shared<const Atom>(std::move(atom)), 1}}, 1}});
}

Dim Dim::Expression::OfAtom(Operation operation, const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  Atom atom;
  atom.operation = operation;
  atom.a = a;
  atom.b = b;
  atom.depth = 1 + std::max(DepthOf(a), DepthOf(b));
  atom.weight = 1 + WeightOf(a) + WeightOf(b);
  if (atom.depth > kMaxDepth || atom.weight > kMaxWeight) return {};
  static constexpr char kLetters[] = "sfcmij";
  atom.key = fmt::format("{}({},{})", kLetters[static_cast<size_t>(operation)], KeyOf(a), KeyOf(b));
  atom.non_negative = IsNonNegative(operation, a, b);
  return OfAtom(std::move(atom));
}

Dim::Dim(int64_t value) : kind_(Kind::kNumber), number_(value) {}

Dim Dim::Symbol(const std::string& name) {
  Atom atom;
  atom.symbol = name;
  atom.key = fmt::format("s{}:{}", name.size(), name);
  return Expression::OfAtom(std::move(atom));
}

Dim Dim::Bind(const SymbolBindings& bindings) const {
  if (!is_symbolic()) return *this;
  Dim sum(0);
  for (const auto& [m, k] : expression_->terms) {
    Dim product(k);
    for (const auto& [atom, exponent] : m) {
      Dim factor;
      if (atom->operation != Operation::kSymbol) {
        factor = Apply(atom->operation, atom->a.Bind(bindings), atom->b.Bind(bindings));
      } else if (const auto bound = bindings.find(atom->symbol); bound != bindings.end()) {
        factor = bound->second;
      } else {
        factor = Symbol(atom->symbol);
      }
      for (int i = 0; i < exponent; ++i) product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

void Dim::CollectSymbols(std::set<std::string>& into) const { CollectSymbolsOf(*this, into); }

std::string Dim::ToString() const { return TextOf(*this, false); }

bool Dim::IsHuge() const { return is_known() && (number_ == kLargest || number_ == kSmallest); }

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_known() && b.is_known()) return SaturatingAdd(a.number_, b.number_);
  Polynomial sum = Expression::Of(a);
  for (const auto& [m, k] : Expression::Of(b)) {
    if (!AddTerm(sum, m, k)) return {};
  }
  return Expression::ToDim(sum);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) {
    int64_t r = 0;
    if (!__builtin_sub_overflow(a.number_, b.number_, &r)) return r;
    return a.number_ > b.number_ ? kLargest : kSmallest;
  }
  return a + b * Dim(-1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_known() && b.is_known()) return SaturatingMultiply(a.number_, b.number_);
  return Expression::ToDim(Multiply(Expression::Of(a), Expression::Of(b)));
}

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || (b.is_known() && b.number_ == 0)) return {};
  if (a.is_known() && b.is_known()) return FloorQuotient(a.number_, b.number_);
  if (a.is_known() && a.number_ == 0) return a;
  if (b.is_known() && b.number_ < 0) return FloorDiv(a * Dim(-1), SaturatingNegate(b.number_));
  Polynomial p = Expression::Of(a);
  Polynomial q = Expression::Of(b);
  if (const auto quotient = DivideExactly(p, q)) return Expression::ToDim(*quotient);
  CancelCommonFactor(p, q);
  const Dim divisor = Expression::ToDim(q);
  if (divisor.is_known()) {
    return divisor.number_ > 0 ? FloorDivByNumber(p, divisor.number_) : FloorDiv(Expression::ToDim(p), divisor);
  }
  return Expression::OfAtom(Operation::kFloorDiv, Expression::ToDim(p), divisor);
}

Dim CeilDiv(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || (b.is_known() && b.number_ == 0)) return {};
  if (a.is_known() && b.is_known()) {
    const int64_t q = FloorQuotient(a.number_, b.number_);
    return FloorRemainder(a.number_, b.number_) == 0 ? q : SaturatingAdd(q, 1);
  }
  if (b.is_known()) {
    if (b.number_ < 0) return CeilDiv(a * Dim(-1), SaturatingNegate(b.number_));
    return FloorDiv(a + Dim(b.number_ - 1), b);
  }
  if (a.is_known() && a.number_ == 0) return a;
  Polynomial p = Expression::Of(a);
  Polynomial q = Expression::Of(b);
  if (const auto quotient = DivideExactly(p, q)) return Expression::ToDim(*quotient);
  CancelCommonFactor(p, q);
  const Dim divisor = Expression::ToDim(q);
  if (divisor.is_known()) return CeilDiv(Expression::ToDim(p), divisor);
  return Expression::OfAtom(Operation::kCeilDiv, Expression::ToDim(p), divisor);
}

Dim Mod(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown() || (b.is_known() && b.number_ == 0)) return {};
  if (a.is_known() && b.is_known()) return FloorRemainder(a.number_, b.number_);
  if (a.is_known() && a.number_ == 0) return a;
  const Polynomial p = Expression::Of(a);
  if (DivideExactly(p, Expression::Of(b))) return 0;
  if (!IsPositiveNumber(b)) return Expression::OfAtom(Operation::kMod, a, b);
  Polynomial rest;
  for (const auto& [m, k] : p) AddTerm(rest, m, FloorRemainder(k, b.number_));
  const Dim reduced = Expression::ToDim(rest);
  return reduced.is_symbolic() ? Expression::OfAtom(Operation::kMod, reduced, b) : reduced;
}

Dim Min(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_known() && b.is_known()) return std::min(a.number_, b.number_);
  if (a == b || IsNonNegative(b - a)) return a;
  if (IsNonNegative(a - b)) return b;
  return KeyOf(a) < KeyOf(b) ? Expression::OfAtom(Operation::kMin, a, b) : Expression::OfAtom(Operation::kMin, b, a);
}

Dim Max(const Dim& a, const Dim& b) {
  if (a.is_unknown() || b.is_unknown()) return {};
  if (a.is_known() && b.is_known()) return std::max(a.number_, b.number_);
  if (a == b || IsNonNegative(a - b)) return a;
  if (IsNonNegative(b - a)) return b;
  return KeyOf(a) < KeyOf(b) ? Expression::OfAtom(Operation::kMax, a, b) : Expression::OfAtom(Operation::kMax, b, a);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.kind_ != b.kind_ || a.is_unknown()) return false;
  if (a.is_known()) return a.number_ == b.number_;
  return a.expression_ == b.expression_ || a.expression_->key == b.expression_->key;
}

}  // namespace simpred
