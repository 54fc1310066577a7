// Tests only: one node, its inputs given by hand, its rule run as the engine would.
//
//   RuleTester t("Conv");
//   t.In({1, 3, 224, 224}).In({64, 3, 7, 7}).Attr("strides", {2, 2}).Attr("pads", {3, 3, 3, 3});
//   EXPECT_EQ(t.Shape0(), "[1, 64, 112, 112]");
//   EXPECT_EQ(t.Cost().flops.count(), 236027904);
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operators/registry.h"

namespace simpred {

class RuleTester : public InferenceContext {
 public:
  explicit RuleTester(std::string type, std::string domain = "", int64_t opset = 0)
      : opset_(opset != 0       ? opset
               : domain.empty() ? 23
                                : 1) {
    node_.op_type = std::move(type);
    node_.domain = std::move(domain);
    node_.outputs = {0};
    rule_ = Registry::Default().Find(node_);
    EXPECT_NE(rule_, nullptr) << node_.op_type;
  }

  RuleTester& In(Shape shape, DataType type = DataType::kFloat32, bool constant = false) {
    inputs_.push_back({TensorType{ValueKind::kTensor, type, std::move(shape)}, true, constant, nullptr});
    return *this;
  }
  RuleTester& Weights(Shape shape, DataType type = DataType::kFloat32) { return In(std::move(shape), type, true); }
  RuleTester& Unknown() { return In(Shape()); }
  RuleTester& None() {
    inputs_.push_back({TensorType{ValueKind::kUnknown, DataType::kUndefined, {}}, false, false, nullptr});
    return *this;
  }
  RuleTester& Ints(std::vector<Dim> elements) {
    ConstantValue v;
    v.dtype = DataType::kInt64;
    v.dims = {static_cast<int64_t>(elements.size())};
    v.ints = std::move(elements);
    return Constant(std::move(v));
  }
  RuleTester& Int(Dim element) {
    ConstantValue v;
    v.dtype = DataType::kInt64;
    v.ints = {std::move(element)};
    return Constant(std::move(v));
  }
  RuleTester& Float(double element) {
    ConstantValue v;
    v.dtype = DataType::kFloat32;
    v.floats = {element};
    return Constant(std::move(v));
  }
  RuleTester& Attr(const char* key, std::vector<int64_t> v) {
    node_.Set(key, std::move(v));
    return *this;
  }
  RuleTester& Attr(const char* key, int v) {
    node_.Set(key, int64_t{v});
    return *this;
  }
  RuleTester& Attr(const char* key, int64_t v) {
    node_.Set(key, v);
    return *this;
  }
  RuleTester& Attr(const char* key, const char* v) {
    node_.Set(key, std::string(v));
    return *this;
  }
  RuleTester& Outputs(int n) {
    node_.outputs.resize(static_cast<size_t>(n), 0);
    return *this;
  }

  Status Run() {
    outputs_.assign(node_.outputs.size(), TensorType{ValueKind::kUnknown, DataType::kUndefined, {}});
    return rule_ != nullptr && rule_->shape ? rule_->shape(*this) : InternalError("no shape rule");
  }
  // Text of output i's shape, or the error.
  std::string ShapeText(int i) {
    const Status s = Run();
    return s.ok() ? outputs_[static_cast<size_t>(i)].shape.ToString() : "error: " + std::string(s.message());
  }
  std::string Shape0() { return ShapeText(0); }
  DataType Type(int i) {
    EXPECT_TRUE(Run().ok());
    return outputs_[static_cast<size_t>(i)].dtype;
  }
  Work Cost() {
    const Status s = Run();
    EXPECT_TRUE(s.ok()) << s.ToString();
    CostContext c;
    c.node = &node_;
    for (const Input& in : inputs_) c.inputs.push_back(ToCost(in.type, in.present, in.is_constant));
    for (const TensorType& t : outputs_) c.outputs.push_back(ToCost(t, true, false));
    c.constant = [this](int i) { return constant(i); };
    return CostOf(rule_, c);
  }
  double FlopCount() { return Cost().flops.count(); }
  OperatorClass op_class() const { return rule_->op_class; }

  const Node& node() const override { return node_; }
  int64_t opset() const override { return opset_; }
  int input_count() const override { return static_cast<int>(inputs_.size()); }
  bool has_input(int i) const override {
    return i >= 0 && i < input_count() && inputs_[static_cast<size_t>(i)].present;
  }
  const TensorType& input(int i) const override {
    return has_input(i) ? inputs_[static_cast<size_t>(i)].type : absent_;
  }
  std::shared_ptr<const ConstantValue> constant(int i) override {
    return has_input(i) ? inputs_[static_cast<size_t>(i)].value : nullptr;
  }
  bool is_constant(int i) const override { return has_input(i) && inputs_[static_cast<size_t>(i)].is_constant; }
  int output_count() const override { return static_cast<int>(outputs_.size()); }
  void set_output(int i, TensorType type) override {
    if (i >= 0 && i < output_count()) outputs_[static_cast<size_t>(i)] = std::move(type);
  }
  void set_output_constant(int, ConstantValue) override {}
  void warn(std::string) override {}
  Dim data_dependent_dim(std::string_view what, Dim) override { return Dim::Symbol(std::string(what)); }
  Result<std::vector<TensorType>> infer_subgraph(std::string_view, const std::vector<TensorType>&) override {
    return std::vector<TensorType>{};
  }
  std::optional<int64_t> trip_count() const override { return std::nullopt; }

 private:
  struct Input {
    TensorType type;
    bool present;
    bool is_constant;
    std::shared_ptr<const ConstantValue> value;
  };
  RuleTester& Constant(ConstantValue v) {
    Shape shape(std::vector<Dim>(v.dims.begin(), v.dims.end()));
    In(std::move(shape), v.dtype, true);
    inputs_.back().value = std::make_shared<const ConstantValue>(std::move(v));
    return *this;
  }
  static CostTensor ToCost(const TensorType& t, bool present, bool constant) {
    const bool known = t.shape.is_static();
    return {.dtype = t.dtype,
            .dims = known ? *t.shape.ToVector() : std::vector<int64_t>{},
            .present = present && known,
            .constant = constant};
  }

  int64_t opset_;
  Node node_;
  const OperatorRule* rule_ = nullptr;
  std::vector<Input> inputs_;
  std::vector<TensorType> outputs_;
  TensorType absent_{ValueKind::kUnknown, DataType::kUndefined, {}};
};

}  // namespace simpred
