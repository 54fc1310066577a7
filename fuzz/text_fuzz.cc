// Can any text crash, hang or exhaust what reads configs, device profiles, workloads and fitted twins? Wrong text is
// the user's fault and is said to be so, never an internal one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/config.h"
#include "device/profile.h"
#include "predict/twin.h"
#include "workload/workload.h"

namespace {

void Require(const simpred::Status& status) {
  if (status.code() == simpred::StatusCode::kInternal) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace simpred;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Require(ParseConfig(text, "fuzz.yaml", "", {}).status());
  Require(ParseDeviceYaml(text, "fuzz.yaml").status());
  Require(WorkloadFromJson(text).status());
  Require(Twin::Deserialize(text).status());
  return 0;
}
