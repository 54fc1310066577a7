// Which models are judged? See bench_models.h.
#include "bench_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/numbers.h"
#include "zoo/architectures.h"

namespace simpred::bench {
namespace {

std::vector<std::string> SplitText(const std::string& text, char separator) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == separator) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// Fields in quotes may hold commas and doubled quotes.
std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        row.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        row.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(std::exchange(row, std::vector<std::string>(1)));
    } else if (c != '\r') {
      row.back() += c;
    }
  }
  if (row.size() > 1 || !row[0].empty()) rows.push_back(row);
  return rows;
}

std::vector<std::map<std::string, std::string>> Table(const std::string& text) {
  std::vector<std::map<std::string, std::string>> out;
  const auto rows = ParseCsv(text);
  for (size_t r = 1; r < rows.size(); ++r) {
    std::map<std::string, std::string> record;
    for (size_t c = 0; c < std::min(rows[0].size(), rows[r].size()); ++c) record[rows[0][c]] = rows[r][c];
    out.push_back(std::move(record));
  }
  return out;
}

// "x[0]=1; x[2]=224": single dimensions; the others stay as the file declares them.
InferOptions BindingOf(const std::map<std::string, std::string>& row) {
  InferOptions out;
  std::map<std::string, std::vector<Dim>> dims;
  // The declared shape comes from the column `inputs`: "x:float32[Nx3x?x?]; y:int64[2]".
  for (const std::string& part : SplitText(row.at("inputs"), ';')) {
    const size_t open = part.rfind('[');
    const size_t colon = open == std::string::npos ? open : part.rfind(':', open);
    if (colon == std::string::npos) continue;
    std::string name = part.substr(0, colon);
    name.erase(0, name.find_first_not_of(' '));
    std::vector<Dim> shape;
    const std::string inside = part.substr(open + 1, part.rfind(']') - open - 1);
    if (!inside.empty()) {
      for (const std::string& d : SplitText(inside, 'x')) {
        const auto n = ParseInt(d);
        shape.push_back(n && *n >= 0 ? Dim(*n) : Dim::Unknown());
      }
    }
    dims[name] = std::move(shape);
  }
  for (const std::string& part : SplitText(row.at("inference_fixed_dims"), ';')) {
    const size_t open = part.rfind('[');
    const size_t equals = part.rfind('=');
    if (open == std::string::npos || equals == std::string::npos) continue;
    std::string name = part.substr(0, open);
    name.erase(0, name.find_first_not_of(' '));
    const auto axis = ParseInt(part.substr(open + 1, part.find(']', open) - open - 1));
    const auto value = ParseInt(part.substr(equals + 1));
    if (axis && value && dims.contains(name) && *axis < static_cast<int64_t>(dims[name].size()))
      dims[name][static_cast<size_t>(*axis)] = Dim(*value);
  }
  for (auto& [name, shape] : dims) {
    const bool known = std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_known(); });
    if (known && !shape.empty()) out.input_shapes[name] = Shape(std::move(shape));
  }
  return out;
}

}  // namespace

Result<InferOptions> ParseShapes(const std::string& text) {
  InferOptions out;
  if (text.empty()) return out;
  for (const std::string& part : SplitText(text, ';')) {
    const size_t equals = part.rfind('=');
    if (equals == std::string::npos) return UsageError(fmt::format("shape '{}' is not name=1x2x3", part));
    std::vector<Dim> dims;
    for (const std::string& d : SplitText(part.substr(equals + 1), 'x')) {
      const auto n = ParseInt(d);
      if (!n) return UsageError(fmt::format("'{}' in shape '{}' is not a number", d, part));
      dims.emplace_back(*n);
    }
    out.input_shapes[part.substr(0, equals)] = Shape(std::move(dims));
  }
  return out;
}

