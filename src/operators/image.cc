// Operators on images and signals: sampling grids, column images, Fourier transforms, windows.
#include "operators/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/static_shapes.h"

namespace simpred {

// X [N, C, in...], grid [N, out..., axes] -> [N, C, out...].
Status GridSampleShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape grid, RequireRankAtLeast(c, 1, 3));
  if (x.has_rank() && grid.has_rank() && x.rank() != grid.rank()) {
    return ModelError(fmt::format("X {} and grid {} have different ranks", x.ToString(), grid.ToString()));
  }
  if (!x.has_rank() && !grid.has_rank()) {
    c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  }
  const int rank = x.has_rank() ? x.rank() : grid.rank();
  const Dim axes = grid.dim(-1);
  if (grid.has_rank() && axes.is_known() && axes.value() != rank - 2) {
    return ModelError(fmt::format("grid {} needs {} coordinates at each point", grid.ToString(), rank - 2));
  }
  std::vector<Dim> dims = {x.has_rank() ? x.dim(0) : grid.dim(0), x.dim(1)};
  for (int i = 1; i + 1 < rank; ++i) dims.push_back(grid.dim(i));
  c.set_output(0, Tensor(c.input(0).dtype, Shape(std::move(dims))));
  return OkStatus();
}

// One-dimensional interpolations per output element: 2^axes - 1 linear ones, or 1 + 4 + 4^2 ... cubic ones.
Work GridSampleWork(const CostContext& c) {
  constexpr double kPerCoordinate = 3;  // from [-1, 1] to pixels, and the border
  Work work = TrafficOf(c);
  const double axes = std::max(1.0, static_cast<double>(ShapeOf(c, 0).rank()) - 2);
  const std::string mode = c.node != nullptr ? c.node->String("mode", "linear") : "linear";
  double per_output = 0;
  if (mode == "linear" || mode == "bilinear") per_output = (std::exp2(axes) - 1) * cost::kLinearPerAxis;
  if (mode == "cubic" || mode == "bicubic") per_output = (std::pow(4, axes) - 1) / 3 * cost::kCubicPerAxis;
  work.flops = Flops(OutputElements(c) * per_output + InputElements(c, 1) * kPerCoordinate);
  return work;
}

namespace {

// theta [N, axes, axes + 1], size [N, C, out...] -> [N, out..., axes].
Status AffineGridShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape theta, RequireRank(c, 0, 3));
  const std::optional<std::vector<Dim>> size = DimsOf(c, 1);
  std::vector<Dim> dims;
  if (size) {
    if (size->size() < 4) return ModelError(fmt::format("size needs 4 or 5 numbers, has {}", size->size()));
    dims.push_back((*size)[0]);
    dims.insert(dims.end(), size->begin() + 2, size->end());
    dims.emplace_back(static_cast<int64_t>(size->size()) - 2);
  } else if (theta.dim(1).is_known() && (theta.dim(1).value() == 2 || theta.dim(1).value() == 3)) {
    dims.resize(static_cast<size_t>(theta.dim(1).value()) + 2);
    dims.front() = theta.dim(0);
    dims.back() = theta.dim(1);
  }
  c.set_output(0, Tensor(c.input(0).dtype, dims.empty() ? Shape() : Shape(std::move(dims))));
  return OkStatus();
}

// input [N, C * block, L], image_shape, block_shape -> [N, C, image...].
Status Col2ImShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRank(c, 0, 3));
  const std::optional<std::vector<Dim>> image = DimsOf(c, 1);
  const std::optional<std::vector<Dim>> block = DimsOf(c, 2);
  if (image && block && image->size() != block->size()) {
    return ModelError(fmt::format("image_shape has {} numbers, block_shape {}", image->size(), block->size()));
  }
  if (!image) {
    c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  }
  Dim channels;
  if (block) {
    const Dim points = Shape(*block).ElementCount();
    if (points.is_known() && points.value() < 1) return ModelError("block_shape must contain positive numbers");
    channels = FloorDiv(x.dim(1), points);
    if (points.is_known() && x.dim(1).is_known() && x.dim(1).value() % points.value() != 0) {
      return ModelError(fmt::format("{} columns of input {} cannot be divided by a block of {}", x.dim(1).value(),
                                    x.ToString(), points.value()));
    }
  }
  std::vector<Dim> dims = {x.dim(0), channels};
  for (const Dim& d : *image) {
    if (d.is_known() && d.value() < 0) return ModelError(fmt::format("image_shape must not contain {}", d.value()));
    dims.push_back(d);
  }
  c.set_output(0, Tensor(c.input(0).dtype, Shape(std::move(dims))));
  return OkStatus();
}

