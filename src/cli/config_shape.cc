#include "cli/config_shape.h"

#include <fmt/format.h>

#include <cctype>

#include "base/numbers.h"

namespace simpred {
namespace {

constexpr char kExample[] = "write input_shape: [1, 3, 224, 224], or input_shape: {data: [N, 3, 224, 224]}";
constexpr int64_t kLargestDim = int64_t{1} << 40;

bool IsSymbol(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.' && c != ':' && c != '/') return false;
  return true;
}

// A number or a symbol; nothing if it is neither.
std::optional<Dim> ParseDim(std::string_view text) {
  if (const auto number = ParseInt(text))
    return *number >= 0 && *number <= kLargestDim ? std::optional<Dim>(*number) : std::nullopt;
  if (IsSymbol(text)) return Dim::Symbol(std::string(text));
  return std::nullopt;
}

// {batch: [1, 4, 16]}
Result<Dim> ReadBuckets(const YamlReader& reader, const YAML::Node& node, Config& config) {
  if (node.size() != 1 || !node.begin()->first.IsScalar() || !node.begin()->second.IsSequence())
    return reader.Wrong(node, "input_shape", "a symbol with its values, {batch: [1, 4, 16]}");
  const std::string symbol = node.begin()->first.Scalar();
  const YAML::Node values = node.begin()->second;
  if (values.size() != 1)
    return reader.Error(node,
                        fmt::format("not available in this version: several values ('{}') in input_shape", symbol),
                        fmt::format("predict once for each value: --set 'input_shape=[...]'"));
  SIMPRED_ASSIGN_OR_RETURN(const int64_t value, reader.Integer(values[0], symbol, 0, kLargestDim));
  config.symbols[symbol] = value;
  return Dim::Symbol(symbol);
}

Result<Shape> ReadShape(const YamlReader& reader, const YAML::Node& node, Config& config) {
  if (!node.IsSequence()) return reader.Wrong(node, "input_shape", "a list of dimensions", kExample);
  std::vector<Dim> dims;
  for (const YAML::Node& item : node) {
    if (item.IsMap()) {
      SIMPRED_ASSIGN_OR_RETURN(Dim dim, ReadBuckets(reader, item, config));
      dims.push_back(std::move(dim));
      continue;
    }
    const auto dim = item.IsScalar() ? ParseDim(item.Scalar()) : std::nullopt;
    if (!dim)
      return reader.Wrong(item, "input_shape", "dimensions that are numbers from 0 up or symbols",
                          "a size that is not known yet is a symbol: [N, 3, 224, 224]");
    dims.push_back(*dim);
  }
  return Shape(std::move(dims));
}

}  // namespace

Status ReadInputShape(const YamlReader& reader, const YAML::Node& node, Config& config) {
  config.input_shapes.clear();
  if (node.IsSequence()) {
    SIMPRED_ASSIGN_OR_RETURN(config.input_shapes[""], ReadShape(reader, node, config));
    return OkStatus();
  }
  if (!node.IsMap()) return reader.Wrong(node, "input_shape", "a list or a map of lists", kExample);
  return reader.ForEach(node, "input_shape",
                        [&](const std::string& name, const YAML::Node&, const YAML::Node& value) -> Status {
                          SIMPRED_ASSIGN_OR_RETURN(config.input_shapes[name], ReadShape(reader, value, config));
                          return OkStatus();
                        });
}

Status AddShape(std::string_view text, std::map<std::string, Shape>& shapes) {
  const size_t equals = text.rfind('=');
  const std::string name(equals == std::string_view::npos ? "" : text.substr(0, equals));
  std::string_view rest = equals == std::string_view::npos ? text : text.substr(equals + 1);
  const char separator = rest.find(',') != std::string_view::npos ? ',' : 'x';
  std::vector<Dim> dims;
  while (!rest.empty()) {
    const size_t end = rest.find(separator);
    const auto dim = ParseDim(rest.substr(0, end));
    if (!dim)
      return UsageError(fmt::format("'{}' is not a shape", text),
                        "write --shape data=1x3x224x224, or data=N,3,224,224");
    dims.push_back(*dim);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  shapes[name] = Shape(std::move(dims));
  return OkStatus();
}

Status AddSymbol(std::string_view text, SymbolBindings& symbols) {
  const size_t equals = text.rfind('=');
  const auto value = equals == std::string_view::npos ? std::nullopt : ParseInt(text.substr(equals + 1));
  if (!value || equals == 0 || *value < 0 || *value > kLargestDim)
    return UsageError(fmt::format("'{}' does not bind a symbol", text), "write --bind N=4");
  symbols[std::string(text.substr(0, equals))] = *value;
  return OkStatus();
}

}  // namespace simpred
