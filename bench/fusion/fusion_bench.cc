// Does the kernel list that we predict equal the one that ONNX Runtime makes?
//
//   fusion_bench [--csv FILE] [--work FOLDER] MODEL.onnx...
//
//   model                          level     ours theirs matched  difference (ours/theirs)
//   resnet18                       all         30     30      30
//   ...
//   RESULT fusion models=24 exact_models=97.9 kernels=99.8 signatures=99.1
//
// exact_models: share of models x levels whose lists are equal by type and count; kernels: share of the runtime's
// kernels that we have too; signatures: the same when shapes, layouts and attributes must agree as well.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>

#include "compare.h"
#include "frontend/onnx/onnx.h"
#include "profile/collectors/onnxruntime.h"

namespace simpred {
namespace {

struct Level {
  FusionLevel level;
  const char* name;
};
constexpr std::array<Level, 4> kLevels = {{{FusionLevel::kOff, "off"},
                                           {FusionLevel::kBasic, "basic"},
                                           {FusionLevel::kExtended, "extended"},
                                           {FusionLevel::kAll, "all"}}};

struct Totals {
  int models = 0, lists = 0, exact = 0;
  int64_t kernels = 0, matched = 0, signatures = 0;
};

// Every dimension that the file leaves open is one.
InferOptions BindOnes(const std::filesystem::path& path) {
  InferOptions o;
  Result<Model> model = ReadOnnx(path);
  if (!model.ok()) return o;
  for (ValueId v : model.value().graph.inputs) {
    const Value& value = model.value().graph.value(v);
    if (!value.declared.shape.has_rank() || value.declared.shape.is_static()) continue;
    std::vector<Dim> dims;
    for (const Dim& d : value.declared.shape.dims()) dims.push_back(d.is_known() ? d : Dim(1));
    o.input_shapes[value.name] = Shape(dims);
  }
  return o;
}

class Bench {
 public:
  Bench(std::filesystem::path work, std::ostream* csv) : work_(std::move(work)), csv_(csv), collector_({}) {}

  void Run(const std::filesystem::path& path) {
    const InferOptions binding = BindOnes(path);
    bool any = false;
    for (const Level& level : kLevels) any = RunLevel(path, binding, level) || any;
    totals_.models += any ? 1 : 0;
  }

  void PrintResult() const {
    const auto share = [](int64_t a, int64_t b) {
      return b == 0 ? 0.0 : 100.0 * static_cast<double>(a) / static_cast<double>(b);
    };
    fmt::print("RESULT fusion models={} exact_models={:.1f} kernels={:.2f} signatures={:.2f}\n", totals_.models,
               share(totals_.exact, totals_.lists), share(totals_.matched, totals_.kernels),
               share(totals_.signatures, totals_.kernels));
  }

 private:
  bool RunLevel(const std::filesystem::path& path, const InferOptions& binding, const Level& level) {
    const std::string name = path.stem().string();
    const std::filesystem::path saved = work_ / fmt::format("{}.{}.onnx", name, level.name);
    if (!std::filesystem::exists(saved)) {
      MeasureItem item;
      item.path = path;
      item.binding = binding;
      item.level = level.level;
      if (Status s = collector_.SaveOptimized(item, saved); !s.ok()) return Skip(name, level, "runtime", s);
    }
    Result<Workload> theirs = SavedKernels(saved, binding);
    if (!theirs.ok()) return Skip(name, level, "saved model", theirs.status());
    Result<Workload> ours = OurKernels(path, binding, level.level);
    if (!ours.ok()) {
      Skip(name, level, "ours", ours.status());
      totals_.lists += 1;
      totals_.kernels += static_cast<int64_t>(theirs.value().kernels.size());
      return true;
    }
    Report(name, level, Compare(ours.value(), theirs.value()));
    return true;
  }

  static bool Skip(const std::string& name, const Level& level, const char* who, const Status& s) {
    fmt::print("{:<44} {:<9} {}: {}\n", name.substr(0, 44), level.name, who, s.message());
    return false;
  }

  void Report(const std::string& name, const Level& level, const Comparison& c) {
    totals_.lists += 1;
    totals_.exact += c.equal() ? 1 : 0;
    totals_.kernels += std::max(c.ours, c.theirs);
    totals_.matched += c.matched;
    totals_.signatures += c.same_signature;
    fmt::print("{:<44} {:<9} {:>5} {:>5} {:>5} {:>5}  {}\n", name.substr(0, 44), level.name, c.ours, c.theirs,
               c.matched, c.same_signature, c.differences);
    if (csv_ != nullptr)
      *csv_ << fmt::format("{},{},{},{},{},{},\"{}\"\n", name, level.name, c.ours, c.theirs, c.matched,
                           c.same_signature, c.differences);
  }

  std::filesystem::path work_;
  std::ostream* csv_;
  Collector collector_;
  Totals totals_;
};

int Main(int argc, char** argv) {
  CLI::App app("Kernel lists, ours against ONNX Runtime's");
  std::vector<std::string> models;
  std::string csv_path, work = (std::filesystem::temp_directory_path() / "simpred_fusion_bench").string();
  app.add_option("--csv", csv_path, "the table as CSV");
  app.add_option("--work", work, "folder for the runtime's optimised models; kept");
  app.add_option("models", models, "ONNX files")->required();
  CLI11_PARSE(app, argc, argv);
  std::filesystem::create_directories(work);
  std::ofstream csv;
  if (!csv_path.empty()) {
    csv.open(csv_path);
    csv << "model,level,ours,theirs,matched,signatures,differences\n";
  }
  fmt::print("{:<44} {:<9} {:>5} {:>5} {:>5} {:>5}  {}\n", "model", "level", "ours", "ORT", "match", "sign",
             "difference (ours/theirs)");
  Bench bench(work, csv_path.empty() ? nullptr : &csv);
  for (const std::string& m : models) bench.Run(m);
  bench.PrintResult();
  return 0;
}

}  // namespace
}  // namespace simpred

int main(int argc, char** argv) { return simpred::Main(argc, argv); }
