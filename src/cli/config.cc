// One table per level of the config: a key, and what is done with its value.
#include "cli/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "base/file.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/units_parse.h"
#include "cli/config_shape.h"
#include "cli/yaml_reader.h"

namespace simpred {
namespace {

using Node = YAML::Node;

// A config is written by hand; what is larger is something else.
constexpr size_t kLargestFile = size_t{4} << 20;

struct Key {
  std::string_view name;
  Status (*read)(const YamlReader& r, const Node& value, Config& c);
};

Status ReadKeys(const YamlReader& r, const Node& node, std::string_view section, std::span<const Key> keys, Config& c);

Status NotAvailable(const YamlReader& r, const Node& node, std::string_view what, std::string hint) {
  return r.Error(node, fmt::format("not available in this version: {}", what), std::move(hint));
}

// A path in the file is relative to the file.
std::filesystem::path Resolve(const Config& c, const std::string& path) {
  const std::filesystem::path p(path);
  return p.is_absolute() || c.folder.empty() ? p : (c.folder / p).lexically_normal();
}

constexpr Key kCalibrateKeys[] = {
    {"enable",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.calibrate.enable, r.Flag(n, "enable"));
       return OkStatus();
     }},
    {"iters",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const int64_t v, r.Integer(n, "iters", 1, 1'000'000));
       c.calibrate.iters = static_cast<int>(v);
       return OkStatus();
     }},
    {"sample_ratio",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.calibrate.sample_ratio, r.Number(n, "sample_ratio", 0, 1));
       return OkStatus();
     }},
    {"threshold",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.calibrate.threshold, r.Number(n, "threshold", 0, 10));
       return OkStatus();
     }},
};

constexpr Key kRuntimeKeys[] = {
    {"name",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.runtime.name, r.Text(n, "name"));
       return OkStatus();
     }},
    {"version",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.runtime.version, r.Text(n, "version"));
       return OkStatus();
     }},
    {"threads",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const int64_t v, r.Integer(n, "threads", 1, 4096));
       c.runtime.threads = static_cast<int>(v);
       return OkStatus();
     }},
    {"execution",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.runtime.execution, r.OneOf(n, "execution", {"sequential", "parallel"}));
       if (c.runtime.execution != "parallel") return OkStatus();
       return NotAvailable(r, n, "runtime.execution: parallel", "use sequential, the runtime's default");
     }},
    {"queue_depth",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const int64_t v, r.Integer(n, "queue_depth", 0, 1'000'000));
       c.runtime.queue_depth = static_cast<int>(v);
       return OkStatus();
     }},
    {"policy",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.runtime.policy, r.Text(n, "policy"));
       if (c.runtime.policy == "fifo") return OkStatus();
       return NotAvailable(r, n, fmt::format("runtime.policy: {}", c.runtime.policy),
                           "use fifo: kernels start in the order in which they were launched");
     }},
};

constexpr Key kCorrectionKeys[] = {
    {"memory",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.memory_correction, r.Number(n, "memory", 0.01, 100));
       return OkStatus();
     }},
    {"compute",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.compute_correction, r.Number(n, "compute", 0.01, 100));
       return OkStatus();
     }},
};

constexpr Key kReportKeys[] = {
    {"format",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.report.format, r.OneOf(n, "format", {"text", "json", "csv", "html", "trace"}));
       return OkStatus();
     }},
    {"output",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const std::string path, r.Text(n, "output"));
       c.report.output = Resolve(c, path).string();
       return OkStatus();
     }},
    {"top",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const int64_t v, r.Integer(n, "top", 1, 1'000'000));
       c.report.top = static_cast<int>(v);
       return OkStatus();
     }},
};

Status ReadExcludeItem(const YamlReader& r, const Node& item, Config& c) {
  if (!item.IsMap()) {
    SIMPRED_ASSIGN_OR_RETURN(std::string name, r.Text(item, "exclude"));
    c.exclude.push_back({ExcludeRule::Kind::kNode, std::move(name), {}});
    return OkStatus();
  }
  return r.ForEach(item, "exclude", [&](const std::string& name, const Node& at, const Node& value) -> Status {
    if (name == "after") {
      SIMPRED_ASSIGN_OR_RETURN(std::string node, r.Text(value, "after"));
      c.exclude.push_back({ExcludeRule::Kind::kAfter, std::move(node), {}});
      return OkStatus();
    }
    if (name != "between")
      return r.Error(at, fmt::format("unknown key '{}' in 'exclude'", name), "known here: after, between");
    SIMPRED_ASSIGN_OR_RETURN(const std::vector<std::string> ends, r.Texts(value, "between"));
    if (ends.size() != 2) return r.Wrong(value, "between", "two node names", "write between: [first, last]");
    c.exclude.push_back({ExcludeRule::Kind::kBetween, ends[0], ends[1]});
    return OkStatus();
  });
}

