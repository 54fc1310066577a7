// What shape and work has attention? Heads and lengths read from tensors in either layout; shared with com.microsoft.
//
// Work: scores 2 * B * H * Sq * Sk * D, softmax over them, weighted sum 2 * B * H * Sq * Sk * Dv (Vaswani et al.,
// "Attention is all you need", section 3.2.1). Masked pairs are counted: runtimes multiply whole blocks.
#pragma once

#include <string_view>

#include "operators/registry.h"

namespace simpred {

// A tensor of heads: [B, H, S, D], or [B, S, H * D] with the number of heads from an attribute.
struct Heads {
  Dim batch, heads, length, size;
};
// Unknown rank: all unknown. Another rank than 3 or 4, and a hidden size that heads do not divide, are errors that name
// the tensor.
Result<Heads> SplitHeads(const Shape& shape, int64_t num_heads, std::string_view tensor);

struct AttentionSizes {
  double batch = 0, heads = 0, queries = 0, keys = 0, head_size = 0, value_size = 0;
};
Flops AttentionFlops(const AttentionSizes& s);

// Rotary embedding: X rotated in pairs of elements, two multiply-adds and two multiplications each; of the tables only
// the rows of the positions are read.
Work RotaryWork(const CostContext& c, size_t x, size_t cos, size_t sin);

}  // namespace simpred
