// Which shapes do the graph's inputs have in this inference? The file's declared shapes, overlaid with what the user
// says.
//
//   declared [N, 3, H, W], given [4, 3, 224, 224]  ->  type [4, 3, 224, 224], bindings N=4 H=224 W=224
//
// A declared dimension without number or name becomes a symbol of its own ("data.2"), so that it can be followed and
// bound like any other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "operators/infer.h"

namespace simpred {

struct InputBinding {
  SymbolBindings symbols;             // the options' and those that the given shapes imply
  std::set<std::string> declared;     // every symbol of the inputs' declared shapes
  std::vector<std::string> warnings;  // one sentence each
};

// Fills type of the graph's inputs. kUsage: unknown name, wrong rank, contradiction.
Result<InputBinding> BindInputs(Model& model, const InferOptions& options);

// Up to three of `known` that a typing error could have turned into `wrong`; "a, b, c".
std::string NearestNames(const std::string& wrong, const std::vector<std::string>& known);

}  // namespace simpred
