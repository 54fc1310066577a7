// What do the operators of classical machine learning do? The domain ai.onnx.ml: trees, linear models, encoders.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "operators/cost_constants.h"
#include "operators/families.h"
#include "operators/rules_common.h"

namespace simpred {
namespace {

constexpr char kDomain[] = "ai.onnx.ml";

size_t ListLength(const Node& node, std::string_view key) {
  const Attribute* a = node.Find(key);
  if (a == nullptr) return 0;
  if (const auto* ints = std::get_if<std::vector<int64_t>>(&a->value)) return ints->size();
  if (const auto* floats = std::get_if<std::vector<double>>(&a->value)) return floats->size();
  if (const auto* strings = std::get_if<std::vector<std::string>>(&a->value)) return strings->size();
  if (const auto* tensor = std::get_if<TensorAttribute>(&a->value)) {
    int64_t n = 1;
    for (int64_t d : tensor->dims) {
      if (d < 0 || __builtin_mul_overflow(n, d, &n)) return 0;
    }
    return static_cast<size_t>(n);
  }
  return 0;
}

// Rows of a [N, C] (or [C], one row) input.
Dim Rows(const Shape& s) { return !s.has_rank() ? Dim::Unknown() : s.rank() < 2 ? Dim(1) : s.dim(0); }

struct Classes {
  Dim count;
  DataType dtype = DataType::kInt64;
};
Classes ClassesOf(const Node& node) {
  for (const char* key : {"classlabels_strings", "classlabels_int64s", "classlabels_ints"}) {
    if (const size_t n = ListLength(node, key); n > 0) {
      const bool strings = std::string_view(key) == "classlabels_strings";
      return {Dim(static_cast<int64_t>(n)), strings ? DataType::kString : DataType::kInt64};
    }
  }
  return {};
}

Status ClassifierShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const Classes classes = ClassesOf(c.node());
  const Dim rows = Rows(c.input(0).shape);
  c.set_output(0, Tensor(classes.dtype, Shape{rows}));
  c.set_output(1, Tensor(DataType::kFloat32, Shape{rows, classes.count}));
  return OkStatus();
}

ShapeRule RegressorShape(std::string_view targets_key) {
  return [key = std::string(targets_key)](InferenceContext& c) {
    SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
    const bool tree = key == "n_targets" && c.node().op_type == "TreeEnsemble";
    const DataType type = tree ? c.input(0).dtype : DataType::kFloat32;
    c.set_output(0, Tensor(type, Shape{Rows(c.input(0).shape), Dim(c.node().Int(key, 1))}));
    return OkStatus();
  };
}

Status LabelEncoderShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  DataType type = c.input(0).dtype;
  if (ListLength(c.node(), "values_strings") > 0) type = DataType::kString;
  if (ListLength(c.node(), "values_int64s") > 0) type = DataType::kInt64;
  if (ListLength(c.node(), "values_floats") > 0) type = DataType::kFloat32;
  if (const Attribute* a = c.node().Find("values_tensor"); a != nullptr) {
    if (const auto* tensor = std::get_if<TensorAttribute>(&a->value)) type = tensor->dtype;
  }
  // Version 1 maps between strings and numbers.
  if (ListLength(c.node(), "classes_strings") > 0) {
    type = c.input(0).dtype == DataType::kString ? DataType::kInt64 : DataType::kString;
  }
  c.set_output(0, Tensor(type, c.input(0).shape));
  return OkStatus();
}

Status CategoryMapperShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const bool strings = c.input(0).dtype == DataType::kString;
  c.set_output(0, Tensor(strings ? DataType::kInt64 : DataType::kString, c.input(0).shape));
  return OkStatus();
}

Status OneHotEncoderShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const size_t categories = std::max(ListLength(c.node(), "cats_int64s"), ListLength(c.node(), "cats_strings"));
  Shape out = c.input(0).shape;
  if (out.has_rank()) out.dims().emplace_back(static_cast<int64_t>(categories));
  c.set_output(0, Tensor(DataType::kFloat32, std::move(out)));
  return OkStatus();
}

