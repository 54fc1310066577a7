#include "graph/polynomial.h"

#include <algorithm>
#include <numeric>

namespace simpred::polynomial {
namespace {

constexpr int64_t kSmallest = INT64_MIN;
constexpr int kMaxExponent = 32;
constexpr size_t kMaxProduct = 4 * Dim::kMaxTerms;  // what will not cancel down to a dimension is given up early

int Degree(const Monomial& m) {
  return std::accumulate(m.begin(), m.end(), 0, [](int sum, const auto& power) { return sum + power.second; });
}

bool SameAtom(const AtomPtr& a, const AtomPtr& b) { return a == b || a->key == b->key; }

// nullopt: an exponent grew too large.
std::optional<Monomial> Multiply(const Monomial& a, const Monomial& b) {
  Monomial product;
  product.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->first->key < j->first->key)) {
      product.push_back(*i++);
    } else if (i == a.end() || j->first->key < i->first->key) {
      product.push_back(*j++);
    } else {
      product.emplace_back(i->first, i->second + j->second);
      if (product.back().second > kMaxExponent) return std::nullopt;
      ++i;
      ++j;
    }
  }
  return product;
}

// a / b if b's powers are all in a.
std::optional<Monomial> Divide(const Monomial& a, const Monomial& b) {
  Monomial quotient;
  auto j = b.begin();
  for (const auto& [atom, exponent] : a) {
    int rest = exponent;
    if (j != b.end() && SameAtom(j->first, atom)) rest -= (j++)->second;
    if (rest < 0) return std::nullopt;
    if (rest > 0) quotient.emplace_back(atom, rest);
  }
  if (j != b.end()) return std::nullopt;
  return quotient;
}

Monomial CommonPowers(const Monomial& a, const Monomial& b) {
  Monomial common;
  for (const auto& [atom, exponent] : a) {
    for (const auto& [other, other_exponent] : b) {
      if (SameAtom(atom, other)) common.emplace_back(atom, std::min(exponent, other_exponent));
    }
  }
  return common;
}

// The greatest common divisor of all coefficients; 0 for the polynomial 0.
int64_t Content(const Polynomial& p) {
  int64_t g = 0;
  for (const auto& [m, k] : p) g = k == kSmallest ? 1 : std::gcd(g, k);
  return g;
}

}  // namespace

bool MonomialLess::operator()(const Monomial& a, const Monomial& b) const {
  const int degree_a = Degree(a);
  const int degree_b = Degree(b);
  if (degree_a != degree_b) return degree_a > degree_b;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].first != b[i].first) {
      if (const int order = a[i].first->key.compare(b[i].first->key); order != 0) return order < 0;
    }
    if (a[i].second != b[i].second) return a[i].second > b[i].second;
  }
  return a.size() < b.size();
}

bool AddTerm(Polynomial& p, const Monomial& m, int64_t k) {
  if (k == 0) return true;
  const auto [place, is_new] = p.try_emplace(m, k);
  if (is_new) return true;
  if (__builtin_add_overflow(place->second, k, &place->second)) return false;
  if (place->second == 0) p.erase(place);
  return true;
}

std::optional<Polynomial> Multiply(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const auto& [ma, ka] : a) {
    for (const auto& [mb, kb] : b) {
      int64_t k = 0;
      const std::optional<Monomial> m = Multiply(ma, mb);
      if (!m || __builtin_mul_overflow(ka, kb, &k) || !AddTerm(product, *m, k)) return std::nullopt;
      if (product.size() > kMaxProduct) return std::nullopt;
    }
  }
  return product;
}

bool IsNonNegative(const Polynomial& p) {
  return std::all_of(p.begin(), p.end(), [](const auto& term) {
    return term.second >= 0 && std::all_of(term.first.begin(), term.first.end(), [](const auto& power) {
             return power.second % 2 == 0 || power.first->non_negative;
           });
  });
}

// One leading term less a step.
std::optional<Polynomial> DivideExactly(Polynomial p, const Polynomial& q) {
  Polynomial quotient;
  const auto& [lead, lead_coefficient] = *q.begin();
  for (int step = 0; !p.empty() && step < 2 * Dim::kMaxTerms; ++step) {
    const auto& [m, k] = *p.begin();
    const std::optional<Monomial> ratio = Divide(m, lead);
    if (!ratio || k == kSmallest || k % lead_coefficient != 0) return std::nullopt;
    const int64_t factor = k / lead_coefficient;
    if (!AddTerm(quotient, *ratio, factor)) return std::nullopt;
    const std::optional<Polynomial> taken = Multiply(q, Polynomial{{*ratio, factor}});
    if (!taken) return std::nullopt;
    for (const auto& [tm, tk] : *taken) {
      if (tk == kSmallest || !AddTerm(p, tm, -tk)) return std::nullopt;
    }
  }
  if (!p.empty()) return std::nullopt;
  return quotient;
}

void CancelCommonFactor(Polynomial& p, Polynomial& q) {
  Monomial common = p.begin()->first;
  for (const Polynomial* side : {&p, &q}) {
    for (const auto& [m, k] : *side) common = CommonPowers(common, m);
  }
  const int64_t g = std::gcd(Content(p), Content(q));
  if (g <= 1 && common.empty()) return;
  for (Polynomial* side : {&p, &q}) {
    Polynomial reduced;
    for (const auto& [m, k] : *side) reduced.emplace(*Divide(m, common), g > 1 ? k / g : k);
    *side = std::move(reduced);
  }
}

}  // namespace simpred::polynomial
