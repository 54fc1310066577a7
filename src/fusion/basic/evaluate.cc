#include "fusion/basic/evaluate.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

namespace simpred {
namespace {

constexpr int64_t kMostElements = 256;

using Constants = std::vector<std::shared_ptr<const ConstantValue>>;

std::optional<std::vector<double>> Elements(const ConstantValue& c) {
  if (c.is_float()) return c.floats;
  if (c.dtype == DataType::kString) return std::nullopt;
  std::vector<double> out;
  for (const Dim& d : c.ints) {
    if (!d.is_known()) return std::nullopt;
    out.push_back(static_cast<double>(d.value()));
  }
  return out;
}

std::optional<double> Unary(std::string_view op, double x) {
  if (op == "Sqrt") return std::sqrt(x);
  if (op == "Neg") return -x;
  if (op == "Reciprocal") return 1 / x;
  if (op == "Abs") return std::abs(x);
  if (op == "Exp") return std::exp(x);
  if (op == "Log") return std::log(x);
  if (op == "Floor") return std::floor(x);
  if (op == "Ceil") return std::ceil(x);
  if (op == "Erf") return std::erf(x);
  if (op == "Tanh") return std::tanh(x);
  if (op == "Not") return x == 0 ? 1 : 0;
  if (op == "Identity" || op == "Cast" || op == "CastLike" || op == "Reshape" || op == "Squeeze" || op == "Unsqueeze" ||
      op == "Flatten")
    return x;
  return std::nullopt;
}

std::optional<double> Binary(std::string_view op, double a, double b, bool integer) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return integer ? (b == 0 ? std::optional<double>() : std::trunc(a / b)) : a / b;
  if (op == "Pow") return std::pow(a, b);
  if (op == "Equal") return a == b ? 1 : 0;
  if (op == "Greater") return a > b ? 1 : 0;
  if (op == "Less") return a < b ? 1 : 0;
  if (op == "GreaterOrEqual") return a >= b ? 1 : 0;
  if (op == "LessOrEqual") return a <= b ? 1 : 0;
  if (op == "And") return a != 0 && b != 0 ? 1 : 0;
  if (op == "Or") return a != 0 || b != 0 ? 1 : 0;
  return std::nullopt;
}

// Element `i` of a tensor of `to`, read from one of `from` that broadcasts to it.
size_t BroadcastIndex(size_t i, const std::vector<int64_t>& to, const std::vector<int64_t>& from) {
  size_t index = 0, stride = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    const size_t axis = to.size() - 1 - k;
    const auto size = static_cast<size_t>(to[axis]);
    const size_t place = i % size;
    i /= size;
    if (k >= from.size()) continue;
    const auto own = static_cast<size_t>(from[from.size() - 1 - k]);
    index += (own == 1 ? 0 : place) * stride;
    stride *= own;
  }
  return index;
}

std::optional<std::vector<double>> Compute(const Node& node, const Constants& inputs,
                                           const std::vector<int64_t>& dims) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  if (count < 0 || count > kMostElements) return std::nullopt;
  const auto a = Elements(*inputs[0]);
  if (!a) return std::nullopt;
  std::vector<double> out;
  if (Unary(node.op_type, 1).has_value()) {
    if (a->size() != static_cast<size_t>(count)) return std::nullopt;
    for (double x : *a) out.push_back(*Unary(node.op_type, x));
    return out;
  }
  if (inputs.size() != 2 || !inputs[1]) return std::nullopt;
  const auto b = Elements(*inputs[1]);
  if (!b || !Binary(node.op_type, 1, 1, false)) return std::nullopt;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const size_t ia = BroadcastIndex(i, dims, inputs[0]->dims), ib = BroadcastIndex(i, dims, inputs[1]->dims);
    if (ia >= a->size() || ib >= b->size()) return std::nullopt;
    const auto x = Binary(node.op_type, (*a)[ia], (*b)[ib], !inputs[0]->is_float());
    if (!x) return std::nullopt;
    out.push_back(*x);
  }
  return out;
}

}  // namespace

void EvaluateSmall(Rewriter& r, NodeId n) {
  const Node& node = r.node(n);
  const ValueId out = r.output(n);
  if (node.outputs.size() != 1 || out == kNoValue || r.value(out).constant) return;
  const auto dims = r.dims(out);
  if (!dims || node.inputs.empty()) return;
  Constants inputs;
  for (ValueId v : node.inputs) inputs.push_back(r.Constant(v));
  if (!inputs[0]) return;
  const auto elements = Compute(node, inputs, *dims);
  if (!elements) return;
  auto c = std::make_shared<ConstantValue>();
  c->dtype = r.dtype(out);
  c->dims = *dims;
  if (c->is_float()) {
    c->floats = *elements;
  } else {
    for (double x : *elements) c->ints.emplace_back(static_cast<int64_t>(x));
  }
  r.value(out).constant = std::move(c);
}

}  // namespace simpred
