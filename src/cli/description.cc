#include "cli/description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/numbers.h"
#include "frontend/onnx/onnx.h"
#include "report/escape.h"

namespace simpred {
namespace {

std::string TypeText(const Value& v) {
  const char* kind = v.type.kind == ValueKind::kSequence   ? "sequence of "
                     : v.type.kind == ValueKind::kOptional ? "optional "
                                                           : "";
  return fmt::format("{}{}{}", kind, Name(v.type.dtype), v.type.shape.ToString());
}

// Counts saturate: a hostile model names shapes of any size.
int64_t SaturatingAdd(int64_t a, int64_t b) { return (Bytes(a) + Bytes(b)).count(); }

class Describer {
 public:
  explicit Describer(Model& model) : model_(model), graph_(model.graph) {}

  Status Run(Description& d) {
    SIMPRED_ASSIGN_OR_RETURN(order_, graph_.TopologicalOrder());
    for (const ValueId v : graph_.inputs) d.inputs.push_back(graph_.value(v).name + " " + TypeText(graph_.value(v)));
    for (const ValueId v : graph_.outputs) d.outputs.push_back(graph_.value(v).name + " " + TypeText(graph_.value(v)));
    AddWeights(d);
    place_.assign(static_cast<size_t>(graph_.node_count()), -1);
    for (const NodeId id : order_) AddOperator(id, d);
    SortClasses(d);
    if (d.is_static) d.peak_activations = PeakActivations();
    return OkStatus();
  }

 private:
  void AddWeights(Description& d) const {
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const Value& v = graph_.value(id);
      if (!v.is_initializer) continue;
      const int64_t elements = v.type.shape.ElementCount().known().value_or(0);
      const Bytes bytes = StorageSize(v.type.dtype, elements);
      d.parameters = SaturatingAdd(d.parameters, elements);
      d.weights += bytes;
      d.weights_by_type[std::string(Name(v.type.dtype))] += bytes;
    }
  }

  std::optional<CostTensor> Static(ValueId id) const {
    CostTensor t;
    if (id == kNoValue) return t;
    const Value& v = graph_.value(id);
    auto dims = v.type.shape.ToVector();
    if (!dims) return std::nullopt;
    t.present = true;
    t.dtype = v.type.dtype;
    t.dims = std::move(*dims);
    t.constant = v.is_initializer;
    return t;
  }

  std::optional<Work> WorkOf(const Node& node, const OperatorRule* rule) {
    CostContext c;
    c.node = &node;
    for (const auto& [ids, tensors] : {std::pair(&node.inputs, &c.inputs), std::pair(&node.outputs, &c.outputs)}) {
      for (const ValueId id : *ids) {
        auto t = Static(id);
        if (!t) return std::nullopt;
        tensors->push_back(std::move(*t));
      }
    }
    c.constant = [&](int i) -> std::shared_ptr<const ConstantValue> {
      const auto at = static_cast<size_t>(i);
      return i >= 0 && at < node.inputs.size() && node.inputs[at] != kNoValue
                 ? ConstantOf(model_, graph_, node.inputs[at])
                 : nullptr;
    };
    return CostOf(rule, c);
  }

  void AddOperator(NodeId id, Description& d) {
    const Node& node = graph_.node(id);
    const OperatorRule* rule = Registry::Default().Find(node);
    place_[static_cast<size_t>(id)] = static_cast<int64_t>(d.operators.size());
    DescribedOperator o;
    o.name = node.name.empty() ? fmt::format("#{}", id) : node.name;
    o.type = node.QualifiedType();
    o.op_class = Name(rule != nullptr ? rule->op_class : OperatorClass::kOther);
    o.has_rule = rule != nullptr;
    for (const ValueId v : node.inputs) {
      if (v == kNoValue) continue;
      const Value& value = graph_.value(v);
      o.inputs.push_back(TypeText(value));
      if (value.producer != kNoNode) o.inputs_from.push_back(place_[static_cast<size_t>(value.producer)]);
    }
    std::sort(o.inputs_from.begin(), o.inputs_from.end());
    o.inputs_from.erase(std::unique(o.inputs_from.begin(), o.inputs_from.end()), o.inputs_from.end());
    for (const ValueId v : node.outputs)
      if (v != kNoValue) o.outputs.push_back(TypeText(graph_.value(v)));
    o.work = WorkOf(node, rule);
    if (o.work) {
      d.flops += o.work->flops;
      d.moved += o.work->total();
    } else {
      d.is_static = false;
    }
    if (rule == nullptr) ++d.without_rule;
    ++classes_[o.op_class];
    d.operators.push_back(std::move(o));
  }

