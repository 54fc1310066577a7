// Kernels that no runtime here makes itself, for the what-if of fusion_mode `aggressive` (domain simpred).
//
// Pointwise: a chain of elementwise operators in one pass. The rule that makes it writes down what the chain's members
// cost: `operations` per output element.
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

Status PointwiseShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, BroadcastOf(c, 0, c.input_count()));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

Work PointwiseWork(const CostContext& c) {
  Work work = TrafficOf(c);
  const double operations = c.node == nullptr ? 0 : c.node->Float("operations", 0);
  work.flops = Flops(OutputElements(c) * (operations > 0 ? operations : 0));
  return work;
}

}  // namespace

void RegisterHypothetical(Registry& r) {
  r.Add({.type = "Pointwise",
         .domain = "simpred",
         .op_class = OperatorClass::kElementwise,
         .shape = PointwiseShape,
         .cost = PointwiseWork,
         .source = "the sum of its members' operations; tensors between them are not moved"});
}

}  // namespace simpred
