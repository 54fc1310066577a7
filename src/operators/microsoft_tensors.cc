// com.microsoft: Fourier transforms, block formats, and twins of ai.onnx operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/image.h"
#include "operators/microsoft.h"
#include "operators/normalization.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {
namespace {

Result<int> SignalRank(const InferenceContext& c, int rank) {
  const int64_t n = c.node().Int("signal_ndim", 1);
  if (n < 1 || n > 3 || n > rank) return ModelError(fmt::format("signal_ndim {} of a signal of {} axes", n, rank));
  return static_cast<int>(n);
}

// Real [..., n] -> complex [..., n/2 + 1, 2]; the inverse goes back.
Status RfftShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape x, RequireRankAtLeast(c, 0, 1));
  if (x.has_rank()) {
    SIMPRED_RETURN_IF_ERROR(SignalRank(c, x.rank()).status());
    if (c.node().Int("onesided", 1) != 0) x.dims().back() = FloorDiv(x.dim(-1), Dim(2)) + Dim(1);
    x.dims().emplace_back(2);
  }
  c.set_output(0, Tensor(c.input(0).dtype, std::move(x)));
  return OkStatus();
}

Status IrfftShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape x, RequireRankAtLeast(c, 0, 2));
  if (x.has_rank()) {
    x.dims().pop_back();
    SIMPRED_RETURN_IF_ERROR(SignalRank(c, x.rank()).status());
    if (c.node().Int("onesided", 1) != 0) x.dims().back() = (x.dim(-1) - Dim(1)) * Dim(2);
  }
  c.set_output(0, Tensor(c.input(0).dtype, std::move(x)));
  return OkStatus();
}

// 2.5 n log2 n per real transform of n points.
Work RealTransformWork(const CostContext& c, bool inverse) {
  Work work = TrafficOf(c);
  const std::vector<CostTensor>& real = inverse ? c.outputs : c.inputs;
  if (c.node == nullptr || real.empty()) return work;
  const std::vector<int64_t>& dims = real[0].dims;
  const size_t axes = static_cast<size_t>(std::clamp<int64_t>(c.node->Int("signal_ndim", 1), 1, 3));
  double points = 1;
  for (size_t i = dims.size() - std::min(axes, dims.size()); i < dims.size(); ++i) {
    points *= static_cast<double>(dims[i]);
  }
  if (points > 1) work.flops = Flops(2.5 * static_cast<double>(real[0].elements()) * std::log2(points));
  return work;
}

// X [N, C, H, W], rois [R, 4], batch_indices [R], crop_size [2] -> [R, C, crop].
Status CropAndResizeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 4));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 4));
  SIMPRED_ASSIGN_OR_RETURN(const Shape rois, RequireRank(c, 1, 2));
  const std::vector<Dim> crop = DimsOf(c, 3).value_or(std::vector<Dim>(2));
  if (crop.size() != 2) return ModelError(fmt::format("crop_size needs 2 numbers, has {}", crop.size()));
  c.set_output(0, Tensor(c.input(0).dtype, Shape({rois.dim(0), x.dim(1), crop[0], crop[1]})));
  return OkStatus();
}

// [..., n, ...] -> [..., windows, ..., size]: windows of `size` every `step` along `dim`.
Status UnfoldShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Shape x, RequireRankAtLeast(c, 0, 1));
  const int64_t size = c.node().Int("size", 0);
  const int64_t step = c.node().Int("step", 1);
  if (size < 1 || step < 1) return ModelError(fmt::format("size {} and step {} must be positive", size, step));
  if (x.has_rank()) {
    SIMPRED_ASSIGN_OR_RETURN(const int along, ResolveAxis(c.node().Int("dim", -1), x.rank()));
    Dim& d = x.dims()[static_cast<size_t>(along)];
    if (d.is_known() && d.value() < size)
      return ModelError(fmt::format("a window of {} is larger than {}", size, d.value()));
    d = FloorDiv(d - Dim(size), Dim(step)) + Dim(1);
    x.dims().emplace_back(size);
  }
  c.set_output(0, Tensor(c.input(0).dtype, std::move(x)));
  return OkStatus();
}

// One dimension of one is inserted at a constant axis.
Status ExpandDimsShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  Shape x = c.input(0).shape;
  const std::optional<int64_t> axis = IntOf(c, 1);
  if (x.has_rank() && axis) {
    SIMPRED_ASSIGN_OR_RETURN(const int at, ResolveAxis(*axis, x.rank() + 1));
    x.dims().insert(x.dims().begin() + at, Dim(1));
  } else if (x.has_rank()) {
    x = Shape::OfRank(x.rank() + 1);
  }
  c.set_output(0, Tensor(c.input(0).dtype, std::move(x)));
  return OkStatus();
}

// weight [rows, H], indices [...] -> [..., H].
Status EmbeddingShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape table, RequireRank(c, 0, 2));
  Shape out = c.input(1).shape;
  if (out.has_rank()) out.dims().push_back(table.dim(1));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

