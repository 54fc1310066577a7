// What is an attribute's value? Graphs are handed back unread: the values that they refer to are not all known yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/onnx/fields.h"
#include "graph/graph.h"

namespace simpred::onnx {

struct ReadAttributeResult {
  std::string name;
  Attribute attribute;
  std::vector<std::string_view> graphs;  // encoded GraphProtos
  bool is_graph_list = false;
};

ReadAttributeResult ReadAttribute(ReadContext& context, std::string_view message);

}  // namespace simpred::onnx
