#include "operators/matmul.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "operators/cost_constants.h"
#include "operators/einsum.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

// The shape after the form's transpositions. Vectors stay as they are.
Shape Arrange(const Shape& s, bool trans, bool trans_batch) {
  Shape out = s;
  std::vector<Dim>& dims = out.dims();
  if (trans_batch && dims.size() >= 3) {  // [b0, b1, ..., m, k] -> [b1, ..., m, b0, k]
    const Dim first = dims.front();
    dims.erase(dims.begin());
    dims.insert(dims.end() - 1, first);
  }
  if (trans && dims.size() >= 2) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return out;
}

Status CheckInner(const Dim& inner_a, const Dim& inner_b, const Shape& a, const Shape& b) {
  if (inner_a.is_known() && inner_b.is_known() && inner_a.value() != inner_b.value()) {
    return ModelError(fmt::format("inner dimensions of {} and {} differ: {} and {}", a.ToString(), b.ToString(),
                                  inner_a.value(), inner_b.value()));
  }
  return OkStatus();
}

Shape BatchOf(const Shape& s) {
  if (s.rank() <= 2) return Shape::Scalar();
  return Shape(std::vector<Dim>(s.dims().begin(), s.dims().end() - 2));
}

}  // namespace

MatMulForm FormOf(const Node& node) {
  return {.trans_a = node.Int("transA", 0) != 0,
          .trans_b = node.Int("transB", 0) != 0,
          .trans_batch_a = node.Int("transBatchA", 0) != 0,
          .trans_batch_b = node.Int("transBatchB", 0) != 0};
}

Result<Shape> MatMulOutputShape(const Shape& a_given, const Shape& b_given, const MatMulForm& form) {
  if (!a_given.has_rank() || !b_given.has_rank()) return Shape();
  if (a_given.rank() == 0 || b_given.rank() == 0) {
    return ModelError(
        fmt::format("a scalar cannot be multiplied as a matrix: {} and {}", a_given.ToString(), b_given.ToString()));
  }
  const Shape a = Arrange(a_given, form.trans_a, form.trans_batch_a);
  const Shape b = Arrange(b_given, form.trans_b, form.trans_batch_b);
  SIMPRED_RETURN_IF_ERROR(CheckInner(a.dim(-1), b.rank() == 1 ? b.dim(0) : b.dim(-2), a_given, b_given));
  std::optional<Shape> batch = Broadcast(BatchOf(a), BatchOf(b));
  if (!batch) {
    return ModelError(fmt::format("batches of {} and {} do not broadcast", a_given.ToString(), b_given.ToString()));
  }
  std::vector<Dim> dims = batch->dims();
  if (a.rank() > 1) dims.push_back(a.dim(-2));
  if (b.rank() > 1) dims.push_back(b.dim(-1));
  return Shape(std::move(dims));
}

ShapeRule MatMulShapeRule(int a, int b, DataType dtype) {
  return [a, b, dtype](InferenceContext& c) -> Status {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, (a > b ? a : b) + 1));
    SIMPRED_ASSIGN_OR_RETURN(Shape out, MatMulOutputShape(c.input(a).shape, c.input(b).shape, FormOf(c.node())));
    c.set_output(0, Tensor(dtype == DataType::kUndefined ? c.input(a).dtype : dtype, std::move(out)));
    return OkStatus();
  };
}

Result<Shape> GemmOutputShape(const InferenceContext& c, int a, int b, int bias) {
  SIMPRED_ASSIGN_OR_RETURN(const Shape left, RequireRank(c, a, 2));
  SIMPRED_ASSIGN_OR_RETURN(const Shape right, RequireRank(c, b, 2));
  SIMPRED_ASSIGN_OR_RETURN(Shape out, MatMulOutputShape(left, right, FormOf(c.node())));
  if (bias >= 0 && c.has_input(bias)) {
    const Shape& added = c.input(bias).shape;
    const std::optional<Shape> both = Broadcast(out, added);
    const bool fits =
        both && (!both->has_rank() || both->rank() == 2) && (!both->is_static() || !out.is_static() || *both == out);
    if (!fits) {
      return ModelError(fmt::format("bias {} does not broadcast to {}", added.ToString(), out.ToString()));
    }
  }
  return out;
}

ShapeRule GemmShapeRule(int a, int b, int bias, DataType dtype) {
  return [a, b, bias, dtype](InferenceContext& c) -> Status {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, (a > b ? a : b) + 1));
    SIMPRED_ASSIGN_OR_RETURN(Shape out, GemmOutputShape(c, a, b, bias));
    c.set_output(0, Tensor(dtype == DataType::kUndefined ? c.input(a).dtype : dtype, std::move(out)));
    return OkStatus();
  };
}

