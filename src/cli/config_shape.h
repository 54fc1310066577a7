// How is input_shape read? Lists, maps, symbols and bucket values.
#pragma once

#include "cli/config.h"
#include "cli/yaml_reader.h"

namespace simpred {

// [1, 3, 224, 224] or {data: [N, 3, 224, 224]}; a symbol with one bucket value binds the symbol.
Status ReadInputShape(const YamlReader& reader, const YAML::Node& node, Config& config);

}  // namespace simpred
