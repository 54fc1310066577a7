#include "inputs.h"

#include <algorithm>
#include <array>
#include <map>

#include "frontend/onnx/onnx.h"
#include "zoo/architectures.h"

namespace simpred::bench {
namespace {

namespace fs = std::filesystem;

void AddZoo(std::vector<FusionModel>& models) {
  for (const zoo::Architecture& a : zoo::AllArchitectures()) {
    FusionModel m;
    m.set = ModelSet::kZoo;
    m.model.name = m.model.architecture = a.name;
    m.model.family = a.family;
    m.model.from_zoo = true;
    models.push_back(std::move(m));
  }
}

// Shapes of the models that the list knows, by path.
Result<std::map<fs::path, InferOptions>> ListedShapes(const Sources& sources, std::vector<std::string>& absent) {
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<BenchModel> listed, LoadList(sources, absent));
  std::map<fs::path, InferOptions> shapes;
  for (const BenchModel& m : listed)
    if (!m.from_zoo) shapes[m.path] = m.binding;
  return shapes;
}

void AddPackages(const Sources& sources, const std::map<fs::path, InferOptions>& shapes,
                 std::vector<FusionModel>& models) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& e : fs::recursive_directory_iterator(sources.packages, error))
    if (e.path().extension() == ".onnx") files.push_back(e.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    FusionModel m;
    m.set = ModelSet::kPackage;
    m.model.path = file;
    m.model.name = (file.parent_path().filename() / file.stem()).string();
    if (const auto it = shapes.find(file); it != shapes.end()) m.model.binding = it->second;
    models.push_back(std::move(m));
  }
}

Status AddCorpus(const Sources& sources, const std::map<fs::path, InferOptions>& shapes,
                 std::vector<std::string>& absent, std::vector<FusionModel>& models) {
  SIMPRED_ASSIGN_OR_RETURN(std::vector<BenchModel> corpus, LoadCorpus(sources, absent, CorpusPart::kEveryFile));
  for (BenchModel& c : corpus) {
    if (const auto it = shapes.find(c.path); it != shapes.end() && !it->second.input_shapes.empty())
      c.binding = it->second;
    models.push_back({ModelSet::kCorpus, std::move(c)});
  }
  return OkStatus();
}

}  // namespace

std::string_view Name(ModelSet s) {
  constexpr std::array<std::string_view, 3> kNames = {"zoo", "package", "corpus"};
  return kNames[static_cast<size_t>(s)];
}

Result<std::vector<FusionModel>> FindModels(const Sources& sources, std::vector<std::string>& absent) {
  SIMPRED_ASSIGN_OR_RETURN(const auto shapes, ListedShapes(sources, absent));
  std::vector<FusionModel> models;
  AddZoo(models);
  AddPackages(sources, shapes, models);
  if (fs::exists(sources.data / "models" / "corpus" / "index.csv"))
    SIMPRED_RETURN_IF_ERROR(AddCorpus(sources, shapes, absent, models));
  else
    absent.push_back("the corpus (" + (sources.data / "models" / "corpus").string() + ")");
  return models;
}

InferOptions CompleteBinding(const fs::path& path, InferOptions binding) {
  Result<Model> model = ReadOnnx(path);
  if (!model.ok()) return binding;
  for (ValueId v : model->graph.inputs) {
    const Value& value = model->graph.value(v);
    if (!value.declared.shape.has_rank() || value.declared.shape.is_static()) continue;
    if (binding.input_shapes.contains(value.name) || (binding.input_shapes.contains("") && model->graph.inputs[0] == v))
      continue;
    std::vector<Dim> dims;
    for (const Dim& d : value.declared.shape.dims()) dims.push_back(d.is_known() && d.value() >= 0 ? d : Dim(1));
    binding.input_shapes[value.name] = Shape(std::move(dims));
  }
  return binding;
}

}  // namespace simpred::bench