Result<std::vector<BenchModel>> LoadList(const Sources& sources, std::vector<std::string>& absent) {
  SIMPRED_ASSIGN_OR_RETURN(const std::string text, ReadText(sources.list));
  std::set<std::string> known;
  for (const zoo::Architecture& a : zoo::AllArchitectures()) known.emplace(a.name);
  std::vector<BenchModel> out;
  for (const auto& row : Table(text)) {
    BenchModel m;
    m.name = row.at("name");
    m.family = row.at("family");
    SIMPRED_ASSIGN_OR_RETURN(m.binding, ParseShapes(row.contains("shapes") ? row.at("shapes") : ""));
    const std::string& source = row.at("source");
    const std::string where = source.substr(0, source.find(':'));
    const std::string what = source.substr(source.find(':') + 1);
    if (where == "zoo") {
      m.from_zoo = true;
      m.architecture = what;
      if (!known.contains(what)) {
        absent.push_back(m.name + " (the zoo has no '" + what + "')");
        continue;
      }
    } else {
      m.path = where == "corpus" ? sources.data / "models" / "corpus" / what : sources.packages / what;
      if (!std::filesystem::exists(m.path)) {
        absent.push_back(m.name + " (" + source + ")");
        continue;
      }
    }
    out.push_back(std::move(m));
  }
  return out;
}

Result<std::vector<BenchModel>> LoadCorpus(const Sources& sources, std::vector<std::string>& absent, CorpusPart part) {
  const std::filesystem::path folder = sources.data / "models" / "corpus";
  SIMPRED_ASSIGN_OR_RETURN(const std::string text, ReadText(folder / "index.csv"));
  static const std::set<std::string> kWhole = {
      "cnn",          "detector",       "ocr", "transformer-llm", "segmentation",
      "speech-audio", "image-to-image", "rnn", "verification-mlp"};
  std::vector<BenchModel> out;
  for (const auto& row : Table(text)) {
    if (row.at("format") != "onnx" || row.at("parse") != "ok") continue;
    if (part == CorpusPart::kWholeNetworks && !kWhole.contains(row.at("category"))) continue;
    BenchModel m;
    m.path = folder / row.at("file");
    m.name = m.path.stem().string();
    m.family = row.at("category");
    m.binding = BindingOf(row);
    if (!std::filesystem::exists(m.path)) {
      absent.push_back(m.name);
      continue;
    }
    out.push_back(std::move(m));
  }
  return out;
}

std::vector<BenchModel> VariantsOf(const std::vector<BenchModel>& models) {
  static const std::set<std::string> kRanked = {
      "resnet18",      "resnet50",      "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0",
      "squeezenet1_1", "shufflenet_v2", "bert_mini",    "vit_ti16",           "unet_small"};
  std::vector<BenchModel> out;
  const auto add = [&](const BenchModel& base, int64_t batch, int64_t resolution, const std::string& suffix) {
    BenchModel v = base;
    v.name += suffix;
    v.batch = batch;
    v.resolution = resolution;
    out.push_back(std::move(v));
  };
  for (const BenchModel& m : models) {
    if (!m.from_zoo || !kRanked.contains(m.name)) continue;
    add(m, 4, 0, "_b4");
    if (m.name != "resnet50" && m.name != "unet_small") add(m, 16, 0, "_b16");
    if (m.family.find("cnn") != std::string::npos) {
      add(m, 1, 160, "_r160");
      add(m, 1, 288, "_r288");
    }
  }
  return out;
}

Status Materialize(BenchModel& m, const Sources& sources) {
  if (!m.from_zoo) return OkStatus();
  std::error_code error;
  std::filesystem::create_directories(sources.work, error);
  m.path = sources.work / (m.name + ".onnx");
  if (std::filesystem::exists(m.path)) return OkStatus();
  for (const zoo::Architecture& a : zoo::AllArchitectures()) {
    if (a.name == m.architecture)
      return a.build({m.batch, m.resolution != 0 ? m.resolution : a.resolution}).Save(m.path);
  }
  return UsageError("the zoo has no architecture '" + m.architecture + "'");
}

}  // namespace simpred::bench
