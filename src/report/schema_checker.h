// Does a JSON document follow a JSON Schema? The part of draft 7 that the schemas in docs/schema use; a keyword that is
// not known here is a finding too, so that no schema promises what nobody checks. For tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace simpred {

// One line a finding: where, and what is wrong. Empty: valid.
std::vector<std::string> CheckSchema(const nlohmann::json& schema, const nlohmann::json& document);

}  // namespace simpred
