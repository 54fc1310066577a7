#include "cli/yaml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/nearest.h"
#include "base/numbers.h"

namespace simpred {
namespace {

std::string Place(const YamlSource& source, const YAML::Mark& mark) {
  if (!source.has_lines || mark.is_null()) return source.shown_as;
  return fmt::format("{}:{}:{}", source.shown_as, mark.line + 1, mark.column + 1);
}

std::string Found(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return fmt::format("'{}'", node.Scalar().substr(0, 80));
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    default:
      return "nothing";
  }
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

std::string YamlSource::At(const YAML::Node& node) const { return Place(*this, node.Mark()); }

Result<YAML::Node> ParseYaml(std::string_view text, const YamlSource& source) {
  try {
    return YAML::Load(std::string(text));
  } catch (const YAML::Exception& e) {
    return UsageError(fmt::format("{}: not valid YAML: {}", Place(source, e.mark), e.msg),
                      "keys and values are written as 'key: value', nested keys are indented by two blanks");
  }
}

Status YamlReader::Error(const YAML::Node& node, std::string message, std::string hint) const {
  return UsageError(fmt::format("{}: {}", source_.At(node), message), std::move(hint));
}

Status YamlReader::Wrong(const YAML::Node& node, std::string_view key, std::string_view wanted,
                         std::string hint) const {
  return Error(node, fmt::format("key '{}' needs {}, has {}", key, wanted, Found(node)), std::move(hint));
}

Result<std::string> YamlReader::Text(const YAML::Node& node, std::string_view key) const {
  if (!node.IsScalar() || node.Scalar().empty()) return Wrong(node, key, "a text");
  return node.Scalar();
}

Result<bool> YamlReader::Flag(const YAML::Node& node, std::string_view key) const {
  if (node.IsScalar()) {
    const std::string text = Lower(node.Scalar());
    if (text == "true" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "no" || text == "off") return false;
  }
  return Wrong(node, key, "true or false");
}

Result<int64_t> YamlReader::Integer(const YAML::Node& node, std::string_view key, int64_t least, int64_t most) const {
  const auto value = node.IsScalar() ? ParseInt(node.Scalar()) : std::nullopt;
  if (!value || *value < least || *value > most)
    return Wrong(node, key, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

Result<double> YamlReader::Number(const YAML::Node& node, std::string_view key, double least, double most) const {
  const auto value = node.IsScalar() ? ParseDouble(node.Scalar()) : std::nullopt;
  if (!value || *value < least || *value > most)
    return Wrong(node, key, fmt::format("a number from {} to {}", FormatDouble(least), FormatDouble(most)),
                 node.IsScalar() && node.Scalar().find(',') != std::string::npos ? "the decimal sign is a point" : "");
  return *value;
}

Result<std::string> YamlReader::OneOf(const YAML::Node& node, std::string_view key,
                                      const std::vector<std::string>& choices) const {
  if (node.IsScalar())
    for (const std::string& c : choices)
      if (Lower(c) == Lower(node.Scalar())) return c;
  const std::string near = node.IsScalar() ? Nearest(node.Scalar(), choices) : "";
  return Wrong(node, key, fmt::format("one of {}", fmt::join(choices, ", ")),
               near.empty() ? "" : fmt::format("did you mean '{}'?", near));
}

Result<std::vector<std::string>> YamlReader::Texts(const YAML::Node& node, std::string_view key) const {
  if (!node.IsSequence()) return Wrong(node, key, "a list of texts", fmt::format("write it as {}: [one, two]", key));
  std::vector<std::string> texts;
  for (const YAML::Node& item : node) {
    SIMPRED_ASSIGN_OR_RETURN(std::string text, Text(item, key));
    texts.push_back(std::move(text));
  }
  return texts;
}

Status YamlReader::ForEach(
    const YAML::Node& node, std::string_view key,
    const std::function<Status(const std::string&, const YAML::Node&, const YAML::Node&)>& f) const {
  if (!node.IsMap()) return Wrong(node, key, "a map of keys and values");
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) return Error(pair.first, fmt::format("a key in '{}' is not a text", key));
    const std::string& name = pair.first.Scalar();
    if (!seen.insert(name).second) return Error(pair.first, fmt::format("key '{}' is given twice", name));
    SIMPRED_RETURN_IF_ERROR(f(name, pair.first, pair.second));
  }
  return OkStatus();
}

}  // namespace simpred