  void SortClasses(Description& d) const {
    d.by_class.assign(classes_.begin(), classes_.end());
    std::stable_sort(d.by_class.begin(), d.by_class.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  // Largest sum of living values over the order in which the file stands; each lives from its producer to its last
  // reader, outputs to the end.
  Bytes PeakActivations() const {
    const auto consumers = graph_.Consumers();
    std::vector<int64_t> last(static_cast<size_t>(graph_.value_count()), -1);
    for (ValueId v = 0; v < graph_.value_count(); ++v)
      for (const NodeId reader : consumers[static_cast<size_t>(v)])
        last[static_cast<size_t>(v)] = std::max(last[static_cast<size_t>(v)], place_[static_cast<size_t>(reader)]);
    for (const ValueId v : graph_.outputs) last[static_cast<size_t>(v)] = INT64_MAX;
    const auto size = [&](ValueId v) {
      const Value& value = graph_.value(v);
      return value.is_initializer ? Bytes()
                                  : StorageSize(value.type.dtype, value.type.shape.ElementCount().known().value_or(0));
    };
    Bytes living, peak;
    std::map<int64_t, Bytes> freed;
    const auto born = [&](ValueId v) {
      living += size(v);
      freed[last[static_cast<size_t>(v)]] += size(v);
    };
    for (const ValueId v : graph_.inputs) born(v);
    for (size_t i = 0; i < order_.size(); ++i) {
      for (const ValueId v : graph_.node(order_[i]).outputs)
        if (v != kNoValue) born(v);
      peak = std::max(peak, living);
      living = living - freed[static_cast<int64_t>(i)];
    }
    return std::max(peak, living);
  }

  Model& model_;
  Graph& graph_;
  std::vector<NodeId> order_;
  std::vector<int64_t> place_;  // of a node in the order
  std::map<std::string, int64_t> classes_;
};

std::string TextList(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& t : texts) out += (out.size() > 1 ? ", " : "") + JsonString(t);
  return out + "]";
}

}  // namespace

Result<Description> Describe(const std::filesystem::path& path, const InferOptions& binding) {
  const std::string context = "model " + path.string();
  auto model = ReadOnnx(path);
  if (!model.ok()) return model.status().With(context);
  const auto inferred = InferShapes(*model, binding);
  if (!inferred.ok()) return inferred.status().With(context);
  Description d;
  d.name = path.stem().string();
  d.format = model->format;
  d.producer = model->producer;
  d.structure_sha256 = model->structure_sha256;
  d.opset = model->opset("");
  d.file_bytes = static_cast<int64_t>(model->file_size);
  d.all_outputs = inferred->outputs_total;
  d.ranked_outputs = inferred->outputs_ranked;
  d.static_outputs = inferred->outputs_static;
  d.free_symbols.assign(inferred->free_symbols.begin(), inferred->free_symbols.end());
  for (const InferReport::Stop& s : inferred->stops)
    d.stops.push_back(fmt::format("at {}: {}", model->graph.node(s.node).Describe(s.node), s.reason));
  for (const Warning& w : model->warnings) d.warnings.push_back(w.text);
  for (const Warning& w : inferred->warnings)
    if (std::find(d.warnings.begin(), d.warnings.end(), w.text) == d.warnings.end()) d.warnings.push_back(w.text);
  if (const Status status = Describer(*model).Run(d); !status.ok()) return status.With(context);
  return d;
}

std::string DescriptionJson(const Description& d) {
  std::string out = fmt::format(
      "{{\n  \"schema\": \"sim_predict.description/1\",\n  \"name\": {},\n  \"format\": {},\n  \"producer\": {},\n"
      "  \"model_sha256\": {},\n  \"opset\": {},\n  \"file_bytes\": {},\n  \"parameters\": {},\n  \"weights_bytes\": "
      "{},\n",
      JsonString(d.name), JsonString(d.format), JsonString(d.producer), JsonString(d.structure_sha256), d.opset,
      d.file_bytes, d.parameters, d.weights.count());
  out += "  \"weights_bytes_by_type\": {";
  const char* separator = "";
  for (const auto& [type, bytes] : d.weights_by_type) {
    out += fmt::format("{}{}: {}", separator, JsonString(type), bytes.count());
    separator = ", ";
  }
  out += fmt::format(
      "}},\n  \"static\": {},\n  \"flops\": {},\n  \"moved_bytes\": {},\n  \"peak_activations_bytes\": {},\n",
      d.is_static, FormatDouble(d.flops.count()), d.moved.count(),
      d.peak_activations ? fmt::to_string(d.peak_activations->count()) : "null");
  out += fmt::format(
      "  \"inputs\": {},\n  \"outputs\": {},\n  \"free_symbols\": {},\n  \"operators_without_rule\": {},\n"
      "  \"outputs_total\": {},\n  \"outputs_ranked\": {},\n  \"outputs_static\": {},\n  \"shape_stops\": {},\n  "
      "\"warnings\": {},\n"
      "  \"operators\": [",
      TextList(d.inputs), TextList(d.outputs), TextList(d.free_symbols), d.without_rule, d.all_outputs,
      d.ranked_outputs, d.static_outputs, TextList(d.stops), TextList(d.warnings));
  separator = "\n    ";
  for (const DescribedOperator& o : d.operators) {
    out += fmt::format(
        "{}{{\"name\": {}, \"type\": {}, \"class\": {}, \"has_rule\": {}, \"inputs\": {}, \"outputs\": {}, "
        "\"inputs_from\": [{}], "
        "\"flops\": {}, \"bytes\": {}}}",
        separator, JsonString(o.name), JsonString(o.type), JsonString(o.op_class), o.has_rule, TextList(o.inputs),
        TextList(o.outputs), fmt::join(o.inputs_from, ", "), o.work ? FormatDouble(o.work->flops.count()) : "null",
        o.work ? fmt::to_string(o.work->total().count()) : "null");
    separator = ",\n    ";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace simpred
