// Which operators draw random numbers? Each writes its output; the work is the generator's.
#include <fmt/format.h>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

Status ShapeFromAttribute(InferenceContext& c) {
  const auto dims = c.node().Ints("shape");
  if (!dims) return ModelError("attribute 'shape' is missing");
  for (int64_t d : *dims) {
    if (d < 0) return ModelError(fmt::format("attribute 'shape' has dimension {}", d));
  }
  constexpr int64_t kOnnxFloat = 1;
  c.set_output(
      0, Tensor(FromOnnxType(c.node().Int("dtype", kOnnxFloat)), Shape(std::vector<Dim>(dims->begin(), dims->end()))));
  return OkStatus();
}

Status LikeInput(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  TensorType t = c.input(0);
  if (auto dtype = c.node().Int("dtype")) t.dtype = FromOnnxType(*dtype);
  c.set_output(0, std::move(t));
  return OkStatus();
}

Status MultinomialShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape in, RequireRank(c, 0, 2));
  constexpr int64_t kOnnxInt32 = 6;
  c.set_output(0, Tensor(FromOnnxType(c.node().Int("dtype", kOnnxInt32)),
                         Shape{in.dim(0), Dim(c.node().Int("sample_size", 1))}));
  return OkStatus();
}

// Only the output moves: the input of the ...Like forms gives its shape.
CostRule Generated(double flops) {
  return [flops](const CostContext& c) {
    Work w;
    for (const CostTensor& t : c.outputs) w.written += t.bytes();
    w.flops = Flops(flops * OutputElements(c));
    return w;
  };
}

}  // namespace

void RegisterRandom(Registry& r) {
  auto add = [&r](const char* type, ShapeRule shape, CostRule cost, const char* source) {
    r.Add({.type = type,
           .op_class = OperatorClass::kRandom,
           .shape = std::move(shape),
           .value = nullptr,
           .cost = std::move(cost),
           .source = source});
  };
  const char* uniform = "ONNX operator specification: one uniform number an element";
  const char* normal = "ONNX operator specification: one normal number an element (Box-Muller)";
  add("RandomUniform", ShapeFromAttribute, Generated(cost::kRandomUniform), uniform);
  add("RandomUniformLike", LikeInput, Generated(cost::kRandomUniform), uniform);
  add("RandomNormal", ShapeFromAttribute, Generated(cost::kRandomNormal), normal);
  add("RandomNormalLike", LikeInput, Generated(cost::kRandomNormal), normal);
  add("Bernoulli", LikeInput, PerElement(cost::kRandomUniform + cost::kAdd),
      "ONNX Bernoulli: one uniform number and one comparison an element");
  add(
      "Multinomial", MultinomialShape,
      [](const CostContext& c) {
        Work w = TrafficOf(c);
        // The cumulated exponentials of each row once, then one number and one search a sample.
        w.flops = Flops((cost::kExp + cost::kAdd) * InputElements(c) +
                        (cost::kRandomUniform + cost::kSortStep) * OutputElements(c));
        return w;
      },
      "ONNX Multinomial: a cumulative sum a row, one number and one search a sample");
}

}  // namespace simpred
