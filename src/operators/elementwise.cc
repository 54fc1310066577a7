// Operators whose output elements each come from the input elements at the same place: arithmetic, activations,
// comparisons, logic, with NumPy's broadcasting.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "operators/activations.h"
#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"
#include "operators/value_rules.h"

namespace simpred {
namespace {

// Binary arithmetic. Before operator set 7 the second operand was aligned by attributes `axis` and `broadcast`, and the
// result always had the first one's shape. Undefined `result`: the type of the first input.
ShapeRule Binary(DataType result = DataType::kUndefined) {
  return [result](InferenceContext& c) -> Status {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
    const DataType type = result == DataType::kUndefined ? c.input(0).dtype : result;
    const bool aligned_by_attribute = c.opset() > 0 && c.opset() < 7 && c.node().Int("broadcast", 0) != 0;
    if (aligned_by_attribute) {
      c.set_output(0, Tensor(type, c.input(0).shape));
      return OkStatus();
    }
    SIMPRED_ASSIGN_OR_RETURN(Shape out, BroadcastOf(c, 0, 2));
    c.set_output(0, Tensor(type, std::move(out)));
    return OkStatus();
  };
}

// The slope broadcasts to X, never the other way round. Before operator set 7 it could also be one per channel.
Status PReluShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const Shape& x = c.input(0).shape;
  const Shape& slope = c.input(1).shape;
  const bool per_channel = c.opset() > 0 && c.opset() < 7;
  if (!per_channel && x.has_rank() && slope.has_rank()) {
    const std::optional<Shape> both = Broadcast(x, slope);
    if (!both || (both->is_static() && x.is_static() && *both != x)) {
      return ModelError(fmt::format("slope {} does not broadcast to X {}", slope.ToString(), x.ToString()));
    }
  }
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status WhereShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 3));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, BroadcastOf(c, 0, 3));
  c.set_output(0, Tensor(c.input(1).dtype, std::move(out)));
  return OkStatus();
}

// Y, and a mask that was of the data's type before operator set 10.
Status DropoutShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  c.set_output(0, c.input(0));
  if (c.output_count() > 1) {
    const bool old = c.opset() > 0 && c.opset() < 10;
    c.set_output(1, Tensor(old ? c.input(0).dtype : DataType::kBool, c.input(0).shape));
  }
  return OkStatus();
}

// At inference the data passes through; a mask that somebody reads is written.
Work DropoutWork(const CostContext& c) {
  Work work;
  if (c.outputs.size() > 1 && c.outputs[1].present) work.written = c.outputs[1].bytes();
  return work;
}

Status SwiGluShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const std::optional<Shape> both = Merge(c.input(0).shape, c.input(1).shape);
  if (!both) {
    return ModelError(fmt::format("gate {} and value {} must have the same shape", c.input(0).shape.ToString(),
                                  c.input(1).shape.ToString()));
  }
  c.set_output(0, Tensor(c.input(0).dtype, *both));
  return OkStatus();
}

// A constant exponent of 2, 3 or 1/2 is multiplied out or a root; others cost a logarithm and an exponential.
Work PowWork(const CostContext& c) {
  double operations = cost::kPow;
  const std::shared_ptr<const ConstantValue> exponent = c.constant ? c.constant(1) : nullptr;
  if (exponent != nullptr && exponent->size() == 1) {
    const double e = exponent->is_float() ? exponent->floats[0]
                     : exponent->ints.empty() || !exponent->ints[0].is_known()
                         ? std::nan("")
                         : static_cast<double>(exponent->ints[0].value());
    if (e == 0.5) operations = cost::kSqrt;
    if (e == 1 || e == 2) operations = cost::kMultiply;
    if (e == 3) operations = 2 * cost::kMultiply;
  }
  Work work = TrafficOf(c);
  work.flops = Flops(OutputElements(c) * operations);
  return work;
}

Work GeluWork(const CostContext& c) {
  const bool tanh = c.node != nullptr && c.node->String("approximate", "none") == "tanh";
  Work work = TrafficOf(c);
  work.flops = Flops(OutputElements(c) * (tanh ? cost::kGeluTanh : cost::kGelu));
  return work;
}

// n inputs: n - 1 operations, and what is done once at the end. One input: a copy counts as one.
CostRule Variadic(double at_end) {
  return [at_end](const CostContext& c) {
    const double count = static_cast<double>(c.inputs.size());
    Work work = TrafficOf(c);
    work.flops = Flops(OutputElements(c) * ((count > 2 ? count - 1 : 1) * cost::kAdd + at_end));
    return work;
  };
}

class Family {
 public:
  explicit Family(Registry& r) : registry_(r) {}
  void Add(const char* type, ShapeRule shape, CostRule cost, ValueRule value = nullptr) {
    registry_.Add({.type = type,
                   .op_class = OperatorClass::kElementwise,
                   .shape = std::move(shape),
                   .value = std::move(value),
                   .cost = std::move(cost),
                   .source = "the defining formula on the ONNX operator page, operations per output element"});
  }
  void Unary(const char* type, double operations, ValueRule value = nullptr) {
    Add(type, SameAsInput(), PerElement(operations), std::move(value));
  }

 private:
  Registry& registry_;
};

