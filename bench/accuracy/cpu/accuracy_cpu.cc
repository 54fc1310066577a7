// How far is a prediction for this machine's CPU from the truth? See README.md beside this file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/units_parse.h"
#include "bench_models.h"
#include "collect.h"
#include "judge.h"
#include "score.h"

namespace simpred::bench {
namespace {

struct Arguments {
  std::string data, list, packages, work, database, csv, budget = "6min";
  bool corpus = false, judge_only = false, measure_only = false, quick = false, kernels = false;
  int rounds = 4;
};

struct Summary {
  std::vector<double> end_to_end;  // absolute deviations
  std::vector<double> kernels20;   // of kernels of 20 µs and more
  size_t inside = 0;
  std::vector<double> widths;
};

Summary Summarize(const std::vector<JudgedModel>& models) {
  Summary s;
  for (const JudgedModel& m : models) {
    s.end_to_end.push_back(std::abs(m.deviation()));
    s.inside += m.inside() ? 1 : 0;
    s.widths.push_back((m.high_us - m.low_us) / m.predicted_us);
    for (const JudgedKernel& k : m.kernels) {
      if (k.measured_us >= 20) s.kernels20.push_back(std::abs(k.predicted_us / k.measured_us - 1));
    }
  }
  return s;
}

void PrintTable(const std::string& title, const std::vector<JudgedModel>& models) {
  fmt::print("\n{}\n{:<28} {:<14} {:>12} {:>12} {:>9} {:>7} {:>8} {:>8} {:>7}\n", title, "model", "family",
             "measured us", "predicted us", "deviation", "inside", "time<10%", "time<15%", "noise");
  for (const JudgedModel& m : models) {
    fmt::print("{:<28} {:<14} {:>12.1f} {:>12.1f} {:>8.1f}% {:>7} {:>7.0f}% {:>7.0f}% {:>6.1f}%\n", m.name, m.family,
               m.measured_us, m.predicted_us, 100 * m.deviation(), m.inside() ? "yes" : "NO", 100 * m.time_within(0.10),
               100 * m.time_within(0.15), 100 * m.noise);
  }
  const Summary s = Summarize(models);
  fmt::print(
      "{} models: mean {:.2f} %, median {:.2f} %, within 10 %: {:.1f} %; kernels of 20 us and more: mean {:.1f} %, "
      "within 15 %: {:.1f} % of {}\n",
      models.size(), 100 * Mean(s.end_to_end), 100 * MedianOf(s.end_to_end), 100 * ShareWithin(s.end_to_end, 0.10),
      100 * Mean(s.kernels20), 100 * ShareWithin(s.kernels20, 0.15), s.kernels20.size());
}

void PrintKernelTypes(const std::vector<JudgedModel>& models) {
  std::map<std::string, std::pair<std::vector<double>, double>> by_type;
  for (const JudgedModel& m : models) {
    for (const JudgedKernel& k : m.kernels) {
      auto& [errors, time] = by_type[k.type];
      errors.push_back(std::abs(k.predicted_us / k.measured_us - 1));
      time += k.measured_us;
    }
  }
  fmt::print("\n{:<40} {:>8} {:>12} {:>9} {:>8}\n", "kernel type", "kernels", "time us", "mean", "<15%");
  for (const auto& [type, v] : by_type)
    fmt::print("{:<40} {:>8} {:>12.0f} {:>8.1f}% {:>7.0f}%\n", type, v.first.size(), v.second, 100 * Mean(v.first),
               100 * ShareWithin(v.first, 0.15));
}

std::string CsvOf(const std::string& calibration, const std::vector<JudgedModel>& models) {
  std::string out;
  for (const JudgedModel& m : models) {
    out += fmt::format("{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{},{:.4f},{:.4f},{:.4f}\n", calibration, m.name, m.family,
                       m.measured_us, m.predicted_us, m.low_us, m.high_us, m.inside() ? 1 : 0, m.time_within(0.10),
                       m.time_within(0.15), m.noise);
  }
  return out;
}

Status Run(const Arguments& a) {
  const Sources sources{.list = a.list, .data = a.data, .packages = a.packages, .work = a.work};
  std::vector<std::string> absent;
  SIMPRED_ASSIGN_OR_RETURN(std::vector<BenchModel> models,
                           a.corpus ? LoadCorpus(sources, absent) : LoadList(sources, absent));
  for (const std::string& name : absent) fmt::print(stderr, "not there, left out: {}\n", name);
  if (a.quick && models.size() > 12) models.resize(12);
  std::vector<BenchModel> variants = VariantsOf(models);

  CollectOptions collect;
  SIMPRED_ASSIGN_OR_RETURN(collect.calibrate.device, DetectCpu());
  SIMPRED_ASSIGN_OR_RETURN(collect.calibrate.budget, ParseDuration(a.budget));
  collect.rounds = a.rounds;
  collect.calibrate.max_seconds = 1.0;
  SIMPRED_ASSIGN_OR_RETURN(Database db, Database::Open(a.database, Database::Mode::kReadWrite));
  collect.calibrate.progress = [last = std::string()](double fraction, const std::string& what) mutable {
    if (what != last) fmt::print(stderr, "[{:3.0f} %] {}\n", 100 * fraction, what);
    last = what;
  };
  if (!a.judge_only) SIMPRED_RETURN_IF_ERROR(Collect(db, models, variants, sources, collect));
  CollectOptions two_threads = collect;
  two_threads.calibrate.threads = 2;
  two_threads.calibrate.budget = collect.calibrate.budget / 2;
  two_threads.rounds = 2;
  two_threads.ranking = false;
  if (!a.judge_only && !a.quick) SIMPRED_RETURN_IF_ERROR(Collect(db, models, variants, sources, two_threads));
  if (a.measure_only) return OkStatus();
  for (BenchModel& m : models) SIMPRED_RETURN_IF_ERROR(Materialize(m, sources));
  for (BenchModel& m : variants) SIMPRED_RETURN_IF_ERROR(Materialize(m, sources));

  SIMPRED_ASSIGN_OR_RETURN(Judge judge, Judge::Load(db, models, collect.calibrate));
  std::map<std::string, std::vector<JudgedModel>> results;
  std::string csv =
      "calibration,model,family,measured_us,predicted_us,low_us,high_us,inside,time_within10,time_within15,noise\n";
  for (const auto& [name, calibration] :
       {std::pair{"synth", Calibration::kSynth}, std::pair{"lofo", Calibration::kLofo},
        std::pair{"lomo", Calibration::kLomo}}) {
    SIMPRED_ASSIGN_OR_RETURN(results[name], judge.Run(calibration));
    PrintTable(fmt::format("calibration: {}", name), results[name]);
    csv += CsvOf(name, results[name]);
  }
  if (a.kernels) PrintKernelTypes(results["lofo"]);
  SIMPRED_ASSIGN_OR_RETURN(const auto ranked, judge.Ranking(variants));
  SIMPRED_ASSIGN_OR_RETURN(Judge judge_of_two, Judge::Load(db, models, two_threads.calibrate));
  SIMPRED_ASSIGN_OR_RETURN(const std::vector<JudgedModel> with_two, judge_of_two.Run(Calibration::kSynth));
  if (!with_two.empty()) PrintTable("calibration: synth, two threads", with_two);
  csv += CsvOf("synth-threads2", with_two);
  const Ranking ranking = RankPairs(ranked, 0.10);
  if (!a.csv.empty()) SIMPRED_RETURN_IF_ERROR(WriteAtomically(a.csv, csv));

  std::map<std::string, int> families;
  std::vector<double> noise;
  for (const JudgedModel& m : results["synth"]) ++families[m.family], noise.push_back(m.noise);
  fmt::print("\n{} generated kernels that equal a judged one were removed from the fit; {} pairs ranked\n",
             judge.equal_kernels_removed(), ranking.pairs);
  std::string line = fmt::format("RESULT accuracy/cpu models={} families={}", results["synth"].size(), families.size());
  for (const char* name : {"synth", "lomo", "lofo"}) {
    const Summary s = Summarize(results[name]);
    line += fmt::format(" {0}_mean={1:.2f} {0}_median={2:.2f} {0}_within10={3:.1f}", name, 100 * Mean(s.end_to_end),
                        100 * MedianOf(s.end_to_end), 100 * ShareWithin(s.end_to_end, 0.10));
  }
  const Summary lofo = Summarize(results["lofo"]);
  line += fmt::format(" kernel20_mean={:.2f} kernel20_within15={:.1f}", 100 * Mean(lofo.kernels20),
                      100 * ShareWithin(lofo.kernels20, 0.15));
  const auto n = static_cast<double>(results["lofo"].size());
  line += fmt::format(
      " interval90={:.1f} interval90_n={} interval_width={:.1f} noise_median={:.2f} rank_right={:.2f} "
      "threads2_mean={:.2f} threads2_models={}",
      n > 0 ? 100 * static_cast<double>(lofo.inside) / n : 0, results["lofo"].size(), 100 * MedianOf(lofo.widths),
      100 * MedianOf(noise), 100 * ranking.right, 100 * Mean(Summarize(with_two).end_to_end), with_two.size());
  fmt::print("{}\n", line);
  return OkStatus();
}

}  // namespace
}  // namespace simpred::bench

