// How is an ONNX file read? First the fields of the model without looking into them (is it one at all, is it whole?),
// then the graph and the functions, then everything but the weights is hashed.
#include "frontend/onnx/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "frontend/onnx/fields.h"
#include "frontend/onnx/graph_reader.h"
#include "frontend/onnx/recognise.h"
#include "frontend/onnx/tensor.h"

namespace simpred {
namespace {

using onnx::Fields;
using onnx::ReadContext;
using onnx::Tag;

// Bytes of the model, kept as long as somebody may ask for a constant.
struct Source {
  MappedFile map;
  std::string copy;
  std::string_view bytes;
  std::filesystem::path folder;
};

struct TopLevelField {
  Tag tag;
  Fields::Wire wire;
  std::string_view name;
};

// Fields of ModelProto. MindIR has other types under the same numbers.
constexpr std::array kTopLevel = {
    TopLevelField{1, Fields::Wire::kVarint, "ir_version"},
    TopLevelField{2, Fields::Wire::kBytes, "producer_name"},
    TopLevelField{3, Fields::Wire::kBytes, "producer_version"},
    TopLevelField{4, Fields::Wire::kBytes, "domain"},
    TopLevelField{5, Fields::Wire::kVarint, "model_version"},
    TopLevelField{6, Fields::Wire::kBytes, "doc_string"},
    TopLevelField{7, Fields::Wire::kBytes, "graph"},
    TopLevelField{8, Fields::Wire::kBytes, "opset_import"},
    TopLevelField{14, Fields::Wire::kBytes, "metadata_props"},
    TopLevelField{20, Fields::Wire::kBytes, "training_info"},
    TopLevelField{25, Fields::Wire::kBytes, "functions"},
    TopLevelField{26, Fields::Wire::kBytes, "configuration"},
};

const TopLevelField* FindTopLevel(Tag tag) {
  const auto* const found =
      std::find_if(kTopLevel.begin(), kTopLevel.end(), [&](const auto& f) { return f.tag == tag; });
  return found == kTopLevel.end() ? nullptr : found;
}

// The model's own fields, not looked into.
struct Outline {
  int64_t ir_version = 0;
  int64_t model_version = 0;
  std::string_view producer_name, producer_version;
  std::optional<std::string_view> graph;
  std::vector<std::string_view> opset_imports, metadata, functions;
  std::vector<Tag> unknown;         // fields that no ONNX model has, or of another wire type
  bool ir_version_is_text = false;  // MindIR
};

void TakeField(ReadContext& context, const Fields& f, Outline& o) {
  const TopLevelField* known = FindTopLevel(f.tag());
  if (f.tag() == onnx::model::kIrVersion && f.is_bytes()) o.ir_version_is_text = true;
  if (known == nullptr || known->wire != f.wire()) {
    o.unknown.push_back(f.tag());
    return;
  }
  switch (f.tag()) {
    case onnx::model::kIrVersion:
      o.ir_version = f.Int();
      break;
    case onnx::model::kProducerName:
      o.producer_name = f.Bytes();
      break;
    case onnx::model::kProducerVersion:
      o.producer_version = f.Bytes();
      break;
    case onnx::model::kModelVersion:
      o.model_version = f.Int();
      break;
    case onnx::model::kGraph:
      if (o.graph.has_value()) context.Warn("the file holds more than one graph; the last one counts");
      o.graph = f.Bytes();
      break;
    case onnx::model::kOpsetImport:
      o.opset_imports.push_back(f.Bytes());
      break;
    case onnx::model::kMetadata:
      o.metadata.push_back(f.Bytes());
      break;
    case onnx::model::kFunctions:
      o.functions.push_back(f.Bytes());
      break;
    default:
      break;
  }
}

Status TruncatedError(Tag tag, uint64_t says, uint64_t left) {
  return ModelError(
      fmt::format("truncated: field {} says {} bytes, the file ends after {}", FindTopLevel(tag)->name, says, left),
      "the download or export was cut off: fetch or export the file again");
}

// Is the file cut off inside one of the model's fields? Only a file that looked like ONNX up to there is called so.
Status ExplainFault(const ReadContext& context, const Fields& f, const Outline& o, std::string_view file) {
  const bool looks_like_onnx = o.unknown.empty() && o.ir_version > 0;
  if (looks_like_onnx && f.overrun().has_value() && FindTopLevel(f.tag()) != nullptr) {
    return TruncatedError(f.tag(), f.overrun()->says, f.overrun()->left);
  }
  return onnx::ExplainNotOnnx(file, context.fault());
}

Status MindIrError() {
  return ModelError("this is a MindIR model, which this version does not read yet",
                    "export the network as ONNX (mindspore.export with file_format='ONNX')");
}

Status NoGraphError(const Outline& o, std::string_view file) {
  if (o.unknown.empty()) return onnx::ExplainNotOnnx(file, "the model has no graph");
  return onnx::ExplainNotOnnx(file,
                              fmt::format("a protobuf file without a model's graph, but with a field {}, which no "
                                          "ONNX model has (TensorFlow, Caffe and Core ML use protobuf too)",
                                          o.unknown.front()));
}

Result<Outline> ReadOutline(ReadContext& context) {
  Outline o;
  Fields f(context, context.file(), "model");
  while (f.Next()) TakeField(context, f, o);
  if (context.failed()) return ExplainFault(context, f, o, context.file());
  // Field 1 as text and a graph: no ONNX model, and no text file parses so far.
  if (o.ir_version_is_text && o.graph.has_value()) return MindIrError();
  if (!o.graph.has_value()) return NoGraphError(o, context.file());
  return o;
}

// The operator set that was the newest when this IR version came; https://onnx.ai/onnx/repo-docs/Versioning.html
int64_t NewestOpsetOf(int64_t ir_version) {
  constexpr std::array<int64_t, 14> kNewest = {1, 1, 1, 8, 9, 10, 11, 14, 18, 20, 22, 23, 24, 25};
  return kNewest[static_cast<size_t>(std::clamp<int64_t>(ir_version, 0, kNewest.size() - 1))];
}

void ReadOpsetImports(ReadContext& context, const Outline& o, Model& model) {
  for (std::string_view m : o.opset_imports) onnx::ReadOpsetImport(context, m, model.opset_imports);
}

// Domains that nodes use and the model does not import.
void AssumeMissingOpsets(ReadContext& context, Model& model) {
  for (const auto& [domain, op_type] : context.used_domains()) {
    if (model.opset_imports.contains(domain)) continue;
    const int64_t assumed = domain.empty() ? NewestOpsetOf(model.ir_version) : 1;
    model.opset_imports[domain] = assumed;
    context.Warn(fmt::format("the model imports no operator set of domain {} (used by {}); version {} is assumed",
                             onnx::Quote(domain.empty() ? "ai.onnx" : domain), op_type, assumed));
  }
}

void ReadMetadata(ReadContext& context, const Outline& o, Model& model) {
  for (std::string_view m : o.metadata) {
    std::string_view key;
    std::string_view value;
    Fields f(context, m, "metadata_props");
    while (f.Next()) {
      if (f.tag() == onnx::entry::kKey) key = f.Bytes();
      if (f.tag() == onnx::entry::kValue) value = f.Bytes();
    }
    if (context.Count()) model.metadata[onnx::Text(key)] = onnx::MultilineText(value);
  }
}

std::string StructureHash(ReadContext& context) {
  std::vector<onnx::Range>& weights = context.weights();
  std::sort(weights.begin(), weights.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  Sha256 hash;
  uint64_t position = 0;
  for (const onnx::Range& w : weights) {
    if (w.offset < position) continue;  // a graph inside an attribute that is read twice
    hash.Update(context.file().substr(position, w.offset - position));
    position = w.offset + w.size;
    context.Forget(context.file().substr(w.offset, w.size));
  }
  hash.Update(context.file().substr(position));
  return hash.HexDigest();
}

std::string Producer(const Outline& o) {
  const std::string name = onnx::Text(o.producer_name);
  return o.producer_version.empty() ? name : name + " " + onnx::Text(o.producer_version);
}

Result<Model> ReadModel(ReadContext& context) {
  SIMPRED_RETURN_IF_ERROR(onnx::RefuseKnownFormat(context.file()));
  SIMPRED_ASSIGN_OR_RETURN(Outline o, ReadOutline(context));
  Model model;
  model.format = "onnx";
  model.ir_version = o.ir_version;
  model.model_version = o.model_version;
  model.producer = Producer(o);
  model.file_size = context.file().size();
  ReadOpsetImports(context, o, model);
  ReadMetadata(context, o, model);
  model.graph = onnx::ReadGraph(context, *o.graph, o.ir_version);
  for (std::string_view m : o.functions) {
    if (context.Count()) model.functions.push_back(onnx::ReadFunction(context, m, o.ir_version));
  }
  if (context.failed()) return onnx::ExplainNotOnnx(context.file(), context.fault());
  AssumeMissingOpsets(context, model);
  model.structure_sha256 = StructureHash(context);
  model.warnings = context.TakeWarnings();
  return model;
}

Result<Model> ReadSource(std::shared_ptr<Source> source, const std::filesystem::path& path) {
  ReadContext context(source->bytes, source->copy.empty() ? &source->map : nullptr);
  Result<Model> model = ReadModel(context);
  if (!model.ok()) return model.status().With(fmt::format("model {}", path.string()));
  model->path = path;
  model->read_constant = [source = std::move(source)](const Payload& payload, DataType dtype,
                                                      const std::vector<int64_t>& dims) {
    return onnx::ReadElements(source->bytes, source->folder, payload, dtype, dims);
  };
  return model;
}

}  // namespace

Result<Model> ReadOnnx(const std::filesystem::path& path) {
  SIMPRED_ASSIGN_OR_RETURN(MappedFile map, MappedFile::Open(path));
  auto source = std::make_shared<Source>();
  source->map = std::move(map);
  source->bytes = source->map.bytes();
  source->folder = path.parent_path();
  return ReadSource(std::move(source), path);
}

Result<Model> ReadOnnxBytes(std::string_view bytes, const std::filesystem::path& shown_as) {
  auto source = std::make_shared<Source>();
  source->copy = std::string(bytes);
  source->bytes = source->copy;
  source->folder = shown_as.parent_path();
  return ReadSource(std::move(source), shown_as);
}

}  // namespace simpred
