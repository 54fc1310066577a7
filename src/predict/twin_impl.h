// What a twin is made of; shared by twin.cc (predict), twin_fit.cc, twin_total.cc and twin_bytes.cc only.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "predict/group_model.h"
#include "predict/twin.h"

namespace simpred {

// A group's model as bytes until somebody asks: a prediction touches few of the groups.
class LazyGroup {
 public:
  explicit LazyGroup(std::string bytes) : bytes_(std::move(bytes)) {}
  const GroupModel& get() const {
    std::call_once(once_, [this] {
      ByteReader r(bytes_);
      model_ = GroupModel::Read(r);
    });
    return model_;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  mutable std::once_flag once_;
  mutable GroupModel model_;
};

// end to end = run_cost + slope * (sum of kernels) + per_kernel * (number of kernels)
struct GapModel {
  double slope = 1;
  double per_kernel_us = 0;
  double width_factor =
      2;                // multiplies the modelled spread of a graph's error so that 90 % of held-out graphs are inside
  double floor = 0.05;  // no graph's half width is less
  int64_t graphs = 0;
};

struct Twin::Impl {
  DeviceProfile device;
  int threads = 1;
  MeasurementBias bias;
  FitSummary summary;
  std::map<std::string, std::unique_ptr<LazyGroup>> groups;  // "" is the pooled model of all groups
  GapModel gap;
  std::map<std::string, double> corrections;
  double memory_correction = 1, compute_correction = 1;

  struct Raw {
    double time_us = 0, half_width = 0, distance = 0;
    bool pooled = false;  // by the model of all groups
    GroupModel::Answer answer;
  };
  bool fitted() const { return !groups.empty(); }
  Duration RunCost() const { return bias.run_cost > Duration() ? bias.run_cost : device.run_cost; }
  Raw PredictRaw(const Kernel& k, KernelContext context) const;
  // The half width in logs of a graph's time, from its kernels' intervals, errors of one group shared.
  double Spread(const std::vector<const Kernel*>& kernels, const std::vector<Estimate>& estimates) const;
};

// The row that the models see: features, log2 of the roofline in us, and terms of it.
struct Rooflines {
  Duration warm, cold;
};
Rooflines RooflinesOf(const Kernel& k, const DeviceProfile& d, int threads);
Vector RowOf(const KernelFeatures& f, const Rooflines& r);
// The same for the pooled model: only what every group has.
Vector PooledRowOf(const KernelFeatures& f, const Rooflines& r);
inline constexpr const char* kPooled = "";

}  // namespace simpred
