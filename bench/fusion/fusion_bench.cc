// Does the kernel list that we predict equal the one that ONNX Runtime makes?
//
//   set      model                                level     ours   ORT match  sign  difference (ours/ORT)
//   zoo      resnet18                             all         30    30    30    30
//   corpus   mnist                                extended    19    18    18    17  Add:3/2
//   ...
//   RESULT fusion models=140 exact_models=98.6 kernels=99.9 signatures=99.7 zoo_exact=100.0 ...
//
// exact_models: share of models x levels whose lists are equal by type and count; kernels: share of the kernels that
// both lists hold; signatures: the same where shapes, layouts and attributes must agree as well. A model that the
// runtime does not load is named and left out; one that we cannot do counts as wrong.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/work_folder.h"
#include "compare.h"
#include "device/profile.h"
#include "inputs.h"
#include "predict/prepare.h"
#include "profile/collectors/onnxruntime.h"

namespace simpred::bench {
namespace {

namespace fs = std::filesystem;

struct Level {
  FusionLevel level;
  const char* name;
};
constexpr std::array<Level, 3> kLevels = {
    {{FusionLevel::kOff, "off"}, {FusionLevel::kExtended, "extended"}, {FusionLevel::kAll, "all"}}};
constexpr size_t kShownName = 44;

struct Arguments {
  std::string list, data, packages, zoo, keep, csv, only;
  bool quick = false, verbose = false;
};

struct Totals {
  int models = 0, lists = 0, exact = 0;
  int64_t kernels = 0, matched = 0, signed_kernels = 0, signatures = 0;

  void Add(const Comparison& c) {
    ++lists;
    exact += c.Equal() ? 1 : 0;
    kernels += std::max(c.ours, c.theirs);
    matched += c.matched;
    signed_kernels += c.signed_kernels;
    signatures += c.same_signature;
  }
};

double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

class Bench {
 public:
  Bench(const Arguments& arguments, Sources sources, fs::path optimized, int nchwc_block)
      : arguments_(arguments),
        sources_(std::move(sources)),
        optimized_(std::move(optimized)),
        nchwc_block_(nchwc_block),
        collector_({}) {}

  void Run(FusionModel m) {
    if (!arguments_.only.empty() && m.model.name.find(arguments_.only) == std::string::npos) return;
    if (Status s = Materialize(m.model, sources_); !s.ok()) {
      Line(m, "", s.ToString());
      return;
    }
    m.model.binding = CompleteBinding(m.model.path, std::move(m.model.binding));
    for (const Level& level : kLevels) {
      if (arguments_.quick && level.level != FusionLevel::kAll) continue;
      if (!RunLevel(m, level)) return;
    }
    ++all_.models;
    ++sets_[static_cast<size_t>(m.set)].models;
  }

  std::string ResultLine() const {
    std::string line =
        fmt::format("RESULT fusion models={} exact_models={:.1f} kernels={:.2f} signatures={:.2f} lists={}",
                    all_.models, Percent(all_.exact, all_.lists), Percent(all_.matched, all_.kernels),
                    Percent(all_.signatures, all_.signed_kernels), all_.lists);
    for (ModelSet s : {ModelSet::kZoo, ModelSet::kPackage, ModelSet::kCorpus}) {
      const Totals& t = sets_[static_cast<size_t>(s)];
      if (t.models == 0) continue;
      line += fmt::format(" {0}_models={1} {0}_exact={2:.1f} {0}_signatures={3:.2f}", Name(s), t.models,
                          Percent(t.exact, t.lists), Percent(t.signatures, t.signed_kernels));
    }
    return line;
  }

  const std::string& csv() const { return csv_; }

 private:
  static void Line(const FusionModel& m, std::string_view level, const std::string& text) {
    fmt::print("{:<8} {:<{}} {:<9} {}\n", Name(m.set), m.model.name.substr(0, kShownName), kShownName, level, text);
    std::cout.flush();
  }

  // The optimised model, made now unless it was kept.
  Result<fs::path> OptimizedBy(const FusionModel& m, const Level& level) {
    std::string file = fmt::format("{}.{}.{}.onnx", Name(m.set), m.model.name, level.name);
    std::replace(file.begin(), file.end(), '/', '_');
    const fs::path to = optimized_ / file;
    if (fs::exists(to)) return to;
    MeasureItem item;
    item.path = m.model.path;
    item.binding = m.model.binding;
    item.level = level.level;
    SIMPRED_RETURN_IF_ERROR(collector_.SaveOptimized(item, to));
    return to;
  }

