// From a model file to kernels; see prepare.h.
#include "predict/prepare.h"

#include <algorithm>
#include <utility>

#include "frontend/onnx/onnx.h"
#include "graph/input_shapes.h"

namespace simpred {
namespace {

bool HasFeature(const DeviceProfile& d, std::string_view name) {
  return std::find(d.features.begin(), d.features.end(), name) != d.features.end();
}

}  // namespace

int BlockedChannels(const DeviceProfile& device) {
  if (!device.runtime.empty() && device.runtime != "onnxruntime") return 0;
  if (HasFeature(device, "avx512f")) return 16;
  if (HasFeature(device, "asimd") || HasFeature(device, "neon")) return 4;
  return 8;
}

Result<Prepared> Prepare(const PrepareOptions& options) {
  const std::string context = "model " + options.path.string();
  Result<Model> read = ReadOnnx(options.path);  // its errors name the model themselves, as those of inference do
  if (!read.ok()) return read.status();
  Model& model = *read;
  Prepared out;
  out.format = model.format;
  out.producer = model.producer;
  out.model_version = model.model_version;
  out.file_size = model.file_size;

  Result<InferReport> inferred = InferShapes(model, options.binding);
  if (!inferred.ok()) return inferred.status();
  out.inference = std::move(*inferred);
  out.input_shapes = InputShapesText(model.graph);

  FusionOptions fusion;
  fusion.level = options.fusion_mode == "off" ? FusionLevel::kOff : FusionLevel::kAll;
  fusion.aggressive = options.fusion_mode == "aggressive";
  fusion.off = options.fusion_off;
  fusion.intra_op_threads = options.threads;
  fusion.binding = &options.binding;
  if (options.device != nullptr) fusion.nchwc_block = BlockedChannels(*options.device);
  Result<FusionReport> fused = Fuse(model, OnnxRuntimeRules(), fusion);
  if (!fused.ok()) return fused.status().With(context);
  out.fusion = std::move(*fused);

  Result<Workload> workload = Lower(model);
  if (!workload.ok()) return workload.status().With(context);
  out.workload = std::move(*workload);
  out.workload.runtime = options.device != nullptr ? options.device->runtime : "onnxruntime";
  out.workload.fusion_mode = options.fusion_mode;
  out.workload.precision = options.precision;
  return out;
}

}  // namespace simpred
