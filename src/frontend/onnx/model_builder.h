// Writes small ONNX models: for generated kernels and networks, for the architectures of the benches, for tests.
//
//   ModelBuilder b(17);
//   auto x = b.Input("x", DataType::kFloat32, {1, 64, 56, 56});
//   auto w = b.Weight({64, 64, 3, 3});                       // seeded random values, scaled by fan-in
//   auto y = b.Op("Conv", {x, w}, {{"pads", Ints{1, 1, 1, 1}}});
//   b.Output(y, DataType::kFloat32, {1, 64, 56, 56});        // or b.Output(y) without a declared shape
//   Status s = b.Save("conv.onnx");
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "graph/data_type.h"

namespace simpred {

class ModelBuilder {
 public:
  using Ints = std::vector<int64_t>;
  using AttributeValue = std::variant<int64_t, double, std::string, Ints, std::vector<double>>;
  using Attributes = std::map<std::string, AttributeValue>;
  using DimSpec = std::variant<int64_t, std::string>;  // a number or a symbol

  explicit ModelBuilder(int64_t opset = 17, uint64_t seed = 1);
  std::string Input(const std::string& name, DataType t, const std::vector<DimSpec>& dims);
  // Random normal values times `scale`; scale 0: 1/sqrt(fan-in) with fan-in = product of all dims but the first.
  std::string Weight(const Ints& dims, double scale = 0, DataType t = DataType::kFloat32);
  std::string ConstantInts(const Ints& values, const Ints& dims);  // int64
  std::string ConstantInts(const Ints& values) { return ConstantInts(values, {static_cast<int64_t>(values.size())}); }
  std::string ConstantFloats(const std::vector<float>& values, const Ints& dims);
  std::string ConstantScalar(float value) { return ConstantFloats({value}, {}); }
  // One output; "" omits an optional input.
  std::string Op(const std::string& type, const std::vector<std::string>& inputs, const Attributes& a = {},
                 const std::string& domain = "");
  std::vector<std::string> OpN(const std::string& type, const std::vector<std::string>& inputs, int outputs,
                               const Attributes& a = {}, const std::string& domain = "");
  // From here on each float Weight is listed as an input of the graph too: it can then be overridden at run time, and a
  // runtime neither folds nor packs it. Old exporters write all their models so.
  void ListWeightsAsInputs() { weights_are_inputs_ = true; }
  void Output(const std::string& value);  // type float32, no shape
  void Output(const std::string& value, DataType t, const std::vector<DimSpec>& dims);
  std::string Serialize() const;
  Status Save(const std::filesystem::path& path) const;

 private:
  std::string NewName(std::string_view stem);
  std::string AddInitializer(std::string name, DataType t, const Ints& dims, std::string_view raw);

  uint64_t seed_;
  int64_t next_name_ = 0;
  bool weights_are_inputs_ = false;
  std::string nodes_, initializers_, inputs_, outputs_;  // encoded fields of GraphProto
  std::map<std::string, int64_t> domains_;               // opset imports
};

}  // namespace simpred