Status FeatureVectorizerShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  Dim total(0);
  for (int i = 0; i < c.input_count(); ++i) {
    const Shape& s = c.input(i).shape;
    total = total + (s.has_rank() && s.rank() < 2 ? s.ElementCount() : Product(s, 1, s.rank()));
  }
  if (auto given = c.node().Ints("inputdimensions")) {
    total = Dim(0);
    for (int64_t d : *given) total = total + Dim(d);
  }
  c.set_output(0, Tensor(DataType::kFloat32, Shape{Rows(c.input(0).shape), total}));
  return OkStatus();
}

Status ArrayFeatureExtractorShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 2));
  const TensorType& in = c.input(0);
  Shape out = in.shape;
  if (out.has_rank() && out.rank() > 0) {
    // A vector counts as one row.
    if (out.rank() == 1) out = Shape{Dim(1), out.dim(0)};
    out.dims().back() = c.input(1).shape.ElementCount();
  }
  c.set_output(0, Tensor(in.dtype, std::move(out)));
  return OkStatus();
}

Status ZipMapShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  c.set_output(0, {.kind = ValueKind::kSequence, .dtype = DataType::kFloat32, .shape = {}});
  return OkStatus();
}

// A vector of as many elements as the vocabulary has words.
Status DictVectorizerShape(InferenceContext& c) {
  SIMPRED_RETURN_IF_ERROR(RequireInputs(c, 1));
  const size_t words = std::max(ListLength(c.node(), "int64_vocabulary"), ListLength(c.node(), "string_vocabulary"));
  c.set_output(0, Tensor(c.input(0).dtype, Shape{Dim(1), Dim(static_cast<int64_t>(words))}));
  return OkStatus();
}

Status CastMapShape(InferenceContext& c) {
  const std::string to = c.node().String("cast_to", "TO_FLOAT");
  const DataType type = to == "TO_INT64"    ? DataType::kInt64
                        : to == "TO_STRING" ? DataType::kString
                                            : DataType::kFloat32;
  const bool sparse = c.node().String("map_form", "DENSE") == "SPARSE";
  c.set_output(0, Tensor(type, Shape{Dim(1), sparse ? Dim(c.node().Int("max_map", 1)) : Dim::Unknown()}));
  return OkStatus();
}

// --- Cost ----------------------------------------------------------------------------------------------------------

double RowCount(const CostContext& c) {
  if (c.inputs.empty() || c.inputs[0].dims.size() < 2) return 1;
  return static_cast<double>(std::max<int64_t>(c.inputs[0].dims[0], 0));
}

// Coefficients stand in attributes: [classes, features], one multiply-add each and row.
Work LinearCost(const CostContext& c) {
  Work w = TrafficOf(c);
  const size_t coefficients = c.node == nullptr ? 0 : ListLength(*c.node, "coefficients");
  w.weights += StorageSize(DataType::kFloat32, static_cast<int64_t>(coefficients));
  w.flops = Flops(cost::kMultiplyAdd * static_cast<double>(coefficients) * RowCount(c));
  return w;
}

// One kernel value per support vector (a dot product over the features and an exponential) and row.
Work SvmCost(const CostContext& c) {
  Work w = TrafficOf(c);
  if (c.node == nullptr) return w;
  const auto stored = static_cast<double>(ListLength(*c.node, "support_vectors"));
  const auto coefficients = static_cast<double>(ListLength(*c.node, "coefficients"));
  w.weights += StorageSize(DataType::kFloat32, static_cast<int64_t>(stored + coefficients));
  w.flops = Flops((cost::kMultiplyAdd * (stored + coefficients) + cost::kExp * coefficients) * RowCount(c));
  return w;
}

