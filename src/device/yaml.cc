// How is a device profile written down? docs/formats.md describes the keys; every quantity carries its unit.
//
//   name: T4
//   kind: gpu
//   cores: 40
//   peak: {float32: 8.1 TFLOP/s}
//   memory:
//     - {name: GDDR6, capacity: 16 GiB, bandwidth: 320 GB/s, shared: true, source: NVIDIA T4 datasheet}
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>

#include "base/nearest.h"
#include "base/numbers.h"
#include "base/units_parse.h"
#include "device/profile.h"

namespace simpred {
namespace {

// One place of the file, for messages: "T4.yaml:5".
class Place {
 public:
  Place(std::string file, const YAML::Node& node) : file_(std::move(file)), line_(node.Mark().line + 1) {}
  std::string Text() const { return line_ > 0 ? fmt::format("{}:{}", file_, line_) : file_; }

 private:
  std::string file_;
  int line_;
};

class Parser {
 public:
  explicit Parser(std::string file) : file_(std::move(file)) {}

  using Setter = std::function<Status(const YAML::Node& value)>;
  using Setters = std::vector<std::pair<std::string, Setter>>;

  // Hands each value of the map `node` to the setter of its key; a key without one is an error.
  Status ForEach(const YAML::Node& node, std::string_view what, const Setters& setters) const {
    if (!node.IsMap()) return Error(node, fmt::format("{} must be a map", what));
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return Error(entry.first, "a key must be a word");
      const std::string& key = entry.first.Scalar();
      const auto setter =
          std::find_if(setters.begin(), setters.end(), [&](const auto& candidate) { return candidate.first == key; });
      if (setter == setters.end()) return UnknownKey(entry.first, what, setters);
      if (Status status = setter->second(entry.second); !status.ok())
        return std::move(status).With("key '" + key + "'");
    }
    return OkStatus();
  }

  Status Error(const YAML::Node& node, std::string_view message, std::string hint = {}) const {
    return UsageError(fmt::format("{}: {}", Place(file_, node).Text(), message), std::move(hint));
  }

  Setter Text(std::string& into) const {
    return [this, &into](const YAML::Node& value) {
      if (value.IsNull()) return OkStatus();
      if (!value.IsScalar()) return Error(value, "a text is needed here");
      into = value.Scalar();
      return OkStatus();
    };
  }

  Setter Flag(bool& into) const {
    return [this, &into](const YAML::Node& value) {
      if (!value.IsScalar() || (value.Scalar() != "true" && value.Scalar() != "false")) {
        return Error(value, "'true' or 'false' is needed here");
      }
      into = value.Scalar() == "true";
      return OkStatus();
    };
  }

  Setter Count(int& into, int least) const {
    return [this, &into, least](const YAML::Node& value) {
      constexpr int64_t kMost = 1 << 20;
      const auto number = value.IsScalar() ? ParseInt(value.Scalar()) : std::nullopt;
      if (!number || *number < least || *number > kMost) {
        return Error(value, fmt::format("a whole number from {} to {} is needed here", least, kMost));
      }
      into = static_cast<int>(*number);
      return OkStatus();
    };
  }

  template <typename T>
  Setter Quantity(T& into, Result<T> (*parse)(std::string_view)) const {
    return [this, &into, parse](const YAML::Node& value) {
      if (!value.IsScalar()) return Error(value, "a quantity with its unit is needed here");
      const Result<T> quantity = parse(value.Scalar());
      if (!quantity.ok()) return Error(value, quantity.status().message(), std::string(quantity.status().hint()));
      into = *quantity;
      return OkStatus();
    };
  }

  Setter Texts(std::vector<std::string>& into) const {
    return [this, &into](const YAML::Node& value) {
      if (!value.IsSequence()) return Error(value, "a list of words is needed here");
      for (const auto& item : value) {
        if (!item.IsScalar()) return Error(item, "a word is needed here");
        into.push_back(item.Scalar());
      }
      return OkStatus();
    };
  }

  Setter TextMap(std::map<std::string, std::string>& into) const {
    return [this, &into](const YAML::Node& value) {
      if (!value.IsMap()) return Error(value, "a map of texts is needed here");
      for (const auto& entry : value) {
        if (!entry.first.IsScalar() || !entry.second.IsScalar()) return Error(entry.first, "a text is needed here");
        into[entry.first.Scalar()] = entry.second.Scalar();
      }
      return OkStatus();
    };
  }

