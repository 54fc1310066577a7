// (a, b) -> Add -> LayerNormalization                     ==>    SkipLayerNormalization(a, b, scale, bias)
// ((a + c) , b) -> Add -> LayerNormalization, c constant  ==>    SkipLayerNormalization(a, b, scale, bias, c)
#include "fusion/rules.h"

namespace simpred {
namespace {

bool IsSupported(DataType t) { return t == DataType::kFloat32 || t == DataType::kFloat16 || t == DataType::kBFloat16; }

// The Add in front: two inputs of the same three-dimensional shape, one reader.
bool IsResidual(Rewriter& r, NodeId add) {
  if (!r.Is(add, "Add") || r.OnlyConsumerOf(add) == kNoNode || !IsSupported(r.dtype(r.output(add)))) return false;
  const ValueId a = r.input(add, 0), b = r.input(add, 1);
  return r.rank(a) == 3 && r.rank(b) == 3 && r.value(a).type.shape == r.value(b).type.shape;
}

// The bias in front of that: a constant vector as second operand.
bool IsBias(Rewriter& r, NodeId add) {
  if (!r.Is(add, "Add") || r.OnlyConsumerOf(add) == kNoNode || !r.IsConstant(r.input(add, 1))) return false;
  const ValueId x = r.input(add, 0), c = r.input(add, 1);
  return r.rank(x) == 3 && r.rank(c) == 1 && r.value(x).type.shape.dim(2) == r.value(c).type.shape.dim(0);
}

bool Try(Rewriter& r, NodeId norm) {
  const NodeId add = r.InputNode(norm, 0);
  if (!IsResidual(r, add)) return false;
  std::vector<ValueId> inputs = {r.input(add, 0), r.input(add, 1), r.input(norm, 1), r.input(norm, 2)};
  std::vector<NodeId> olds = {add, norm};
  for (size_t side = 0; side < 2; ++side) {
    const NodeId bias = r.InputNode(add, side);
    if (!IsBias(r, bias)) continue;
    inputs[side] = r.input(bias, 0);
    inputs.push_back(r.input(bias, 1));
    olds.insert(olds.begin(), bias);
    break;
  }
  const double epsilon = r.node(norm).Float("epsilon", 1e-5);
  const NodeId n = r.Fuse(olds, "SkipLayerNormalization", kMicrosoft, inputs);
  r.node(n).Set("epsilon", epsilon);
  return true;
}

int Rewrite(Rewriter& r) {
  if (!r.Has({"LayerNormalization"})) return 0;
  int count = 0;
  for (NodeId n : r.order())
    if (r.Is(n, "LayerNormalization") && IsSupported(r.dtype(r.input(n, 0))) && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule SkipLayerNormFusion() {
  return MakeRule("skip-layer-norm", FusionLevel::kExtended, "Add -> LayerNormalization ==> SkipLayerNormalization",
                  Rewrite);
}

}  // namespace simpred
