// Recurrent layers as exporters write them.
#pragma once

#include <string>

#include "zoo/net.h"

namespace simpred::zoo {

// Rows of [time, batch, in] -> [time, batch, 2 * hidden].
std::string BidirectionalLstm(Net& net, const std::string& x, int64_t time, int64_t in, int64_t hidden);
// [time, batch, in] -> [time, batch, hidden].
std::string Gru(Net& net, const std::string& x, int64_t in, int64_t hidden);
// MatMul and Add over the last dimension.
std::string Dense(ModelBuilder& b, const std::string& x, int64_t in, int64_t out);

}  // namespace simpred::zoo
