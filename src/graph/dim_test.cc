#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "base/random.h"
#include "graph/shape.h"

namespace simpred {
namespace {

const Dim n = Dim::Symbol("N");
const Dim m = Dim::Symbol("M");

TEST(DimTest, PolynomialsAreNormalised) {
  EXPECT_EQ(((n + 5) * 2).ToString(), "2*N + 10");
  EXPECT_EQ((n - n).known(), 0);
  EXPECT_EQ((n * 3 - n - n - n).known(), 0);
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_EQ(((n + m) * (n - m)).ToString(), "-M^2 + N^2");
  EXPECT_EQ((Dim(3) - n).ToString(), "-N + 3");
  EXPECT_EQ((n - 3).ToString(), "N - 3");
  EXPECT_EQ(((n + 5) * 2).Bind({{"N", 3}}).known(), 16);
}

TEST(DimTest, ExactDivisionCancels) {
  EXPECT_EQ(FloorDiv(n * 4, 2), n * 2);
  EXPECT_EQ(CeilDiv(n * 4, 2), n * 2);
  EXPECT_EQ(FloorDiv(n * m, n), m);
  EXPECT_EQ(FloorDiv(n * 2 + 10, n + 5).known(), 2);
  EXPECT_EQ(FloorDiv(n * m * 768, n * m * 12).known(), 64);
  EXPECT_EQ(FloorDiv(n * 768, n * 512).known(), 1);
  EXPECT_EQ(FloorDiv(n * n - m * m, n - m), n + m);
  EXPECT_EQ(FloorDiv(n, n).known(), 1);
  EXPECT_EQ(Mod(n * 6, 3).known(), 0);
  EXPECT_EQ(Mod(n * 6 + 5, 3).known(), 2);
}

TEST(DimTest, DivisionTakesOutWhatItCan) {
  EXPECT_EQ(FloorDiv(n * 4 + 5, 2), n * 2 + 2);
  EXPECT_EQ(FloorDiv(n + 5, 2), FloorDiv(n + 1, 2) + 2);
  EXPECT_EQ(FloorDiv(n * 2 + 5, 6), FloorDiv(n + 2, 3));
  EXPECT_EQ(FloorDiv(FloorDiv(n, 2), 2), FloorDiv(n, 4));
  EXPECT_EQ(FloorDiv(n - 1, 2) + 1, CeilDiv(n, 2)) << "a strided convolution with and without ceil mode";
  EXPECT_EQ(FloorDiv(n, 2).ToString(), "floor(N/2)");
  EXPECT_EQ(FloorDiv(n + 1, m).ToString(), "floor((N + 1)/M)");
}

TEST(DimTest, MinAndMaxUseWhatIsKnown) {
  EXPECT_EQ(Max(n, 0), n) << "a dimension is not negative";
  EXPECT_EQ(Min(n, n + 2), n);
  EXPECT_EQ(Max(n + m, m), n + m);
  EXPECT_EQ(Min(n, m), Min(m, n));
  EXPECT_EQ(Min(n, m).ToString(), "min(M, N)");
  EXPECT_EQ(Max(FloorDiv(n, 2), 0), FloorDiv(n, 2));
  EXPECT_TRUE(Min(n, 7).is_symbolic());
}

TEST(DimTest, UnknownStaysUnknown) {
  const Dim unknown;
  EXPECT_TRUE((unknown + 1).is_unknown());
  EXPECT_TRUE((n * unknown).is_unknown());
  EXPECT_TRUE(FloorDiv(n, 0).is_unknown());
  EXPECT_TRUE(CeilDiv(5, 0).is_unknown());
  EXPECT_TRUE(Mod(n, 0).is_unknown());
  EXPECT_FALSE(unknown == unknown);
  EXPECT_EQ(unknown.ToString(), "?");
  EXPECT_TRUE(FloorDiv(n, m).Bind({{"M", 0}}).is_unknown());
}

TEST(DimTest, NumbersSaturate) {
  const Dim most(INT64_MAX);
  EXPECT_EQ((most + 1).known(), INT64_MAX);
  EXPECT_EQ((most * 2).known(), INT64_MAX);
  EXPECT_EQ((most * -2).known(), INT64_MIN);
  EXPECT_EQ((Dim(INT64_MIN) - 1).known(), INT64_MIN);
  EXPECT_EQ(FloorDiv(INT64_MIN, -1).known(), INT64_MAX);
  EXPECT_EQ(Mod(INT64_MIN, -1).known(), 0);
  EXPECT_TRUE((most * 2).IsHuge());
  EXPECT_FALSE(Dim(5).IsHuge());
  EXPECT_TRUE((n * INT64_MAX * 2).is_unknown()) << "a wrong coefficient would not cancel";
}

TEST(DimTest, ANameCannotImitateAnExpression) {
  EXPECT_FALSE(Dim::Symbol("N + 5") == n + 5);
  EXPECT_FALSE(Dim::Symbol("floor(N/2)") == FloorDiv(n, 2));
  std::set<std::string> symbols;
  (FloorDiv(n * m, 7) + Dim::Symbol("")).CollectSymbols(symbols);
  EXPECT_EQ(symbols, (std::set<std::string>{"", "M", "N"}));
}

TEST(DimTest, FloorsAndRemaindersOfNegatives) {
  EXPECT_EQ(FloorDiv(-7, 2).known(), -4);
  EXPECT_EQ(CeilDiv(-7, 2).known(), -3);
  EXPECT_EQ(Mod(-7, 2).known(), 1);
  EXPECT_EQ(Mod(7, -2).known(), -1);
}

// A random expression and what it is worth in plain integers; nothing where something divides by zero.
struct Pair {
  Dim dim;
  std::function<std::optional<int64_t>(const SymbolBindings&)> plain;
};

int64_t Floor(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

Pair RandomExpression(Random& random, int depth) {
  if (depth == 0 || random.Int(0, 5) == 0) {
    if (random.Int(0, 1) == 0) {
      const int64_t k = random.Int(-6, 9);
      return {Dim(k), [k](const SymbolBindings&) { return std::optional(k); }};
    }
    const std::string name(1, static_cast<char>('a' + random.Int(0, 2)));
    return {Dim::Symbol(name), [name](const SymbolBindings& b) { return std::optional(b.at(name)); }};
  }
  const Pair x = RandomExpression(random, depth - 1);
  const Pair y = RandomExpression(random, depth - 1);
  const auto make = [&x, &y](const Dim& dim, std::function<std::optional<int64_t>(int64_t, int64_t)> f) {
    return Pair{dim, [x, y, f](const SymbolBindings& b) -> std::optional<int64_t> {
                  const auto p = x.plain(b);
                  const auto q = y.plain(b);
                  return p && q ? f(*p, *q) : std::nullopt;
                }};
  };
  switch (random.Int(0, 7)) {
    case 0:
    case 1:
      return make(x.dim + y.dim, [](int64_t p, int64_t q) { return p + q; });
    case 2:
      return make(x.dim - y.dim, [](int64_t p, int64_t q) { return p - q; });
    case 3:
      return make(x.dim * y.dim, [](int64_t p, int64_t q) { return p * q; });
    case 4:
      return make(FloorDiv(x.dim, y.dim), [](int64_t p, int64_t q) -> std::optional<int64_t> {
        return q == 0 ? std::nullopt : std::optional(Floor(p, q));
      });
    case 5:
      return make(CeilDiv(x.dim, y.dim), [](int64_t p, int64_t q) -> std::optional<int64_t> {
        return q == 0 ? std::nullopt : std::optional(-Floor(-p, q));
      });
    case 6:
      return make(Mod(x.dim, y.dim), [](int64_t p, int64_t q) -> std::optional<int64_t> {
        return q == 0 ? std::nullopt : std::optional(p - q * Floor(p, q));
      });
    default:
      return random.Int(0, 1) == 0 ? make(Min(x.dim, y.dim), [](int64_t p, int64_t q) { return std::min(p, q); })
                                   : make(Max(x.dim, y.dim), [](int64_t p, int64_t q) { return std::max(p, q); });
  }
}

TEST(DimPropertyTest, SimplifiedExpressionsAreWorthWhatPlainArithmeticSays) {
  Random random(7);
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    const Pair pair = RandomExpression(random, static_cast<int>(random.Int(1, 4)));
    if (pair.dim.is_unknown()) continue;  // too many terms, or a division by zero: allowed
    for (int j = 0; j < 8; ++j) {
      const SymbolBindings all = {{"a", random.Int(0, 12)}, {"b", random.Int(0, 12)}, {"c", random.Int(0, 40)}};
      const std::optional<int64_t> expected = pair.plain(all);
      if (!expected) continue;
      const Dim once = pair.dim.Bind(all);
      if (once.is_unknown()) continue;  // an intermediate value that cancels divides by zero
      ASSERT_EQ(once.known(), *expected) << pair.dim.ToString();
      const Dim twice = pair.dim.Bind({{"b", all.at("b")}}).Bind(all);
      ASSERT_EQ(twice.is_unknown() ? *expected : twice.value(), *expected) << pair.dim.ToString();
      ++compared;
    }
  }
  EXPECT_GT(compared, 15000);
}

TEST(DimPropertyTest, RingLaws) {
  Random random(8);
  for (int i = 0; i < 500; ++i) {
    const Dim x = RandomExpression(random, 2).dim;
    const Dim y = RandomExpression(random, 2).dim;
    const Dim z = RandomExpression(random, 2).dim;
    if (x.is_unknown() || y.is_unknown() || z.is_unknown()) continue;
    EXPECT_EQ(x + y, y + x);
    EXPECT_EQ(x * y, y * x);
    EXPECT_EQ((x + y) + z, x + (y + z));
    EXPECT_EQ(x * (y + z), x * y + x * z);
    EXPECT_EQ((x - x).known(), 0);
  }
}

TEST(DimTest, HostileGrowthEndsInUnknown) {
  const auto start = std::chrono::steady_clock::now();
  Dim wide(1);
  for (int i = 0; i < 1000; ++i) wide = wide * (Dim::Symbol(fmt::format("s{}", i)) + 1);
  EXPECT_TRUE(wide.is_unknown());
  Dim deep = n;
  for (int i = 0; i < 100000; ++i) deep = Max(FloorDiv(deep * 3 + 1, m), m);
  EXPECT_TRUE(deep.is_unknown());
  Dim doubled = n;
  for (int i = 0; i < 1000; ++i) doubled = Min(doubled, Mod(doubled, m)) * doubled;
  EXPECT_TRUE(doubled.is_unknown());
  EXPECT_TRUE((Dim::Symbol(std::string(size_t{1} << 20, 'x')) + 1).is_unknown());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace simpred
