// Does shape arithmetic compute what ONNX says, on numbers and on symbols?
#include "operators/value_rules.h"

#include <gtest/gtest.h>

#include "frontend/onnx/model_builder.h"
#include "frontend/onnx/onnx.h"
#include "operators/infer.h"

namespace simpred {
namespace {

using Ints = ModelBuilder::Ints;

// The elements of the only output after inference: "2*N, 3"; "unknown" if there are none.
std::string Elements(const ModelBuilder& b) {
  Result<Model> m = ReadOnnxBytes(b.Serialize());
  EXPECT_TRUE(m.ok()) << m.status().ToString();
  Result<InferReport> r = InferShapes(*m, {});
  EXPECT_TRUE(r.ok()) << r.status().ToString();
  const auto v = m->graph.value(m->graph.outputs[0]).constant;
  if (!v) return "unknown";
  std::string text;
  for (const Dim& d : v->ints) text += (text.empty() ? "" : ", ") + d.ToString();
  for (double f : v->floats) text += (text.empty() ? "" : ", ") + std::to_string(f);
  return text;
}

struct Binary {
  const char* op;
  Ints a, b;
  const char* expected;
};

TEST(ValueRules, IntegerArithmetic) {
  for (const Binary& c : {Binary{"Add", {1, 2}, {10}, "11, 12"},
                          {"Sub", {1, 2}, {10}, "-9, -8"},
                          {"Mul", {3, -2}, {4}, "12, -8"},
                          {"Div", {7, -7}, {2}, "3, -3"},  // towards zero
                          {"Mod", {7, -7}, {3}, "1, 2"},   // sign of the divisor
                          {"Min", {7, -7}, {3}, "3, -7"},
                          {"Max", {7, -7}, {3}, "7, 3"},
                          {"Equal", {7, 3}, {3}, "0, 1"},
                          {"Less", {7, 3}, {7}, "0, 1"},
                          {"GreaterOrEqual", {7, 3}, {7}, "1, 0"},
                          {"Div", {7}, {0}, "unknown"}}) {
    ModelBuilder b(17);
    b.Output(b.Op(c.op, {b.ConstantInts(c.a), b.ConstantInts(c.b)}));
    EXPECT_EQ(Elements(b), c.expected) << c.op;
  }
}

// One symbolic number N, as a vector of one element.
struct WithSymbol {
  ModelBuilder b{17};
  std::string n;
  WithSymbol() {
    const auto x = b.Input("x", DataType::kFloat32, {"N", int64_t{3}});
    n = b.Op("Gather", {b.Op("Shape", {x}), b.ConstantInts({0})});
  }
  std::string Of(const char* op, int64_t right) {
    b.Output(b.Op(op, {n, b.ConstantInts({right})}));
    return Elements(b);
  }
};

TEST(ValueRules, SymbolsFlow) {
  EXPECT_EQ(WithSymbol().Of("Mul", 2), "2*N");
  EXPECT_EQ(WithSymbol().Of("Add", 5), "N + 5");
  EXPECT_EQ(WithSymbol().Of("Equal", -1), "0");  // a size is not negative
  EXPECT_EQ(WithSymbol().Of("Greater", -1), "1");
  EXPECT_EQ(WithSymbol().Of("Equal", 4), "unknown");
}

TEST(ValueRules, WherePicksAndUnknownConditionsAgree) {
  WithSymbol w;  // the way in which exporters write Expand: Where(shape == -1, ones, shape)
  const auto shape = w.b.Op("Concat", {w.n, w.b.ConstantInts({-1, 7})}, {{"axis", int64_t{0}}});
  const auto minus = w.b.Op("Equal", {shape, w.b.ConstantInts({-1})});
  w.b.Output(w.b.Op("Where", {minus, w.b.ConstantInts({1, 1, 1}), shape}));
  EXPECT_EQ(Elements(w.b), "N, 1, 7");
}

TEST(ValueRules, BroadcastsRows) {
  ModelBuilder b(17);
  b.Output(b.Op("Add", {b.ConstantInts({1, 2, 3}, {1, 3}), b.ConstantInts({10, 20}, {2, 1})}));
  EXPECT_EQ(Elements(b), "11, 12, 13, 21, 22, 23");
}

TEST(ValueRules, FloatsRoundAsSinglePrecision) {
  ModelBuilder b(17);
  const auto product = b.Op("Mul", {b.ConstantFloats({0.1F}, {1}), b.ConstantFloats({10}, {1})});
  b.Output(b.Op("Cast", {b.Op("Floor", {product})}, {{"to", int64_t{7}}}));
  EXPECT_EQ(Elements(b), "1");
}

TEST(ValueRules, Reduces) {
  for (const auto& [op, expected] : {std::pair{"ReduceProd", "24"}, {"ReduceSum", "9"}, {"ReduceMax", "4"}}) {
    ModelBuilder b(13);
    b.Output(b.Op(op, {b.ConstantInts({2, 3, 4})}, {{"keepdims", int64_t{0}}}));
    EXPECT_EQ(Elements(b), expected) << op;
  }
}

TEST(ValueRules, MovesElements) {
  const auto elements = [](auto make) {
    ModelBuilder b(17);
    b.Output(make(b));
    return Elements(b);
  };
  const Ints grid = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(elements([&](ModelBuilder& b) {
              return b.Op("Transpose", {b.ConstantInts(grid, {2, 3})});
            }),
            "1, 4, 2, 5, 3, 6");
  EXPECT_EQ(elements([&](ModelBuilder& b) {
              return b.Op("Slice", {b.ConstantInts(grid), b.ConstantInts({-1}), b.ConstantInts({-100}),
                                    b.ConstantInts({0}), b.ConstantInts({-2})});
            }),
            "6, 4, 2");
  EXPECT_EQ(elements([&](ModelBuilder& b) {
              return b.Op("Gather", {b.ConstantInts(grid, {2, 3}), b.ConstantInts({-1, 0})}, {{"axis", int64_t{1}}});
            }),
            "3, 1, 6, 4");
  EXPECT_EQ(
      elements([&](ModelBuilder& b) {
        return b.Op("Concat", {b.ConstantInts(grid, {2, 3}), b.ConstantInts({8, 9}, {2, 1})}, {{"axis", int64_t{1}}});
      }),
      "1, 2, 3, 8, 4, 5, 6, 9");
  EXPECT_EQ(elements([&](ModelBuilder& b) {
              return b.Op("Tile", {b.ConstantInts({1, 2}), b.ConstantInts({2})});
            }),
            "1, 2, 1, 2");
  EXPECT_EQ(elements([&](ModelBuilder& b) { return b.OpN("Split", {b.ConstantInts(grid)}, 2)[1]; }), "4, 5, 6");
  EXPECT_EQ(elements([&](ModelBuilder& b) {
              return b.Op("Range", {b.ConstantInts({5}, {}), b.ConstantInts({0}, {}), b.ConstantInts({-2}, {})});
            }),
            "5, 3, 1");
}

TEST(ValueRules, LargeResultsAreNotComputed) {
  ModelBuilder b(17);
  b.Output(b.Op("ConstantOfShape", {b.ConstantInts({1 << 20, 1 << 20})}));
  EXPECT_EQ(Elements(b), "unknown");
}

}  // namespace
}  // namespace simpred
