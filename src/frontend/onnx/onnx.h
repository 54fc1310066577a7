// How is an ONNX file read? A memory map and a pull parser (protozero) over the wire format: the payloads of weights
// are skipped by their length, their pages are never touched.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.h"
#include "graph/graph.h"

namespace simpred {

// Errors: kModel; truncated at byte N, not ONNX (what it looks like instead), missing.
Result<Model> ReadOnnx(const std::filesystem::path& path);
Result<Model> ReadOnnxBytes(std::string_view bytes, const std::filesystem::path& shown_as = "<memory>");

}  // namespace simpred