// A list of names and of after/between maps, or one such map.
Status ReadExclude(const YamlReader& r, const Node& node, Config& c) {
  c.exclude.clear();
  if (node.IsMap()) return ReadExcludeItem(r, node, c);
  if (!node.IsSequence())
    return r.Wrong(node, "exclude", "a list of node names", "write exclude: [conv1, {after: fc}]");
  for (const Node& item : node) SIMPRED_RETURN_IF_ERROR(ReadExcludeItem(r, item, c));
  return OkStatus();
}

Status ReadOverrides(const YamlReader& r, const Node& node, Config& c) {
  return r.ForEach(node, "overrides", [&](const std::string& target, const Node&, const Node& value) {
    return r.ForEach(value, target, [&](const std::string& name, const Node& at, const Node& v) -> Status {
      if (name == "variant" || name == "tiling" || name == "layout")
        return NotAvailable(r, at, fmt::format("overrides: {}", name),
                            "give the kernel's latency instead: latency: 25 us");
      if (name != "latency")
        return r.Error(at, fmt::format("unknown key '{}' in 'overrides'", name),
                       "known here: latency, layout, tiling, variant");
      SIMPRED_ASSIGN_OR_RETURN(const std::string text, r.Text(v, "latency"));
      const auto latency = ParseDuration(text);
      if (!latency.ok() || *latency < Duration())
        return r.Wrong(v, "latency", "a time with its unit", "write latency: 25 us");
      c.latency_overrides[target] = *latency;
      return OkStatus();
    });
  });
}

constexpr Key kSimulationKeys[] = {
    {"device",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.device, r.Text(n, "device"));
       return OkStatus();
     }},
    {"model_path",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const std::string path, r.Text(n, "model_path"));
       c.model_path = Resolve(c, path);
       return OkStatus();
     }},
    {"input_shape", ReadInputShape},
    {"precision",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.precision, r.OneOf(n, "precision", {"model", "FP32", "FP16", "BF16", "INT8"}));
       return OkStatus();
     }},
    {"fusion_mode",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.fusion_mode, r.OneOf(n, "fusion_mode", {"off", "auto", "aggressive"}));
       return OkStatus();
     }},
    {"calibrate",
     [](const YamlReader& r, const Node& n, Config& c) { return ReadKeys(r, n, "calibrate", kCalibrateKeys, c); }},
    {"runtime",
     [](const YamlReader& r, const Node& n, Config& c) { return ReadKeys(r, n, "runtime", kRuntimeKeys, c); }},
    {"family",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.family, r.Text(n, "family"));
       return OkStatus();
     }},
    {"database",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const std::string path, r.Text(n, "database"));
       c.database = Resolve(c, path);
       return OkStatus();
     }},
    {"shape_mode",
     [](const YamlReader& r, const Node& n, Config&) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(const std::string mode, r.OneOf(n, "shape_mode", {"exact", "loose"}));
       if (mode == "exact") return OkStatus();
       return NotAvailable(r, n, "shape_mode: loose", "use exact: each shape is a kernel of its own");
     }},
    {"known_deviation",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.known_deviation, r.Texts(n, "known_deviation"));
       return OkStatus();
     }},
    {"exclude", ReadExclude},
    {"corrections",
     [](const YamlReader& r, const Node& n, Config& c) { return ReadKeys(r, n, "corrections", kCorrectionKeys, c); }},
    {"overrides", ReadOverrides},
    {"trip_counts",
     [](const YamlReader& r, const Node& n, Config&) -> Status {
       if (!n.IsMap()) return r.Wrong(n, "trip_counts", "a map of node names and numbers");
       return NotAvailable(r, n, "trip_counts", "remove the key: the body of a loop is then counted once");
     }},
    {"custom_operators",
     [](const YamlReader& r, const Node& n, Config&) -> Status {
       return NotAvailable(
           r, n, "custom_operators",
           "remove the key: an operator without a rule costs what its bytes cost, or give its time with "
           "overrides: {Type: {latency: 25 us}}");
     }},
    {"model_version",
     [](const YamlReader& r, const Node& n, Config& c) -> Status {
       SIMPRED_ASSIGN_OR_RETURN(c.model_version, r.Text(n, "model_version"));
       return OkStatus();
     }},
    {"report", [](const YamlReader& r, const Node& n, Config& c) { return ReadKeys(r, n, "report", kReportKeys, c); }},
};

struct Section {
  std::string_view name;
  std::span<const Key> keys;
};
constexpr Section kSections[] = {{"calibrate", kCalibrateKeys},
                                 {"runtime", kRuntimeKeys},
                                 {"corrections", kCorrectionKeys},
                                 {"report", kReportKeys}};

std::vector<std::string> Names(std::span<const Key> keys) {
  std::vector<std::string> names;
  for (const Key& k : keys) names.emplace_back(k.name);
  return names;
}

