// Whatever a file says, no rule crashes, and no work is negative. Every operator meets random inputs and attributes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "base/random.h"
#include "operators/rule_tester.h"

namespace simpred {
namespace {

constexpr const char* kAttributes[] = {"axes",
                                       "axis",
                                       "kernel_shape",
                                       "strides",
                                       "pads",
                                       "dilations",
                                       "group",
                                       "num_heads",
                                       "kv_num_heads",
                                       "q_num_heads",
                                       "hidden_size",
                                       "blocksize",
                                       "block_size",
                                       "to",
                                       "K",
                                       "N",
                                       "bits",
                                       "scales",
                                       "channels",
                                       "output_shape",
                                       "num_groups",
                                       "groups",
                                       "size",
                                       "step",
                                       "dim",
                                       "keepdims",
                                       "layout",
                                       "perm",
                                       "num_outputs",
                                       "signal_ndim",
                                       "batch_dims",
                                       "gather_axis",
                                       "transA",
                                       "transB",
                                       "channels_last",
                                       "ceil_mode",
                                       "output_height",
                                       "pooled_shape",
                                       "qkv_hidden_sizes",
                                       "window",
                                       "k",
                                       "onesided"};

int64_t HostileNumber(Random& random) {
  constexpr int64_t kNumbers[] = {0, 1, 2, 3, 4, 7, 64, -1, -2, -7, 1000000007, INT64_MAX, INT64_MIN, int64_t{1} << 40};
  return kNumbers[random.Int(0, std::size(kNumbers) - 1)];
}

Dim HostileDim(Random& random) {
  switch (random.Int(0, 9)) {
    case 0:
      return Dim();
    case 1:
      return Dim::Symbol("N");
    case 2:
      return Dim(INT64_MAX);
    case 3:
      return Dim(0);
    default:
      return Dim(random.Int(1, 8));
  }
}

void AddHostileInput(RuleTester& t, Random& random) {
  constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kInt64,  DataType::kUInt8,
                                 DataType::kBool,    DataType::kString, DataType::kUndefined};
  switch (random.Int(0, 5)) {
    case 0:
      t.None();
      return;
    case 1:
      t.Unknown();
      return;
    case 2: {
      std::vector<Dim> elements;
      for (int64_t n = random.Int(0, 6); n > 0; --n) elements.emplace_back(HostileNumber(random));
      t.Ints(std::move(elements));
      return;
    }
    default: {
      std::vector<Dim> dims;
      for (int64_t n = random.Int(0, 6); n > 0; --n) dims.push_back(HostileDim(random));
      t.In(Shape(std::move(dims)), kTypes[random.Int(0, std::size(kTypes) - 1)], random.Int(0, 1) == 1);
    }
  }
}

void AddHostileAttribute(RuleTester& t, Random& random) {
  const char* key = kAttributes[random.Int(0, std::size(kAttributes) - 1)];
  if (random.Int(0, 1) == 0) {
    t.Attr(key, HostileNumber(random));
    return;
  }
  std::vector<int64_t> numbers;
  for (int64_t n = random.Int(0, 6); n > 0; --n) numbers.push_back(HostileNumber(random));
  t.Attr(key, std::move(numbers));
}

TEST(Hostile, NoRuleCrashesAndNoWorkIsNegative) {
  for (const OperatorRule* rule : Registry::Default().all()) {
    SCOPED_TRACE(rule->domain + "." + rule->type);
    Random random(17);
    for (int trial = 0; trial < 150; ++trial) {
      RuleTester t(rule->type, rule->domain, random.Int(1, 25));
      for (int64_t n = random.Int(0, 9); n > 0; --n) AddHostileInput(t, random);
      for (int64_t n = random.Int(0, 8); n > 0; --n) AddHostileAttribute(t, random);
      t.Outputs(static_cast<int>(random.Int(1, 4)));
      if (!rule->shape || !t.Run().ok()) continue;
      const Work work = t.Cost();
      ASSERT_GE(work.flops.count(), 0);
      ASSERT_GE(work.read.count(), 0);
      ASSERT_GE(work.weights.count(), 0);
      ASSERT_GE(work.written.count(), 0);
    }
  }
}

// Lines of the list "name | versions | ...", under a heading that names the domain.
TEST(Coverage, EveryListedOperatorHasRules) {
  std::ifstream file(std::string(SIMPRED_SOURCE_DIR) + "/../shared/docs/onnx_ops.md");
  if (!file) GTEST_SKIP() << "the list of operators is not here";
  std::string domain;
  int listed = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) == 0) {
      domain = line.find("com.microsoft") != std::string::npos ? "com.microsoft" : "";
      if (line.find("ai.onnx.ml") != std::string::npos) domain = "ai.onnx.ml";
      if (line.find("preview") != std::string::npos) domain = "preview";
    }
    const size_t bar = line.find(" | ");
    if (bar == std::string::npos || line.find(' ') != bar) continue;
    std::string type = line.substr(0, bar);
    std::string of = domain;
    if (domain == "preview") {
      const size_t dot = type.rfind('.');
      of = type.substr(0, dot);
      type = type.substr(dot + 1);
    }
    ++listed;
    if (type == "Gradient") continue;  // differentiates the graph around it: there is no inference with it
    const OperatorRule* rule = Registry::Default().Find(of, type);
    EXPECT_NE(rule, nullptr) << of << " " << type;
    if (rule == nullptr) continue;
    EXPECT_TRUE(static_cast<bool>(rule->shape)) << of << " " << type;
    EXPECT_FALSE(rule->source.empty()) << of << " " << type;
  }
  EXPECT_GT(listed, 300);
}

}  // namespace
}  // namespace simpred
