// Which known word did the user mean?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace simpred {

// Insertions, deletions, substitutions and swaps of neighbours that turn one into the other.
int EditDistance(std::string_view a, std::string_view b);
// The closest of `known`, ties to the first; empty if none is closer than half its length.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace simpred
