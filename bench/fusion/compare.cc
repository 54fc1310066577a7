#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/onnx/onnx.h"
#include "workload/workload.h"

namespace simpred::bench {
namespace {

using Counts = std::map<std::string, int>;

int Total(const Counts& counts) {
  int total = 0;
  for (const auto& [key, n] : counts) total += n;
  return total;
}

int Common(const Counts& a, const Counts& b) {
  int common = 0;
  for (const auto& [key, n] : a) {
    const auto it = b.find(key);
    if (it != b.end()) common += std::min(n, it->second);
  }
  return common;
}

// Calls f(key, ours, theirs) for every key whose counts differ.
template <typename F>
void ForEachDifference(const Counts& ours, const Counts& theirs, F&& f) {
  std::set<std::string> keys;
  for (const Counts* side : {&ours, &theirs})
    for (const auto& [key, n] : *side) keys.insert(key);
  for (const std::string& key : keys) {
    const int a = ours.contains(key) ? ours.at(key) : 0, b = theirs.contains(key) ? theirs.at(key) : 0;
    if (a != b) f(key, a, b);
  }
}

KernelList ListOf(Model& model) {
  KernelList list;
  for (NodeId n = 0; n < model.graph.node_count(); ++n) {
    const Node& node = model.graph.node(n);
    if (node.alive && !node.Is("Constant")) ++list.types[node.QualifiedType()];
  }
  const Result<Workload> lowered = Lower(model);
  list.has_signatures = lowered.ok();
  if (lowered.ok())
    for (const Kernel& k : lowered->kernels) ++list.signatures[k.signature];
  return list;
}

// Sizes that only the data decides are no reason to compare nothing.
InferOptions WithUpperBounds(InferOptions binding) {
  binding.assume_upper_bounds = true;
  return binding;
}

Result<Model> Inferred(const std::filesystem::path& path, const InferOptions& binding) {
  SIMPRED_ASSIGN_OR_RETURN(Model model, ReadOnnx(path));
  SIMPRED_ASSIGN_OR_RETURN(const InferReport ignored, InferShapes(model, binding));
  return model;
}

}  // namespace

int KernelList::size() const { return Total(types); }

Comparison Compare(const KernelList& ours, const KernelList& theirs) {
  Comparison c;
  c.ours = ours.size();
  c.theirs = theirs.size();
  c.matched = Common(ours.types, theirs.types);
  ForEachDifference(ours.types, theirs.types, [&](const std::string& type, int a, int b) {
    c.differences += fmt::format("{}{}:{}/{}", c.differences.empty() ? "" : " ", type, a, b);
  });
  if (!ours.has_signatures || !theirs.has_signatures) return c;
  c.signed_kernels = std::max(c.ours, c.theirs);
  c.same_signature = Common(ours.signatures, theirs.signatures);
  ForEachDifference(ours.signatures, theirs.signatures, [&](const std::string& signature, int a, int b) {
    c.signature_differences += fmt::format("    {:+d} {}\n", a - b, signature);
  });
  return c;
}

Result<KernelList> PredictedKernels(const std::filesystem::path& path, const InferOptions& binding,
                                    FusionOptions options) {
  const InferOptions bounded = WithUpperBounds(binding);
  SIMPRED_ASSIGN_OR_RETURN(Model model, Inferred(path, bounded));
  options.binding = &bounded;
  SIMPRED_ASSIGN_OR_RETURN(const FusionReport ignored, Fuse(model, OnnxRuntimeRules(), options));
  return ListOf(model);
}

Result<KernelList> SavedKernels(const std::filesystem::path& optimized, const InferOptions& binding) {
  SIMPRED_ASSIGN_OR_RETURN(Model model, Inferred(optimized, WithUpperBounds(binding)));
  return ListOf(model);
}

}  // namespace simpred::bench
