#include "profile/collectors/ort_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "profile/record.h"

namespace simpred {
namespace {

std::string NodeEvent(const std::string& name, const std::string& op, int begin, int duration, int index = -1) {
  const std::string where = index < 0 ? "" : fmt::format(R"("node_index":"{}",)", index);
  return fmt::format(
      R"({{"cat":"Node","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"{}_kernel_time","args":{{{}"op_name":"{}",)"
      R"("output_type_shape":[{{"float":[1,8]}}]}}}},)",
      duration, begin, name, where, op);
}
std::string RunEvent(int begin, int duration) {
  return fmt::format(R"({{"cat":"Session","dur":{},"ts":{},"ph":"X","name":"model_run","args":{{}}}},)", duration,
                     begin);
}
std::string Profile(const std::string& events) { return "[" + events.substr(0, events.size() - 1) + "]"; }

TEST(OrtTrace, OneSampleForEachRunInOrderOfExecution) {
  const std::string text =
      Profile(NodeEvent("a", "Conv", 10, 5, 0) + NodeEvent("Add_1", "Add", 16, 2, 1) + RunEvent(8, 12) +
              NodeEvent("a", "Conv", 30, 6, 0) + NodeEvent("Add_1", "Add", 37, 3, 1) + RunEvent(28, 13));
  const auto trace = ParseOrtTrace(text);
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  ASSERT_EQ(trace->nodes.size(), 2U);
  EXPECT_EQ(trace->nodes[0].name, "a");
  EXPECT_EQ(trace->nodes[0].op, "Conv");
  EXPECT_EQ(trace->nodes[0].nanoseconds, (std::vector<double>{5000, 6000}));
  EXPECT_EQ(trace->nodes[1].index, 1);
  EXPECT_EQ(trace->nodes[1].nanoseconds, (std::vector<double>{2000, 3000}));
  EXPECT_EQ(trace->run_nanoseconds, (std::vector<double>{12000, 13000}));
  EXPECT_FALSE(trace->cut_off);
}

TEST(OrtTrace, SkipsWarmUp) {
  const std::string text =
      Profile(NodeEvent("a", "Relu", 1, 90) + RunEvent(0, 95) + NodeEvent("a", "Relu", 101, 3) + RunEvent(100, 9));
  const auto trace = ParseOrtTrace(text, 1);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->nodes[0].nanoseconds, std::vector<double>{3000});
  EXPECT_EQ(trace->run_nanoseconds.size(), 1U);
}

TEST(OrtTrace, KernelsInsideAnIfAreCountedByTheIf) {
  // The events of a branch come first, as the runtime writes them; its Relu has the name of one outside.
  const std::string text =
      Profile(NodeEvent("r", "Relu", 12, 2, 0) + NodeEvent("n", "Neg", 15, 2, 1) + NodeEvent("if", "If", 10, 20, 1) +
              NodeEvent("r", "Relu", 31, 4, 0) + RunEvent(9, 30));
  const auto trace = ParseOrtTrace(text);
  ASSERT_TRUE(trace.ok());
  ASSERT_EQ(trace->nodes.size(), 2U);
  EXPECT_EQ(trace->nodes[0].name, "if");
  EXPECT_EQ(trace->nodes[1].nanoseconds, std::vector<double>{4000});
  EXPECT_EQ(trace->inside_control_flow, 2);
}

TEST(OrtTrace, RepeatedNamesAreToldApart) {
  const std::string by_index =
      Profile(NodeEvent("x", "Mul", 1, 2, 3) + NodeEvent("x", "Mul", 5, 7, 4) + RunEvent(0, 20));
  EXPECT_EQ(ParseOrtTrace(by_index)->nodes.size(), 2U);
  const std::string by_order = Profile(NodeEvent("x", "Mul", 1, 2) + NodeEvent("x", "Mul", 5, 7) + RunEvent(0, 20) +
                                       NodeEvent("x", "Mul", 31, 2) + NodeEvent("x", "Mul", 35, 7) + RunEvent(30, 20));
  const auto trace = ParseOrtTrace(by_order);
  ASSERT_EQ(trace->nodes.size(), 2U);
  EXPECT_EQ(trace->nodes[1].nanoseconds, (std::vector<double>{7000, 7000}));
}

TEST(OrtTrace, ACutOffProfileKeepsItsCompleteRunsWhereverItEnds) {
  const std::string first = "[" + NodeEvent("a", "Relu", 1, 2) + RunEvent(0, 9);
  const std::string whole = first + NodeEvent("a", "Relu", 11, 2);
  for (size_t size = first.size(); size < whole.size(); ++size) {
    const auto trace = ParseOrtTrace(whole.substr(0, size));
    ASSERT_TRUE(trace.ok()) << size;
    EXPECT_TRUE(trace->cut_off);
    EXPECT_EQ(trace->nodes[0].nanoseconds.size(), 1U);
  }
  EXPECT_EQ(ParseOrtTrace(whole)->in_incomplete_run, 1);
}

TEST(OrtTrace, WhatIsNoProfileIsSaid) {
  for (const std::string text : {"", "{", "[]", "42", "[[[[", R"({"a":[1,2]})", "[{\"cat\":\"Node\""}) {
    EXPECT_EQ(ParseOrtTrace(text).status().code(), StatusCode::kModel) << text;
  }
  EXPECT_FALSE(ParseOrtTrace(std::string(1'000'000, '[')).ok());
}

TEST(SpreadTicks, SpreadsEqualSamplesAndKeepsTheMean) {
  EXPECT_EQ(SpreadTicks({3000, 2000, 2000}), (std::vector<double>{1750, 2250, 3000}));
  EXPECT_TRUE(SpreadTicks({}).empty());
  const std::vector<double> many(100, 2000);
  EXPECT_DOUBLE_EQ(Summarize(SpreadTicks(many)).mean / Nanoseconds(1), 2000);
  EXPECT_NEAR(Summarize(SpreadTicks(many)).p10 / Nanoseconds(1), 1600, 10);
}

// Profiles that other people's runtimes wrote.
class RealProfile : public ::testing::TestWithParam<std::pair<const char*, std::map<std::string, size_t>>> {};

TEST_P(RealProfile, IsReadWhole) {
  const std::filesystem::path path =
      std::filesystem::path(SIMPRED_SOURCE_DIR) / "../shared/data/profiles/onnxruntime" / GetParam().first;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto text = ReadText(path);
  ASSERT_TRUE(text.ok());
  const auto trace = ParseOrtTrace(*text);
  ASSERT_TRUE(trace.ok()) << trace.status().ToString();
  EXPECT_FALSE(trace->cut_off);
  EXPECT_EQ(trace->in_incomplete_run, 0);
  std::map<std::string, size_t> ops;
  for (const TraceNode& n : trace->nodes) {
    ++ops[n.op];
    EXPECT_EQ(n.nanoseconds.size(), trace->run_nanoseconds.size()) << n.name;
  }
  EXPECT_EQ(ops, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(
    Captures, RealProfile,
    ::testing::Values(
        std::pair("array_api_prof.rebuilt.json",
                  std::map<std::string, size_t>{
                      {"Abs", 1}, {"Add", 1}, {"Pow", 1}, {"ReduceSum", 2}, {"Slice", 4}, {"Squeeze", 4}, {"Sub", 2}}),
        std::pair("array_api_prof_base.rebuilt.json", std::map<std::string, size_t>{{"Add", 1},
                                                                                    {"BatchNormalization", 1},
                                                                                    {"Concat", 1},
                                                                                    {"Conv", 5},
                                                                                    {"Mul", 1},
                                                                                    {"PRelu", 2},
                                                                                    {"ReduceMax", 1},
                                                                                    {"ReduceMean", 1},
                                                                                    {"Sigmoid", 1}}),
        std::pair("array_api_prof_opti.rebuilt.json", std::map<std::string, size_t>{{"BatchNormalization", 1},
                                                                                    {"Concat", 1},
                                                                                    {"Conv", 5},
                                                                                    {"Mul", 1},
                                                                                    {"PRelu", 2},
                                                                                    {"ReduceMax", 1},
                                                                                    {"ReduceMean", 1},
                                                                                    {"ReorderInput", 3},
                                                                                    {"ReorderOutput", 4}})));

}  // namespace
}  // namespace simpred
