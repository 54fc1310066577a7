// Which models are judged, where do their files come from, at which shapes are they run?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "profile/collectors/onnxruntime.h"

namespace simpred::bench {

struct BenchModel {
  std::string name, family;
  std::filesystem::path path;
  InferOptions binding;
  bool from_zoo = false;
  std::string architecture;  // of the zoo
  int64_t batch = 1, resolution = 0;
};

struct Sources {
  std::filesystem::path list;      // models.csv
  std::filesystem::path data;      // with models/corpus
  std::filesystem::path packages;  // folders named after packages
  std::filesystem::path work;      // where zoo files are written
};

// Rows whose file is not there are left out and named in `absent`.
Result<std::vector<BenchModel>> LoadList(const Sources& sources, std::vector<std::string>& absent);

enum class CorpusPart : uint8_t { kWholeNetworks, kEveryFile };
// Every ONNX file of DIR/models/corpus/index.csv that parses, with the index's own fixed dimensions and its categories
// as families; kWholeNetworks: only what is float and a whole network (not an operator test).
Result<std::vector<BenchModel>> LoadCorpus(const Sources& sources, std::vector<std::string>& absent,
                                           CorpusPart part = CorpusPart::kWholeNetworks);

// Other shapes of the zoo models, for the ranking.
std::vector<BenchModel> VariantsOf(const std::vector<BenchModel>& models);

// Writes the file of a zoo model if it is not there.
Status Materialize(BenchModel& m, const Sources& sources);

// "image=1x3x224x224;mask=1x1"
Result<InferOptions> ParseShapes(const std::string& text);

}  // namespace simpred::bench
