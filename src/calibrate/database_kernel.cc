#include "calibrate/database_kernel.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace simpred {
namespace {

using nlohmann::json;

json ToJson(const std::vector<KernelTensor>& tensors) {
  json list = json::array();
  for (const KernelTensor& t : tensors) {
    list.push_back({std::string(Name(t.dtype)), t.dims, static_cast<int>(t.layout), t.constant, t.present});
  }
  return list;
}

std::vector<KernelTensor> TensorsFrom(const json& list) {
  std::vector<KernelTensor> tensors;
  for (const json& item : list) {
    KernelTensor t;
    t.dtype = DataTypeFromName(item.at(0).get<std::string>()).value_or(DataType::kUndefined);
    t.dims = item.at(1).get<std::vector<int64_t>>();
    t.layout = static_cast<Layout>(item.at(2).get<int>());
    t.constant = item.at(3).get<bool>();
    t.present = item.at(4).get<bool>();
    tensors.push_back(std::move(t));
  }
  return tensors;
}

}  // namespace

std::string KernelDetail(const Kernel& kernel) {
  const json detail = {{"type", kernel.type},
                       {"class", static_cast<int>(kernel.op_class)},
                       {"rule", kernel.has_rule},
                       {"hypothetical", kernel.hypothetical},
                       {"in", ToJson(kernel.inputs)},
                       {"out", ToJson(kernel.outputs)},
                       {"attributes", kernel.attributes},
                       {"work",
                        {kernel.work.flops.count(), kernel.work.read.count(), kernel.work.weights.count(),
                         kernel.work.written.count()}}};
  return detail.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Kernel> KernelFromDetail(const std::string& detail, const std::string& signature) {
  try {
    const json parsed = json::parse(detail);
    Kernel kernel;
    kernel.type = parsed.at("type").get<std::string>();
    kernel.op_class = static_cast<OperatorClass>(parsed.at("class").get<int>());
    kernel.has_rule = parsed.at("rule").get<bool>();
    kernel.hypothetical = parsed.at("hypothetical").get<bool>();
    kernel.inputs = TensorsFrom(parsed.at("in"));
    kernel.outputs = TensorsFrom(parsed.at("out"));
    kernel.attributes = parsed.at("attributes").get<std::map<std::string, std::string>>();
    const json& work = parsed.at("work");
    kernel.work = {.flops = Flops(work.at(0).get<double>()),
                   .read = Bytes(work.at(1).get<int64_t>()),
                   .weights = Bytes(work.at(2).get<int64_t>()),
                   .written = Bytes(work.at(3).get<int64_t>())};
    kernel.signature = signature;
    return kernel;
  } catch (const json::exception& e) {
    return DatabaseError(fmt::format("the description of a kernel is damaged: {}", e.what()),
                         "`sim_predict db check` lists what is wrong");
  }
}

int64_t SignatureHash(const std::string& signature) {
  const std::string hex = Sha256Hex(signature);
  uint64_t bits = 0;
  std::from_chars(hex.data(), hex.data() + 16, bits, 16);
  return static_cast<int64_t>(bits);
}

}  // namespace simpred