void AddUnaryMath(Family& f) {
  f.Unary("Abs", cost::kAbs, UnaryValue(UnaryOp::kAbs));
  f.Unary("Neg", cost::kAdd, UnaryValue(UnaryOp::kNeg));
  f.Unary("Sign", cost::kRound, UnaryValue(UnaryOp::kSign));
  f.Unary("Ceil", cost::kRound, UnaryValue(UnaryOp::kCeil));
  f.Unary("Floor", cost::kRound, UnaryValue(UnaryOp::kFloor));
  f.Unary("Round", cost::kRound, UnaryValue(UnaryOp::kRound));
  f.Unary("Sqrt", cost::kSqrt, UnaryValue(UnaryOp::kSqrt));
  f.Unary("Reciprocal", cost::kReciprocal, UnaryValue(UnaryOp::kReciprocal));
  f.Unary("Exp", cost::kExp, UnaryValue(UnaryOp::kExp));
  f.Unary("Log", cost::kLog, UnaryValue(UnaryOp::kLog));
  f.Unary("Erf", cost::kErf);
  f.Unary("Sin", cost::kSin);
  f.Unary("Cos", cost::kSin);
  f.Unary("Tan", cost::kTan);
  for (const char* type : {"Asin", "Acos", "Atan"}) f.Unary(type, cost::kArcTrigonometric);
  for (const char* type : {"Sinh", "Cosh"}) f.Unary(type, cost::kHyperbolic);
  for (const char* type : {"Asinh", "Acosh", "Atanh"}) f.Unary(type, cost::kArcHyperbolic);
  f.Unary("BitwiseNot", cost::kAdd);
  f.Unary("Not", cost::kAdd, UnaryValue(UnaryOp::kNot));
  f.Add("IsNaN", SameShapeWithType(DataType::kBool), PerElement(cost::kAdd));
  f.Add("IsInf", SameShapeWithType(DataType::kBool), PerElement(2 * cost::kAdd));
}

void AddActivations(Family& f) {
  for (const Activation& a : Activations()) {
    if (!a.is_operator) continue;
    f.Unary(std::string(a.name).c_str(), a.operations, a.name == "Relu" ? UnaryValue(UnaryOp::kRelu) : nullptr);
  }
  f.Add("Gelu", SameAsInput(), GeluWork);
  f.Add("PRelu", PReluShape, PerElement(cost::kLeakyRelu));
  f.Add("SwiGLU", SwiGluShape, PerElement(ActivationOperations("Swiglu")));
  f.Add("Clip", SameAsInput(), PerElement(ActivationOperations("Clip")), ClipValue());
  f.Unary("ImageScaler", cost::kMultiplyAdd);  // of the first operator sets: one scale, a bias per channel
}

void AddBinary(Family& f) {
  f.Add("Add", Binary(), PerElement(cost::kAdd), ElementwiseValue(ValueOp::kAdd));
  f.Add("Sub", Binary(), PerElement(cost::kAdd), ElementwiseValue(ValueOp::kSub));
  f.Add("Mul", Binary(), PerElement(cost::kMultiply), ElementwiseValue(ValueOp::kMul));
  f.Add("Div", Binary(), PerElement(cost::kDivide), ElementwiseValue(ValueOp::kDiv));
  f.Add("Mod", Binary(), PerElement(cost::kModulo), ElementwiseValue(ValueOp::kMod));
  f.Add("Pow", Binary(), PowWork, ElementwiseValue(ValueOp::kPow));
  for (const char* type : {"BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    f.Add(type, Binary(), PerElement(cost::kAdd));
  }
  const auto predicate = [&](const char* type, ValueOp op) {
    f.Add(type, Binary(DataType::kBool), PerElement(cost::kAdd), ElementwiseValue(op));
  };
  predicate("Equal", ValueOp::kEqual);
  predicate("Less", ValueOp::kLess);
  predicate("LessOrEqual", ValueOp::kLessOrEqual);
  predicate("Greater", ValueOp::kGreater);
  predicate("GreaterOrEqual", ValueOp::kGreaterOrEqual);
  predicate("And", ValueOp::kAnd);
  predicate("Or", ValueOp::kOr);
  predicate("Xor", ValueOp::kXor);
}

}  // namespace

void RegisterElementwise(Registry& r) {
  Family f(r);
  AddUnaryMath(f);
  AddActivations(f);
  AddBinary(f);
  f.Add("Sum", BroadcastInputs(), Variadic(0), ElementwiseValue(ValueOp::kAdd));
  f.Add("Max", BroadcastInputs(), Variadic(0), ElementwiseValue(ValueOp::kMax));
  f.Add("Min", BroadcastInputs(), Variadic(0), ElementwiseValue(ValueOp::kMin));
  f.Add("Mean", BroadcastInputs(), Variadic(cost::kMultiply), ElementwiseValue(ValueOp::kMean));
  f.Add("Where", WhereShape, PerElement(cost::kAdd), WhereValue());
  r.Add({.type = "Dropout",
         .op_class = OperatorClass::kView,
         .shape = DropoutShape,
         .cost = DropoutWork,
         .source = "ONNX operator page Dropout: the identity at inference"});
}

}  // namespace simpred
