#include "report/schema_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

namespace simpred {
namespace {

using Json = nlohmann::json;

class Checker {
 public:
  explicit Checker(const Json& root) : root_(root) {}

  void Check(const Json& schema, const Json& value, const std::string& where) {
    if (const auto ref = schema.find("$ref"); ref != schema.end()) {
      const std::string target = ref->get<std::string>().substr(1);  // "#/definitions/time"
      Check(root_.at(Json::json_pointer(target)), value, where);
    }
    CheckKeywords(schema, where);
    CheckScalar(schema, value, where);
    if (value.is_object()) CheckObject(schema, value, where);
    if (value.is_array()) CheckArray(schema, value, where);
  }
  std::vector<std::string> TakeFindings() { return std::move(findings_); }

 private:
  void Find(const std::string& where, const std::string& what) {
    findings_.push_back((where.empty() ? "/" : where) + ": " + what);
  }

  void CheckKeywords(const Json& schema, const std::string& where) {
    static const std::set<std::string> kKnown = {
        "$schema",       "$ref",     "title",      "description", "type",        "enum",
        "const",         "required", "properties", "items",       "minItems",    "maxItems",
        "propertyNames", "minimum",  "maximum",    "pattern",     "definitions", "additionalProperties"};
    for (const auto& [key, unused] : schema.items())
      if (kKnown.count(key) == 0) Find(where, "the schema's keyword '" + key + "' is not checked");
  }

  static bool HasType(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "null") return value.is_null();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  void CheckScalar(const Json& schema, const Json& value, const std::string& where) {
    if (const auto type = schema.find("type"); type != schema.end()) {
      const std::vector<std::string> types =
          type->is_array() ? type->get<std::vector<std::string>>() : std::vector<std::string>{type->get<std::string>()};
      if (std::none_of(types.begin(), types.end(), [&](const std::string& t) { return HasType(value, t); }))
        Find(where, fmt::format("is {}, not {}", value.type_name(), type->dump()));
    }
    if (const auto choices = schema.find("enum"); choices != schema.end())
      if (std::find(choices->begin(), choices->end(), value) == choices->end())
        Find(where, value.dump() + " is no choice");
    if (const auto constant = schema.find("const"); constant != schema.end() && *constant != value)
      Find(where, fmt::format("is {}, not {}", value.dump(), constant->dump()));
    if (value.is_number()) {
      if (schema.contains("minimum") && value < schema["minimum"]) Find(where, value.dump() + " is too small");
      if (schema.contains("maximum") && value > schema["maximum"]) Find(where, value.dump() + " is too large");
    }
    if (value.is_string() && schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(), std::regex(schema["pattern"].get<std::string>())))
      Find(where, "does not match " + schema["pattern"].dump());
  }

  void CheckObject(const Json& schema, const Json& value, const std::string& where) {
    if (const auto required = schema.find("required"); required != schema.end())
      for (const Json& key : *required)
        if (!value.contains(key.get<std::string>())) Find(where, "misses " + key.dump());
    static const Json kNone = Json::object();
    const Json& properties = schema.contains("properties") ? schema["properties"] : kNone;
    for (const auto& [key, child] : value.items()) {
      const std::string place = fmt::format("{}/{}", where, key);
      if (schema.contains("propertyNames")) Check(schema["propertyNames"], Json(key), place);
      if (properties.contains(key)) {
        Check(properties[key], child, place);
        continue;
      }
      const auto rest = schema.find("additionalProperties");
      if (rest == schema.end()) continue;
      if (rest->is_object()) Check(*rest, child, place);
      if (rest->is_boolean() && !rest->get<bool>()) Find(where, "has the unknown key '" + key + "'");
    }
  }

  void CheckArray(const Json& schema, const Json& value, const std::string& where) {
    if (schema.contains("minItems") && value.size() < schema["minItems"]) Find(where, "has too few items");
    if (schema.contains("maxItems") && value.size() > schema["maxItems"]) Find(where, "has too many items");
    if (!schema.contains("items")) return;
    for (size_t i = 0; i < value.size(); ++i) Check(schema["items"], value[i], fmt::format("{}/{}", where, i));
  }

  const Json& root_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> CheckSchema(const Json& schema, const Json& document) {
  Checker checker(schema);
  checker.Check(schema, document, "");
  return checker.TakeFindings();
}

}  // namespace simpred
