#include "cli/model_options.h"

#include <fmt/format.h>

#include <system_error>

namespace simpred {
namespace {

bool LooksLikeConfig(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

// Switches of the command line as overrides of the config: one place checks them.
std::vector<std::string> Overrides(const ModelOptions& o) {
  std::vector<std::string> all = o.sets;
  const auto add = [&](const char* key, const std::string& value) {
    if (value.empty()) return;
    std::string quoted = "'";
    for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
    all.push_back(fmt::format("{}={}'", key, quoted));
  };
  // A path on the command line is relative to where the command runs, not to the config.
  const bool device_is_path = o.device.find('/') != std::string::npos || LooksLikeConfig(o.device);
  std::error_code error;
  add("device", device_is_path ? std::filesystem::absolute(o.device, error).string() : o.device);
  add("precision", o.precision);
  add("fusion_mode", o.fusion_mode);
  add("database", o.database);
  add("family", o.family);
  if (o.threads > 0) all.push_back(fmt::format("runtime.threads={}", o.threads));
  return all;
}

}  // namespace

void AddModelOptions(CLI::App& command, ModelOptions& o, bool positional) {
  if (positional) command.add_option("MODEL", o.input, "a model (.onnx), or a config (.yaml)");
  command.add_option("--config,-c", o.config, "the config")->type_name("FILE");
  // One value per occurrence, so that a MODEL after it is not taken for another one.
  const auto list = [&](const char* name, std::vector<std::string>& to, const char* type, const char* help) {
    command.add_option(name, to, help)->type_name(type)->allow_extra_args(false);
  };
  list("--set", o.sets, "KEY=VALUE", "override a key of the config, such as calibrate.iters=64");
  list("--shape", o.shapes, "NAME=DIMS", "shape of an input, such as data=1x3x224x224");
  list("--bind", o.binds, "SYMBOL=N", "value of a free symbol, such as batch=4");
  command.add_option("--device", o.device, "a known device, a profile, or cpu (the default without a config)")
      ->type_name("NAME");
  command.add_option("--precision", o.precision, "model, FP32, FP16, BF16 or INT8")->type_name("P");
  command.add_option("--fusion-mode", o.fusion_mode, "off, auto or aggressive")->type_name("MODE");
  command.add_option("--threads", o.threads, "threads of the runtime")->check(CLI::Range(1, 4096))->type_name("N");
  command.add_option("--database", o.database, "the calibration database; default: in the user's data folder")
      ->type_name("FILE");
  command.add_option("--family", o.family, "family of the model")->type_name("NAME");
}

Result<Config> ConfigOf(const ModelOptions& o, bool needs_model) {
  const bool config_as_input = o.config.empty() && LooksLikeConfig(o.input);
  const std::string file = config_as_input ? o.input : o.config;
  const std::string model = config_as_input ? "" : o.input;
  Config c;
  if (file.empty()) {
    SIMPRED_ASSIGN_OR_RETURN(c, ConfigFromOverrides(Overrides(o)));
    if (c.device.empty()) c.device = "cpu";
  } else {
    SIMPRED_ASSIGN_OR_RETURN(c, ReadConfig(file, Overrides(o)));
  }
  if (!model.empty()) c.model_path = model;
  for (const std::string& s : o.shapes) SIMPRED_RETURN_IF_ERROR(AddShape(s, c.input_shapes));
  for (const std::string& b : o.binds) SIMPRED_RETURN_IF_ERROR(AddSymbol(b, c.symbols));
  if (c.device.empty())
    return UsageError(fmt::format("{}: the key 'device' is missing", file),
                      "write device: cpu, or a name that `sim_predict devices` lists");
  if (needs_model && c.model_path.empty()) {
    if (file.empty())
      return UsageError("no model is given", "give a model (model.onnx) or a config (--config simulation.yaml)");
    return UsageError(fmt::format("{}: the key 'model_path' is missing", file), "write model_path: ./model.onnx");
  }
  return c;
}

}  // namespace simpred
