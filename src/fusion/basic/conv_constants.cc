#include "fusion/basic/conv_constants.h"

namespace simpred {

bool HasConstantWeights(Rewriter& r, NodeId conv) {
  if (!r.IsConstant(r.input(conv, 1)) || !r.dims(r.input(conv, 1))) return false;
  return r.input(conv, 2) == kNoValue || r.IsConstant(r.input(conv, 2));
}

bool BroadcastsOverChannels(Rewriter& r, NodeId conv, ValueId v) {
  const auto weights = r.dims(r.input(conv, 1));
  const auto dims = r.dims(v);
  if (!weights || !dims || weights->size() < 4) return false;
  size_t axis = 0;
  if (dims->size() == weights->size())
    axis = 1;
  else if (dims->size() + 1 != weights->size())
    return false;
  for (size_t i = 0; i < dims->size(); ++i)
    if ((*dims)[i] != (i == axis ? (*weights)[0] : 1)) return false;
  return true;
}

NodeId FoldIntoConv(Rewriter& r, NodeId conv, NodeId last, bool with_bias) {
  std::vector<ValueId> inputs = r.node(conv).inputs;
  const std::vector<int64_t> weights = *r.dims(inputs[1]);
  const DataType t = r.dtype(inputs[1]);
  inputs[1] = r.NewConstant("folded_weight", t, weights);
  if (inputs.size() < 3) inputs.resize(3, kNoValue);
  if (with_bias || inputs[2] != kNoValue) inputs[2] = r.NewConstant("folded_bias", t, {weights[0]});
  if (inputs[2] == kNoValue) inputs.resize(2);
  const auto attributes = r.node(conv).attributes;
  const NodeId fused = r.Fuse({conv, last}, r.node(conv).op_type, kOnnx, std::move(inputs));
  r.node(fused).attributes = attributes;
  return fused;
}

}  // namespace simpred
