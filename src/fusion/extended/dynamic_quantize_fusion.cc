// MatMulInteger -> Cast -> Mul(scale_a * scale_b) (-> Add(bias))    ==>    MatMulIntegerToFloat
// DynamicQuantizeLinear -> MatMulIntegerToFloat (its only reader)   ==>    DynamicQuantizeMatMul
#include <algorithm>

#include "fusion/rules.h"

namespace simpred {
namespace {

ValueId Other(Rewriter& r, NodeId n, ValueId v) { return r.input(n, r.input(n, 0) == v ? 1 : 0); }

// [N], or ones in front of it.
bool IsRow(Rewriter& r, ValueId v) {
  const auto dims = r.dims(v);
  return dims && !dims->empty() && std::all_of(dims->begin(), dims->end() - 1, [](int64_t d) { return d == 1; });
}

bool TryToFloat(Rewriter& r, NodeId matmul) {
  const NodeId cast = r.OnlyConsumerOf(matmul);
  if (!r.Is(cast, "Cast")) return false;
  const NodeId mul = r.OnlyConsumerOf(cast);
  if (!r.Is(mul, "Mul")) return false;
  const NodeId scales = r.Producer(Other(r, mul, r.output(cast)));
  if (!r.Is(scales, "Mul") || r.OnlyConsumerOf(scales) != mul) return false;
  std::vector<NodeId> olds = {matmul, cast, scales, mul};
  std::vector<ValueId> inputs = {r.input(matmul, 0), r.input(matmul, 1), r.input(scales, 0),
                                 r.input(scales, 1), r.input(matmul, 2), r.input(matmul, 3)};
  const NodeId add = r.OnlyConsumerOf(mul);
  if (r.Is(add, "Add")) {
    const ValueId bias = Other(r, add, r.output(mul));
    if (IsRow(r, bias) && r.IsConstant(bias)) {
      inputs.push_back(bias);
      olds.push_back(add);
    }
  }
  while (inputs.back() == kNoValue) inputs.pop_back();
  r.Fuse(olds, "MatMulIntegerToFloat", kMicrosoft, inputs);
  return true;
}

int RewriteToFloat(Rewriter& r) {
  if (!r.Has({"MatMulInteger"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "MatMulInteger") && TryToFloat(r, n)) ++count;
  return count;
}

bool TryDynamic(Rewriter& r, NodeId matmul) {
  const NodeId quantize = r.InputNode(matmul, 0);
  if (!r.Is(quantize, "DynamicQuantizeLinear") || r.ProducesGraphOutput(quantize)) return false;
  for (ValueId v : r.node(quantize).outputs)
    for (NodeId u : r.Uses(v))
      if (u != matmul) return false;
  if (r.input(matmul, 2) != r.output(quantize, 1) || !r.IsConstant(r.input(matmul, 1))) return false;
  std::vector<ValueId> inputs = {r.input(quantize, 0), r.input(matmul, 1), r.input(matmul, 3), r.input(matmul, 5),
                                 r.input(matmul, 6)};
  while (inputs.back() == kNoValue) inputs.pop_back();
  r.Fuse({quantize, matmul}, "DynamicQuantizeMatMul", kMicrosoft, inputs);
  return true;
}

int RewriteDynamic(Rewriter& r) {
  if (!r.Has({"DynamicQuantizeLinear"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "MatMulIntegerToFloat", kMicrosoft) && TryDynamic(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule MatMulIntegerToFloatFusion() {
  return MakeRule("matmul-integer-to-float", FusionLevel::kExtended, "MatMulInteger -> Cast -> Mul ==> one kernel",
                  RewriteToFloat);
}

FusionRule DynamicQuantizeMatMulFusion() {
  return MakeRule("dynamic-quantize-matmul", FusionLevel::kExtended,
                  "DynamicQuantizeLinear -> MatMulIntegerToFloat ==> DynamicQuantizeMatMul", RewriteDynamic);
}

}  // namespace simpred
