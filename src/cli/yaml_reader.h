// How is a checked value taken out of a YAML tree? Scalars with their type, lists, maps with known keys; every error
// says where.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace simpred {

// Where a tree came from, for messages: "simulation.yaml:4:3", or "--set calibrate.iters".
struct YamlSource {
  std::string shown_as;
  bool has_lines = true;
  std::string At(const YAML::Node& node) const;
};

// Errors: kUsage with line and column.
Result<YAML::Node> ParseYaml(std::string_view text, const YamlSource& source);

class YamlReader {
 public:
  explicit YamlReader(YamlSource source) : source_(std::move(source)) {}

  Status Wrong(const YAML::Node& node, std::string_view key, std::string_view wanted, std::string hint = {}) const;
  Status Error(const YAML::Node& node, std::string message, std::string hint = {}) const;

  Result<std::string> Text(const YAML::Node& node, std::string_view key) const;
  Result<bool> Flag(const YAML::Node& node, std::string_view key) const;
  Result<int64_t> Integer(const YAML::Node& node, std::string_view key, int64_t least, int64_t most) const;
  Result<double> Number(const YAML::Node& node, std::string_view key, double least, double most) const;
  Result<std::string> OneOf(const YAML::Node& node, std::string_view key,
                            const std::vector<std::string>& choices) const;
  Result<std::vector<std::string>> Texts(const YAML::Node& node, std::string_view key) const;
  // Each pair once, in the order of the file. Errors: not a map, a key that is no text or comes twice.
  Status ForEach(
      const YAML::Node& node, std::string_view key,
      const std::function<Status(const std::string& name, const YAML::Node& at, const YAML::Node& value)>& f) const;

 private:
  YamlSource source_;
};

}  // namespace simpred
