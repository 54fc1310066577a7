// Writes the small models of the cases into a folder: a network that is fine, and some that are not.
#include <cstdio>
#include <filesystem>
#include <string>

#include "frontend/onnx/model_builder.h"

namespace simpred {
namespace {

using Ints = ModelBuilder::Ints;

// data [1, 3, 8, 8] -> Conv -> Relu -> GlobalAveragePool -> out
ModelBuilder SmallNetwork(const ModelBuilder::DimSpec& batch) {
  ModelBuilder b;
  const std::string x = b.Input("data", DataType::kFloat32, {batch, int64_t{3}, int64_t{8}, int64_t{8}});
  const std::string conv = b.Op("Conv", {x, b.Weight({4, 3, 3, 3})}, {{"pads", Ints{1, 1, 1, 1}}});
  b.Output(b.Op("GlobalAveragePool", {b.Op("Relu", {conv})}));
  return b;
}

// Two nodes that read each other. The builder names values in order, so a first pass tells the second one's name.
ModelBuilder Cycle(const std::string& later, std::string* made) {
  ModelBuilder b;
  const std::string x = b.Input("data", DataType::kFloat32, {int64_t{4}});
  const std::string first = b.Op("Add", {x, later});
  *made = b.Op("Relu", {first});
  b.Output(*made);
  return b;
}

ModelBuilder UnknownOperator() {
  ModelBuilder b;
  const std::string x = b.Input("data", DataType::kFloat32, {int64_t{4}, int64_t{4}});
  const std::string y = b.Op("Relu", {x});
  b.Output(b.Op("Mystery", {y}, {}, "com.example"), DataType::kFloat32, {int64_t{4}, int64_t{4}});
  return b;
}

// Names that try to leave their place in a page, a table or a terminal.
ModelBuilder Hostile() {
  ModelBuilder b;
  const std::string x = b.Input("<img src=x onerror=alert(1)>\"\033[2J", DataType::kFloat32, {int64_t{4}});
  b.Output(b.Op("Relu", {x}));
  return b;
}

Status WriteAll(const std::filesystem::path& folder) {
  SIMPRED_RETURN_IF_ERROR(SmallNetwork(int64_t{1}).Save(folder / "small.onnx"));
  SIMPRED_RETURN_IF_ERROR(SmallNetwork("N").Save(folder / "symbolic.onnx"));
  std::string later = "unknown";
  std::string made;
  Cycle(later, &made);
  later = made;
  SIMPRED_RETURN_IF_ERROR(Cycle(later, &made).Save(folder / "cycle.onnx"));
  SIMPRED_RETURN_IF_ERROR(UnknownOperator().Save(folder / "mystery.onnx"));
  return Hostile().Save(folder / "hostile.onnx");
}

}  // namespace
}  // namespace simpred

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const simpred::Status status = simpred::WriteAll(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return static_cast<int>(status.code());
}
