// How are floats made integers and back? QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

Status QuantizeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  DataType type = DataType::kUInt8;
  if (c.has_input(2) && c.input(2).dtype != DataType::kUndefined) {
    type = c.input(2).dtype;
  } else if (const int64_t wanted = c.node().Int("output_dtype", 0); wanted != 0) {
    type = FromOnnxType(wanted);
  }
  c.set_output(0, Tensor(type, c.input(0).shape));
  return OkStatus();
}

Status DequantizeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const int64_t wanted = c.node().Int("output_dtype", 0);
  c.set_output(0, Tensor(wanted != 0 ? FromOnnxType(wanted) : c.input(1).dtype, c.input(0).shape));
  return OkStatus();
}

Status DynamicQuantizeShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  c.set_output(0, Tensor(DataType::kUInt8, c.input(0).shape));
  c.set_output(1, Tensor(DataType::kFloat32, Shape::Scalar()));
  c.set_output(2, Tensor(DataType::kUInt8, Shape::Scalar()));
  return OkStatus();
}

// Two passes: the range first (a minimum and a maximum an element), then quantisation.
Work DynamicQuantizeCost(const CostContext& c) {
  Work w = TrafficOf(c);
  w.read += ReadOf(c, 0);
  w.flops = Flops((2 * cost::kAdd + cost::kQuantize) * InputElements(c));
  return w;
}

}  // namespace

void RegisterQuantization(Registry& r) {
  for (const char* domain : {"", "com.microsoft"}) {
    r.Add({.type = "QuantizeLinear",
           .domain = domain,
           .op_class = OperatorClass::kQuantization,
           .shape = QuantizeShape,
           .cost = PerElement(cost::kQuantize),
           .source = "ONNX QuantizeLinear: saturate(round(x / scale) + zero point)"});
    r.Add({.type = "DequantizeLinear",
           .domain = domain,
           .op_class = OperatorClass::kQuantization,
           .shape = DequantizeShape,
           .cost = PerElement(cost::kDequantize),
           .source = "ONNX DequantizeLinear: (x - zero point) * scale"});
  }
  r.Add({.type = "DynamicQuantizeLinear",
         .op_class = OperatorClass::kQuantization,
         .shape = DynamicQuantizeShape,
         .cost = DynamicQuantizeCost,
         .source = "ONNX DynamicQuantizeLinear: the range of the input, then QuantizeLinear"});
}

}  // namespace simpred
