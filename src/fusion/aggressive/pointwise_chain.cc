// x -> Add(a) -> Mul(b) -> Tanh -> ...    ==>    Pointwise(x, a, b)
//
// Elementwise operators that follow each other, one reader each, all of the same shape and type: one pass over memory
// in place of one each. The operations of the members are summed by their own cost rules.
#include <algorithm>

#include "fusion/aggressive/mark.h"

namespace simpred {
namespace {

constexpr std::string_view kDomain = "simpred";

bool IsElementwise(Rewriter& r, NodeId n) {
  if (!r.alive(n) || r.node(n).outputs.size() != 1 || r.node(n).inputs.empty()) return false;
  const OperatorRule* rule = r.registry().Find(r.node(n));
  if (rule == nullptr || rule->op_class != OperatorClass::kElementwise || r.node(n).domain == kNchwc) return false;
  const ValueId out = r.output(n);
  return r.dims(out) && IsFloat(r.dtype(out)) && r.dtype(r.input(n, 0)) == r.dtype(out);
}

CostTensor TensorOf(Rewriter& r, ValueId v) {
  CostTensor t;
  const auto dims = r.dims(v);
  if (!dims) return t;
  t.present = true;
  t.dtype = r.dtype(v);
  t.dims = *dims;
  t.constant = r.IsConstant(v);
  return t;
}

double OperationsPerElement(Rewriter& r, NodeId n) {
  CostContext c;
  c.node = &r.node(n);
  for (ValueId v : r.node(n).inputs) c.inputs.push_back(TensorOf(r, v));
  for (ValueId v : r.node(n).outputs) c.outputs.push_back(TensorOf(r, v));
  c.constant = [&](int i) { return r.Constant(r.input(n, static_cast<size_t>(i))); };
  const int64_t elements = c.outputs[0].elements();
  return elements <= 0 ? 0 : CostOf(r.registry().Find(r.node(n)), c).flops.count() / static_cast<double>(elements);
}

std::vector<NodeId> ChainFrom(Rewriter& r, NodeId first) {
  std::vector<NodeId> chain = {first};
  for (;;) {
    const NodeId next = r.OnlyConsumer(r.output(chain.back()));
    if (next == kNoNode || !IsElementwise(r, next)) return chain;
    const bool same =
        r.dims(r.output(next)) == r.dims(r.output(first)) && r.dtype(r.output(next)) == r.dtype(r.output(first));
    if (!same) return chain;
    chain.push_back(next);
  }
}

// What comes from outside, each value once; the first decides the type.
std::vector<ValueId> InputsOf(Rewriter& r, const std::vector<NodeId>& chain) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < chain.size(); ++i) {
    for (ValueId v : r.node(chain[i]).inputs) {
      if (v == kNoValue || (i > 0 && v == r.output(chain[i - 1]))) continue;
      if (std::find(inputs.begin(), inputs.end(), v) == inputs.end()) inputs.push_back(v);
    }
  }
  return inputs;
}

bool Try(Rewriter& r, NodeId first) {
  const std::vector<NodeId> chain = ChainFrom(r, first);
  if (chain.size() < 2) return false;
  double operations = 0;
  std::string members;
  for (NodeId n : chain) {
    operations += OperationsPerElement(r, n);
    members += (members.empty() ? "" : ",") + r.node(n).op_type;
  }
  const NodeId n = r.Fuse(chain, "Pointwise", kDomain, InputsOf(r, chain));
  r.node(n).Set("operations", operations);
  r.node(n).Set("members", members);
  MarkHypothetical(r, n);
  return true;
}

int Rewrite(Rewriter& r) {
  int count = 0;
  for (NodeId n : r.order())
    if (IsElementwise(r, n) && Try(r, n)) ++count;
  return count;
}

}  // namespace

FusionRule PointwiseChainFusion() {
  return MakeHypotheticalRule("pointwise-chain", "elementwise chains ==> one pass",
                              "TVM, fusion of injective operators (Chen et al. 2018, section 3); TorchInductor",
                              Rewrite);
}

}  // namespace simpred
