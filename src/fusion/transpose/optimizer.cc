// x -> Transpose -> F -> Transpose    ==>    x -> F
//
// One walk in topological order: a Transpose in front of a node is pushed behind it where that makes the transposes in
// front of the node fewer, and where it does not add one behind that will never meet another. Cost of a transpose: the
// dimensions of its tensor that are not one (the runtime's own estimate: ranks are known where sizes are not).
#include <algorithm>
#include <set>

#include "fusion/rules.h"
#include "fusion/transpose/handlers.h"
#include "workload/liveness.h"

namespace simpred {
namespace {

constexpr int64_t kFirstOpset = 7;
constexpr int kCostOfUnknownRank = 5;

class Pusher {
 public:
  Pusher(Rewriter& r, bool on_cpu) : r_(r), on_cpu_(on_cpu) {}

  int Run() {
    const std::vector<NodeId> nodes = DepthFirstOrder();
    FindWaysToTransposes(nodes);
    int count = 0;
    for (NodeId n : nodes) {
      if (!r_.alive(n)) continue;
      const size_t inputs = r_.node(n).inputs.size();
      for (size_t i = 0; i < inputs; ++i) {
        const NodeId transpose = r_.InputNode(n, i);
        if (!r_.Is(transpose, "Transpose")) continue;
        const auto perm = r_.Permutation(transpose);
        if (!perm || !Push(transpose, n, *perm, i)) continue;
        ++count;
        break;  // its inputs are others now
      }
    }
    return count;
  }

 private:
  // The runtime's own topological order: depth first from the nodes that nobody reads, later nodes of the file first.
  std::vector<NodeId> DepthFirstOrder() {
    struct Step {
      NodeId node;
      bool leaving;
    };
    std::vector<Step> stack;
    for (NodeId n = 0; n < r_.graph().node_count(); ++n)
      if (r_.alive(n) && r_.OutputUses(n) == 0) stack.push_back({n, false});
    std::vector<NodeId> order;
    std::set<NodeId> entered;
    while (!stack.empty()) {
      const Step step = stack.back();
      stack.pop_back();
      if (step.leaving) {
        order.push_back(step.node);
        continue;
      }
      if (!entered.insert(step.node).second) continue;
      stack.push_back({step.node, true});
      for (NodeId p : ProducersOf(step.node))
        if (!entered.contains(p)) stack.push_back({p, false});
    }
    return order;
  }

  // Ascending; of what subgraphs read too.
  std::set<NodeId> ProducersOf(NodeId n) {
    std::set<NodeId> producers;
    ForEachRead(r_.node(n), [&](ValueId v) {
      if (const NodeId p = r_.Producer(v); p != kNoNode) producers.insert(p);
    });
    return producers;
  }

  // Values from which a way of pushable operators leads to a Transpose.
  void FindWaysToTransposes(const std::vector<NodeId>& nodes) {
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      const NodeId n = *it;
      if (r_.Is(n, "Transpose")) {
        leads_to_transpose_.insert(r_.input(n, 0));
        continue;
      }
      const PushHandler* handler = FindPushHandler(r_.node(n));
      if (handler == nullptr || !handler->transposes_outputs || !LeadsToTranspose(n)) continue;
      for (size_t i : handler->inputs(r_, n)) leads_to_transpose_.insert(r_.input(n, i));
    }
  }

  bool LeadsToTranspose(NodeId n) {
    const std::vector<ValueId>& outputs = r_.node(n).outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return leads_to_transpose_.contains(v); });
  }

  int RankCost(ValueId v) {
    if (r_.rank(v) < 0) return kCostOfUnknownRank;
    int cost = 0;
    for (const Dim& d : r_.value(v).type.shape.dims()) cost += d.is_known() && d.value() == 1 ? 0 : 1;
    return cost;
  }

  // Only read by operators that a Transpose can be pushed over.
  bool WillLikelyGo(NodeId transpose) {
    const ValueId out = r_.output(transpose);
    if (r_.IsGraphOutput(out)) return false;
    for (NodeId u : r_.Uses(out))
      if (r_.InputIndex(u, out) < 0 || FindPushHandler(r_.node(u)) == nullptr) return false;
    return true;
  }

  int InputCost(ValueId v, const Permutation& perm) {
    if (r_.IsConstant(v)) return 0;
    const NodeId producer = r_.Producer(v);
    if (r_.Is(producer, "Transpose")) {
      const auto own = r_.Permutation(producer);
      if (own) return *own == perm && WillLikelyGo(producer) ? -RankCost(v) : 0;
    }
    return RankCost(v);
  }

  bool Pays(NodeId n, const Permutation& perm, const PushHandler& handler, const std::vector<size_t>& inputs) {
    if (r_.Is(n, "Transpose")) return true;
    int cost = 0;
    for (size_t i : inputs)
      if (r_.input(n, i) != kNoValue) cost += InputCost(r_.input(n, i), perm);
    if (cost < 0 && handler.transposes_outputs && !LeadsToTranspose(n)) {
      int out = 0;
      for (ValueId v : r_.node(n).outputs)
        if (v != kNoValue) out = std::max(out, RankCost(v));
      cost += out;
    }
    return cost < 0;
  }

  bool Push(NodeId transpose, NodeId n, const Permutation& perm, size_t position) {
    const PushHandler* handler = FindPushHandler(r_.node(n));
    if (handler == nullptr) return false;
    std::vector<size_t> inputs = handler->inputs(r_, n);
    if (std::find(inputs.begin(), inputs.end(), position) == inputs.end()) return false;
    if (!Pays(n, perm, *handler, inputs)) return false;
    PushContext context{r_, on_cpu_, transpose, n, perm, InvertPermutation(perm), std::move(inputs)};
    return handler->push(context);
  }

  Rewriter& r_;
  bool on_cpu_;
  std::set<ValueId> leads_to_transpose_;
};

int Rewrite(Rewriter& r, bool on_cpu) {
  if (r.opset() < kFirstOpset || !r.Has({"Transpose"})) return 0;
  return Pusher(r, on_cpu).Run();
}

int RewriteBasic(Rewriter& r) { return Rewrite(r, false); }
int RewriteExtended(Rewriter& r) { return Rewrite(r, true); }

}  // namespace

FusionRule TransposeOptimizer(FusionLevel level) {
  return MakeRule("transpose-optimizer", level, "Transpose is pushed until it meets another",
                  level == FusionLevel::kBasic ? RewriteBasic : RewriteExtended);
}

}  // namespace simpred