  Setter Peaks(std::map<DataType, FlopsPerSecond>& into) const {
    return [this, &into](const YAML::Node& value) {
      if (!value.IsMap()) return Error(value, "a map of element types is needed here");
      for (const auto& entry : value) {
        const auto type = entry.first.IsScalar() ? DataTypeFromName(entry.first.Scalar()) : std::nullopt;
        if (!type) return Error(entry.first, "the key must be an element type", "float32, float16, int8, ...");
        SIMPRED_RETURN_IF_ERROR(Quantity(into[*type], ParseFlopsPerSecond)(entry.second));
      }
      return OkStatus();
    };
  }

  Setter Levels(std::vector<MemoryLevel>& into) const {
    return [this, &into](const YAML::Node& value) {
      if (!value.IsSequence()) return Error(value, "a list of memory levels is needed here");
      for (const auto& item : value) {
        MemoryLevel level;
        SIMPRED_RETURN_IF_ERROR(ForEach(item, "a memory level",
                                        {{"name", Text(level.name)},
                                         {"capacity", Quantity(level.capacity, ParseBytes)},
                                         {"bandwidth", Quantity(level.bandwidth, ParseBytesPerSecond)},
                                         {"one_core", Quantity(level.one_core, ParseBytesPerSecond)},
                                         {"shared", Flag(level.shared)},
                                         {"source", Text(level.source)}}));
        if (level.name.empty()) return Error(item, "a memory level needs a name");
        into.push_back(std::move(level));
      }
      return OkStatus();
    };
  }

 private:
  Status UnknownKey(const YAML::Node& key, std::string_view what, const Setters& setters) const {
    std::vector<std::string> known;
    std::string list;
    for (const auto& [name, setter] : setters) {
      known.push_back(name);
      list += (list.empty() ? "" : ", ") + name;
    }
    const std::string nearest = Nearest(key.Scalar(), known);
    return Error(key, fmt::format("'{}' is not a key of {}", key.Scalar(), what),
                 nearest.empty() ? fmt::format("known keys: {}", list) : fmt::format("did you mean '{}'?", nearest));
  }

  std::string file_;
};

Status CheckComplete(const Parser& parser, const YAML::Node& root, const DeviceProfile& d) {
  if (d.name.empty()) return parser.Error(root, "the device needs a 'name'");
  if (d.kind != "cpu" && d.kind != "npu" && d.kind != "gpu") {
    return parser.Error(root, fmt::format("'kind' must be cpu, npu or gpu, not '{}'", d.kind));
  }
  if (d.peak.empty() && d.peak_matrix.empty()) {
    return parser.Error(root, "the device needs a 'peak'", "for example  peak: {float32: 8.1 TFLOP/s}");
  }
  const bool has_bandwidth = std::any_of(d.memory.begin(), d.memory.end(),
                                         [](const MemoryLevel& level) { return level.bandwidth.count() > 0; });
  if (!has_bandwidth) return parser.Error(root, "the device needs a 'memory' level with a 'bandwidth'");
  return OkStatus();
}

std::string Text(Duration d) { return FormatDouble(d / Microseconds(1)) + " us"; }
std::string Text(FlopsPerSecond r) { return FormatDouble(r.count() / 1e9) + " GFLOP/s"; }
std::string Text(BytesPerSecond r) { return FormatDouble(r.count() / 1e9) + " GB/s"; }
std::string Text(Bytes b) {  // exact
  const int64_t n = b.count();
  if (n != 0 && n % (int64_t{1} << 30) == 0) return fmt::format("{} GiB", n >> 30);
  if (n != 0 && n % (int64_t{1} << 20) == 0) return fmt::format("{} MiB", n >> 20);
  if (n != 0 && n % (int64_t{1} << 10) == 0) return fmt::format("{} KiB", n >> 10);
  return fmt::format("{} B", n);
}

void EmitText(YAML::Emitter& out, const char* key, const std::string& text) {
  if (!text.empty()) out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << text;
}

void EmitPeaks(YAML::Emitter& out, const char* key, const std::map<DataType, FlopsPerSecond>& peaks) {
  if (peaks.empty()) return;
  out << YAML::Key << key << YAML::Value << YAML::BeginMap;
  for (const auto& [type, rate] : peaks) out << YAML::Key << std::string(Name(type)) << YAML::Value << Text(rate);
  out << YAML::EndMap;
}

void EmitLevel(YAML::Emitter& out, const MemoryLevel& level) {
  out << YAML::BeginMap;
  EmitText(out, "name", level.name);
  if (level.capacity.count() > 0) out << YAML::Key << "capacity" << YAML::Value << Text(level.capacity);
  if (level.bandwidth.count() > 0) out << YAML::Key << "bandwidth" << YAML::Value << Text(level.bandwidth);
  if (level.one_core.count() > 0) out << YAML::Key << "one_core" << YAML::Value << Text(level.one_core);
  if (level.shared) out << YAML::Key << "shared" << YAML::Value << true;
  EmitText(out, "source", level.source);
  out << YAML::EndMap;
}

}  // namespace

