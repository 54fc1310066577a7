#include "fusion/basic/norm_match.h"

namespace simpred {

bool ReducesLastAxis(Rewriter& r, NodeId reduce) {
  const auto axes = r.Axes(reduce);
  if (!axes || axes->size() != 1) return false;
  return (*axes)[0] == -1 || (r.rank(r.input(reduce, 0)) > 0 && (*axes)[0] == r.rank(r.input(reduce, 0)) - 1);
}

NodeId ParentOfType(Rewriter& r, NodeId n, std::string_view type) {
  for (ValueId v : r.node(n).inputs)
    if (const NodeId p = r.Producer(v); r.Is(p, type)) return p;
  return kNoNode;
}

NodeId ChildOfType(Rewriter& r, NodeId n, std::string_view type) {
  for (ValueId v : r.node(n).outputs)
    for (NodeId u : r.Uses(v))
      if (r.Is(u, type)) return u;
  return kNoNode;
}

bool IsNormType(DataType t) { return t == DataType::kFloat32 || t == DataType::kFloat16 || t == DataType::kFloat64; }

ValueId OneDimensionalInput(Rewriter& r, NodeId n) {
  ValueId found = kNoValue;
  for (ValueId v : r.node(n).inputs)
    if (r.rank(v) == 1) found = v;
  return found;
}

}  // namespace simpred
