// Which kernel of the optimised graph does each line of the profile belong to?
#include "profile/collectors/ort_join.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace simpred {
namespace {

// The profile gives types without their domain.
std::string_view TypeWithoutDomain(std::string_view qualified) {
  const size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

class Matcher {
 public:
  Matcher(const std::vector<Kernel>& kernels, const std::vector<NodeSamples>& nodes)
      : kernels_(kernels), nodes_(nodes), kernel_of_(nodes.size()), taken_(kernels.size(), false) {
    ByName();
    ByOrder();
  }
  std::optional<size_t> KernelOf(size_t node) const { return kernel_of_[node]; }

 private:
  bool SameType(size_t node, size_t kernel) const {
    return nodes_[node].op == TypeWithoutDomain(kernels_[kernel].type);
  }

  void Match(size_t node, size_t kernel) {
    kernel_of_[node] = kernel;
    taken_[kernel] = true;
  }

  void ByName() {
    std::map<std::string_view, std::pair<int, size_t>> named_nodes;  // how often, the last one
    for (size_t i = 0; i < nodes_.size(); ++i) {
      auto& [count, last] = named_nodes[nodes_[i].name];
      ++count;
      last = i;
    }
    for (size_t k = 0; k < kernels_.size(); ++k) {  // names of kernels are unique
      const auto found = named_nodes.find(kernels_[k].name);
      if (found == named_nodes.end() || found->second.first != 1) continue;
      if (const size_t node = found->second.second; SameType(node, k)) Match(node, k);
    }
  }

  void ByOrder() {
    std::map<std::string_view, std::pair<std::vector<size_t>, std::vector<size_t>>> left;  // nodes, kernels
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!kernel_of_[i]) left[nodes_[i].op].first.push_back(i);
    }
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (!taken_[k]) left[TypeWithoutDomain(kernels_[k].type)].second.push_back(k);
    }
    for (const auto& [type, sides] : left) {
      const auto& [nodes, kernels] = sides;
      if (nodes.size() != kernels.size()) continue;
      for (size_t i = 0; i < nodes.size(); ++i) Match(nodes[i], kernels[i]);
    }
  }

  const std::vector<Kernel>& kernels_;
  const std::vector<NodeSamples>& nodes_;
  std::vector<std::optional<size_t>> kernel_of_;
  std::vector<bool> taken_;
};

}  // namespace

Joined Join(const Workload& workload, const std::vector<NodeSamples>& nodes) {
  const Matcher matcher(workload.kernels, nodes);
  Joined out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    out.time += nodes[i].kernel_time.p10;
    const std::optional<size_t> kernel = matcher.KernelOf(i);
    if (!kernel) {
      ++out.not_joined;
      out.time_not_joined += nodes[i].kernel_time.p10;
      continue;
    }
    Record r;
    r.kernel = workload.kernels[*kernel];
    r.raw = nodes[i].kernel_time;
    r.corrected = r.raw.p10;
    out.records.push_back(std::move(r));
  }
  return out;
}

}  // namespace simpred
