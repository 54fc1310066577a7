// Which dimensions does the runtime know while it optimises?
//
// It is told the value of each dimension that has a name (a free dimension override); one without a name it sees only
// when it runs. So a Shape of an unnamed dimension is computed at run time, while we, who know all input shapes, would
// fold it.
//
//   RuntimeShapes shapes(model, binding);
//   Status s = shapes.Hide();       // unnamed dimensions become symbols
//   ... rules ...
//   s = shapes.Restore();           // every shape as the binding says
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "operators/infer.h"

namespace simpred {

class RuntimeShapes {
 public:
  RuntimeShapes(Model& model, const InferOptions& binding, const Registry& registry);

  bool AnyHidden() const { return any_hidden_; }
  Status Hide();
  Status Restore();

 private:
  Model& model_;
  const Registry& registry_;
  Registry runtime_rules_;  // what the runtime's own inference finds out
  InferOptions full_, partial_;
  bool any_hidden_ = false;
};

}  // namespace simpred
