// devices: which devices are known, with which numbers, from which document; and this machine.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/numbers.h"
#include "cli/command.h"
#include "device/profile.h"
#include "report/escape.h"
#include "report/table.h"

namespace simpred {
namespace {

using Align = Table::Align;

constexpr char kFooter[] = R"(Examples:
  sim_predict devices
  sim_predict devices Ascend310P
  sim_predict devices detect -o my-machine.yaml
)";

std::string Peak(const DeviceProfile& d, DataType t) {
  double peak = 0;
  for (const auto* table : {&d.peak, &d.peak_matrix})
    if (const auto found = table->find(t); found != table->end()) peak = std::max(peak, found->second.count());
  return peak > 0 ? ToString(FlopsPerSecond(peak)) : "";
}

// The processor's numbers are measured when it is first used; a list must not wait for that.
Result<DeviceProfile> Profile(const std::string& name) { return name == "cpu" ? IdentifyCpu() : LoadDevice(name); }

std::string SourceOf(const DeviceProfile& d, const std::string& name) {
  if (name == "cpu") return "measured on this machine";
  return d.sources.empty() ? "" : d.sources.begin()->second;
}

Status RunList(Console& console) {
  Table t({{"device"},
           {"kind"},
           {"cores", Align::kRight},
           {"FP32", Align::kRight},
           {"FP16", Align::kRight},
           {"INT8", Align::kRight},
           {"memory", Align::kRight},
           {"bandwidth", Align::kRight},
           {"runtime"},
           {"source", Align::kLeft, 60}});
  std::string json = "[";
  for (const std::string& name : KnownDevices()) {
    const auto d = Profile(name);
    if (!d.ok()) {
      console.Note(fmt::format("device {}: {}", name, d.status().message()));
      continue;
    }
    const BytesPerSecond bandwidth = d->memory.empty() ? BytesPerSecond() : d->memory.back().bandwidth;
    t.Row({name, d->kind, fmt::to_string(d->cores), Peak(*d, DataType::kFloat32), Peak(*d, DataType::kFloat16),
           Peak(*d, DataType::kInt8), d->memory_capacity > Bytes() ? ToString(d->memory_capacity) : "",
           bandwidth.count() > 0 ? ToString(bandwidth) : "", d->runtime, SourceOf(*d, name)});
    json += fmt::format(
        "{}\n  {{\"name\": {}, \"kind\": {}, \"description\": {}, \"cores\": {}, \"memory_bytes\": {}, "
        "\"bandwidth_bytes_per_second\": {}, "
        "\"runtime\": {}, \"source\": {}}}",
        json.size() > 1 ? "," : "", JsonString(name), JsonString(d->kind), JsonString(d->description), d->cores,
        d->memory_capacity.count(), FormatDouble(bandwidth.count()), JsonString(d->runtime),
        JsonString(SourceOf(*d, name)));
  }
  if (console.options().format == "json") return console.Print(json + "\n]\n");
  return console.Print(t.ToString(0) +
                       "\n`sim_predict devices NAME` shows all numbers of one and where they come from.\n");
}

Status RunShow(const std::string& name, Console& console) {
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile d, LoadDevice(name));
  return console.Print(ToYaml(d));
}

Status RunDetect(bool again, Console& console) {
  console.Note("measuring this machine's processor, about two seconds");
  SIMPRED_ASSIGN_OR_RETURN(const DeviceProfile d, DetectCpu(again));
  return console.Print(ToYaml(d));
}

}  // namespace

void AddDevicesCommand(CLI::App& root, CommandContext& context) {
  struct Options {
    std::string name;
    bool again = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* c = root.add_subcommand("devices", "known devices, their numbers and where these come from");
  c->add_option("NAME", o->name, "show one; `detect` writes a profile of this machine");
  c->add_flag("--again", o->again, "detect: measure although a measurement is kept");
  AddCommonOptions(*c, context.common, {"text", "json"});
  c->footer(kFooter);
  c->callback([&context, o] {
    context.action = [o](Console& console) {
      if (o->name == "detect") return RunDetect(o->again, console);
      return o->name.empty() ? RunList(console) : RunShow(o->name, console);
    };
  });
}

}  // namespace simpred
