// Can any bytes crash, hang or exhaust what comes after the reader: inference, the fusion rules, the list of kernels?
// And does every rule leave a consistent graph behind?
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "frontend/onnx/onnx.h"
#include "fusion/fusion.h"
#include "operators/infer.h"
#include "workload/workload.h"

namespace {

// The model's faults are fine, those of this program are not.
void Require(const simpred::Status& status) {
  if (status.code() == simpred::StatusCode::kInternal) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace simpred;
  Result<Model> model = ReadOnnxBytes({reinterpret_cast<const char*>(data), size});
  if (!model.ok()) return 0;
  const InferOptions binding{.assume_upper_bounds = true};
  const Result<InferReport> inferred = InferShapes(*model, binding);
  Require(inferred.status());
  if (!inferred.ok()) return 0;
  FusionOptions options;
  options.binding = &binding;
  const Result<FusionReport> fused = Fuse(*model, OnnxRuntimeRules(), options);
  Require(fused.status());
  if (!fused.ok()) return 0;
  if (!fused->failed.empty()) std::abort();
  Require(Lower(*model).status());
  return 0;
}