// data, indices, scales, zero points: the gathered rows, dequantised to the scales' type.
Status GatherQuantizedShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  const Shape& data = c.input(0).shape;
  const Shape& indices = c.input(1).shape;
  if (!data.has_rank() || !indices.has_rank()) {
    c.set_output(0, Tensor(c.input(2).dtype));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(const int axis, ResolveAxis(c.node().Int("gather_axis", 0), data.rank()));
  std::vector<Dim> dims(data.dims().begin(), data.dims().begin() + axis);
  dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
  dims.insert(dims.end(), data.dims().begin() + axis + 1, data.dims().end());
  // Bytes hold 8 / bits elements along the last axis.
  const int64_t bits = c.node().Int("bits", 4);
  if (bits != 4 && bits != 8 && bits != 2) return ModelError(fmt::format("bits must be 2, 4 or 8, is {}", bits));
  const bool in_bytes = c.input(0).dtype == DataType::kUInt8 && bits < 8;
  if (in_bytes && axis != data.rank() - 1 && !dims.empty()) dims.back() = dims.back() * Dim(8 / bits);
  c.set_output(0, Tensor(c.input(2).dtype, Shape(std::move(dims))));
  return OkStatus();
}

// Blocks of floats that share an exponent: bytes, the shape and the strides of the original.
Status QuantizeBfpShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Shape& x = c.input(0).shape;
  const Dim rank = x.has_rank() ? Dim(x.rank()) : Dim();
  c.set_output(0, Tensor(DataType::kUInt8, Shape::OfRank(1)));
  c.set_output(1, Tensor(DataType::kInt64, Shape({rank})));
  c.set_output(2, Tensor(DataType::kInt64, Shape({rank})));
  return OkStatus();
}

Status DequantizeBfpShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const std::optional<std::vector<Dim>> dims = DimsOf(c, 1);
  const DataType type = FromOnnxType(c.node().Int("dtype", 1));
  c.set_output(0, Tensor(type == DataType::kUndefined ? DataType::kFloat32 : type, dims ? Shape(*dims) : Shape()));
  return OkStatus();
}

Status DequantizeOrderShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const DataType type = FromOnnxType(c.node().Int("to", 1));
  c.set_output(0, Tensor(type == DataType::kUndefined ? DataType::kFloat32 : type, c.input(0).shape));
  return OkStatus();
}

Status MurmurShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const bool positive = c.node().Int("positive", 1) != 0;
  c.set_output(0, Tensor(positive ? DataType::kUInt32 : DataType::kInt32, c.input(0).shape));
  return OkStatus();
}

void AddElementwise(Registry& r) {
  MicrosoftFamily f(r, OperatorClass::kElementwise, "operations per element of the formula in ContribOperators.md");
  f.Add("SampleOp", SameAsInput(), TrafficOf);
  f.Add("GridSample", GridSampleShape, GridSampleWork);
  // Four multiplications and two additions per complex number.
  for (const char* type : {"ComplexMul", "ComplexMulConj"}) f.Add(type, BroadcastInputs(), PerElement(3));
  f.Add("CropAndResize", CropAndResizeShape, PerElement(3 * cost::kLinearPerAxis));
  f.Add("MurmurHash3", MurmurShape, PerElement(20 * cost::kAdd));  // five rounds of rotate, multiply, add, shift
  f.Add(
      "IsAllFinite",
      [](InferenceContext& c) {
        c.set_output(0, Tensor(DataType::kBool, Shape::Scalar()));
        return OkStatus();
      },
      BytesOfTensors);
}

// Operators that are the same in both domains.
void AddTwins(Registry& r) {
  for (const char* type : {"Pad", "Range", "Trilu", "Unique", "GatherND", "QuantizeLinear", "DequantizeLinear"}) {
    const OperatorRule* standard = r.Find("", type);
    if (standard == nullptr) continue;
    OperatorRule twin = *standard;
    twin.domain = kMicrosoft;
    r.Add(std::move(twin));
  }
}

}  // namespace

void RegisterMicrosoftTensors(Registry& r) {
  AddElementwise(r);
  AddTwins(r);
  MicrosoftFamily transforms(r, OperatorClass::kMatMul, "2.5 n log2 n operations for a real transform of n points");
  transforms.Add("Rfft", RfftShape, [](const CostContext& c) { return RealTransformWork(c, false); });
  transforms.Add("Irfft", IrfftShape, [](const CostContext& c) { return RealTransformWork(c, true); });

  MicrosoftFamily movement(r, OperatorClass::kDataMovement, "what the output holds is read once and written once");
  movement.Add("UnfoldTensor", UnfoldShape, MovesOutput());
  movement.Add("TorchEmbedding", EmbeddingShape, MovesOutput());
  movement.Add("GatherBlockQuantized", GatherQuantizedShape, MovesOutput(cost::kDequantize));
  MicrosoftFamily views(r, OperatorClass::kView, "another shape of the same bytes");
  views.Add("ExpandDims", ExpandDimsShape, ViewCost());

  MicrosoftFamily quantization(r, OperatorClass::kQuantization, "one conversion per element");
  quantization.Add("QuantizeBFP", QuantizeBfpShape, PerInputElement(cost::kQuantize));
  quantization.Add("DequantizeBFP", DequantizeBfpShape, PerElement(cost::kDequantize));
  quantization.Add("QuantizeWithOrder", SameShapeWithType(DataType::kInt8), PerElement(cost::kQuantize));
  quantization.Add("DequantizeWithOrder", DequantizeOrderShape, PerElement(cost::kDequantize));
}

}  // namespace simpred
