// a = F(x), b = F(x)    ==>    a = F(x), b is a
//
// Values are numbered in topological order: two nodes of the same type and attributes whose inputs have the same
// numbers are one. Constants of at most eight elements are equal when their elements are; larger ones only if they are
// the same initializer.
#include <fmt/format.h>

#include <unordered_map>

#include "fusion/basic/determinism.h"
#include "fusion/rules.h"

namespace simpred {
namespace {

constexpr size_t kMostSharedElements = 8;

std::string ElementsText(const ConstantValue& c) {
  std::string text = fmt::format("{}[{}]", static_cast<int>(c.dtype), fmt::join(c.dims, ","));
  for (const Dim& d : c.ints) text += "," + d.ToString();
  for (double d : c.floats) text += fmt::format(",{}", d);
  return text;
}

std::optional<std::string> TensorText(const TensorAttribute& t) {
  if (!t.constant || t.constant->dtype == DataType::kString) return std::nullopt;
  return "T" + ElementsText(*t.constant);
}

// Text of an attribute; nothing for kinds that the runtime does not compare.
std::optional<std::string> AttributeText(const Attribute& a) {
  return std::visit(
      [](const auto& v) -> std::optional<std::string> {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          return fmt::format("i{}", v);
        } else if constexpr (std::is_same_v<T, double>) {
          return fmt::format("f{}", v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return "s" + v;
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          return fmt::format("I{}", fmt::join(v, ","));
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          return fmt::format("F{}", fmt::join(v, ","));
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          return fmt::format("S{}", fmt::join(v, "\x1f"));
        } else if constexpr (std::is_same_v<T, TensorAttribute>) {
          return TensorText(v);
        } else {
          return std::nullopt;
        }
      },
      a.value);
}

class Numbering {
 public:
  explicit Numbering(Rewriter& r) : r_(r) {}

  int Rewrite() {
    std::unordered_map<std::string, NodeId> seen;
    int count = 0;
    for (NodeId n : r_.order()) {
      if (!r_.alive(n)) continue;
      const std::optional<std::string> key = KeyOf(n);
      if (!key) continue;
      const auto [it, is_new] = seen.emplace(*key, n);
      if (is_new) continue;
      if (Merge(n, it->second)) ++count;
    }
    return count;
  }

 private:
  // The number of `v`: a value that was merged into another has that one's.
  std::string NumberOf(ValueId v) {
    if (v == kNoValue) return "-";
    const auto merged = merged_.find(v);
    if (merged != merged_.end()) v = merged->second;
    if (!r_.IsConstant(v)) return fmt::format("v{}", v);
    const auto c = Small(v);
    if (!c) return fmt::format("v{}", v);
    return "c" + ElementsText(*c);
  }

  std::shared_ptr<const ConstantValue> Small(ValueId v) {
    // The runtime does not compare the shapes that its own MatMul + Add rewrite makes.
    if (r_.value(v).name.starts_with("gemm_")) return nullptr;
    const auto dims = r_.dims(v);
    if (!dims) return nullptr;
    size_t elements = 1;
    for (int64_t d : *dims) {
      if (d <= 0 || static_cast<size_t>(d) > kMostSharedElements) return nullptr;
      elements *= static_cast<size_t>(d);
      if (elements > kMostSharedElements) return nullptr;
    }
    const DataType t = r_.dtype(v);
    if (!IsFloat(t) && t != DataType::kInt32 && t != DataType::kInt64) return nullptr;
    auto c = r_.Constant(v);
    if (!c) return nullptr;
    for (const Dim& d : c->ints)
      if (!d.is_known()) return nullptr;
    return c;
  }

  std::optional<std::string> KeyOf(NodeId n) {
    const Node& node = r_.node(n);
    if (HasSubgraph(node) || !IsDeterministic(node) || node.Is("DequantizeLinear")) return std::nullopt;
    std::string key = node.domain + "." + node.op_type;
    for (const auto& [name, attribute] : node.attributes) {
      const auto text = AttributeText(attribute);
      if (!text) return std::nullopt;
      key += "|" + name + "=" + *text;
    }
    for (size_t i = 0; i < r_.PresentInputs(n); ++i) key += "|" + NumberOf(node.inputs[i]);
    return key + fmt::format("|{}", node.outputs.size());
  }

  // Readers of n's outputs read those of `first`; graph outputs keep their maker.
  bool Merge(NodeId n, NodeId first) {
    bool replaced = false;
    for (size_t i = 0; i < r_.node(n).outputs.size(); ++i) {
      const ValueId from = r_.output(n, i), to = r_.output(first, i);
      if (from == kNoValue || to == kNoValue) continue;
      merged_[from] = to;
      if (r_.IsGraphOutput(from)) continue;
      r_.ReplaceUses(from, to);
      replaced = true;
    }
    if (!replaced || r_.OutputUses(n) > 0 || r_.ProducesGraphOutput(n)) return false;
    r_.Remove(n);
    return true;
  }

  Rewriter& r_;
  std::unordered_map<ValueId, ValueId> merged_;
};

int Rewrite(Rewriter& r) { return Numbering(r).Rewrite(); }

}  // namespace

FusionRule CommonSubexpressions() {
  return MakeRule("common-subexpressions", FusionLevel::kBasic, "equal nodes become one", Rewrite);
}

}  // namespace simpred
