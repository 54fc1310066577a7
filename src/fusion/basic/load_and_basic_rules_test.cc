// Rules that drop, fold or merge single nodes.
#include "fusion/rule_case.h"

namespace simpred {
namespace {

constexpr int64_t kOnnxFloat = 1, kOnnxInt64 = 7;

std::string CastTo(ModelBuilder& b, const std::string& x, int64_t to) { return b.Op("Cast", {x}, {{"to", to}}); }

// x[1, 3, 16, 16] -> Slice of axis 2
std::string SliceRows(ModelBuilder& b, const std::string& x, int64_t start, int64_t end) {
  return b.Op("Slice", {x, b.ConstantInts({start}), b.ConstantInts({end}), b.ConstantInts({2})});
}

}  // namespace

std::vector<RuleCase> LoadAndBasicRuleCases() {
  constexpr auto kOff = FusionLevel::kOff, kBasic = FusionLevel::kBasic;
  return {
      {"cast-like", kOff,
       [](ModelBuilder& b) {
         b.Output(b.Op("CastLike", {b.Input("i", DataType::kInt64, {int64_t{4}}), Matrix(b)}));
       },
       "Cast",  //
       [](ModelBuilder& b) { b.Output(CastTo(b, b.Input("i", DataType::kInt64, {int64_t{4}}), kOnnxFloat)); }, "Cast"},
      {"duplicate-casts", kBasic, [](ModelBuilder& b) { b.Output(b.Op("Relu", {CastTo(b, Matrix(b), kOnnxFloat)})); },
       "Relu",
       [](ModelBuilder& b) {
         b.Output(b.Op("Relu", {CastTo(b, b.Input("i", DataType::kInt64, {int64_t{4}}), kOnnxFloat)}));
       },
       "Cast Relu"},
      {"hard-swish-definition", kOff, [](ModelBuilder& b) { b.Output(b.Op("HardSwish", {Matrix(b)})); },
       "HardSigmoid Mul", [](ModelBuilder& b) { b.Output(b.Op("HardSigmoid", {Matrix(b)})); }, "HardSigmoid"},
      {"identity-elimination", kBasic, [](ModelBuilder& b) { b.Output(b.Op("Relu", {b.Op("Identity", {Matrix(b)})})); },
       "Relu", [](ModelBuilder& b) { b.Output(b.Op("Identity", {Matrix(b)})); }, "Identity"},
      {"slice-elimination", kBasic,
       [](ModelBuilder& b) { b.Output(b.Op("Relu", {SliceRows(b, Image(b), 0, INT64_MAX)})); }, "Relu",
       [](ModelBuilder& b) { b.Output(b.Op("Relu", {SliceRows(b, Image(b), 1, INT64_MAX)})); }, "Relu Slice"},
      {"dropout-elimination", kBasic, [](ModelBuilder& b) { b.Output(b.Op("Relu", {b.Op("Dropout", {Matrix(b)})})); },
       "Relu",
       [](ModelBuilder& b) {
         const auto both = b.OpN("Dropout", {Matrix(b)}, 2);
         b.Output(b.Op("Relu", {both[0]}));
         b.Output(both[1], DataType::kBool, {int64_t{4}, int64_t{8}});
       },
       "Dropout Relu"},
      {"expand-elimination", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Relu", {b.Op("Expand", {Matrix(b), b.ConstantInts({4, 8})})}));
       },
       "Relu",
       [](ModelBuilder& b) {
         b.Output(b.Op("Relu", {b.Op("Expand", {Matrix(b), b.ConstantInts({2, 4, 8})})}));
       },
       "Expand Relu"},
      {"pre-shape-elimination", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Shape", {CastTo(b, b.Input("x", DataType::kFloat32, {int64_t{4}}), kOnnxInt64)}),
                  DataType::kInt64, {int64_t{1}});
       },
       "",
       [](ModelBuilder& b) {
         const auto cast = CastTo(b, Matrix(b), kOnnxInt64);
         b.Output(b.Op("Shape", {cast}), DataType::kInt64, {int64_t{2}});
         b.Output(b.Op("Neg", {cast}), DataType::kInt64, {int64_t{4}, int64_t{8}});
       },
       "Cast Neg"},
      {"noop-elimination", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Relu", {b.Op("Mul", {Matrix(b), Scalar(b, 1)})}));
       },
       "Relu",
       [](ModelBuilder& b) {
         b.Output(b.Op("Relu", {b.Op("Mul", {Matrix(b), Scalar(b, 2)})}));
       },
       "Mul Relu"},
      {"div-mul", kBasic,
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(b.Op("Mul", {b.Op("Div", {Scalar(b, 1), x}), b.Op("Relu", {x})}));
       },
       "Div Relu",
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(b.Op("Mul", {b.Op("Div", {Scalar(b, 2), x}), b.Op("Relu", {x})}));
       },
       "Div Mul Relu"},
      {"relu-clip", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Clip", {b.Op("Relu", {Matrix(b)}), Scalar(b, -1), Scalar(b, 6)}));
       },
       "Clip",
       [](ModelBuilder& b) {
         const auto y = b.Op("Relu", {Matrix(b)});
         b.Output(y);
         b.Output(b.Op("Clip", {y, Scalar(b, 0), Scalar(b, 6)}));
       },
       "Clip Relu"},
      {"not-where", kBasic,
       [](ModelBuilder& b) {
         const auto c = b.Input("c", DataType::kBool, {int64_t{4}, int64_t{8}});
         b.Output(b.Op("Where", {b.Op("Not", {c}), Matrix(b), Scalar(b, 0)}));
       },
       "Where",
       [](ModelBuilder& b) {
         const auto c = b.Op("Not", {b.Input("c", DataType::kBool, {int64_t{4}, int64_t{8}})});
         b.Output(b.Op("Where", {c, Matrix(b), Scalar(b, 0)}));
         b.Output(c, DataType::kBool, {int64_t{4}, int64_t{8}});
       },
       "Not Where"},
      {"common-subexpressions", kBasic,
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(b.Op("Add", {b.Op("Tanh", {x}), b.Op("Neg", {b.Op("Tanh", {x})})}));
       },
       "Add Neg Tanh",
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(b.Op("Add", {b.Op("Tanh", {x}), b.Op("Neg", {b.Op("Sigmoid", {x})})}));
       },
       "Add Neg Sigmoid Tanh"},
      {"constant-folding", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Mul", {Matrix(b), b.Op("Sqrt", {b.Weight({8})})}));
       },
       "Mul",
       [](ModelBuilder& b) {
         b.Output(b.Op("Mul", {Matrix(b), b.Op("RandomUniform", {}, {{"shape", Ints{8}}})}));
       },
       "Mul RandomUniform"},
      {"reshape", kBasic,
       [](ModelBuilder& b) {
         const auto y = b.Op("Reshape", {Matrix(b), b.ConstantInts({2, 16})});
         b.Output(b.Op("Relu", {b.Op("Reshape", {y, b.ConstantInts({32})})}));
       },
       "Relu Reshape",
       [](ModelBuilder& b) {
         const auto y = b.Op("Reshape", {Matrix(b), b.ConstantInts({2, 16})});
         b.Output(b.Op("Reshape", {y, b.ConstantInts({32})}));
         b.Output(b.Op("Relu", {y}));
       },
       "Relu Reshape*2"},
  };
}

}  // namespace simpred
