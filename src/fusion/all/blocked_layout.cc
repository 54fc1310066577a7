// Conv, pooling, Upsample and what stands between them    ==>    the same in NCHWc (domain com.microsoft.nchwc)
//
//   x -> Conv -> Relu -> Conv -> y    ==>    x -> ReorderInput -> nchwc.Conv -> nchwc.Conv -> ReorderOutput -> y
//
// One walk in topological order. A Conv with constant weights enters the blocked layout when its channels allow it and
// takes a ReorderInput if its input is not there yet; a Conv with fewer input channels than a block (the first layer)
// reads the plain layout. Add, Concat, Relu, BatchNormalization and Transpose follow only if all their inputs are
// blocked. A sum is absorbed by one of the two Conv that feed it, the activation behind it by the same Conv. At the end
// each blocked value that a plain reader still wants gets one ReorderOutput.
#include "fusion/all/blocked_layout.h"

#include <algorithm>
#include <cmath>

#include "fusion/rules.h"

namespace simpred {
namespace {

// The reorder kernels move four channels at a time.
constexpr int64_t kChannelStep = 4;

int Rewrite(Rewriter& r) {
  if (r.options().nchwc_block <= 1) return 0;
  return BlockedLayoutPass(r).Run();
}

}  // namespace

BlockedLayoutPass::BlockedLayoutPass(Rewriter& r) : r_(r), block_(r.options().nchwc_block) {}

int BlockedLayoutPass::Run() {
  const std::vector<NodeId> order = r_.order();
  for (NodeId n : order)
    if (r_.alive(n)) Transform(n);
  Finalize();
  return changed_;
}

void BlockedLayoutPass::Transform(NodeId n) {
  if (r_.Is(n, "Conv") || r_.Is(n, "FusedConv", kMicrosoft)) {
    TransformConv(n);
  } else if (r_.IsOneOf(n, {"MaxPool", "AveragePool"})) {
    TransformPool(n, true);
  } else if (r_.IsOneOf(n, {"GlobalMaxPool", "GlobalAveragePool"})) {
    TransformPool(n, false);
  } else if (r_.IsOneOf(n, {"Add", "Sum"})) {
    TransformBinary(n, true);
  } else if (r_.Is(n, "Mul")) {
    if (!TransformHardSwish(n) && !TransformScale(n)) TransformBinary(n, false);
  } else if (r_.Is(n, "Concat")) {
    TransformConcat(n);
  } else if (r_.IsOneOf(n, {"Relu", "Sigmoid", "Tanh"})) {
    TransformActivation(n, true);
  } else if (r_.Is(n, "QuickGelu", kMicrosoft)) {
    TransformActivation(n, false);
  } else if (r_.Is(n, "BatchNormalization")) {
    TransformBatchNorm(n);
  } else if (r_.Is(n, "Transpose")) {
    TransformTranspose(n);
  } else if (r_.IsOneOf(n, {"Upsample", "Resize"})) {
    TransformResize(n);
  }
}

int64_t BlockedLayoutPass::RoundUp(int64_t channels) const { return (channels + block_ - 1) / block_ * block_; }

BlockedLayoutPass::Blocked* BlockedLayoutPass::Find(ValueId v) {
  const auto it = blocked_.find(v);
  return it == blocked_.end() ? nullptr : &it->second;
}

// The blocked stand-in of `plain`: same shape, channels rounded up.
ValueId BlockedLayoutPass::MakeBlockedValue(ValueId plain, int64_t channels) {
  const ValueId v = r_.NewValueLike("blocked", plain);
  Shape& shape = r_.value(v).type.shape;
  if (shape.has_rank() && shape.rank() == 4) shape.dims()[1] = Dim(RoundUp(channels));
  return v;
}

// From now on readers of `plain` can have `value`, written by `node`.
void BlockedLayoutPass::Register(ValueId plain, NodeId node, ValueId value, int64_t channels) {
  const size_t uses = r_.UseCount(plain) + (r_.IsGraphOutput(plain) ? 1 : 0);
  blocked_[plain] = {node, value, uses, channels, PlacesOf(node, plain)};
  plain_of_[value] = plain;
  registered_.push_back(plain);
  ++changed_;
}

// Puts a blocked node in the place of `old`.
void BlockedLayoutPass::Replace(NodeId old, std::string_view type, std::vector<ValueId> inputs, int64_t channels,
                                bool keep_attributes) {
  const ValueId plain = r_.output(old);
  const auto attributes = keep_attributes ? r_.node(old).attributes : decltype(Node::attributes)();
  const std::string name = r_.node(old).name;
  const std::vector<std::string> names = r_.NamesOf({old});
  const ValueId value = MakeBlockedValue(plain, channels);
  r_.Remove(old);
  const NodeId n = r_.AddNode(type, kNchwc, std::move(inputs), {value}, names);
  r_.node(n).name = name;
  r_.node(n).attributes = attributes;
  r_.value(plain).producer = kNoNode;
  Register(plain, n, value, channels);
}

// The node stays what it is and works on blocked values.
void BlockedLayoutPass::KeepInPlace(NodeId n, int64_t channels) {
  const ValueId plain = r_.output(n);
  const ValueId value = MakeBlockedValue(plain, channels);
  r_.node(n).outputs[0] = value;
  r_.value(value).producer = n;
  r_.value(plain).producer = kNoNode;
  Register(plain, n, value, channels);
}

// Reads of `v` in the blocked layout: what a blocked node wrote, or a ReorderInput (one for all readers). A Transpose
// from channels last in front of it is taken along.
ValueId BlockedLayoutPass::BlockedInput(ValueId v, int64_t channels) {
  if (const Blocked* b = Find(v)) return b->value;
  const auto it = reordered_.find(v);
  if (it != reordered_.end()) return it->second;
  const ValueId value = MakeBlockedValue(v, channels);
  ValueId source = v;
  const NodeId transpose = r_.Producer(v);
  const bool from_last = r_.Is(transpose, "Transpose") && r_.Permutation(transpose) == std::vector<int64_t>{0, 3, 1, 2};
  if (from_last) source = r_.input(transpose, 0);
  const NodeId n = r_.AddNode("ReorderInput", kNchwc, {source}, {value});
  r_.node(n).Set("block_size", block_);  // for shape inference on the blocked graph
  if (from_last) {
    r_.node(n).Set("channels_last", int64_t{1});
    r_.node(n).fused_from = r_.NamesOf({transpose});
    maybe_unused_.push_back(transpose);
  }
  reordered_[v] = value;
  plain_of_[value] = v;
  return value;
}

void BlockedLayoutPass::TransformConv(NodeId n) {
  const ValueId w = r_.input(n, 1), b = r_.input(n, 2);
  const auto weights = r_.dims(w);
  if (!r_.IsConstant(w) || r_.dtype(w) != DataType::kFloat32 || !weights || weights->size() != 4) return;
  if (r_.PresentInputs(n) > 3) return;
  const int64_t out = (*weights)[0], in = (*weights)[1], group = r_.node(n).Int("group", 1);
  const bool depthwise = group > 1 && in == 1 && out == group;
  bool reorder_input = true;
  int64_t filter_in = in;
  if (depthwise) {
    if (out % kChannelStep != 0) return;
  } else if (group > 1) {
    if (out % block_ != 0 || in % block_ != 0 || out % group != 0 || (out / group) % block_ != 0) return;
  } else if (in < block_) {
    reorder_input = false;
  } else {
    if (in % kChannelStep != 0) return;
    filter_in = RoundUp(in);
  }
  if (b != kNoValue) {
    if (!r_.IsConstant(b) || r_.dtype(b) != DataType::kFloat32 || r_.dims(b) != std::vector<int64_t>{out}) return;
  }
  std::vector<ValueId> inputs = {r_.input(n, 0)};
  if (reorder_input) inputs[0] = BlockedInput(inputs[0], depthwise ? out : in * group);
  inputs.push_back(BlockedConstant(w, {RoundUp(out), filter_in, (*weights)[2], (*weights)[3]}, reorder_input));
  if (b != kNoValue) inputs.push_back(out == RoundUp(out) ? b : BlockedConstant(b, {RoundUp(out)}, false));
  Replace(n, "Conv", inputs, out, true);
  if (depthwise) r_.node(blocked_[registered_.back()].node).Set("group", RoundUp(out));
}

// Weights are rewritten once for all Conv that share them.
ValueId BlockedLayoutPass::BlockedConstant(ValueId v, std::vector<int64_t> dims, bool both_channels) {
  const auto key = std::make_pair(v, both_channels);
  const auto it = constants_.find(key);
  if (it != constants_.end()) return it->second;
  return constants_[key] = r_.NewConstant("reordered", DataType::kFloat32, std::move(dims));
}

void BlockedLayoutPass::TransformPool(NodeId n, bool may_reorder) {
  const ValueId x = r_.input(n, 0);
  if (r_.node(n).outputs.size() > 1 || r_.dtype(x) != DataType::kFloat32 || r_.rank(x) != 4) return;
  const Dim channels = r_.value(x).type.shape.dim(1);
  if (!channels.is_known() || channels.value() % block_ != 0) return;
  if (!may_reorder && Find(x) == nullptr) return;
  const ValueId in = BlockedInput(x, channels.value());
  Replace(n, r_.node(n).op_type, {in}, channels.value(), true);
}

void BlockedLayoutPass::TransformBinary(NodeId n, bool is_sum) {
  std::vector<ValueId> plain = r_.node(n).inputs;
  std::vector<Blocked> inputs;
  for (ValueId v : plain) {
    const Blocked* b = v == kNoValue ? nullptr : Find(v);
    if (b == nullptr || (!inputs.empty() && b->channels != inputs[0].channels)) return;
    inputs.push_back(*b);
  }
  if (inputs.empty()) return;
  if (HaveSameShape(plain)) {
    if (is_sum && inputs.size() == 2 && AbsorbSum(n, inputs)) return;
    for (size_t i = 0; i < inputs.size(); ++i) r_.SetInput(n, i, inputs[i].value);
    KeepInPlace(n, inputs[0].channels);
  } else if (is_sum) {
    SumReshaped(n, inputs);
  }
}

// One of two summands comes from a Conv that nothing else reads: the sum becomes that Conv's fourth input.
bool BlockedLayoutPass::AbsorbSum(NodeId sum, const std::vector<Blocked>& inputs) {
  for (size_t i = 0; i < 2; ++i) {
    const NodeId conv = inputs[i].node;
    if (!r_.Is(conv, "Conv", kNchwc) || inputs[i].uses != 1) continue;
    if (r_.node(conv).inputs.size() >= 4 || r_.node(conv).Find("activation") != nullptr) continue;
    const ValueId plain = r_.output(sum);
    r_.SetInput(conv, 3, inputs[1 - i].value);
    r_.node(conv).fused_from = r_.NamesOf({conv, sum});
    r_.Remove(sum);
    r_.value(plain).producer = kNoNode;
    Register(plain, conv, inputs[i].value, inputs[i].channels);
    return true;
  }
  return false;
}

// Shapes that broadcast: the channel blocks become an axis of their own around the sum.
void BlockedLayoutPass::SumReshaped(NodeId sum, const std::vector<Blocked>& inputs) {
  const int64_t channels = inputs[0].channels;
  const std::vector<int64_t> split = {0, RoundUp(channels) / block_, 0, 0, block_};
  const auto reshaped_dims = [&](ValueId v) {
    std::vector<Dim> dims = r_.value(v).type.shape.dims();
    dims[1] = Dim(RoundUp(channels) / block_);
    dims.emplace_back(block_);
    return Shape(dims);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId v = r_.NewValueLike("split_channels", inputs[i].value);
    r_.value(v).type.shape = reshaped_dims(inputs[i].value);
    r_.AddNode("Reshape", kOnnx, {inputs[i].value, r_.NewInts("split_shape", split)}, {v});
    r_.SetInput(sum, i, v);
  }
  const ValueId plain = r_.output(sum);
  const ValueId value = MakeBlockedValue(plain, channels);
  const ValueId inner = r_.NewValueLike("split_sum", value);
  r_.value(inner).type.shape = reshaped_dims(value);
  r_.node(sum).outputs[0] = inner;
  r_.value(inner).producer = sum;
  r_.value(plain).producer = kNoNode;
  const NodeId n =
      r_.AddNode("Reshape", kOnnx, {inner, r_.NewInts("joined_shape", {0, RoundUp(channels), 0, 0})}, {value});
  Register(plain, n, value, channels);
}

void BlockedLayoutPass::TransformConcat(NodeId n) {
  if (r_.node(n).Int("axis", 0) != 1) return;
  int64_t channels = 0;
  for (ValueId v : r_.node(n).inputs) {
    const Blocked* b = v == kNoValue ? nullptr : Find(v);
    if (b == nullptr || b->channels % block_ != 0) return;
    channels += b->channels;
  }
  for (size_t i = 0; i < r_.node(n).inputs.size(); ++i) r_.SetInput(n, i, Find(r_.input(n, i))->value);
  KeepInPlace(n, channels);
}

void BlockedLayoutPass::TransformActivation(NodeId n, bool conv_can_do_it) {
  const Blocked* found = Find(r_.input(n, 0));
  if (found == nullptr) return;
  const Blocked in = *found;
  const bool absorb = conv_can_do_it && r_.Is(in.node, "Conv", kNchwc) && in.uses == 1 &&
                      r_.node(in.node).Find("activation") == nullptr;
  if (!absorb) {
    r_.SetInput(n, 0, in.value);
    KeepInPlace(n, in.channels);
    return;
  }
  const ValueId plain = r_.output(n);
  r_.node(in.node).Set("activation", r_.node(n).op_type);
  r_.node(in.node).fused_from = r_.NamesOf({in.node, n});
  r_.Remove(n);
  r_.value(plain).producer = kNoNode;
  Register(plain, in.node, in.value, in.channels);
}

// x * HardSigmoid(x), as exporters write HardSwish, behind a Conv that nothing else reads.
bool BlockedLayoutPass::TransformHardSwish(NodeId mul) {
  constexpr double kAlpha = 1.0 / 6, kBeta = 0.5, kTolerance = 1e-3;
  for (size_t i = 0; i < 2; ++i) {
    const NodeId gate = r_.InputNode(mul, 1 - i);
    const Blocked* found = Find(r_.input(mul, i));
    if (found == nullptr || !r_.Is(gate, "HardSigmoid") || r_.input(gate, 0) != r_.input(mul, i)) continue;
    if (r_.OnlyConsumerOf(gate) != mul || found->uses != 2 || !r_.Is(found->node, "Conv", kNchwc)) continue;
    if (r_.node(found->node).Find("activation") != nullptr) continue;
    if (std::abs(r_.node(gate).Float("alpha", 0.2) - kAlpha) > kTolerance) continue;
    if (std::abs(r_.node(gate).Float("beta", 0.5) - kBeta) > kTolerance) continue;
    const Blocked in = *found;
    const ValueId plain = r_.output(mul);
    r_.node(in.node).Set("activation", "HardSwish");
    r_.node(in.node).fused_from = r_.NamesOf({in.node, gate, mul});
    r_.Remove(mul);
    r_.Remove(gate);
    r_.value(plain).producer = kNoNode;
    Register(plain, in.node, in.value, in.channels);
    return true;
  }
  return false;
}

// A factor per channel that is a constant: a 1x1 Conv with one channel per group, without a bias.
bool BlockedLayoutPass::TransformScale(NodeId n) {
  for (size_t i = 0; i < 2; ++i) {
    const Blocked* found = Find(r_.input(n, i));
    const ValueId factor = r_.input(n, 1 - i);
    if (found == nullptr || !r_.IsConstant(factor) || r_.dtype(factor) != DataType::kFloat32) continue;
    const Blocked in = *found;
    const auto dims = r_.dims(factor);
    if (dims != std::vector<int64_t>{in.channels, 1, 1} && dims != std::vector<int64_t>{1, in.channels, 1, 1}) continue;
    const int64_t padded = RoundUp(in.channels);
    const ValueId weights = r_.NewConstant("scale", DataType::kFloat32, {padded, 1, 1, 1});
    Replace(n, "Conv", {in.value, weights}, in.channels, false);
    r_.node(blocked_[registered_.back()].node).Set("group", padded);
    return true;
  }
  return false;
}

// Scale and shift per channel: a 1x1 Conv with one channel per group.
void BlockedLayoutPass::TransformBatchNorm(NodeId n) {
  const Blocked* found = Find(r_.input(n, 0));
  if (found == nullptr || r_.node(n).outputs.size() > 1 || r_.node(n).Int("spatial", 1) != 1) return;
  if (!r_.node(n).Float("epsilon")) return;
  const Blocked in = *found;
  for (size_t i = 1; i < 5; ++i)
    if (!r_.IsConstant(r_.input(n, i)) || r_.dims(r_.input(n, i)) != std::vector<int64_t>{in.channels}) return;
  const int64_t padded = RoundUp(in.channels);
  const std::vector<ValueId> inputs = {in.value, r_.NewConstant("bn_scale", DataType::kFloat32, {padded, 1, 1, 1}),
                                       r_.NewConstant("bn_bias", DataType::kFloat32, {padded})};
  Replace(n, "Conv", inputs, in.channels, false);
  r_.node(blocked_[registered_.back()].node).Set("group", padded);
}

// Numbers where the shape is known. Elsewhere the runtime follows a dimension from the plain value that a blocked
// kernel read, through kernels that keep or halve it; two of different origin count as different.
std::array<std::string, 3> BlockedLayoutPass::PlacesOf(NodeId n, ValueId plain) {
  std::array<std::string, 3> places;
  const ValueId in = r_.input(n, 0);
  const auto source = plain_of_.find(in);
  const Blocked* before = source == plain_of_.end() ? nullptr : Find(source->second);
  const ValueId origin = source == plain_of_.end() ? in : source->second;
  for (size_t i = 0; i < places.size(); ++i) {
    const int axis = i == 0 ? 0 : static_cast<int>(i) + 1;
    const Dim d = r_.value(plain).type.shape.dim(axis);
    const std::string own = before != nullptr ? before->places[i] : std::to_string(origin) + "." + std::to_string(axis);
    places[i] = d.is_known() ? d.ToString() : i == 0 ? own : PlaceBehind(n, i - 1, own);
  }
  return places;
}

std::string BlockedLayoutPass::PlaceBehind(NodeId n, size_t axis, const std::string& before) const {
  const Node& node = r_.node(n);
  if (node.domain != kNchwc || node.op_type == "Upsample") return before + (node.op_type == "Upsample" ? "*" : "");
  if (node.op_type.starts_with("Global")) return "1";
  std::optional<std::vector<int64_t>> kernel = node.Ints("kernel_shape");
  if (!kernel) {
    const auto weights = r_.dims(r_.input(n, 1));
    if (weights && weights->size() == 4) kernel = {(*weights)[2], (*weights)[3]};
  }
  const auto strides = node.Ints("strides").value_or(std::vector<int64_t>{1, 1});
  const auto pads = node.Ints("pads").value_or(std::vector<int64_t>{0, 0, 0, 0});
  const auto dilations = node.Ints("dilations").value_or(std::vector<int64_t>{1, 1});
  const bool readable =
      kernel && kernel->size() == 2 && strides.size() == 2 && pads.size() == 4 && dilations.size() == 2;
  std::string fresh = std::to_string(r_.output(n)) + "." + std::to_string(axis);
  if (!readable) return fresh;
  const int64_t reach = ((*kernel)[axis] - 1) * dilations[axis] - pads[axis] - pads[axis + 2];
  if (strides[axis] == 1 && reach == 0) return before;
  return strides[axis] == 2 && (reach == 0 || reach == 1) ? before + "/2" : fresh;
}

bool BlockedLayoutPass::HaveSameShape(const std::vector<ValueId>& plain) {
  return std::all_of(plain.begin(), plain.end(), [&](ValueId v) {
    return r_.rank(v) == 4 && r_.rank(plain[0]) == 4 && Find(v)->places == Find(plain[0])->places;
  });
}

// To channels last: the reorder does it on the way out.
void BlockedLayoutPass::TransformTranspose(NodeId n) {
  const Blocked* in = Find(r_.input(n, 0));
  if (in == nullptr || r_.Permutation(n) != std::vector<int64_t>{0, 2, 3, 1}) return;
  const int64_t channels = in->channels;
  const NodeId made = r_.Fuse({n}, "ReorderOutput", kNchwc, {in->value});
  r_.node(made).Set("channels", channels);
  r_.node(made).Set("channels_last", int64_t{1});
  ++changed_;
}

void BlockedLayoutPass::Finalize() {
  for (NodeId n : maybe_unused_)
    if (r_.alive(n) && r_.OutputUses(n) == 0 && !r_.ProducesGraphOutput(n)) r_.Remove(n);
  for (ValueId plain : registered_) {
    if (r_.UseCount(plain) == 0 && !r_.IsGraphOutput(plain)) continue;
    const Blocked& b = blocked_.at(plain);
    const NodeId n = r_.AddNode("ReorderOutput", kNchwc, {b.value}, {plain});
    r_.node(n).Set("channels", b.channels);
  }
}

FusionRule BlockedLayout() {
  return MakeRule("blocked-layout", FusionLevel::kAll, "Conv and pooling in NCHWc, with reorders at the borders",
                  Rewrite);
}

}  // namespace simpred
