// Rules that make one kernel of a pattern, at the basic level.
#include "fusion/rule_case.h"

namespace simpred {
namespace {

std::string BatchNorm(ModelBuilder& b, const std::string& x, int64_t channels) {
  return b.Op("BatchNormalization",
              {x, b.Weight({channels}), b.Weight({channels}), b.Weight({channels}), b.Weight({channels})});
}

std::string Gelu(ModelBuilder& b, const std::string& x, float divisor) {
  const auto erf = b.Op("Erf", {b.Op("Div", {x, Scalar(b, divisor)})});
  return b.Op("Mul", {b.Op("Mul", {x, b.Op("Add", {erf, Scalar(b, 1)})}), Scalar(b, 0.5F)});
}

std::string LayerNorm(ModelBuilder& b, const std::string& x, int64_t axis) {
  const auto sub = b.Op("Sub", {x, b.Op("ReduceMean", {x}, {{"axes", Ints{axis}}})});
  const auto variance = b.Op("ReduceMean", {b.Op("Pow", {sub, Scalar(b, 2)})}, {{"axes", Ints{axis}}});
  const auto deviation = b.Op("Sqrt", {b.Op("Add", {variance, Scalar(b, 1e-5F)})});
  return b.Op("Add", {b.Op("Mul", {b.Op("Div", {sub, deviation}), b.Weight({8})}), b.Weight({8})});
}

}  // namespace

std::vector<RuleCase> BasicPatternRuleCases() {
  constexpr auto kBasic = FusionLevel::kBasic;
  return {
      {"gemm-sum", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Sum", {b.Op("Gemm", {Matrix(b), b.Weight({8, 8})}),
                               b.Input("c", DataType::kFloat32, {int64_t{4}, int64_t{8}})}));
       },
       "Gemm",
       [](ModelBuilder& b) {
         b.Output(b.Op("Sum", {b.Op("Gemm", {Matrix(b), b.Weight({8, 8})}), b.Weight({1, 8})}));
       },
       "Gemm Sum"},
      {"gemm-transpose", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Gemm", {b.Op("Transpose", {Matrix(b)}), b.Weight({4, 8})}));
       },
       "Gemm",
       [](ModelBuilder& b) {
         b.Output(b.Op("Gemm", {b.Op("Relu", {b.Op("Abs", {Matrix(b, 8, 4)})}), b.Weight({4, 8})}));
       },
       "Abs Gemm Relu"},
      {"conv-add", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Add", {Conv(b, Image(b)), b.Weight({5, 1, 1})}));
       },
       "Conv",
       [](ModelBuilder& b) {
         b.Output(b.Op("Add", {Conv(b, Image(b)), b.Weight({1, 1, 16})}));
       },
       "Add Conv"},
      {"conv-mul", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Mul", {Conv(b, Image(b)), b.Weight({5, 1, 1})}));
       },
       "Conv",
       [](ModelBuilder& b) {
         b.Output(b.Op("Mul", {Conv(b, Image(b)), b.Weight({1, 1, 16})}));
       },
       "Conv Mul"},
      {"conv-bn", kBasic, [](ModelBuilder& b) { b.Output(BatchNorm(b, Conv(b, Image(b)), 5)); }, "Conv",
       [](ModelBuilder& b) { b.Output(BatchNorm(b, b.Op("Relu", {Conv(b, Image(b))}), 5)); },
       "BatchNormalization Conv Relu"},
      {"pad", kBasic,
       [](ModelBuilder& b) {
         b.Output(Conv(b, b.Op("Pad", {Image(b), b.ConstantInts({0, 0, 1, 1, 0, 0, 1, 1})})));
       },
       "Conv",
       [](ModelBuilder& b) {
         b.Output(Conv(b, b.Op("Pad", {Image(b), b.ConstantInts({0, 0, 1, 1, 0, 0, 1, 1})}, {{"mode", "reflect"}})));
       },
       "Conv Pad"},
      {"matmul-bn", kBasic,
       [](ModelBuilder& b) {
         b.Output(BatchNorm(b, b.Op("MatMul", {Matrix(b), b.Weight({8, 5})}), 5));
       },
       "Gemm",
       [](ModelBuilder& b) {
         b.Output(BatchNorm(b, b.Op("Relu", {b.Op("MatMul", {Matrix(b), b.Weight({8, 5})})}), 5));
       },
       "BatchNormalization MatMul Relu"},
      {"matmul-add", kBasic,
       [](ModelBuilder& b) {
         b.Output(b.Op("Add", {b.Op("MatMul", {Tokens(b), b.Weight({8, 16})}), b.Weight({16})}));
       },
       "Gemm Reshape*2",
       [](ModelBuilder& b) {
         b.Output(b.Op("Add", {b.Op("MatMul", {Tokens(b), b.Weight({8, 16})}), b.Weight({4, 16})}));
       },
       "Add MatMul"},
      {"gelu", kBasic, [](ModelBuilder& b) { b.Output(Gelu(b, Matrix(b), 1.41421356F)); }, "Gelu",
       [](ModelBuilder& b) { b.Output(Gelu(b, Matrix(b), 1.5F)); }, "Add Div Erf Mul*2", 20},
      {"gelu", FusionLevel::kExtended, [](ModelBuilder& b) { b.Output(Gelu(b, Matrix(b), 1.41421356F)); },
       "com.microsoft.Gelu", [](ModelBuilder& b) { b.Output(Gelu(b, Matrix(b), 1.5F)); }, "Add Div Erf Mul*2", 17},
      {"layer-norm", kBasic, [](ModelBuilder& b) { b.Output(LayerNorm(b, Tokens(b), -1)); }, "LayerNormalization",
       [](ModelBuilder& b) { b.Output(LayerNorm(b, Tokens(b), 1)); }, "Add*2 Div Mul Pow ReduceMean*2 Sqrt Sub"},
  };
}

}  // namespace simpred