Result<DeviceProfile> ParseDeviceYaml(const std::string& text, const std::string& file) {
  const Parser parser(file);
  try {
    const YAML::Node root = YAML::Load(text);
    DeviceProfile d;
    SIMPRED_RETURN_IF_ERROR(parser.ForEach(root, "a device profile",
                                           {{"name", parser.Text(d.name)},
                                            {"kind", parser.Text(d.kind)},
                                            {"description", parser.Text(d.description)},
                                            {"cores", parser.Count(d.cores, 1)},
                                            {"peak", parser.Peaks(d.peak)},
                                            {"peak_matrix", parser.Peaks(d.peak_matrix)},
                                            {"memory", parser.Levels(d.memory)},
                                            {"memory_capacity", parser.Quantity(d.memory_capacity, ParseBytes)},
                                            {"launch_cost", parser.Quantity(d.launch_cost, ParseDuration)},
                                            {"run_cost", parser.Quantity(d.run_cost, ParseDuration)},
                                            {"launch_queue", parser.Count(d.launch_queue, 0)},
                                            {"runtime", parser.Text(d.runtime)},
                                            {"runtime_version", parser.Text(d.runtime_version)},
                                            {"features", parser.Texts(d.features)},
                                            {"sibling_of", parser.Text(d.sibling_of)},
                                            {"collector", parser.Text(d.collector)},
                                            {"sources", parser.TextMap(d.sources)},
                                            {"fingerprint", parser.Text(d.fingerprint)}}));
    SIMPRED_RETURN_IF_ERROR(CheckComplete(parser, root, d));
    if (d.fingerprint.empty()) d.fingerprint = d.name;
    return d;
  } catch (const YAML::Exception& e) {
    return UsageError(fmt::format("{}:{}:{}: not YAML: {}", file, e.mark.line + 1, e.mark.column + 1, e.msg));
  }
}

std::string ToYaml(const DeviceProfile& d) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  EmitText(out, "name", d.name);
  EmitText(out, "kind", d.kind);
  EmitText(out, "description", d.description);
  out << YAML::Key << "cores" << YAML::Value << d.cores;
  EmitPeaks(out, "peak", d.peak);
  EmitPeaks(out, "peak_matrix", d.peak_matrix);
  out << YAML::Key << "memory" << YAML::Value << YAML::BeginSeq;
  for (const MemoryLevel& level : d.memory) EmitLevel(out, level);
  out << YAML::EndSeq;
  if (d.memory_capacity.count() > 0) out << YAML::Key << "memory_capacity" << YAML::Value << Text(d.memory_capacity);
  if (d.launch_cost > Duration()) out << YAML::Key << "launch_cost" << YAML::Value << Text(d.launch_cost);
  if (d.run_cost > Duration()) out << YAML::Key << "run_cost" << YAML::Value << Text(d.run_cost);
  if (d.launch_queue > 0) out << YAML::Key << "launch_queue" << YAML::Value << d.launch_queue;
  EmitText(out, "runtime", d.runtime);
  EmitText(out, "runtime_version", d.runtime_version);
  if (!d.features.empty()) out << YAML::Key << "features" << YAML::Value << YAML::Flow << d.features;
  EmitText(out, "sibling_of", d.sibling_of);
  EmitText(out, "collector", d.collector);
  if (!d.sources.empty()) out << YAML::Key << "sources" << YAML::Value << d.sources;
  EmitText(out, "fingerprint", d.fingerprint);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace simpred