Status UnknownKey(const YamlReader& r, const Node& at, const std::string& name, std::string_view section,
                  std::span<const Key> keys) {
  const std::vector<std::string> here = Names(keys);
  std::string hint;
  // A key at the wrong level is known under its whole name.
  for (const std::string& dotted : ConfigKeys())
    if (dotted == name || (dotted.size() > name.size() && dotted.ends_with("." + name)))
      hint = dotted == name
                 ? fmt::format("'{}' belongs directly under 'simulation'", name)
                 : fmt::format("did you mean '{}'? It belongs under '{}'", dotted, dotted.substr(0, dotted.find('.')));
  if (hint.empty()) {
    const std::string near = Nearest(name, here);
    hint = near.empty() ? fmt::format("known in '{}': {}", section, fmt::join(here, ", "))
                        : fmt::format("did you mean '{}'?", near);
  }
  return r.Error(at, fmt::format("unknown key '{}' in '{}'", name, section), std::move(hint));
}

Status ReadKeys(const YamlReader& r, const Node& node, std::string_view section, std::span<const Key> keys, Config& c) {
  return r.ForEach(node, section, [&](const std::string& name, const Node& at, const Node& value) -> Status {
    for (const Key& k : keys)
      if (k.name == name) return k.read(r, value, c);
    return UnknownKey(r, at, name, section, keys);
  });
}

Status ApplyFile(std::string_view text, const std::string& shown_as, Config& c) {
  const YamlSource source{shown_as};
  SIMPRED_ASSIGN_OR_RETURN(const Node root, ParseYaml(text, source));
  const YamlReader r(source);
  const std::string example = "the file starts with 'simulation:', the keys stand below it, indented by two blanks";
  if (!root.IsMap() || !root["simulation"])
    return UsageError(fmt::format("{}: there is no key 'simulation'", shown_as), example);
  return r.ForEach(root, shown_as, [&](const std::string& name, const Node& at, const Node& value) -> Status {
    if (name != "simulation") return r.Error(at, fmt::format("unknown key '{}' beside 'simulation'", name), example);
    return ReadKeys(r, value, "simulation", kSimulationKeys, c);
  });
}

// "calibrate.iters=64" is the file "calibrate: {iters: 64}", applied on top.
Status ApplyOverride(const std::string& text, Config& c) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return UsageError(fmt::format("--set '{}' is not of the form key=value", text), "write --set calibrate.iters=64");
  const std::string key = text.substr(0, equals);
  const YamlSource source{"--set " + key, false};
  SIMPRED_ASSIGN_OR_RETURN(Node node, ParseYaml(text.substr(equals + 1), source));
  std::string_view rest = key;
  while (true) {
    const size_t dot = rest.rfind('.');
    Node outer(YAML::NodeType::Map);
    outer[std::string(dot == std::string_view::npos ? rest : rest.substr(dot + 1))] = node;
    node = outer;
    if (dot == std::string_view::npos) break;
    rest = rest.substr(0, dot);
  }
  if (node["simulation"] && node.size() == 1) node = node["simulation"];
  // A path on the command line is relative to where the command runs.
  const std::filesystem::path folder = std::exchange(c.folder, {});
  const Status status = ReadKeys(YamlReader(source), node, "simulation", kSimulationKeys, c);
  c.folder = folder;
  c.text += fmt::format("# --set {}\n", text);
  return status;
}

Status ApplyOverrides(const std::vector<std::string>& overrides, Config& c) {
  for (const std::string& o : overrides) SIMPRED_RETURN_IF_ERROR(ApplyOverride(o, c));
  return OkStatus();
}

}  // namespace

Result<Config> ParseConfig(std::string_view text, const std::string& shown_as, const std::filesystem::path& folder,
                           const std::vector<std::string>& overrides) {
  Config c;
  c.folder = folder;
  c.text = text;
  if (!c.text.empty() && c.text.back() != '\n') c.text += '\n';
  SIMPRED_RETURN_IF_ERROR(ApplyFile(text, shown_as, c));
  SIMPRED_RETURN_IF_ERROR(ApplyOverrides(overrides, c));
  return c;
}

Result<Config> ReadConfig(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  const auto text = ReadText(file, kLargestFile);
  if (!text.ok())
    return UsageError(fmt::format("config '{}': {}", file.string(), text.status().message()),
                      "examples/ has configs to start from");
  return ParseConfig(*text, file.string(), file.parent_path(), overrides);
}

Result<Config> ConfigFromOverrides(const std::vector<std::string>& overrides) {
  Config c;
  SIMPRED_RETURN_IF_ERROR(ApplyOverrides(overrides, c));
  return c;
}

std::vector<std::string> ConfigKeys() {
  std::vector<std::string> all;
  for (const Key& k : kSimulationKeys) {
    const Section* section = nullptr;
    for (const Section& s : kSections)
      if (s.name == k.name) section = &s;
    if (section == nullptr)
      all.emplace_back(k.name);
    else
      for (const Key& inner : section->keys) all.push_back(fmt::format("{}.{}", k.name, inner.name));
  }
  return all;
}

}  // namespace simpred