Status CenterCropPadShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const Shape& x = c.input(0).shape;
  if (!x.has_rank()) {
    c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  }
  const std::optional<std::vector<int64_t>> given = c.node().Ints("axes");
  std::vector<int64_t> axes = given.value_or(std::vector<int64_t>{});
  if (!given) {
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
  }
  const std::optional<std::vector<Dim>> target = DimsOf(c, 1);
  if (target && target->size() != axes.size()) {
    return ModelError(fmt::format("shape has {} numbers for {} axes", target->size(), axes.size()));
  }
  Shape out = x;
  for (size_t i = 0; i < axes.size(); ++i) {
    SIMPRED_ASSIGN_OR_RETURN(const int axis, ResolveAxis(axes[i], x.rank()));
    const Dim size = target ? (*target)[i] : Dim();
    if (size.is_known() && size.value() < 0) return ModelError(fmt::format("shape must not contain {}", size.value()));
    out.dims()[static_cast<size_t>(axis)] = size;
  }
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

// Bins of a transform of this length.
Dim Bins(const Dim& length, bool onesided) { return onesided ? FloorDiv(length, Dim(2)) + Dim(1) : length; }

// Work of a fast Fourier transform of n complex points: 5 n log2 n; a real one is half of it.
double FftOperations(double n, bool real) {
  if (n < 2) return 0;
  return (real ? 2.5 : 5.0) * n * std::log2(n);
}

// input [..., n, ..., 1 or 2], dft_length, axis (before operator set 20 an attribute).
Status DftShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 2));
  if (!x.has_rank()) {
    c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  }
  const bool axis_is_input = c.opset() == 0 || c.opset() >= 20;
  std::optional<int64_t> axis = axis_is_input ? -2 : c.node().Int("axis", 1);
  if (axis_is_input && c.has_input(2)) axis = IntOf(c, 2);
  const bool onesided = c.node().Int("onesided", 0) != 0;
  const bool inverse = c.node().Int("inverse", 0) != 0;
  Shape out = x;
  out.dims().back() = inverse && onesided ? Dim(1) : Dim(2);
  if (!axis) {
    for (size_t i = 0; i + 1 < out.dims().size(); ++i) out.dims()[i] = Dim();
    c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
    return OkStatus();
  }
  SIMPRED_ASSIGN_OR_RETURN(const int along, ResolveAxis(*axis, x.rank()));
  if (along == x.rank() - 1)
    return ModelError("the axis of a transform cannot be that of the real and imaginary parts");
  Dim length = inverse && onesided ? Dim(2) * (x.dim(along) - Dim(1)) : x.dim(along);
  if (c.has_input(1)) length = DimOf(c, 1).value_or(Dim());
  if (length.is_known() && length.value() < 1) {
    return ModelError(fmt::format("a transform of length {} of input {}", length.value(), x.ToString()));
  }
  out.dims()[static_cast<size_t>(along)] = inverse ? length : Bins(length, onesided);
  c.set_output(0, Tensor(c.input(0).dtype, std::move(out)));
  return OkStatus();
}

Work DftWork(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.outputs.empty() || c.inputs.empty() || c.inputs[0].dims.size() < 2) return work;
  const std::vector<int64_t>& out = c.outputs[0].dims;
  const std::vector<int64_t>& in = c.inputs[0].dims;
  // The transformed axis is the one whose size changed; the one before the last otherwise.
  size_t along = in.size() - 2;
  for (size_t i = 0; i + 1 < in.size() && i < out.size(); ++i) {
    if (in[i] != out[i]) along = i;
  }
  const double n = static_cast<double>(std::max(in[along], along < out.size() ? out[along] : 0));
  double transforms = 1;
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    if (i != along) transforms *= static_cast<double>(in[i]);
  }
  work.flops = Flops(transforms * FftOperations(n, in.back() == 1));
  return work;
}

// signal [B, L, 1 or 2], frame_step, window, frame_length -> [B, frames, bins, 2].
Status StftShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 2));
  const Dim step = DimOf(c, 1).value_or(Dim());
  if (step.is_known() && step.value() < 1) return ModelError(fmt::format("frame_step must not be {}", step.value()));
  Dim length;
  if (c.has_input(3)) {
    length = DimOf(c, 3).value_or(Dim());
  } else if (c.has_input(2)) {
    length = c.input(2).shape.dim(0);
  }
  if (length.is_known() && length.value() < 1) {
    return ModelError(fmt::format("frame_length must not be {}", length.value()));
  }
  const Dim samples = x.has_rank() ? x.dim(1) : Dim();
  if (samples.is_known() && length.is_known() && samples.value() < length.value()) {
    return ModelError(fmt::format("a frame of {} is longer than its signal {}", length.value(), x.ToString()));
  }
  const Dim frames = FloorDiv(samples - length, step) + Dim(1);
  const Dim bins = Bins(length, c.node().Int("onesided", 1) != 0);
  c.set_output(0, Tensor(c.input(0).dtype, Shape({x.has_rank() ? x.dim(0) : Dim(), frames, bins, Dim(2)})));
  return OkStatus();
}