int main(int argc, char** argv) {
  simpred::bench::Arguments a;
  CLI::App app{"Accuracy of predictions for this machine's CPU"};
  app.add_option("--list", a.list, "models.csv")->required();
  app.add_option("--data", a.data, "folder with models/corpus")->required();
  app.add_option("--packages", a.packages, "folder with models from packages")->required();
  app.add_option("--work", a.work, "where generated architectures are kept")->required();
  app.add_option("--database", a.database, "measured rounds are kept here")->required();
  app.add_option("--csv", a.csv, "also write the table here");
  app.add_option("--budget", a.budget, "time for generated kernels and networks");
  app.add_option("--rounds", a.rounds, "processes per model");
  app.add_flag("--corpus", a.corpus, "judge every whole network of the corpus index instead of the list");
  app.add_flag("--judge-only", a.judge_only, "measure nothing");
  app.add_flag("--measure-only", a.measure_only, "judge nothing");
  app.add_flag("--quick", a.quick, "the first twelve models only");
  app.add_flag("--kernels", a.kernels, "also a table by kernel type");
  CLI11_PARSE(app, argc, argv);
  const simpred::Status s = simpred::bench::Run(a);
  if (!s.ok()) fmt::print(stderr, "error: {}\n", s.ToString());
  return static_cast<int>(s.code());
}
