// Rules of the extended level.
#include "fusion/rule_case.h"

namespace simpred {
namespace {

std::string Gemm(ModelBuilder& b) { return b.Op("Gemm", {Matrix(b), b.Weight({8, 8}), b.Weight({8})}); }

std::string RmsNorm(ModelBuilder& b, const std::string& x, float power, int64_t axis) {
  const auto mean = b.Op("ReduceMean", {b.Op("Pow", {x, Scalar(b, power)})}, {{"axes", Ints{axis}}});
  const auto root = b.Op("Sqrt", {b.Op("Add", {mean, Scalar(b, 1e-5F)})});
  return b.Op("Mul", {b.Op("Div", {x, root}), b.Weight({8})});
}

std::string TanhGelu(ModelBuilder& b, const std::string& x, float cubic) {
  const auto cube = b.Op("Mul", {b.Op("Pow", {x, Scalar(b, 3)}), Scalar(b, cubic)});
  const auto inner = b.Op("Mul", {b.Op("Add", {x, cube}), Scalar(b, 0.7978845834732056F)});
  const auto sum = b.Op("Add", {b.Op("Tanh", {inner}), Scalar(b, 1)});
  return b.Op("Mul", {b.Op("Mul", {x, Scalar(b, 0.5F)}), sum});
}

// DynamicQuantizeLinear -> MatMulInteger -> Cast -> Mul of the scales; `quantize_twice`: x's quantised form has another
// reader.
void Quantized(ModelBuilder& b, bool with_scales, bool read_twice) {
  const auto q = b.OpN("DynamicQuantizeLinear", {Matrix(b)}, 3);
  const auto w = b.Weight({8, 8}, 0, DataType::kInt8);
  const auto product = b.Op("MatMulInteger", {q[0], w, q[2]});
  const auto cast = b.Op("Cast", {product}, {{"to", int64_t{1}}});
  const auto scale = with_scales ? b.Op("Mul", {q[1], Scalar(b, 0.1F)}) : q[1];
  b.Output(b.Op("Mul", {cast, scale}));
  if (read_twice) b.Output(q[0], DataType::kUInt8, {int64_t{4}, int64_t{8}});
}

std::string Part(ModelBuilder& b, const std::string& x, int64_t start, int64_t end) {
  return b.Op("Slice", {x, b.ConstantInts({start}), b.ConstantInts({end}), b.ConstantInts({1})});
}

// Rows 0 to `end` of a matrix; the output's declared shape makes it static.
void GatherRange(ModelBuilder& b, const std::string& end) {
  const auto range = b.Op("Range", {b.ConstantInts({0}, {}), end, b.ConstantInts({1}, {})});
  b.Output(b.Op("Gather", {Matrix(b), range}), DataType::kFloat32, {int64_t{3}, int64_t{8}});
}

std::string BatchedProduct(ModelBuilder& b, const Ints& perm) {
  const auto x = b.Input("x", DataType::kFloat32, {int64_t{2}, int64_t{4}, int64_t{8}});
  const auto y = b.Input("y", DataType::kFloat32, {int64_t{2}, int64_t{4}, int64_t{8}});
  return b.Op("MatMul", {x, b.Op("Transpose", {y}, {{"perm", perm}})});
}

}  // namespace

std::vector<RuleCase> ExtendedRuleCases() {
  constexpr auto kExtended = FusionLevel::kExtended;
  return {
      {"gemm-activation", kExtended, [](ModelBuilder& b) { b.Output(b.Op("Relu", {Gemm(b)})); },
       "com.microsoft.FusedGemm", [](ModelBuilder& b) { b.Output(b.Op("Abs", {Gemm(b)})); }, "Abs Gemm"},
      {"conv-activation", kExtended, [](ModelBuilder& b) { b.Output(b.Op("Relu", {Conv(b, Image(b))})); },
       "com.microsoft.FusedConv", [](ModelBuilder& b) { b.Output(b.Op("Abs", {Conv(b, Image(b))})); }, "Abs Conv"},
      {"matmul-integer-to-float", kExtended, [](ModelBuilder& b) { Quantized(b, true, true); },
       "DynamicQuantizeLinear com.microsoft.MatMulIntegerToFloat", [](ModelBuilder& b) { Quantized(b, false, true); },
       "Cast DynamicQuantizeLinear MatMulInteger Mul"},
      {"dynamic-quantize-matmul", kExtended, [](ModelBuilder& b) { Quantized(b, true, false); },
       "com.microsoft.DynamicQuantizeMatMul", [](ModelBuilder& b) { Quantized(b, true, true); },
       "DynamicQuantizeLinear com.microsoft.MatMulIntegerToFloat"},
      {"simplified-layer-norm", kExtended, [](ModelBuilder& b) { b.Output(RmsNorm(b, Tokens(b), 2, -1)); },
       "SimplifiedLayerNormalization", [](ModelBuilder& b) { b.Output(RmsNorm(b, Tokens(b), 2, 1)); },
       "Add Div Mul Pow ReduceMean Sqrt"},
      {"simplified-layer-norm", kExtended, [](ModelBuilder& b) { b.Output(RmsNorm(b, Tokens(b), 2, -1)); },
       "SimplifiedLayerNormalization", [](ModelBuilder& b) { b.Output(RmsNorm(b, Tokens(b), 3, -1)); },
       "Add Div Mul Pow ReduceMean Sqrt"},
      {"gather-slice-to-split", kExtended,
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(Part(b, x, 0, 3));
         b.Output(Part(b, x, 3, 8));
       },
       "Split",
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(Part(b, x, 0, 3));
         b.Output(Part(b, x, 4, 8));
       },
       "Slice*2"},
      {"range-gather", kExtended, [](ModelBuilder& b) { GatherRange(b, b.Input("n", DataType::kInt64, {})); },
       "Slice Unsqueeze*3", [](ModelBuilder& b) { GatherRange(b, b.ConstantInts({3}, {})); }, "Gather"},
      {"matmul-transpose", kExtended,
       [](ModelBuilder& b) {
         b.Output(BatchedProduct(b, {0, 2, 1}));
       },
       "com.microsoft.FusedMatMul",
       [](ModelBuilder& b) {
         const auto x = b.Input("x", DataType::kFloat32, {int64_t{2}, int64_t{8}, int64_t{4}});
         const auto y = b.Input("y", DataType::kFloat32, {int64_t{4}, int64_t{8}, int64_t{2}});
         b.Output(b.Op("MatMul", {x, b.Op("Transpose", {y}, {{"perm", Ints{2, 0, 1}}})}));
       },
       "MatMul Transpose"},
      {"bias-gelu", kExtended,
       [](ModelBuilder& b) {
         b.Output(b.Op("Gelu", {b.Op("Add", {Tokens(b), b.Weight({8})})}));
       },
       "com.microsoft.BiasGelu",
       [](ModelBuilder& b) {
         b.Output(b.Op("Gelu", {b.Op("Add", {Tokens(b), b.Weight({4, 8})})}));
       },
       "Add Gelu", 20},
      {"skip-layer-norm", kExtended,
       [](ModelBuilder& b) {
         const auto x = Tokens(b);
         const auto sum = b.Op("Add", {x, b.Op("Tanh", {x})});
         b.Output(b.Op("LayerNormalization", {sum, b.Weight({8}), b.Weight({8})}));
       },
       "Tanh com.microsoft.SkipLayerNormalization",
       [](ModelBuilder& b) {
         const auto x = Tokens(b);
         const auto sum = b.Op("Add", {x, b.Op("Tanh", {x})});
         b.Output(b.Op("LayerNormalization", {sum, b.Weight({8}), b.Weight({8})}));
         b.Output(sum);
       },
       "Add LayerNormalization Tanh"},
      {"fast-gelu", kExtended, [](ModelBuilder& b) { b.Output(b.Op("Relu", {TanhGelu(b, Matrix(b), 0.044715F)})); },
       "Relu com.microsoft.FastGelu", [](ModelBuilder& b) { b.Output(b.Op("Relu", {TanhGelu(b, Matrix(b), 0.05F)})); },
       "Add*2 Mul*4 Pow Relu Tanh"},
      {"quick-gelu", kExtended,
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(b.Op("Mul", {x, b.Op("Sigmoid", {x})}));
       },
       "com.microsoft.QuickGelu",
       [](ModelBuilder& b) {
         const auto x = Matrix(b);
         b.Output(b.Op("Mul", {b.Op("Tanh", {x}), b.Op("Sigmoid", {x})}));
       },
       "Mul Sigmoid Tanh"},
      {"matmul-scale", kExtended,
       [](ModelBuilder& b) {
         b.Output(b.Op("Div", {b.Op("MatMul", {Matrix(b), b.Weight({8, 8})}), Scalar(b, 8)}));
       },
       "com.microsoft.FusedMatMul",
       [](ModelBuilder& b) {
         b.Output(b.Op("Div", {b.Op("MatMul", {Matrix(b), b.Weight({8, 8})}), b.Weight({8})}));
       },
       "Div MatMul"},
  };
}

}  // namespace simpred
