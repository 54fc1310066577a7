// What the parts of the database share.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "calibrate/database.h"
#include "calibrate/database_sqlite.h"

namespace simpred {

struct Database::Impl {
  Connection connection;
  std::map<std::string, int64_t> kernel_ids;  // by sha256 of the detail
  std::map<int64_t, Kernel> kernels;          // already read

  Result<const Kernel*> KernelOf(int64_t id);  // lives as long as this
};

// SHA-256 over every column of a run and of its records, in their order.
Result<std::string> HashBatch(const Connection& connection, int64_t run);

// The columns of a SampleSummary, in the order of the tables.
SampleSummary ReadSummary(const Statement& row, int first_column);

}  // namespace simpred