  bool RunLevel(const FusionModel& m, const Level& level) {
    const Result<fs::path> saved = OptimizedBy(m, level);
    if (!saved.ok()) {
      Line(m, level.name, fmt::format("left out: {}", saved.status().message()));
      return false;
    }
    const Result<KernelList> theirs = SavedKernels(*saved, m.model.binding);
    if (arguments_.keep.empty()) fs::remove(*saved);
    if (!theirs.ok()) {
      Line(m, level.name, fmt::format("left out, the saved model: {}", theirs.status().message()));
      return false;
    }
    FusionOptions options;
    options.level = level.level;
    options.nchwc_block = nchwc_block_;
    const Result<KernelList> ours = PredictedKernels(m.model.path, m.model.binding, options);
    Report(m, level, Compare(ours.ok() ? *ours : KernelList(), *theirs), ours.status());
    return true;
  }

  void Report(const FusionModel& m, const Level& level, Comparison c, const Status& failure) {
    if (!failure.ok()) c.differences = std::string(failure.message());
    all_.Add(c);
    sets_[static_cast<size_t>(m.set)].Add(c);
    Line(m, level.name,
         fmt::format("{:>5} {:>5} {:>5} {:>5}  {}", c.ours, c.theirs, c.matched, c.same_signature, c.differences));
    if (arguments_.verbose) fmt::print("{}", c.signature_differences);
    std::replace(c.differences.begin(), c.differences.end(), '"', '\'');
    csv_ += fmt::format("{},{},{},{},{},{},{},\"{}\"\n", Name(m.set), m.model.name, level.name, c.ours, c.theirs,
                        c.matched, c.same_signature, c.differences);
  }

  const Arguments& arguments_;
  Sources sources_;
  fs::path optimized_;
  int nchwc_block_;
  Collector collector_;
  Totals all_;
  std::array<Totals, 3> sets_;
  std::string csv_ = "set,model,level,ours,onnxruntime,matched,same_signature,differences\n";
};

Status Run(const Arguments& a) {
  SIMPRED_ASSIGN_OR_RETURN(const fs::path library, FindOnnxRuntime());
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile cpu, IdentifyCpu());
  SIMPRED_ASSIGN_OR_RETURN(const std::unique_ptr<WorkFolder> scratch, WorkFolder::Create());
  const Sources sources{.list = a.list, .data = a.data, .packages = a.packages, .work = a.zoo};
  std::vector<std::string> absent;
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<FusionModel> models, FindModels(sources, absent));
  for (const std::string& name : absent) fmt::print(stderr, "not there: {}\n", name);
  const fs::path optimized = a.keep.empty() ? scratch->path() : fs::path(a.keep);
  std::error_code ignored;
  fs::create_directories(optimized, ignored);  // the runtime says what is wrong with it
  fmt::print("{:<8} {:<{}} {:<9} {:>5} {:>5} {:>5} {:>5}  {}\n", "set", "model", kShownName, "level", "ours", "ORT",
             "match", "sign", "difference (ours/ORT)");
  Bench bench(a, sources, optimized, BlockedChannels(cpu));
  for (const FusionModel& m : models) bench.Run(m);
  if (!a.csv.empty()) SIMPRED_RETURN_IF_ERROR(WriteAtomically(a.csv, bench.csv()));
  fmt::print("{}\n", bench.ResultLine());
  return OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("Kernel lists, ours against ONNX Runtime's");
  Arguments a;
  app.add_option("--list", a.list, "models.csv: shapes of corpus and package models")->required();
  app.add_option("--data", a.data, "folder with models/corpus")->required();
  app.add_option("--packages", a.packages, "folder with models from packages")->required();
  app.add_option("--zoo", a.zoo, "folder for the zoo's files; kept")->required();
  app.add_option("--keep", a.keep,
                 "folder for the runtime's optimised models; those that are there are not made again");
  app.add_option("--csv", a.csv, "also write the table here");
  app.add_option("--only", a.only, "only models whose name holds this");
  app.add_flag("--quick", a.quick, "level 'all' only");
  app.add_flag("--verbose", a.verbose, "also the signatures that differ");
  CLI11_PARSE(app, argc, argv);
  const Status s = Run(a);
  if (!s.ok()) fmt::print(stderr, "error: {}\n", s.ToString());
  return static_cast<int>(s.code());
}

}  // namespace
}  // namespace simpred::bench

int main(int argc, char** argv) { return simpred::bench::Main(argc, argv); }
