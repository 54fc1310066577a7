// How is a kernel kept in the database? As compact JSON of everything that describes it but its place: the names of the
// node and of its tensors belong to the place where it was seen.
#pragma once

#include <string>

#include "base/status.h"
#include "workload/workload.h"

namespace simpred {

std::string KernelDetail(const Kernel& kernel);
// Without name, fused_from, inputs_from and the tensors' names.
Result<Kernel> KernelFromDetail(const std::string& detail, const std::string& signature);
// The first eight bytes of the SHA-256 of the signature, as SQLite's integer.
int64_t SignatureHash(const std::string& signature);

}  // namespace simpred