// Each row walks each tree from the root to a leaf: about log2 of the tree's nodes steps, a compare and a jump each.
// Trees are told apart by their ids; without ids all nodes are one tree.
Work TreeCost(const CostContext& c) {
  Work w = TrafficOf(c);
  if (c.node == nullptr) return w;
  const auto nodes =
      static_cast<double>(std::max(ListLength(*c.node, "nodes_modes"), ListLength(*c.node, "nodes_splits")));
  double trees = static_cast<double>(ListLength(*c.node, "tree_roots"));
  if (auto ids = c.node->Ints("nodes_treeids"); ids && trees == 0) {
    std::sort(ids->begin(), ids->end());
    trees = static_cast<double>(std::distance(ids->begin(), std::unique(ids->begin(), ids->end())));
  }
  trees = std::max(trees, 1.0);
  const double depth = std::log2(std::max(nodes / trees, 2.0));
  constexpr int64_t kBytesPerNode = 20;  // feature, threshold, two children, mode
  w.weights += Bytes(static_cast<int64_t>(nodes) * kBytesPerNode);
  w.flops = Flops(RowCount(c) * trees * depth * cost::kSortStep);
  return w;
}

}  // namespace

void RegisterMachineLearning(Registry& r) {
  auto add = [&r](const char* type, ShapeRule shape, CostRule cost, const char* source,
                  OperatorClass op_class = OperatorClass::kOther) {
    r.Add({.type = type,
           .domain = kDomain,
           .op_class = op_class,
           .shape = std::move(shape),
           .value = nullptr,
           .cost = std::move(cost),
           .source = source});
  };
  const char* linear = "ONNX-ML: one multiply-add a coefficient and row";
  const char* svm = "ONNX-ML: one kernel value a support vector and row";
  const char* tree = "ONNX-ML: each row walks each tree from root to leaf";
  const char* element = "ONNX-ML specification: one step an element";
  const char* lookup = "ONNX-ML specification: one search in the table an element";
  add("LinearClassifier", ClassifierShape, LinearCost, linear);
  add("LinearRegressor", RegressorShape("targets"), LinearCost, linear);
  add("SVMClassifier", ClassifierShape, SvmCost, svm);
  add("SVMRegressor", RegressorShape("n_targets"), SvmCost, svm);
  add("TreeEnsembleClassifier", ClassifierShape, TreeCost, tree);
  add("TreeEnsembleRegressor", RegressorShape("n_targets"), TreeCost, tree);
  add("TreeEnsemble", RegressorShape("n_targets"), TreeCost, tree);
  add("Binarizer", SameAsInput(), PerElement(cost::kAdd), element, OperatorClass::kElementwise);
  add("Scaler", SameShapeWithType(DataType::kFloat32), PerElement(cost::kMultiplyAdd), element,
      OperatorClass::kElementwise);
  add("Imputer", SameAsInput(), PerElement(cost::kAdd), element, OperatorClass::kElementwise);
  add("Normalizer", SameShapeWithType(DataType::kFloat32), PerElement(cost::kMultiplyAdd + cost::kMultiply),
      "ONNX-ML Normalizer: a reduction and a scaling of each row", OperatorClass::kNormalization);
  add("LabelEncoder", LabelEncoderShape, PerElement(4 * cost::kSortStep), lookup);
  add("CategoryMapper", CategoryMapperShape, PerElement(4 * cost::kSortStep), lookup);
  add("OneHotEncoder", OneHotEncoderShape, PerElement(cost::kAdd), element, OperatorClass::kDataMovement);
  add("FeatureVectorizer", FeatureVectorizerShape, TrafficOf, "ONNX-ML FeatureVectorizer: a concatenation",
      OperatorClass::kDataMovement);
  add("ArrayFeatureExtractor", ArrayFeatureExtractorShape, MovesOutput(cost::kIndexElement),
      "ONNX-ML ArrayFeatureExtractor: the taken columns and the indices", OperatorClass::kDataMovement);
  add("ZipMap", ZipMapShape, TrafficOf, "ONNX-ML ZipMap: a map entry an element", OperatorClass::kSequence);
  add("DictVectorizer", DictVectorizerShape, PerElement(4 * cost::kSortStep), lookup);
  add("CastMap", CastMapShape, PerElement(cost::kCast), element);
}

}  // namespace simpred
