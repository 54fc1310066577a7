// com.microsoft: whole search loops over a decoder, and the operators that serve text generation. How often a search
// runs its subgraph is decided by the data; what is counted here is only the tensors that go in and out.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/microsoft.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

// Sizes of a search: batch from input_ids [B, S]; the others are scalars that are constants in most models.
struct SearchInputs {
  int beams = -1;  // -1: none, one sequence per batch element
  int returned = -1;
};

Status SearchShape(InferenceContext& c, const SearchInputs& at) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const Shape& ids = c.input(0).shape;
  const Dim batch = ids.dim(0);
  const Dim length = DimOf(c, 1).value_or(Dim());
  Shape sequences({batch, length});
  if (at.returned >= 0) {
    const Dim returned = c.has_input(at.returned) ? DimOf(c, at.returned).value_or(Dim()) : Dim(1);
    sequences = Shape({batch, returned, length});
    c.set_output(1, Tensor(DataType::kFloat32, Shape({batch, returned})));
    const Dim beams = c.has_input(at.beams) ? DimOf(c, at.beams).value_or(Dim()) : Dim(1);
    const Dim vocabulary = c.node().Int("vocab_size") ? Dim(c.node().Int("vocab_size", 0)) : Dim();
    c.set_output(2, Tensor(DataType::kFloat32, Shape({length - ids.dim(1), batch, beams, vocabulary})));
  }
  c.set_output(0, Tensor(DataType::kInt32, std::move(sequences)));
  return OkStatus();
}

// logits [B, vocabulary] after filtering.
Status SamplingShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(SearchShape(c, {}));
  c.set_output(1, Tensor(DataType::kFloat32, Shape({c.input(0).shape.dim(0), Dim()})));
  return OkStatus();
}

// scores pass through, with what would repeat forbidden.
Status NGramShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  c.set_output(0, c.input(1));
  return OkStatus();
}

Status BifurcationShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  c.set_output(0, Tensor(DataType::kInt64, Shape({c.data_dependent_dim("tokens", Dim())})));
  c.set_output(1, Tensor(DataType::kInt64, Shape::Scalar()));
  return OkStatus();
}

// [M, N] or [1, M, N] costs -> the path [2, length].
Status TimeWarpingShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  const Dim longest = x.has_rank() ? x.dim(-1) + x.dim(-2) : Dim();
  c.set_output(0, Tensor(DataType::kInt32, Shape({Dim(2), c.data_dependent_dim("path", longest)})));
  return OkStatus();
}

// [B, S, H] and the number of tokens of each sequence -> the tokens without padding, and where they were.
Status RemovePaddingShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 3));
  const Dim tokens = c.data_dependent_dim("tokens", x.dim(0) * x.dim(1));
  c.set_output(0, Tensor(c.input(0).dtype, Shape({tokens, x.dim(2)})));
  c.set_output(1, Tensor(DataType::kInt32, Shape({x.dim(0), x.dim(1)})));
  c.set_output(2, Tensor(DataType::kInt32, Shape({x.dim(0) + Dim(1)})));
  c.set_output(3, Tensor(DataType::kInt32, Shape({Dim(1)})));
  return OkStatus();
}

// [tokens, H] and token_offset [B, S] -> [B, S, H].
Status RestorePaddingShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape offsets, RequireRank(c, 1, 2));
  c.set_output(0, Tensor(c.input(0).dtype, Shape({offsets.dim(0), offsets.dim(1), x.dim(1)})));
  return OkStatus();
}

// Strings are split by the data: [..., tokens of the longest].
Status TokenizerShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  Shape out = c.input(0).shape;
  if (out.has_rank()) out.dims().push_back(c.data_dependent_dim("tokens", Dim()));
  c.set_output(0, Tensor(DataType::kString, std::move(out)));
  return OkStatus();
}

// A compiled part of a model: nothing is known of its outputs but what the file declares.
Status OpaqueShape(InferenceContext&) { return OkStatus(); }

}  // namespace

void RegisterMicrosoftGeneration(Registry& r) {
  MicrosoftFamily loops(r, OperatorClass::kControl, "tensors in and out; the decoder's own work is not counted");
  const auto beam = [](InferenceContext& c) { return SearchShape(c, {.beams = 3, .returned = 4}); };
  loops.Add("BeamSearch", beam, BytesOfTensors);
  loops.Add("WhisperBeamSearch", beam, BytesOfTensors);
  loops.Add(
      "GreedySearch", [](InferenceContext& c) { return SearchShape(c, {}); }, BytesOfTensors);
  loops.Add("Sampling", SamplingShape, BytesOfTensors);

  MicrosoftFamily data(r, OperatorClass::kDataDependent, "one step per element of the largest tensor");
  data.Add("NGramRepeatBlock", NGramShape, PerElement(cost::kAdd));
  data.Add("BifurcationDetector", BifurcationShape, BytesOfTensors);
  data.Add("DynamicTimeWarping", TimeWarpingShape, [](const CostContext& c) {
    Work work = TrafficOf(c);
    work.flops = Flops(InputElements(c) * 3 * cost::kAdd);  // the least of three neighbours
    return work;
  });
  data.Add("Tokenizer", TokenizerShape, BytesOfTensors);

  MicrosoftFamily movement(r, OperatorClass::kDataMovement, "every element is read once and written once");
  movement.Add("RemovePadding", RemovePaddingShape, TrafficOf);
  movement.Add("RestorePadding", RestorePaddingShape, TrafficOf);

  MicrosoftFamily other(r, OperatorClass::kOther, "tensors in and out; what is inside is not in the file");
  other.Add("EPContext", OpaqueShape, BytesOfTensors);
  other.Add("Snpe", OpaqueShape, BytesOfTensors);
}

}  // namespace simpred
