// Writes classic architectures with random weights as ONNX files.
//
//   zoo --list
//   zoo --out DIR [--batch N] [--resolution R] NAME...    (--all: every one)
//
// A file is named after what it holds: resnet50.onnx at the defaults, resnet50_b4_r160.onnx otherwise.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "zoo/architectures.h"

namespace {

using simpred::zoo::Architecture;

constexpr int kUsage = 2;

struct Options {
  bool list = false;
  bool all = false;
  std::string out;
  int64_t batch = 1;
  int64_t resolution = 0;  // 0: each architecture's own
  std::vector<std::string> names;
};

void List(const std::vector<Architecture>& all) {
  fmt::print("{:<22} {:<20} {:>10}  {}\n", "name", "family", "resolution", "what it is");
  for (const Architecture& a : all) {
    fmt::print("{:<22} {:<20} {:>10}  {}\n", a.name, a.family, a.resolution, a.summary);
  }
}

std::string FileName(const Architecture& a, const Options& o) {
  std::string name(a.name);
  if (o.batch != 1) name += fmt::format("_b{}", o.batch);
  if (o.resolution != 0 && o.resolution != a.resolution) name += fmt::format("_r{}", o.resolution);
  return name + ".onnx";
}

int Write(const Architecture& a, const Options& o) {
  const simpred::zoo::Size size{o.batch, o.resolution != 0 ? o.resolution : a.resolution};
  const std::filesystem::path path = std::filesystem::path(o.out) / FileName(a, o);
  if (const simpred::Status s = a.build(size).Save(path); !s.ok()) {
    fmt::print(stderr, "error: {}\n", s.ToString());
    return static_cast<int>(s.code());
  }
  fmt::print("{}\n", path.string());
  return 0;
}

int Run(const Options& o) {
  const std::vector<Architecture> all = simpred::zoo::AllArchitectures();
  if (o.list) {
    List(all);
    return 0;
  }
  std::vector<Architecture> chosen = o.all ? all : std::vector<Architecture>();
  for (const std::string& name : o.names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Architecture& a) { return a.name == name; });
    if (found == all.end()) {
      fmt::print(stderr, "error: no architecture '{}'\n  hint: --list shows those that there are\n", name);
      return kUsage;
    }
    chosen.push_back(*found);
  }
  if (chosen.empty() || o.out.empty()) {
    fmt::print(stderr, "error: nothing to write\n  hint: zoo --out DIR NAME..., or --all, or --list\n");
    return kUsage;
  }
  std::error_code ignored;  // Save says what is wrong with the folder
  std::filesystem::create_directories(o.out, ignored);
  for (const Architecture& a : chosen) {
    if (const int rc = Write(a, o); rc != 0) return rc;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes classic architectures with random weights as ONNX files");
  Options o;
  app.add_flag("--list", o.list, "Show the architectures");
  app.add_flag("--all", o.all, "Write every architecture");
  app.add_option("--out", o.out, "Folder to write to");
  app.add_option("--batch", o.batch, "Batch size")->check(CLI::PositiveNumber);
  app.add_option("--resolution", o.resolution, "Pixels, tokens, frames or samples; the default is each one's own")
      ->check(CLI::PositiveNumber);
  app.add_option("names", o.names, "Architectures");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : kUsage;
  }
  return Run(o);
}
