// Can any bytes crash, hang or exhaust the ONNX reader? What is read must be a consistent graph.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "frontend/onnx/onnx.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace simpred;
  const Result<Model> m = ReadOnnxBytes({reinterpret_cast<const char*>(data), size});
  if (!m.ok()) {
    if (m.status().code() != StatusCode::kModel) std::abort();
    return 0;
  }
  // A cycle is the model's fault, an inconsistent graph ours.
  if (m->graph.Verify().code() == StatusCode::kInternal) std::abort();
  for (ValueId v = 0; v < m->graph.value_count(); ++v) {
    const Value& value = m->graph.value(v);
    if (const auto dims = value.type.shape.ToVector()) m->read_constant(value.payload, value.type.dtype, *dims);
  }
  return 0;
}
