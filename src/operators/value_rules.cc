#include "operators/value_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "operators/rules_common.h"

namespace simpred {
namespace {

using Constants = std::vector<std::shared_ptr<const ConstantValue>>;

bool IsComparison(ValueOp op) {
  return op == ValueOp::kEqual || op == ValueOp::kLess || op == ValueOp::kLessOrEqual || op == ValueOp::kGreater ||
         op == ValueOp::kGreaterOrEqual;
}

// A symbol standing alone is the size of something: never negative. (A sum with a negative term can be.)
bool IsPlainSymbol(const Dim& d) {
  if (!d.is_symbolic()) return false;
  std::set<std::string> symbols;
  d.CollectSymbols(symbols);
  return symbols.size() == 1 && d.ToString() == *symbols.begin();
}

Dim Truth(bool b) { return Dim(static_cast<int64_t>(b)); }

template <typename T>
bool Compare(ValueOp op, T a, T b) {
  switch (op) {
    case ValueOp::kEqual:
      return a == b;
    case ValueOp::kLess:
      return a < b;
    case ValueOp::kLessOrEqual:
      return a <= b;
    case ValueOp::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

Dim CompareDims(ValueOp op, const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) return Truth(Compare(op, a.value(), b.value()));
  if (a.is_symbolic() && b.is_symbolic() && a == b) {
    return Truth(op == ValueOp::kEqual || op == ValueOp::kLessOrEqual || op == ValueOp::kGreaterOrEqual);
  }
  // A size against a negative number.
  if (IsPlainSymbol(a) && b.is_known() && b.value() < 0) return Truth(Compare<int64_t>(op, 0, b.value()));
  if (IsPlainSymbol(b) && a.is_known() && a.value() < 0) return Truth(Compare<int64_t>(op, a.value(), 0));
  return Dim::Unknown();
}

Dim DivideDims(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) {
    if (b.value() == 0 || (b.value() == -1 && a.value() == std::numeric_limits<int64_t>::min())) return Dim::Unknown();
    return Dim(a.value() / b.value());
  }
  return FloorDiv(a, b);
}

Dim ModDims(const Dim& a, const Dim& b, bool fmod) {
  if (!a.is_known() || !b.is_known()) return Mod(a, b);
  if (b.value() == 0) return Dim::Unknown();
  if (b.value() == -1) return Dim(0);
  const int64_t r = a.value() % b.value();
  // ONNX: the sign of the divisor; with fmod that of the dividend.
  const bool adjust = !fmod && r != 0 && ((r < 0) != (b.value() < 0));
  return Dim(adjust ? r + b.value() : r);
}

Dim PowDims(const Dim& a, const Dim& b) {
  if (!b.is_known() || b.value() < 0 || b.value() > 62) return Dim::Unknown();
  Dim r(1);
  for (int64_t i = 0; i < b.value(); ++i) r = r * a;
  return r;
}

Dim LogicDims(ValueOp op, const Dim& a, const Dim& b) {
  auto falsy = [](const Dim& d) { return d.is_known() && d.value() == 0; };
  auto truthy = [](const Dim& d) { return d.is_known() && d.value() != 0; };
  if (op == ValueOp::kAnd && (falsy(a) || falsy(b))) return Truth(false);
  if (op == ValueOp::kOr && (truthy(a) || truthy(b))) return Truth(true);
  if (!a.is_known() || !b.is_known()) return Dim::Unknown();
  const bool x = a.value() != 0;
  const bool y = b.value() != 0;
  return Truth(op == ValueOp::kAnd ? x && y : op == ValueOp::kOr ? x || y : x != y);
}

Dim ApplyDims(ValueOp op, const Dim& a, const Dim& b, bool fmod) {
  switch (op) {
    case ValueOp::kAdd:
      return a + b;
    case ValueOp::kSub:
      return a - b;
    case ValueOp::kMul:
      return a * b;
    case ValueOp::kDiv:
      return DivideDims(a, b);
    case ValueOp::kMod:
      return ModDims(a, b, fmod);
    case ValueOp::kPow:
      return PowDims(a, b);
    case ValueOp::kMin:
      return Min(a, b);
    case ValueOp::kMax:
      return Max(a, b);
    case ValueOp::kAnd:
    case ValueOp::kOr:
    case ValueOp::kXor:
      return LogicDims(op, a, b);
    case ValueOp::kMean:
      return Dim::Unknown();
    default:
      return CompareDims(op, a, b);
  }
}

double ApplyFloats(ValueOp op, double a, double b, bool fmod) {
  switch (op) {
    case ValueOp::kAdd:
    case ValueOp::kMean:
      return a + b;
    case ValueOp::kSub:
      return a - b;
    case ValueOp::kMul:
      return a * b;
    case ValueOp::kDiv:
      return a / b;
    case ValueOp::kMod:
      return fmod ? std::fmod(a, b) : a - b * std::floor(a / b);
    case ValueOp::kPow:
      return std::pow(a, b);
    case ValueOp::kMin:
      return std::min(a, b);
    case ValueOp::kMax:
      return std::max(a, b);
    default:
      return 0;
  }
}

// Values that pass through float32 in the runtime are rounded as it rounds them: floor(0.1f * 10) must come out alike.
double Rounded(DataType t, double v) {
  return t == DataType::kFloat64 ? v : static_cast<double>(static_cast<float>(v));
}

std::optional<std::vector<int64_t>> BroadcastDims(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<int64_t> out(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the last dimension
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// The flat position in an operand with `dims` of the element at flat position `flat` of the broadcast shape `out`.
size_t OperandPosition(const std::vector<int64_t>& dims, const std::vector<int64_t>& out, size_t flat) {
  size_t position = 0;
  size_t stride = 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t extent = static_cast<size_t>(out[out.size() - 1 - i]);
    const size_t index = flat % extent;
    flat /= extent;
    if (i >= dims.size()) continue;
    const size_t own = static_cast<size_t>(dims[dims.size() - 1 - i]);
    if (own != 1) position += index * stride;
    stride *= own;
  }
  return position;
}

std::optional<ConstantValue> Combine(ValueOp op, const ConstantValue& a, const ConstantValue& b, bool fmod) {
  if (a.is_float() != b.is_float() || a.dtype == DataType::kString || b.dtype == DataType::kString) return std::nullopt;
  auto dims = BroadcastDims(a.dims, b.dims);
  if (!dims) return std::nullopt;
  auto count = SmallElementCount(*dims);
  if (!count) return std::nullopt;
  ConstantValue r;
  r.dtype = IsComparison(op) ? DataType::kBool : a.dtype;
  r.dims = std::move(*dims);
  const bool plain = a.dims == r.dims && b.dims == r.dims;
  for (size_t i = 0; i < *count; ++i) {
    const size_t x = plain ? i : OperandPosition(a.dims, r.dims, i);
    const size_t y = plain ? i : OperandPosition(b.dims, r.dims, i);
    if (!a.is_float()) {
      r.ints.push_back(ApplyDims(op, a.ints[x], b.ints[y], fmod));
    } else if (IsComparison(op)) {
      r.ints.push_back(Truth(Compare(op, a.floats[x], b.floats[y])));
    } else {
      r.floats.push_back(Rounded(r.dtype, ApplyFloats(op, a.floats[x], b.floats[y], fmod)));
    }
  }
  return r;
}

double HalfToEven(double v) { return std::nearbyint(v); }

double ApplyUnary(UnaryOp op, double v) {
  switch (op) {
    case UnaryOp::kNot:
      return v == 0 ? 1 : 0;
    case UnaryOp::kNeg:
      return -v;
    case UnaryOp::kAbs:
      return std::abs(v);
    case UnaryOp::kFloor:
      return std::floor(v);
    case UnaryOp::kCeil:
      return std::ceil(v);
    case UnaryOp::kRound:
      return HalfToEven(v);
    case UnaryOp::kSqrt:
      return std::sqrt(v);
    case UnaryOp::kReciprocal:
      return 1 / v;
    case UnaryOp::kExp:
      return std::exp(v);
    case UnaryOp::kLog:
      return std::log(v);
    case UnaryOp::kSign:
      return v > 0 ? 1 : v < 0 ? -1 : 0;
    case UnaryOp::kRelu:
      return std::max(v, 0.0);
  }
  return v;
}

Dim ApplyUnary(UnaryOp op, const Dim& d) {
  switch (op) {
    case UnaryOp::kNot:
      return d.is_known() ? Truth(d.value() == 0) : Dim::Unknown();
    case UnaryOp::kNeg:
      return Dim(0) - d;
    case UnaryOp::kAbs:
      return d.is_known() ? Max(d, Dim(0) - d) : IsPlainSymbol(d) ? d : Dim::Unknown();
    case UnaryOp::kSign:
      return d.is_known() ? Dim(d.value() > 0 ? 1 : d.value() < 0 ? -1 : 0) : Dim::Unknown();
    case UnaryOp::kRelu:
      return Max(d, Dim(0));
    case UnaryOp::kFloor:
    case UnaryOp::kCeil:
    case UnaryOp::kRound:
      return d;
    default:
      return Dim::Unknown();
  }
}

ConstantValue ReduceConstant(ValueOp op, const ConstantValue& v, const std::vector<int>& axes, bool keep) {
  std::vector<int64_t> kept_dims = v.dims;
  for (int a : axes) kept_dims[static_cast<size_t>(a)] = 1;
  const size_t out_count = SmallElementCount(kept_dims).value_or(0);
  std::vector<std::optional<Dim>> ints(v.is_float() ? 0 : out_count);
  std::vector<std::optional<double>> floats(v.is_float() ? out_count : 0);
  for (size_t i = 0; i < v.size(); ++i) {
    const size_t o = OperandPosition(kept_dims, v.dims, i);
    if (v.is_float()) {
      floats[o] = floats[o] ? ApplyFloats(op, *floats[o], v.floats[i], false) : v.floats[i];
    } else {
      ints[o] = ints[o] ? ApplyDims(op == ValueOp::kMean ? ValueOp::kAdd : op, *ints[o], v.ints[i], false) : v.ints[i];
    }
  }
  const size_t per_output = out_count == 0 ? 1 : std::max<size_t>(1, v.size() / out_count);
  ConstantValue r;
  r.dtype = v.dtype;
  for (size_t i = 0; i < kept_dims.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
    if (!reduced || keep) r.dims.push_back(kept_dims[i]);
  }
  const double identity = op == ValueOp::kMul ? 1 : 0;  // of an empty sum or product
  for (const auto& f : floats) {
    const double x = f.value_or(identity);
    r.floats.push_back(Rounded(r.dtype, op == ValueOp::kMean ? x / static_cast<double>(per_output) : x));
  }
  for (const auto& d : ints) {
    const Dim x = d.value_or(Dim(static_cast<int64_t>(identity)));
    r.ints.push_back(op == ValueOp::kMean ? DivideDims(x, Dim(static_cast<int64_t>(per_output))) : x);
  }
  return r;
}

}  // namespace

std::optional<size_t> SmallElementCount(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return std::nullopt;
  }
  if (n > ConstantValue::kMaxElements) return std::nullopt;
  return static_cast<size_t>(n);
}

ConstantValue IntVector(std::vector<Dim> elements) {
  ConstantValue v;
  v.dtype = DataType::kInt64;
  v.dims = {static_cast<int64_t>(elements.size())};
  v.ints = std::move(elements);
  return v;
}

ConstantValue IntScalar(Dim element) {
  ConstantValue v;
  v.dtype = DataType::kInt64;
  v.ints = {std::move(element)};
  return v;
}

ConstantValue TakeElements(const ConstantValue& v, const std::vector<size_t>& positions, std::vector<int64_t> dims) {
  ConstantValue r;
  r.dtype = v.dtype;
  r.dims = std::move(dims);
  for (size_t p : positions) {
    if (v.is_float()) {
      r.floats.push_back(v.floats[p]);
    } else if (v.dtype == DataType::kString) {
      r.strings.push_back(v.strings[p]);
    } else {
      r.ints.push_back(v.ints[p]);
    }
  }
  return r;
}

std::optional<Constants> KnownInputs(InferenceContext& c, int first) {
  const int n = c.input_count();
  if (n <= first) return std::nullopt;
  Constants values(static_cast<size_t>(n - first));
  for (const bool from_file : {false, true}) {
    for (int i = first; i < n; ++i) {
      if (!c.has_input(i) || c.is_constant(i) != from_file) continue;
      auto v = c.constant(i);
      if (!v) return std::nullopt;
      values[static_cast<size_t>(i - first)] = std::move(v);
    }
  }
  return values;
}

ValueRule ElementwiseValue(ValueOp op) {
  return [op](InferenceContext& c) {
    auto in = KnownInputs(c);
    if (!in || !in->front()) return;
    const bool fmod = op == ValueOp::kMod && c.node().Int("fmod", 0) != 0;
    ConstantValue r = *in->front();
    for (size_t i = 1; i < in->size(); ++i) {
      if (!(*in)[i]) return;
      auto combined = Combine(op, r, *(*in)[i], fmod);
      if (!combined) return;
      r = std::move(*combined);
    }
    if (op == ValueOp::kMean) {
      for (double& f : r.floats) f = Rounded(r.dtype, f / static_cast<double>(in->size()));
    }
    c.set_output_constant(0, std::move(r));
  };
}

ValueRule UnaryValue(UnaryOp op) {
  return [op](InferenceContext& c) {
    auto v = c.has_input(0) ? c.constant(0) : nullptr;
    if (!v || v->dtype == DataType::kString) return;
    ConstantValue r = *v;
    for (Dim& d : r.ints) d = ApplyUnary(op, d);
    for (double& f : r.floats) f = Rounded(r.dtype, ApplyUnary(op, f));
    c.set_output_constant(0, std::move(r));
  };
}

ValueRule WhereValue() {
  return [](InferenceContext& c) {
    auto in = KnownInputs(c);
    if (!in || in->size() != 3 || !(*in)[0] || !(*in)[1] || !(*in)[2]) return;
    const ConstantValue& condition = *(*in)[0];
    const ConstantValue& x = *(*in)[1];
    const ConstantValue& y = *(*in)[2];
    if (condition.is_float() || x.is_float() != y.is_float() || x.dtype == DataType::kString) return;
    auto dims = BroadcastDims(condition.dims, x.dims);
    if (dims) dims = BroadcastDims(*dims, y.dims);
    auto count = dims ? SmallElementCount(*dims) : std::nullopt;
    if (!count) return;
    ConstantValue r;
    r.dtype = x.dtype;
    r.dims = std::move(*dims);
    for (size_t i = 0; i < *count; ++i) {
      const Dim& which = condition.ints[OperandPosition(condition.dims, r.dims, i)];
      const size_t px = OperandPosition(x.dims, r.dims, i);
      const size_t py = OperandPosition(y.dims, r.dims, i);
      if (x.is_float()) {
        if (!which.is_known()) return;
        r.floats.push_back(which.value() != 0 ? x.floats[px] : y.floats[py]);
      } else if (which.is_known()) {
        r.ints.push_back(which.value() != 0 ? x.ints[px] : y.ints[py]);
      } else {
        r.ints.push_back(x.ints[px] == y.ints[py] ? x.ints[px] : Dim::Unknown());
      }
    }
    c.set_output_constant(0, std::move(r));
  };
}

ValueRule ClipValue() {
  return [](InferenceContext& c) {
    auto v = c.has_input(0) ? c.constant(0) : nullptr;
    if (!v || v->dtype == DataType::kString) return;
    ConstantValue r = *v;
    for (int bound : {1, 2}) {
      const bool lower = bound == 1;
      if (c.has_input(bound)) {
        auto b = c.constant(bound);
        if (!b || b->size() != 1 || b->is_float() != r.is_float()) return;
        for (Dim& d : r.ints) d = lower ? Max(d, b->ints[0]) : Min(d, b->ints[0]);
        for (double& f : r.floats) f = lower ? std::max(f, b->floats[0]) : std::min(f, b->floats[0]);
      } else if (auto b = c.node().Float(lower ? "min" : "max")) {
        for (double& f : r.floats) f = lower ? std::max(f, *b) : std::min(f, *b);
      }
    }
    c.set_output_constant(0, std::move(r));
  };
}

ValueRule ReduceValue(ValueOp op) {
  return [op](InferenceContext& c) {
    auto v = c.has_input(0) ? c.constant(0) : nullptr;
    if (!v || v->dtype == DataType::kString) return;
    const IntsArgument argument = AttributeOrInput(c, "axes", 1);
    if (argument.given && !argument.ints) return;
    std::vector<int64_t> wanted = argument.ints.value_or(std::vector<int64_t>{});
    if (wanted.empty()) {
      if (c.node().Int("noop_with_empty_axes", 0) != 0) {
        c.set_output_constant(0, *v);
        return;
      }
      for (size_t i = 0; i < v->dims.size(); ++i) wanted.push_back(static_cast<int64_t>(i));
    }
    auto axes = ResolveAxes(wanted, static_cast<int>(v->dims.size()));
    if (!axes.ok()) return;
    // The extreme of nothing has no identity among small numbers.
    if (v->size() == 0 && (op == ValueOp::kMin || op == ValueOp::kMax || op == ValueOp::kMean)) return;
    c.set_output_constant(0, ReduceConstant(op, *v, *axes, c.node().Int("keepdims", 1) != 0));
  };
}

ValueRule SameValue(int input) {
  return [input](InferenceContext& c) {
    if (!c.has_input(input)) return;
    if (auto v = c.constant(input)) c.set_output_constant(0, *v);
  };
}

}  // namespace simpred
