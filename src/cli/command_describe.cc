// describe: what is in a model, before any device is chosen. Works with shapes that are not known yet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/description.h"
#include "cli/model_options.h"
#include "cli/pipeline.h"
#include "device/profile.h"
#include "predict/prepare.h"
#include "report/escape.h"
#include "report/table.h"

namespace simpred {
namespace {

using Align = Table::Align;

struct DescribeCommand {
  ModelOptions model;
  bool json = false, all = false, kernels = false;
};

constexpr char kFooter[] = R"(Examples:
  sim_predict describe resnet50.onnx
  sim_predict describe bert.onnx --bind batch=1 --shape input_ids=1x128 --json
  sim_predict describe resnet50.onnx --kernels --json     the kernels that the runtime makes of it
)";
constexpr size_t kDefaultRows = 40;

std::string Kinds(const std::vector<std::pair<std::string, int64_t>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  return text;
}

std::string Summary(const Description& d) {
  std::string text =
      fmt::format("{}: {}, opset {}, {}\n\n", TerminalSafe(d.name), d.format, d.opset, Bytes(d.file_bytes));
  text += fmt::format("  parameters       {}  ({})\n", d.parameters, d.weights);
  for (const auto& [type, bytes] : d.weights_by_type) text += fmt::format("    {:<14} {}\n", type, bytes);
  text += d.is_static ? fmt::format("  work             {}\n  moved            {}\n", d.flops, d.moved)
                      : std::string("  work             not known until the free symbols are bound\n");
  if (d.peak_activations) text += fmt::format("  peak activations {}\n", *d.peak_activations);
  text += TerminalSafe(fmt::format("  operators        {}: {}", d.operators.size(), Kinds(d.by_class))) + "\n";
  for (const auto& [what, list] : {std::pair("input", &d.inputs), std::pair("output", &d.outputs)})
    for (const std::string& line : *list) text += fmt::format("  {:<16} {}\n", what, TerminalSafe(line));
  text +=
      fmt::format("  coverage         {} of {} operators have a rule; {} of {} outputs have a shape, {} a static one\n",
                  static_cast<int64_t>(d.operators.size()) - d.without_rule, d.operators.size(), d.ranked_outputs,
                  d.all_outputs, d.static_outputs);
  if (!d.free_symbols.empty()) {
    text += fmt::format("  free symbols     {}\n", TerminalSafe(fmt::format("{}", fmt::join(d.free_symbols, ", "))));
    text += "                   bind them: ";
    for (const std::string& s : d.free_symbols) text += TerminalSafe(fmt::format("--bind {}=1 ", s));
    text += "\n";
  }
  for (const std::string& stop : d.stops) text += fmt::format("  shape is lost    {}\n", TerminalSafe(stop));
  return text + "\n";
}

std::string AsText(const Description& d, bool all) {
  std::string text = Summary(d);
  Table t({{"#", Align::kRight},
           {"operator", Align::kLeft, 36},
           {"type", Align::kLeft, 32},
           {"inputs", Align::kLeft, 64},
           {"outputs", Align::kLeft, 32},
           {"work", Align::kRight},
           {"bytes", Align::kRight},
           {"after", Align::kLeft, 18}});
  const size_t rows = all ? d.operators.size() : std::min(kDefaultRows, d.operators.size());
  for (size_t i = 0; i < rows; ++i) {
    const DescribedOperator& o = d.operators[i];
    t.Row({fmt::to_string(i), o.name, o.type + (o.has_rule ? "" : " (no rule)"),
           fmt::format("{}", fmt::join(o.inputs, " ")), fmt::format("{}", fmt::join(o.outputs, " ")),
           o.work ? ToString(o.work->flops) : "?", o.work ? ToString(o.work->total()) : "?",
           fmt::format("{}", fmt::join(o.inputs_from, " "))});
  }
  text += t.ToString();
  if (rows < d.operators.size()) text += fmt::format("  and {} more; --all shows all\n", d.operators.size() - rows);
  if (!d.warnings.empty()) text += fmt::format("\nWarnings ({})\n", d.warnings.size());
  for (const std::string& w : d.warnings) text += "  - " + TerminalSafe(w) + "\n";
  return text;
}

// The workload of this machine's runtime; its processor is identified, not measured.
Status RunKernels(const Config& config, const DescribeCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile device,
                           config.device == "cpu" ? IdentifyCpu() : LoadDevice(config.device, config.folder));
  PrepareOptions p;
  p.path = config.model_path;
  p.binding = BindingOf(config);
  p.fusion_mode = config.fusion_mode;
  p.device = &device;
  p.threads = config.runtime.threads;
  SIMPRED_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(p));
  if (o.json || console.options().format == "json") return console.Print(ToJson(prepared.workload));
  Table t({{"#", Align::kRight},
           {"kernel", Align::kLeft, 40},
           {"type", Align::kLeft, 36},
           {"work", Align::kRight},
           {"bytes", Align::kRight},
           {"nodes", Align::kRight}});
  size_t i = 0;
  for (const Kernel& k : prepared.workload.kernels)
    t.Row({fmt::to_string(i++), k.name, k.type, ToString(k.work.flops), ToString(k.work.total()),
           fmt::to_string(std::max<size_t>(1, k.fused_from.size()))});
  std::string text = fmt::format("{} kernels of {}, fusion {}\n", prepared.workload.kernels.size(),
                                 prepared.workload.runtime, prepared.workload.fusion_mode);
  for (const FusionReport::Applied& a : prepared.fusion.applied) text += fmt::format("  {} x {}\n", a.rewrites, a.rule);
  return console.Print(text + "\n" + t.ToString());
}

Status RunDescribe(const DescribeCommand& o, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const Config config, ConfigOf(o.model));
  if (o.kernels) return RunKernels(config, o, console);
  SIMPRED_ASSIGN_OR_RETURN(const Description d, Describe(config.model_path, BindingOf(config)));
  if (o.json || console.options().format == "json") return console.Print(DescriptionJson(d));
  return console.Print(AsText(d, o.all));
}

}  // namespace

void AddDescribeCommand(CLI::App& root, CommandContext& context) {
  auto o = std::make_shared<DescribeCommand>();
  CLI::App* c = root.add_subcommand("describe", "what is in a model");
  AddModelOptions(*c, o->model);
  c->add_flag("--json", o->json, "the same as --format json");
  c->add_flag("--all", o->all, "all operators, not only the first");
  c->add_flag("--kernels", o->kernels, "the kernels that the runtime makes of it, not the operators of the file");
  AddCommonOptions(*c, context.common, {"text", "json"});
  c->footer(kFooter);
  c->callback([&context, o] { context.action = [o](Console& console) { return RunDescribe(*o, console); }; });
}

}  // namespace simpred
