#include "operators/bind_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace simpred {
namespace {

// Levenshtein distance, two rows. Names beyond the limit are too long to be a typing error of anything.
size_t EditDistance(const std::string& a, const std::string& b) {
  constexpr size_t kLongest = 256;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId v : graph.inputs) names.push_back(graph.value(v).name);
  return names;
}

Result<ValueId> FindInput(const Graph& graph, const std::string& name) {
  if (name.empty()) {
    if (graph.inputs.size() == 1) return graph.inputs.front();
    return UsageError(fmt::format("input_shape is a list, but the model has {} inputs: {}", graph.inputs.size(),
                                  fmt::join(InputNames(graph), ", ")),
                      "give input_shape as a map from input name to shape");
  }
  for (ValueId v : graph.inputs) {
    if (graph.value(v).name == name) return v;
  }
  const std::vector<std::string> names = InputNames(graph);
  const std::string nearest = NearestNames(name, names);
  return UsageError(fmt::format("the model has no input '{}'", name),
                    nearest.empty() ? fmt::format("its inputs are: {}", fmt::join(names, ", "))
                                    : fmt::format("did you mean {}?", nearest));
}

bool IsPlainSymbol(const Dim& d, std::string* name) {
  if (!d.is_symbolic()) return false;
  std::set<std::string> symbols;
  d.CollectSymbols(symbols);
  if (symbols.size() != 1 || d.ToString() != *symbols.begin()) return false;
  *name = *symbols.begin();
  return true;
}

Status Contradiction(const Value& input, const Shape& given, const std::string& what) {
  return UsageError(fmt::format("input '{}': the given shape {} contradicts the model's {}: {}", input.name,
                                given.ToString(), input.declared.shape.ToString(), what),
                    "give a shape that the model accepts, or export the model with a dynamic dimension there");
}

// One axis of one input: what both say together.
Result<Dim> BindAxis(const Value& input, const Shape& given, int axis, SymbolBindings& symbols) {
  const Dim declared = input.type.shape.dim(axis);
  const Dim wanted = given.dim(axis).Bind(symbols);
  if (wanted.is_unknown()) return declared;
  if (wanted.is_known() && wanted.value() < 0) {
    return UsageError(fmt::format("input '{}': dimension {} of {} is negative", input.name, axis, given.ToString()));
  }
  if (declared.is_unknown()) return wanted;
  if (declared.is_known()) {
    if (wanted.is_known() && wanted.value() != declared.value()) {
      return Contradiction(input, given, fmt::format("axis {} is {}, not {}", axis, declared.value(), wanted.value()));
    }
    return declared;
  }
  std::string symbol;
  if (wanted.is_known() && IsPlainSymbol(declared, &symbol)) {
    auto [it, fresh] = symbols.emplace(symbol, wanted.value());
    if (!fresh && it->second != wanted.value()) {
      return Contradiction(input, given,
                           fmt::format("axis {} is '{}', which is {} elsewhere", axis, symbol, it->second));
    }
  }
  return wanted;
}

Status Overlay(Value& input, const Shape& given, SymbolBindings& symbols) {
  if (!given.has_rank()) return OkStatus();
  if (!input.type.shape.has_rank()) {
    input.type.shape = Shape::OfRank(given.rank());
  } else if (input.type.shape.rank() != given.rank()) {
    return Contradiction(input, given,
                         fmt::format("it has {} dimensions, not {}", input.type.shape.rank(), given.rank()));
  }
  for (int axis = 0; axis < given.rank(); ++axis) {
    SIMPRED_ASSIGN_OR_RETURN(Dim d, BindAxis(input, given, axis, symbols));
    input.type.shape.dims()[static_cast<size_t>(axis)] = std::move(d);
  }
  return OkStatus();
}

// Names for dimensions that have none. A negative number is an exporter's way to say "any".
void NameUnknownDims(Value& input) {
  if (!input.type.shape.has_rank()) return;
  for (int axis = 0; axis < input.type.shape.rank(); ++axis) {
    Dim& d = input.type.shape.dims()[static_cast<size_t>(axis)];
    if (d.is_unknown() || (d.is_known() && d.value() < 0)) {
      d = Dim::Symbol(fmt::format("{}.{}", input.name.empty() ? "input" : input.name, axis));
    }
  }
}

}  // namespace

std::string NearestNames(const std::string& wrong, const std::vector<std::string>& known) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& name : known) {
    const size_t distance = EditDistance(wrong, name);
    const bool part = !wrong.empty() && name.find(wrong) != std::string::npos;
    if (part || distance <= 1 + std::max(wrong.size(), name.size()) / 3) ranked.emplace_back(distance, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > 3) ranked.resize(3);
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) names.push_back(fmt::format("'{}'", name));
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<InputBinding> BindInputs(Model& model, const InferOptions& options) {
  Graph& graph = model.graph;
  InputBinding binding{.symbols = options.symbols, .declared = {}, .warnings = {}};
  for (const auto& [name, value] : options.symbols) {
    if (value < 0) return UsageError(fmt::format("symbol '{}' is bound to {}, which is negative", name, value));
  }
  for (ValueId v : graph.inputs) {
    Value& input = graph.value(v);
    // A graph that was built by hand may have types only.
    if (input.declared.dtype != DataType::kUndefined || input.declared.shape.has_rank()) input.type = input.declared;
    NameUnknownDims(input);
    for (const Dim& d : input.type.shape.dims()) d.CollectSymbols(binding.declared);
    input.type.shape = input.type.shape.Bind(binding.symbols);
  }
  for (const auto& [name, shape] : options.input_shapes) {
    SIMPRED_ASSIGN_OR_RETURN(ValueId v, FindInput(graph, name));
    SIMPRED_RETURN_IF_ERROR(Overlay(graph.value(v), shape, binding.symbols));
  }
  // A symbol that one input's shape bound may stand in another input, too.
  for (ValueId v : graph.inputs) {
    Value& input = graph.value(v);
    input.type.shape = input.type.shape.Bind(binding.symbols);
    for (const Dim& d : input.type.shape.dims()) d.CollectSymbols(binding.declared);
  }
  return binding;
}

}  // namespace simpred
