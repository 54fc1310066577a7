#include "workload/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/numbers.h"

namespace simpred {
namespace {

// Numbers that say nothing about time, or repeat what the tensors say.
bool IsIrrelevant(std::string_view name) {
  constexpr std::array<std::string_view, 20> kNames = {kHypotheticalAttribute,
                                                       "to",
                                                       "epsilon",
                                                       "momentum",
                                                       "seed",
                                                       "dtype",
                                                       "channels",
                                                       "alpha",
                                                       "beta",
                                                       "gamma",
                                                       "stash_type",
                                                       "value",
                                                       "block_size_x",
                                                       "training_mode",
                                                       "spatial",
                                                       "consumed_inputs",
                                                       "is_test",
                                                       "cubic_coeff_a",
                                                       "extrapolation_value",
                                                       "block_size"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Defaults of integer attributes, the same in every operator that has them.
bool IsDefault(std::string_view name, int64_t v) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 27> kDefaults = {{{"group", 1},
                                                                               {"ceil_mode", 0},
                                                                               {"storage_order", 0},
                                                                               {"count_include_pad", 0},
                                                                               {"transA", 0},
                                                                               {"transB", 0},
                                                                               {"transBatchA", 0},
                                                                               {"transBatchB", 0},
                                                                               {"keepdims", 1},
                                                                               {"exclusive", 0},
                                                                               {"reverse", 0},
                                                                               {"largest", 1},
                                                                               {"sorted", 1},
                                                                               {"channels_last", 0},
                                                                               {"allowzero", 0},
                                                                               {"noop_with_empty_axes", 0},
                                                                               {"antialias", 0},
                                                                               {"batch_dims", 0},
                                                                               {"select_last_index", 0},
                                                                               {"linear_before_reset", 0},
                                                                               {"layout", 0},
                                                                               {"input_forget", 0},
                                                                               {"saturate", 1},
                                                                               {"output_dtype", 0},
                                                                               {"fmod", 0},
                                                                               {"exclude_outside", 0},
                                                                               {"start", 0}}};
  return std::any_of(kDefaults.begin(), kDefaults.end(),
                     [&](const auto& d) { return d.first == name && d.second == v; });
}

bool IsDefault(std::string_view name, const std::vector<int64_t>& v) {
  const auto all = [&](int64_t x) { return std::all_of(v.begin(), v.end(), [x](int64_t e) { return e == x; }); };
  if (name == "strides" || name == "dilations") return all(1);
  if (name == "pads" || name == "output_padding") return all(0);
  return false;
}

bool IsDefault(std::string_view name, const std::string& v) {
  return v.empty() || (name == "auto_pad" && (v == "NOTSET" || v == "VALID")) ||
         (name == "direction" && v == "forward") || (name == "approximate" && v == "none") ||
         (name == "mode" && v == "constant") || name == "keep_aspect_ratio_policy";
}

// The kernel size of a convolution is a dimension of its weights.
bool RepeatsWeights(const Node& node, std::string_view name) {
  return name == "kernel_shape" && node.op_type.find("Conv") != std::string::npos;
}

// An axis that says nothing new: what the operator takes without the attribute.
bool IsDefaultAxis(const Node& node, int64_t axis, const Kernel& k) {
  constexpr std::array<std::string_view, 9> kFirst = {"Gather", "GatherElements", "Scatter", "ScatterElements", "Split",
                                                      "ArgMax", "ArgMin",         "Unique",  "SplitToSequence"};
  constexpr std::array<std::string_view, 3> kLast = {"LayerNormalization", "SimplifiedLayerNormalization",
                                                     "RMSNormalization"};
  const auto is = [&](const auto& types) { return std::find(types.begin(), types.end(), node.op_type) != types.end(); };
  if (is(kFirst)) return axis == 0;
  return is(kLast) && !k.inputs.empty() && axis == static_cast<int64_t>(k.inputs[0].dims.size()) - 1;
}

// Resize: which pixel is the nearest matters only to the nearest mode; defaults of the operator page.
bool IsDefaultOfResize(const Node& node, std::string_view name, const std::string& v) {
  if (node.op_type != "Resize") return false;
  if (name == "nearest_mode") return v == "round_prefer_floor" || node.String("mode", "nearest") != "nearest";
  return (name == "coordinate_transformation_mode" && v == "half_pixel") || (name == "mode" && v == "nearest");
}

std::string FromFront(int64_t axis, const Kernel& k) {
  if (axis < 0 && !k.inputs.empty()) axis += static_cast<int64_t>(k.inputs[0].dims.size());
  return fmt::format("{}", axis);
}

std::optional<std::string> TextOf(const Node& node, const std::string& name, const Attribute& a, const Kernel& k) {
  if (const auto* i = std::get_if<int64_t>(&a.value)) {
    if (IsDefault(name, *i)) return std::nullopt;
    if (name != "axis") return fmt::format("{}", *i);
    std::string axis = FromFront(*i, k);
    return IsDefaultAxis(node, ParseInt(axis).value_or(-1), k) ? std::nullopt : std::optional(std::move(axis));
  }
  if (const auto* s = std::get_if<std::string>(&a.value)) {
    return IsDefault(name, *s) || IsDefaultOfResize(node, name, *s) ? std::nullopt : std::optional(*s);
  }
  if (const auto* l = std::get_if<std::vector<int64_t>>(&a.value)) {
    if (IsDefault(name, *l) || RepeatsWeights(node, name)) return std::nullopt;
    std::vector<int64_t> list = *l;
    if (name == "axes")
      for (int64_t& x : list) x += x < 0 && !k.inputs.empty() ? static_cast<int64_t>(k.inputs[0].dims.size()) : 0;
    return fmt::format("{}", fmt::join(list, ","));
  }
  if (const auto* t = std::get_if<std::vector<std::string>>(&a.value)) return fmt::format("{}", fmt::join(*t, ","));
  return std::nullopt;  // floats, tensors, graphs
}

}  // namespace

std::map<std::string, std::string> CanonicalAttributes(const Node& node, const Kernel& k) {
  std::map<std::string, std::string> out;
  for (const auto& [name, attribute] : node.attributes) {
    if (IsIrrelevant(name)) continue;
    if (std::optional<std::string> text = TextOf(node, name, attribute, k)) out[name] = std::move(*text);
  }
  // With "same" padding the numbers in `pads` are not read.
  if (out.contains("auto_pad")) out.erase("pads");
  return out;
}

}  // namespace simpred
