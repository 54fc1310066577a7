// The shapes with which a model is run, as text; see input_shapes.h.
#include "graph/input_shapes.h"

namespace simpred {

std::string InputShapesText(const Graph& graph) {
  std::string out;
  for (ValueId id : graph.inputs) {
    const Value& v = graph.value(id);
    if (!out.empty()) out += ",";
    out += v.name + "=";
    if (!v.type.shape.has_rank()) {
      out += "?";
      continue;
    }
    if (v.type.shape.rank() == 0) out += "scalar";
    for (int i = 0; i < v.type.shape.rank(); ++i) out += (i > 0 ? "x" : "") + v.type.shape.dim(i).ToString();
  }
  return out;
}

}  // namespace simpred
