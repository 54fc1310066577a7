// What is a file that is not an ONNX model? See recognise.h.
#include "frontend/onnx/recognise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace simpred::onnx {
namespace {

using namespace std::string_view_literals;

struct Magic {
  size_t offset;
  std::string_view bytes;
  std::string_view what;
  std::string_view hint;
};

constexpr std::string_view kExport = "export the original model to ONNX and give that file";
constexpr std::string_view kUnpack = "unpack it and give the .onnx file inside";

// ORTM, TFL3 and MSL are FlatBuffers identifiers, which stand behind the root offset.
constexpr std::array kMagics = {
    Magic{0, "version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the model itself",
          "fetch the file with 'git lfs pull'"},
    Magic{4, "ORTM"sv, "an ONNX Runtime model in ORT format (FlatBuffers)",
          "give the .onnx file that it was made from"},
    Magic{4, "TFL3"sv, "a TensorFlow Lite model (FlatBuffers)", "convert it with tf2onnx and give the .onnx file"},
    Magic{4, "MSL"sv, "a MindSpore Lite model (.ms, FlatBuffers)",
          "export the original network as ONNX and give that file"},
    Magic{0, "PK\x03\x04"sv, "a zip archive (PyTorch .pt, NumPy .npz and Keras .keras files are zip archives too)",
          "unpack it if an .onnx file is inside, else export the model to ONNX"},
    Magic{0, "\x1F\x8B"sv, "a gzip archive", kUnpack},
    Magic{0, "BZh"sv, "a bzip2 archive", kUnpack},
    Magic{0,
          "\xFD"
          "7zXZ"sv,
          "an xz archive", kUnpack},
    Magic{0, "\x28\xB5\x2F\xFD"sv, "a Zstandard archive", kUnpack},
    Magic{0, "7z\xBC\xAF\x27\x1C"sv, "a 7z archive", kUnpack},
    Magic{257, "ustar"sv, "a tar archive", kUnpack},
    Magic{0, "\x89HDF\r\n\x1A\n"sv, "an HDF5 file (Keras .h5)", "convert it with tf2onnx and give the .onnx file"},
    Magic{0, "GGUF"sv, "a GGUF model", kExport},
    Magic{8, "{\""sv, "a safetensors file: weights without a graph", kExport},
    Magic{0, "\x80\x02"sv, "a Python pickle (PyTorch checkpoint)", kExport},
    Magic{0, "ftrt"sv, "a TensorRT engine", "give the .onnx file that it was built from"},
    Magic{0,
          "\x7F"
          "ELF"sv,
          "an ELF binary", "give an .onnx file"},
    Magic{0, "%PDF"sv, "a PDF document", "give an .onnx file"},
};

constexpr size_t kFlatBuffersIdentifier = 4;

bool Has(std::string_view file, const Magic& m) {
  if (file.size() < m.offset || !file.substr(m.offset).starts_with(m.bytes)) return false;
  // A root offset is small, so its last byte is 0; in an ONNX file a producer's name may stand here.
  return m.offset != kFlatBuffersIdentifier || file[kFlatBuffersIdentifier - 1] == '\0';
}

constexpr size_t kTextSample = 512;

bool LooksLikeText(std::string_view file) {
  const std::string_view sample = file.substr(0, kTextSample);
  return std::all_of(sample.begin(), sample.end(), [](char c) {
    const auto b = static_cast<unsigned char>(c);
    return b >= 0x80 || std::isprint(b) != 0 || c == '\n' || c == '\r' || c == '\t';
  });
}

std::string LowerStart(std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (file.starts_with(kByteOrderMark)) file.remove_prefix(kByteOrderMark.size());
  const size_t first = file.find_first_not_of(" \t\r\n");
  std::string start(first == std::string_view::npos ? std::string_view() : file.substr(first, 64));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return start;
}

Status NotOnnx(std::string_view what, std::string_view hint) {
  return ModelError(fmt::format("not an ONNX model: it is {}", what), std::string(hint));
}

// A repository checked out without symbolic links leaves small files that hold the link's target.
bool LooksLikeLink(std::string_view file) {
  const size_t end = file.find_last_not_of(" \r\n");
  if (end == std::string_view::npos || end > kTextSample) return false;
  const std::string_view line = file.substr(0, end + 1);
  return line.ends_with(".onnx") && line.find_first_of(" \n") == std::string_view::npos;
}

Status ExplainText(std::string_view file) {
  if (LooksLikeLink(file)) {
    return NotOnnx("the text of a symbolic link", "give the file that the text inside names");
  }
  const std::string start = LowerStart(file);
  if (start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")) {
    return NotOnnx("an HTML page", "the download got a web page in place of the file: fetch its raw address");
  }
  if (start.starts_with("<")) return NotOnnx("an XML file", "give an .onnx file");
  if (start.starts_with("{") || start.starts_with("[")) return NotOnnx("a JSON file", "give an .onnx file");
  if (start.find("ir_version:") != std::string::npos) {
    return NotOnnx("a model in protobuf text format", "convert it to the binary format (onnx.save)");
  }
  return NotOnnx("a text file", "give an .onnx file; a configuration is given with --config");
}

}  // namespace

Status RefuseKnownFormat(std::string_view file) {
  if (file.empty()) return ModelError("not an ONNX model: the file is empty", "export or download it again");
  for (const Magic& m : kMagics) {
    if (Has(file, m)) return NotOnnx(m.what, m.hint);
  }
  return OkStatus();
}

Status ExplainNotOnnx(std::string_view file, std::string_view fault) {
  if (LooksLikeText(file)) return ExplainText(file);
  return ModelError(fmt::format("not an ONNX model: {}", fault), "give an .onnx file; if it is one, it is damaged");
}

}  // namespace simpred::onnx
