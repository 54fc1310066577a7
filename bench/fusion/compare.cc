#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/onnx/onnx.h"

namespace simpred {
namespace {

std::map<std::string, int> Count(const Workload& w, std::string Kernel::*key) {
  std::map<std::string, int> count;
  for (const Kernel& k : w.kernels) ++count[k.*key];
  return count;
}

int Common(const std::map<std::string, int>& a, const std::map<std::string, int>& b) {
  int common = 0;
  for (const auto& [key, n] : a) {
    const auto it = b.find(key);
    if (it != b.end()) common += std::min(n, it->second);
  }
  return common;
}

}  // namespace

Comparison Compare(const Workload& ours, const Workload& theirs) {
  const auto a = Count(ours, &Kernel::type), b = Count(theirs, &Kernel::type);
  Comparison c;
  c.ours = static_cast<int>(ours.kernels.size());
  c.theirs = static_cast<int>(theirs.kernels.size());
  c.matched = Common(a, b);
  c.same_signature = Common(Count(ours, &Kernel::signature), Count(theirs, &Kernel::signature));
  std::set<std::string> types;
  for (const auto* side : {&a, &b})
    for (const auto& [type, n] : *side) types.insert(type);
  for (const std::string& type : types) {
    const int na = a.contains(type) ? a.at(type) : 0, nb = b.contains(type) ? b.at(type) : 0;
    if (na != nb) c.differences += fmt::format("{}{}:{}/{}", c.differences.empty() ? "" : " ", type, na, nb);
  }
  return c;
}

Result<Workload> OurKernels(const std::filesystem::path& path, const InferOptions& binding, FusionLevel level) {
  Result<Model> model = ReadOnnx(path);
  if (!model.ok()) return model.status();
  if (Result<InferReport> r = InferShapes(model.value(), binding); !r.ok()) return r.status();
  FusionOptions options;
  options.level = level;
  if (Result<FusionReport> r = Fuse(model.value(), OnnxRuntimeRules(), options); !r.ok()) return r.status();
  return Lower(model.value());
}

Result<Workload> SavedKernels(const std::filesystem::path& path, const InferOptions& binding) {
  Result<Model> model = ReadOnnx(path);
  if (!model.ok()) return model.status();
  if (Result<InferReport> r = InferShapes(model.value(), binding); !r.ok()) return r.status();
  return Lower(model.value());
}

}  // namespace simpred
