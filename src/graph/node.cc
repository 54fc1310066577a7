// How are a node's attributes read, and how is a node named to people?
#include <fmt/format.h>

#include "graph/graph.h"

namespace simpred {
namespace {

template <typename T>
std::optional<T> Get(const Node& node, std::string_view key) {
  const Attribute* attribute = node.Find(key);
  const T* value = attribute != nullptr ? std::get_if<T>(&attribute->value) : nullptr;
  return value != nullptr ? std::optional<T>(*value) : std::nullopt;
}

}  // namespace

const Attribute* Node::Find(std::string_view key) const {
  const auto found = attributes.find(std::string(key));
  return found != attributes.end() ? &found->second : nullptr;
}

std::optional<int64_t> Node::Int(std::string_view key) const { return Get<int64_t>(*this, key); }
std::optional<double> Node::Float(std::string_view key) const { return Get<double>(*this, key); }
std::string Node::String(std::string_view key, std::string_view fallback) const {
  return Get<std::string>(*this, key).value_or(std::string(fallback));
}
std::optional<std::vector<int64_t>> Node::Ints(std::string_view key) const {
  return Get<std::vector<int64_t>>(*this, key);
}
std::optional<std::vector<double>> Node::Floats(std::string_view key) const {
  return Get<std::vector<double>>(*this, key);
}
std::shared_ptr<Graph> Node::Subgraph(std::string_view key) const {
  return Get<std::shared_ptr<Graph>>(*this, key).value_or(nullptr);
}

void Node::Set(std::string key, int64_t v) { attributes[std::move(key)].value = v; }
void Node::Set(std::string key, double v) { attributes[std::move(key)].value = v; }
void Node::Set(std::string key, std::string v) { attributes[std::move(key)].value = std::move(v); }
void Node::Set(std::string key, std::vector<int64_t> v) { attributes[std::move(key)].value = std::move(v); }
void Node::Set(std::string key, std::vector<double> v) { attributes[std::move(key)].value = std::move(v); }

std::string Node::QualifiedType() const {
  return domain.empty() || domain == "ai.onnx" ? op_type : fmt::format("{}.{}", domain, op_type);
}

std::string Node::Describe(NodeId id) const {
  return name.empty() ? fmt::format("node #{} ({})", id, QualifiedType())
                      : fmt::format("node '{}' ({})", name, QualifiedType());
}

}  // namespace simpred
