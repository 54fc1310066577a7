// Recurrent layers as exporters write them.
#include "zoo/recurrent.h"

#include <cmath>

namespace simpred::zoo {

std::string BidirectionalLstm(Net& net, const std::string& x, int64_t time, int64_t in, int64_t hidden) {
  auto& b = net.builder();
  const std::string w = b.Weight({2, 4 * hidden, in}, 1 / std::sqrt(static_cast<double>(in)));
  const std::string r = b.Weight({2, 4 * hidden, hidden}, 1 / std::sqrt(static_cast<double>(hidden)));
  const std::string bias = b.Weight({2, 8 * hidden}, 0.1);
  const std::string y = b.Op("LSTM", {x, w, r, bias}, {{"direction", "bidirectional"}, {"hidden_size", hidden}});
  const std::string t = b.Op("Transpose", {y}, {{"perm", Ints{0, 2, 1, 3}}});
  return b.Op("Reshape", {t, b.ConstantInts({time, net.batch(), 2 * hidden})});
}

std::string Gru(Net& net, const std::string& x, int64_t in, int64_t hidden) {
  auto& b = net.builder();
  const std::string w = b.Weight({1, 3 * hidden, in}, 1 / std::sqrt(static_cast<double>(in)));
  const std::string r = b.Weight({1, 3 * hidden, hidden}, 1 / std::sqrt(static_cast<double>(hidden)));
  const std::string bias = b.Weight({1, 6 * hidden}, 0.1);
  const std::string y = b.Op("GRU", {x, w, r, bias}, {{"hidden_size", hidden}, {"linear_before_reset", 1}});
  return b.Op("Squeeze", {y, b.ConstantInts({1})});
}

std::string Dense(ModelBuilder& b, const std::string& x, int64_t in, int64_t out) {
  const std::string w = b.Weight({in, out}, 1 / std::sqrt(static_cast<double>(in)));
  return b.Op("Add", {b.Weight({out}, 0.1), b.Op("MatMul", {x, w})});
}

}  // namespace simpred::zoo
