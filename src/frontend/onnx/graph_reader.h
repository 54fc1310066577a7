// How does a GraphProto become a Graph? Names become ids: a use binds to the last definition before it, then to a later
// one (files need not be sorted), then to a value of an enclosing graph; a name that nobody defines becomes a value of
// unknown type, with a warning.
#pragma once

#include <memory>
#include <string_view>

#include "frontend/onnx/fields.h"
#include "graph/graph.h"

namespace simpred::onnx {

// `ir_version` decides what an initializer is that is also listed as an input: before 4 a plain constant, from 4 on a
// default that the caller may override.
Graph ReadGraph(ReadContext& context, std::string_view message, int64_t ir_version);
FunctionDef ReadFunction(ReadContext& context, std::string_view message, int64_t ir_version);
// One OperatorSetIdProto; "ai.onnx" is "". Of two versions of one domain the larger counts.
void ReadOpsetImport(ReadContext& context, std::string_view message, std::map<std::string, int64_t>& into);

}  // namespace simpred::onnx
