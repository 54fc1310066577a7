#include "fusion/basic/determinism.h"

#include <algorithm>
#include <array>
#include <memory>

namespace simpred {

bool IsDeterministic(const Node& node) {
  constexpr std::array<std::string_view, 6> kRandom = {"RandomUniform",    "RandomNormal", "RandomUniformLike",
                                                       "RandomNormalLike", "Multinomial",  "Bernoulli"};
  return std::find(kRandom.begin(), kRandom.end(), node.op_type) == kRandom.end();
}

bool HasSubgraph(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& a) {
    return std::holds_alternative<std::shared_ptr<Graph>>(a.second.value) ||
           std::holds_alternative<std::vector<std::shared_ptr<Graph>>>(a.second.value);
  });
}

}  // namespace simpred
