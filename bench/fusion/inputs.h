// Which models are compared, and at which shapes?
//
// Every architecture of the zoo, every model that came inside a package, and what the index of the corpus lists. A
// dimension that neither a list nor the file says is one.
#pragma once

#include <string>
#include <vector>

#include "accuracy/cpu/bench_models.h"

namespace simpred::bench {

enum class ModelSet : uint8_t { kZoo, kPackage, kCorpus };
std::string_view Name(ModelSet s);

struct FusionModel {
  ModelSet set = ModelSet::kZoo;
  BenchModel model;
};

// `absent`: files that a list names and that are not there.
Result<std::vector<FusionModel>> FindModels(const Sources& sources, std::vector<std::string>& absent);

// The binding with the open dimensions of `path` filled in.
InferOptions CompleteBinding(const std::filesystem::path& path, InferOptions binding);

}  // namespace simpred::bench
