// What is in a model file: size, work, operators with shapes and edges; static or not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "operators/infer.h"

namespace simpred {

struct DescribedOperator {
  std::string name, type, op_class;
  bool has_rule = true;
  std::vector<std::string> inputs, outputs;  // "float32[1, 3, 224, 224]"
  std::vector<int64_t> inputs_from;          // operators whose outputs it reads, ascending
  std::optional<Work> work;                  // where all shapes are known
};

struct Description {
  std::string name, format, producer, structure_sha256;
  int64_t opset = 0, file_bytes = 0;
  int64_t parameters = 0;
  Bytes weights;
  std::map<std::string, Bytes> weights_by_type;
  bool is_static = true;  // all work is known
  Flops flops;
  Bytes moved;
  std::optional<Bytes> peak_activations;                  // if all shapes are known
  std::vector<std::pair<std::string, int64_t>> by_class;  // most first
  std::vector<std::string> inputs, outputs;
  std::vector<DescribedOperator> operators;
  int64_t without_rule = 0, all_outputs = 0, ranked_outputs = 0, static_outputs = 0;
  std::vector<std::string> free_symbols, stops, warnings;
};

Result<Description> Describe(const std::filesystem::path& model, const InferOptions& binding);
// "sim_predict.description/1"; docs/formats.md
std::string DescriptionJson(const Description& d);

}  // namespace simpred
