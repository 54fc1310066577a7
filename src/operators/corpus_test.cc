// Is a shape ever wrong? Every model of ONNX's own test data (Debian: libonnx-testdata) and of the shared corpus is
// inferred with the declared types of its computed outputs hidden; what is then known must not contradict them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "frontend/onnx/onnx.h"
#include "operators/infer.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> ModelsUnder(const fs::path& folder) {
  std::vector<fs::path> models;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    if (it->path().extension() == ".onnx") models.push_back(it->path());
  }
  std::sort(models.begin(), models.end());
  return models;
}

struct Outcome {
  int models = 0, refused = 0, lost = 0;
  std::vector<std::string> contradictions;
};

bool IsLost(const TensorType& t) {
  return !t.shape.has_rank() ||
         std::any_of(t.shape.dims().begin(), t.shape.dims().end(), [](const Dim& d) { return d.is_unknown(); });
}

void Judge(const fs::path& path, Outcome& outcome) {
  Result<Model> model = ReadOnnx(path);
  if (!model.ok()) return;
  ++outcome.models;
  Graph& g = model->graph;
  std::vector<TensorType> declared;
  for (ValueId v : g.outputs) {
    Value& value = g.value(v);
    declared.push_back(value.declared);
    if (value.producer != kNoNode) value.declared = value.type = TensorType{};
  }
  if (!InferShapes(*model, {}).ok()) {
    ++outcome.refused;
    return;
  }
  bool lost = false;
  for (size_t i = 0; i < declared.size(); ++i) {
    const TensorType& inferred = g.value(g.outputs[i]).type;
    if (inferred.kind != ValueKind::kTensor || declared[i].kind != ValueKind::kTensor) continue;
    lost = lost || (declared[i].shape.has_rank() && IsLost(inferred));
    if (!Merge(inferred.shape, declared[i].shape)) {
      outcome.contradictions.push_back(path.string() + ": " + inferred.shape.ToString() + ", declared " +
                                       declared[i].shape.ToString());
    }
  }
  outcome.lost += lost ? 1 : 0;
}

TEST(Corpus, OnnxTestData) {
  const auto models = ModelsUnder("/usr/share/libonnx-testdata");
  if (models.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  Outcome outcome;
  for (const fs::path& m : models) Judge(m, outcome);
  EXPECT_EQ(outcome.contradictions, std::vector<std::string>{});
  EXPECT_EQ(outcome.refused, 0);
  // The rest has its axes, sizes or pads as inputs of the model.
  EXPECT_LE(outcome.lost, outcome.models / 9);
  RecordProperty("models", outcome.models);
  RecordProperty("lost", outcome.lost);
}

TEST(Corpus, SharedModels) {
  const auto models = ModelsUnder(fs::path(SIMPRED_SOURCE_DIR) / "../shared/models/corpus");
  if (models.empty()) GTEST_SKIP() << "../shared/models/corpus is not there";
  Outcome outcome;
  for (const fs::path& m : models) Judge(m, outcome);
  // Several files are wrong on purpose.
  EXPECT_LE(outcome.contradictions.size(), outcome.models / 100U);
  EXPECT_LE(outcome.refused, outcome.models / 50);
  RecordProperty("models", outcome.models);
  RecordProperty("lost", outcome.lost);
}

}  // namespace
}  // namespace simpred
