// How long does `sim_predict --predict` take as a whole process, and what does it touch?
//   predict_bench SIM_PREDICT MODEL DATABASE RUNS [CSV]
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "common/reference.h"

namespace {

struct OneRun {
  double wall_ms = 0, peak_mb = 0;
  long minor_faults = 0, major_faults = 0, blocks_read = 0;
  int status = -1;
};

OneRun RunOnce(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& a : command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  OneRun r;
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::vfork();
  if (child == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  r.wall_ms = simpred::bench::Seconds(start) * 1e3;
  r.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  r.minor_faults = usage.ru_minflt;
  r.major_faults = usage.ru_majflt;
  r.blocks_read = usage.ru_inblock;
  r.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return r;
}

// Touching every page of the file: what a reader that loads the weights does at least.
double TouchAll(const std::string& path) {
  const auto start = std::chrono::steady_clock::now();
  const int fd = ::open(path.c_str(), O_RDONLY);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) return 0;
  const auto size = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (data == MAP_FAILED) return 0;
  unsigned sum = 0;
  for (size_t i = 0; i < size; i += 4096) sum += static_cast<const unsigned char*>(data)[i];
  ::munmap(data, size);
  return simpred::bench::Seconds(start) * 1e3 + (sum == 1 ? 1e-9 : 0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: predict_bench SIM_PREDICT MODEL DATABASE RUNS [CSV]\n");
    return 2;
  }
  const std::string out = "/dev/null";
  const std::vector<std::string> command{argv[1],   "predict",  argv[2], "--database", argv[3],
                                         "--quiet", "--format", "json",  "--output",   out};
  std::vector<OneRun> runs;
  for (int i = 0; i < std::max(3, std::atoi(argv[4])); ++i) {
    runs.push_back(RunOnce(command));
    if (runs.back().status != 0) {
      fmt::print(stderr, "error: {} predict {} ended with {}\n", argv[1], argv[2], runs.back().status);
      return 1;
    }
  }
  std::sort(runs.begin(), runs.end(), [](const OneRun& a, const OneRun& b) { return a.wall_ms < b.wall_ms; });
  const OneRun& median = runs[runs.size() / 2];
  const double touch = TouchAll(argv[2]);
  fmt::print("{:>10} {:>10} {:>9} {:>12} {:>12} {:>12} {:>18}\n", "median ms", "best ms", "peak MB", "minor faults",
             "major faults", "blocks read", "touching all ms");
  fmt::print("{:>10.1f} {:>10.1f} {:>9.1f} {:>12} {:>12} {:>12} {:>18.1f}\n", median.wall_ms, runs[0].wall_ms,
             median.peak_mb, median.minor_faults, median.major_faults, median.blocks_read, touch);
  if (argc > 5) {
    std::ofstream csv(argv[5]);
    csv << "wall_ms,peak_mb,minor_faults,major_faults,blocks_read\n";
    for (const OneRun& r : runs)
      csv << fmt::format("{:.3f},{:.2f},{},{},{}\n", r.wall_ms, r.peak_mb, r.minor_faults, r.major_faults,
                         r.blocks_read);
  }
  fmt::print(
      "RESULT predict wall_ms={:.1f} peak_mb={:.1f} minor_faults={} blocks_read={} ref_copy={:.1f} ref_loop={:.2f}\n",
      median.wall_ms, median.peak_mb, median.minor_faults, median.blocks_read, simpred::bench::CopyBandwidth(),
      simpred::bench::LoopTime());
  return 0;
}
