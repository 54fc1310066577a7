// Which kernel of the optimised graph does each line of the profile belong to?
//
// By name where it is unique on both sides and the types agree; what is left is matched in order of execution where
// both sides have equally many kernels of a type. Names of unnamed nodes are synthesised on both sides, each in its own
// way, hence the order.
#pragma once

#include <vector>

#include "base/units.h"
#include "profile/collectors/ort_job.h"
#include "profile/record.h"
#include "workload/workload.h"

namespace simpred {

struct Joined {
  std::vector<Record> records;  // in order of execution: kernel and raw are filled, corrected is raw p10
  int64_t not_joined = 0;       // kernels of the profile that the graph does not have
  Duration time, time_not_joined;
};

Joined Join(const Workload& workload, const std::vector<NodeSamples>& nodes);

}  // namespace simpred
