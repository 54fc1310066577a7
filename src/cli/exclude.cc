#include "cli/exclude.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"

namespace simpred {
namespace {

Result<std::vector<size_t>> Find(const Workload& w, const std::string& name) {
  std::vector<size_t> found;
  for (size_t i = 0; i < w.kernels.size(); ++i) {
    const Kernel& k = w.kernels[i];
    if (k.name == name || std::find(k.fused_from.begin(), k.fused_from.end(), name) != k.fused_from.end())
      found.push_back(i);
  }
  if (!found.empty()) return found;
  std::vector<std::string> names;
  for (const Kernel& k : w.kernels) names.push_back(k.name);
  const std::string near = Nearest(name, names);
  return UsageError(
      fmt::format("exclude: there is no node '{}'", name),
      near.empty() ? "sim_predict describe MODEL lists the nodes" : fmt::format("did you mean '{}'?", near));
}

// True for each kernel that depends on one of `from`, themselves left out. Edges point backward, so one pass does.
std::vector<bool> Dependants(const Workload& w, const std::vector<size_t>& from) {
  std::vector<bool> reached(w.kernels.size());
  for (const size_t i : from) reached[i] = true;
  for (size_t i = 0; i < w.kernels.size(); ++i)
    for (const int32_t input : w.kernels[i].inputs_from)
      if (reached[static_cast<size_t>(input)]) reached[i] = true;
  for (const size_t i : from) reached[i] = false;
  return reached;
}

std::vector<bool> Dependencies(const Workload& w, const std::vector<size_t>& of) {
  std::vector<bool> reached(w.kernels.size());
  for (const size_t i : of) reached[i] = true;
  for (size_t i = w.kernels.size(); i-- > 0;)
    if (reached[i])
      for (const int32_t input : w.kernels[i].inputs_from) reached[static_cast<size_t>(input)] = true;
  for (const size_t i : of) reached[i] = false;
  return reached;
}

}  // namespace

Result<std::vector<std::string>> ExcludedKernels(const Workload& w, const std::vector<ExcludeRule>& rules) {
  std::vector<bool> excluded(w.kernels.size());
  for (const ExcludeRule& rule : rules) {
    SIMPRED_ASSIGN_OR_RETURN(const std::vector<size_t> first, Find(w, rule.first));
    if (rule.kind == ExcludeRule::Kind::kNode) {
      for (const size_t i : first) excluded[i] = true;
      continue;
    }
    const std::vector<bool> after = Dependants(w, first);
    std::vector<bool> before(w.kernels.size(), true);
    if (rule.kind == ExcludeRule::Kind::kBetween) {
      SIMPRED_ASSIGN_OR_RETURN(const std::vector<size_t> second, Find(w, rule.second));
      before = Dependencies(w, second);
    }
    for (size_t i = 0; i < excluded.size(); ++i)
      if (after[i] && before[i]) excluded[i] = true;
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < excluded.size(); ++i)
    if (excluded[i]) names.push_back(w.kernels[i].name);
  return names;
}

}  // namespace simpred