Work StftWork(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.outputs.empty() || c.outputs[0].dims.size() != 4 || c.inputs.empty()) return work;
  const std::vector<int64_t>& out = c.outputs[0].dims;
  const bool onesided = c.node == nullptr || c.node->Int("onesided", 1) != 0;
  const double n = static_cast<double>(onesided ? 2 * (std::max<int64_t>(out[2], 1) - 1) : out[2]);
  const double frames = static_cast<double>(out[0]) * static_cast<double>(out[1]);
  const bool real = c.inputs[0].dims.empty() || c.inputs[0].dims.back() != 2;
  work.flops = Flops(frames * (FftOperations(n, real) + (IsPresent(c, 2) ? n * cost::kMultiply : 0)));
  return work;
}

DataType OutputType(const Node& node) {
  const DataType t = FromOnnxType(node.Int("output_datatype", 1));
  return t == DataType::kUndefined ? DataType::kFloat32 : t;
}

// The value of a scalar input as a size; negative is an error.
Result<Dim> SizeInput(InferenceContext& c, int i, std::string_view what) {
  const Dim size = DimOf(c, i).value_or(Dim());
  if (size.is_known() && size.value() < 0) return ModelError(fmt::format("{} must not be {}", what, size.value()));
  return size;
}

Status WindowShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(Dim size, SizeInput(c, 0, "size"));
  c.set_output(0, Tensor(OutputType(c.node()), Shape({std::move(size)})));
  return OkStatus();
}

Status MelShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 5));
  SIMPRED_ASSIGN_OR_RETURN(Dim mels, SizeInput(c, 0, "num_mel_bins"));
  SIMPRED_ASSIGN_OR_RETURN(const Dim length, SizeInput(c, 1, "dft_length"));
  c.set_output(0, Tensor(OutputType(c.node()), Shape({Bins(length, true), std::move(mels)})));
  return OkStatus();
}

Status ImageDecoderShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const bool gray = c.node().String("pixel_format", "RGB") == "Grayscale";
  Dim height = c.data_dependent_dim("height", Dim());
  Dim width = c.data_dependent_dim("width", Dim());
  c.set_output(0, Tensor(DataType::kUInt8, Shape({std::move(height), std::move(width), Dim(gray ? 1 : 3)})));
  return OkStatus();
}

}  // namespace

void RegisterImage(Registry& r) {
  const auto add = [&](const char* type, OperatorClass op_class, ShapeRule shape, CostRule cost, const char* source) {
    r.Add({.type = type, .op_class = op_class, .shape = std::move(shape), .cost = std::move(cost), .source = source});
  };
  const char* const page = "the defining formula on the ONNX operator page";
  const char* const fft = "5 n log2 n operations for a complex transform of n points, half for a real one (radix 2)";
  add("GridSample", OperatorClass::kElementwise, GridSampleShape, GridSampleWork, page);
  // Each coordinate is a row of theta times the homogeneous point: three or four multiply-adds.
  add("AffineGrid", OperatorClass::kElementwise, AffineGridShape, PerElement(4 * cost::kMultiplyAdd), page);
  add(
      "Col2Im", OperatorClass::kDataMovement, Col2ImShape,
      [](const CostContext& c) {
        Work work = TrafficOf(c);
        work.flops = Flops(InputElements(c) * cost::kAdd);
        return work;
      },
      "every input element is added to its place once");
  add("CenterCropPad", OperatorClass::kDataMovement, CenterCropPadShape, MovesOutput(), page);
  add("DFT", OperatorClass::kMatMul, DftShape, DftWork, fft);
  add("STFT", OperatorClass::kMatMul, StftShape, StftWork, fft);
  for (const char* type : {"HannWindow", "HammingWindow"}) {
    add(type, OperatorClass::kElementwise, WindowShape, PerElement(cost::kSin + cost::kMultiplyAdd), page);
  }
  add("BlackmanWindow", OperatorClass::kElementwise, WindowShape, PerElement(2 * (cost::kSin + cost::kMultiplyAdd)),
      page);
  add("MelWeightMatrix", OperatorClass::kElementwise, MelShape, PerElement(cost::kDivide + cost::kMultiplyAdd), page);
  // Inverse transform of 8x8 blocks (about 16 operations a sample) and the colour conversion.
  add("ImageDecoder", OperatorClass::kDataDependent, ImageDecoderShape, PerElement(20),
      "a JPEG image: fast inverse cosine transform of 8x8 blocks, and a 3x3 colour matrix");
}

}  // namespace simpred
