// Measures what the judge needs and what is not in the database yet: the device's generated models, the real models,
// their variants, all with the same machine in the same hour.
#pragma once

#include <vector>

#include "base/status.h"
#include "bench_models.h"
#include "calibrate/calibrate.h"

namespace simpred::bench {

struct CollectOptions {
  CalibrateOptions calibrate;
  int rounds = 4;       // of real models
  bool ranking = true;  // the variants too
};

Status Collect(Database& db, std::vector<BenchModel>& models, std::vector<BenchModel>& variants, const Sources& sources,
               const CollectOptions& options);

}  // namespace simpred::bench
