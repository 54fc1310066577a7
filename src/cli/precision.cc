#include "cli/precision.h"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace simpred {
namespace {

struct Precision {
  const char* name;
  DataType type;
};
constexpr std::array<Precision, 5> kPrecisions = {{{"FP32", DataType::kFloat32},
                                                   {"FP16", DataType::kFloat16},
                                                   {"BF16", DataType::kBFloat16},
                                                   {"INT8", DataType::kInt8},
                                                   {"FP64", DataType::kFloat64}}};

bool ConvertsByItself(const DeviceProfile& d) { return d.runtime == "acl" || d.runtime == "tensorrt"; }

struct Traffic {
  Bytes read, weights, written;
};

Traffic TrafficOf(const Kernel& k) {
  Traffic t;
  for (const KernelTensor& x : k.inputs)
    if (x.present) (x.constant ? t.weights : t.read) += x.bytes();
  for (const KernelTensor& x : k.outputs)
    if (x.present) t.written += x.bytes();
  return t;
}

// A cost rule may count less than the tensors hold (Gather) or more; the ratio carries over.
Bytes Scaled(Bytes value, Bytes before, Bytes after) {
  if (before <= Bytes()) return value;
  return Bytes(static_cast<int64_t>(static_cast<double>(value.count()) * (after / before)));
}

bool Cast(std::vector<KernelTensor>& tensors, DataType to) {
  bool changed = false;
  for (KernelTensor& t : tensors) {
    if (!IsFloat(t.dtype) || t.dtype == to || BitWidth(t.dtype) < BitWidth(to)) continue;
    t.dtype = to;
    changed = true;
  }
  return changed;
}

std::string HowToConvert(const std::string& precision, const std::string& stored) {
  const std::string as_stored =
      fmt::format("use precision: {} (or leave the key out), or convert the model first: ", stored);
  if (precision == "FP16" || precision == "BF16")
    return as_stored + "the Python package onnxconverter-common has float16.convert_float_to_float16";
  if (precision == "INT8") return as_stored + "the Python package onnxruntime has quantization.quantize_static";
  return as_stored + "export it again in that precision";
}

}  // namespace

std::string StoredPrecision(const Workload& w) {
  std::array<double, kPrecisions.size()> work{};
  for (const Kernel& k : w.kernels) {
    if (k.op_class == OperatorClass::kQuantization) continue;
    for (size_t i = 0; i < kPrecisions.size(); ++i)
      if (!k.inputs.empty() && k.inputs[0].present &&
          (k.inputs[0].dtype == kPrecisions[i].type ||
           (kPrecisions[i].type == DataType::kInt8 && k.inputs[0].dtype == DataType::kUInt8)))
        work[i] += k.work.flops.count();
  }
  size_t most = 0;
  for (size_t i = 1; i < work.size(); ++i)
    if (work[i] > work[most]) most = i;
  return kPrecisions[most].name;
}

Status ApplyPrecision(const std::string& precision, const DeviceProfile& device, Workload& w) {
  if (precision == "model") return OkStatus();
  const std::string stored = StoredPrecision(w);
  if (stored == precision) return OkStatus();
  if (!ConvertsByItself(device))
    return UsageError(
        fmt::format("precision {} is asked for, the model is stored in {}, and {} on {} runs it as it is stored",
                    precision, stored, device.runtime, device.name),
        HowToConvert(precision, stored));
  DataType to = DataType::kFloat32;
  for (const Precision& p : kPrecisions)
    if (precision == p.name) to = p.type;
  for (Kernel& k : w.kernels) {
    const Traffic before = TrafficOf(k);
    if (!(static_cast<int>(Cast(k.inputs, to)) | static_cast<int>(Cast(k.outputs, to)))) continue;
    const Traffic after = TrafficOf(k);
    k.work.read = Scaled(k.work.read, before.read, after.read);
    k.work.weights = Scaled(k.work.weights, before.weights, after.weights);
    k.work.written = Scaled(k.work.written, before.written, after.written);
    k.signature = SignatureOf(k);
  }
  // Nearly all that is resident is of the main type.
  const Bytes from_width(BitWidth(stored == "FP64"   ? DataType::kFloat64
                                  : stored == "FP32" ? DataType::kFloat32
                                                     : DataType::kFloat16));
  const Bytes to_width(BitWidth(to));
  if (to_width < from_width) {
    w.weights = Scaled(w.weights, from_width, to_width);
    w.peak_activations = Scaled(w.peak_activations, from_width, to_width);
  }
  w.precision = precision;
  return OkStatus();
}

}  // namespace simpred
