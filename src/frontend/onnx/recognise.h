// What is a file that is not an ONNX model? People hand over what a download or an export left: a Git LFS pointer, an
// HTML error page, a zip, a model of another framework. The message says which, the hint what to do.
#pragma once

#include <string_view>

#include "base/status.h"

namespace simpred::onnx {

// Files that are known by their first bytes and are no protobuf; ok if this is not one of them.
Status RefuseKnownFormat(std::string_view file);
// For a file whose protobuf cannot be read or is no ModelProto: what else it looks like, or `fault` as it stands.
Status ExplainNotOnnx(std::string_view file, std::string_view fault);

}  // namespace simpred::onnx
