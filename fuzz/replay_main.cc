// Runs a fuzz target without libFuzzer: over every file of the folders given, and over seeded mutations of each.
//
//   onnx_fuzz [--mutations N] [--seed S] [--max-bytes B] PATH...
//
// Ends with the number of runs; a crash, a sanitizer's report or a timeout of CI is the failure.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/numbers.h"
#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

namespace fs = std::filesystem;
using simpred::Random;

struct Options {
  int64_t mutations = 0;
  int64_t seed = 1;
  int64_t max_bytes = 1 << 20;  // larger files are run once, not mutated
  std::vector<fs::path> paths;
};

Options Parse(const std::vector<std::string_view>& args) {
  Options o;
  for (size_t i = 0; i < args.size(); ++i) {
    int64_t* number = args[i] == "--mutations"   ? &o.mutations
                      : args[i] == "--seed"      ? &o.seed
                      : args[i] == "--max-bytes" ? &o.max_bytes
                                                 : nullptr;
    if (number == nullptr) {
      o.paths.emplace_back(args[i]);
    } else if (i + 1 < args.size()) {
      *number = simpred::ParseInt(args[++i]).value_or(*number);
    }
  }
  return o;
}

std::vector<fs::path> FilesOf(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& p : paths) {
    if (!fs::is_directory(p)) {
      files.push_back(p);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(p)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Mutated(std::string bytes, Random& random) {
  for (int64_t edits = random.Int(1, 8); edits > 0 && !bytes.empty(); --edits) {
    const auto at = static_cast<size_t>(random.Int(0, static_cast<int64_t>(bytes.size()) - 1));
    const auto n = static_cast<size_t>(random.Int(1, 16));
    switch (random.Int(0, 4)) {
      case 0:
        bytes.erase(at, n);
        break;
      case 1:
        bytes.insert(at, bytes.substr(static_cast<size_t>(random.Int(0, static_cast<int64_t>(at))), n));
        break;
      case 2:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << random.Int(0, 7)));
        break;
      default:
        bytes[at] = static_cast<char>(random.Int(0, 255));
        break;
    }
  }
  return bytes;
}

void RunOn(std::string_view bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  const Options o = Parse({argv + 1, argv + argc});
  Random random(static_cast<uint64_t>(o.seed));
  int64_t runs = 0;
  for (const fs::path& file : FilesOf(o.paths)) {
    const simpred::Result<std::string> bytes = simpred::ReadText(file);
    if (!bytes.ok()) continue;
    RunOn(*bytes);
    ++runs;
    if (static_cast<int64_t>(bytes->size()) > o.max_bytes) continue;
    for (int64_t i = 0; i < o.mutations; ++i, ++runs) RunOn(Mutated(*bytes, random));
  }
  fmt::print("{} runs\n", runs);
  return runs > 0 ? 0 : 2;
}
