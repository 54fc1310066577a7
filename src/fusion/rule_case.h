// For tests: a graph in which a rule fires, with the kernels that are left, and one in which it must not.
//
//   {"conv-activation", FusionLevel::kExtended,
//    [](ModelBuilder& b) { b.Output(b.Op("Relu", {Conv(b, Image(b))})); }, "com.microsoft.FusedConv",
//    [](ModelBuilder& b) { b.Output(b.Op("Abs", {Conv(b, Image(b))})); }, "Abs Conv"},
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frontend/onnx/model_builder.h"
#include "fusion/fusion.h"
#include "workload/workload.h"

namespace simpred {

using Ints = ModelBuilder::Ints;

struct RuleCase {
  const char* rule;
  FusionLevel level;
  std::function<void(ModelBuilder&)> fires;
  const char* kernels_after;
  std::function<void(ModelBuilder&)> does_not;
  const char* kernels_untouched;
  int64_t opset = 17;
};

std::vector<RuleCase> LoadAndBasicRuleCases();
std::vector<RuleCase> BasicPatternRuleCases();
std::vector<RuleCase> ExtendedRuleCases();
std::vector<RuleCase> LayoutRuleCases();
std::vector<RuleCase> AggressiveRuleCases();

// The kernels of a graph after fusion, and what the rules did.
struct FusedKernels {
  Workload workload;
  FusionReport report;
  std::string Types() const;  // "Add Conv*2": sorted
  bool Fired(const std::string& rule) const;
};
FusedKernels FuseForTest(const std::function<void(ModelBuilder&)>& build, int64_t opset, const FusionOptions& options);

// Shorthand for graphs.
inline std::string Image(ModelBuilder& b, int64_t channels = 3, int64_t size = 16) {
  return b.Input("x", DataType::kFloat32, {int64_t{1}, channels, size, size});
}
inline std::string Matrix(ModelBuilder& b, int64_t rows = 4, int64_t columns = 8) {
  return b.Input("x", DataType::kFloat32, {rows, columns});
}
inline std::string Tokens(ModelBuilder& b, int64_t length = 4, int64_t width = 8) {
  return b.Input("x", DataType::kFloat32, {int64_t{1}, length, width});
}
// 3x3, same size, with a bias.
inline std::string Conv(ModelBuilder& b, const std::string& x, int64_t in = 3, int64_t out = 5) {
  return b.Op("Conv", {x, b.Weight({out, in, 3, 3}), b.Weight({out})}, {{"pads", Ints{1, 1, 1, 1}}});
}
inline std::string Scalar(ModelBuilder& b, float v) { return b.ConstantScalar(v); }

}  // namespace simpred