Work MatMulWork(const CostContext& c, size_t a, double per_output) {
  Work work = TrafficOf(c);
  double inner = 1;
  if (a < c.inputs.size() && !c.inputs[a].dims.empty()) {
    std::vector<Dim> dims(c.inputs[a].dims.begin(), c.inputs[a].dims.end());
    const MatMulForm form = c.node != nullptr ? FormOf(*c.node) : MatMulForm();
    inner = static_cast<double>(Arrange(Shape(std::move(dims)), form.trans_a, form.trans_batch_a).dim(-1).value());
  }
  work.flops = Flops(OutputElements(c) * (cost::kMultiplyAdd * inner + per_output));
  return work;
}

CostRule MatMulCostRule(int a, double per_output) {
  return [a, per_output](const CostContext& c) { return MatMulWork(c, static_cast<size_t>(a), per_output); };
}

CostRule GemmCostRule(int a, int bias, double per_output) {
  return [a, bias, per_output](const CostContext& c) {
    const size_t i = static_cast<size_t>(bias);
    const bool biased = bias >= 0 && i < c.inputs.size() && c.inputs[i].present;
    return MatMulWork(c, static_cast<size_t>(a), per_output + (biased ? cost::kAdd : 0));
  };
}

namespace {

Status EinsumShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  std::vector<Shape> operands;
  for (int i = 0; i < c.input_count(); ++i) operands.push_back(c.input(i).shape);
  SIMPRED_ASSIGN_OR_RETURN(Einsum e, ParseEinsum(c.node().String("equation", ""), operands));
  c.set_output(0, Tensor(c.input(0).dtype, std::move(e.output)));
  return OkStatus();
}

Work EinsumWork(const CostContext& c) {
  Work work = TrafficOf(c);
  std::vector<Shape> operands;
  for (const CostTensor& t : c.inputs) operands.emplace_back(std::vector<Dim>(t.dims.begin(), t.dims.end()));
  Result<Einsum> e = ParseEinsum(c.node != nullptr ? c.node->String("equation", "") : "", operands);
  if (e.ok()) work.flops = EinsumFlops(*e);
  return work;
}

// [batch..., M, M] -> [batch...].
Status DetShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  SIMPRED_ASSIGN_OR_RETURN(const Shape x, RequireRankAtLeast(c, 0, 2));
  if (!x.has_rank()) {
    c.set_output(0, Tensor(c.input(0).dtype));
    return OkStatus();
  }
  SIMPRED_RETURN_IF_ERROR(CheckInner(x.dim(-1), x.dim(-2), x, x));
  c.set_output(0, Tensor(c.input(0).dtype, BatchOf(x)));
  return OkStatus();
}

// LU decomposition: 2/3 M^3 operations for each matrix.
Work DetWork(const CostContext& c) {
  Work work = TrafficOf(c);
  if (c.inputs.empty() || c.inputs[0].dims.empty()) return work;
  work.flops = Flops(InputElements(c) * static_cast<double>(c.inputs[0].dims.back()) * 2 / 3);
  return work;
}

}  // namespace

void RegisterMatMul(Registry& r) {
  const char* const source = "2 * batch * M * N * K: a multiply-add per term of each dot product";
  const auto add = [&](const char* type, ShapeRule shape, CostRule cost, const char* from) {
    r.Add({.type = type,
           .op_class = OperatorClass::kMatMul,
           .shape = std::move(shape),
           .cost = std::move(cost),
           .source = from});
  };
  add("MatMul", MatMulShapeRule(0, 1), MatMulCostRule(0), source);
  add("Gemm", GemmShapeRule(0, 1, 2), GemmCostRule(0, 2), source);
  add("MatMulInteger", MatMulShapeRule(0, 1, DataType::kInt32), MatMulCostRule(0), source);
  add(
      "QLinearMatMul",
      [](InferenceContext& c) -> Status {
        SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 4));
        SIMPRED_ASSIGN_OR_RETURN(Shape out, MatMulOutputShape(c.input(0).shape, c.input(3).shape));
        const DataType type = c.has_input(7) ? c.input(7).dtype : c.input(0).dtype;  // that of y_zero_point
        c.set_output(0, Tensor(type, std::move(out)));
        return OkStatus();
      },
      MatMulCostRule(0, cost::kQuantize), source);
  add("Einsum", EinsumShape, EinsumWork, "operands contracted from left to right, each step over all its labels");
  add("Det", DetShape, DetWork, "LU decomposition, 2/3 M^3 (Golub and Van Loan, Matrix Computations, section 3.2)");
}

}  // namespace simpred
