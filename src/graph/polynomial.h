// Polynomials with integer coefficients over atoms: the arithmetic behind symbolic dimensions. Internal to Dim.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/shape.h"

namespace simpred::polynomial {

enum class Operation : uint8_t { kSymbol, kFloorDiv, kCeilDiv, kMod, kMin, kMax };

struct Atom {
  Operation operation = Operation::kSymbol;
  std::string symbol;
  Dim a, b;
  std::string key;  // tells atoms apart; symbols carry their length, so that no name can imitate an operation
  int depth = 0;
  int weight = 1;
  bool non_negative = true;
};
using AtomPtr = std::shared_ptr<const Atom>;

// Powers of atoms, sorted by key.
using Monomial = std::vector<std::pair<AtomPtr, int>>;

// Higher degrees first, the constant last: the order in which people write a polynomial.
struct MonomialLess {
  bool operator()(const Monomial& a, const Monomial& b) const;
};

using Polynomial = std::map<Monomial, int64_t, MonomialLess>;

// nullopt: an exponent or a coefficient grew too large.
std::optional<Polynomial> Multiply(const Polynomial& a, const Polynomial& b);
// Adds k * m; false if a coefficient overflows.
bool AddTerm(Polynomial& p, const Monomial& m, int64_t k);
// No term can be negative where no symbol is.
bool IsNonNegative(const Polynomial& p);
// p / q without remainder, by long division; nullopt if there is one.
std::optional<Polynomial> DivideExactly(Polynomial p, const Polynomial& q);
// Takes out of both what divides both: (6*N*M) / (4*N) -> (3*M) / 2.
void CancelCommonFactor(Polynomial& p, Polynomial& q);

}  // namespace simpred::polynomial
