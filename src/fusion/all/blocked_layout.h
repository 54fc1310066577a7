// The walk that moves a graph into the NCHWc layout; see blocked_layout.cc.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fusion/rewriter.h"

namespace simpred {

class BlockedLayoutPass {
 public:
  explicit BlockedLayoutPass(Rewriter& r);
  int Run();  // number of values that are blocked now

 private:
  // What is there in place of a plain value.
  struct Blocked {
    NodeId node = kNoNode;
    ValueId value = kNoValue;
    size_t uses = 0;       // of the plain value when it became blocked, graph output included
    int64_t channels = 0;  // true ones, without padding
    // What the runtime knows of batch, height and width: a number, or whose dimension it is.
    std::array<std::string, 3> places = {};
  };

  void Transform(NodeId n);
  void TransformConv(NodeId n);
  void TransformPool(NodeId n, bool may_reorder);
  void TransformBinary(NodeId n, bool is_sum);
  bool AbsorbSum(NodeId sum, const std::vector<Blocked>& inputs);
  void SumReshaped(NodeId sum, const std::vector<Blocked>& inputs);
  bool TransformScale(NodeId n);
  bool TransformHardSwish(NodeId mul);
  void TransformConcat(NodeId n);
  void TransformActivation(NodeId n, bool conv_can_do_it);
  void TransformBatchNorm(NodeId n);
  void TransformTranspose(NodeId n);
  void TransformResize(NodeId n);
  void Finalize();

  std::array<std::string, 3> PlacesOf(NodeId n, ValueId plain);
  std::string PlaceBehind(NodeId n, size_t axis, const std::string& before) const;
  bool HaveSameShape(const std::vector<ValueId>& plain);
  int64_t RoundUp(int64_t channels) const;
  Blocked* Find(ValueId v);
  ValueId MakeBlockedValue(ValueId plain, int64_t channels);
  void Register(ValueId plain, NodeId node, ValueId value, int64_t channels);
  void Replace(NodeId old, std::string_view type, std::vector<ValueId> inputs, int64_t channels, bool keep_attributes);
  void KeepInPlace(NodeId n, int64_t channels);
  ValueId BlockedInput(ValueId v, int64_t channels);
  ValueId BlockedConstant(ValueId v, std::vector<int64_t> dims, bool both_channels);

  Rewriter& r_;
  int64_t block_;
  int changed_ = 0;
  std::map<ValueId, Blocked> blocked_;    // by plain value
  std::vector<ValueId> registered_;       // keys of blocked_ in the order in which they came
  std::map<ValueId, ValueId> reordered_;  // plain value -> its ReorderInput
  std::map<ValueId, ValueId> plain_of_;   // blocked value -> the plain one that it stands for
  std::map<std::pair<ValueId, bool>, ValueId> constants_;
  std::vector<NodeId> maybe_unused_;  // transposes that a ReorderInput took along
};

}  // namespace simpred
