#include "profile/collectors/ort_join.h"

#include <gtest/gtest.h>

namespace simpred {
namespace {

Kernel MakeKernel(const std::string& name, const std::string& type) {
  Kernel k;
  k.name = name;
  k.type = type;
  return k;
}

NodeSamples Node(const std::string& name, const std::string& op, double us) {
  NodeSamples n;
  n.name = name;
  n.op = op;
  n.kernel_time = Summarize({us * 1000});
  return n;
}

std::vector<std::string> Names(const Joined& j) {
  std::vector<std::string> names;
  for (const Record& r : j.records) names.push_back(r.kernel.name);
  return names;
}

TEST(Join, ByNameWhateverTheOrder) {
  Workload w;
  w.kernels = {MakeKernel("a", "Relu"), MakeKernel("b", "com.microsoft.nchwc.Conv")};
  const Joined j = Join(w, {Node("b", "Conv", 3), Node("a", "Relu", 1)});
  EXPECT_EQ(Names(j), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(j.records[0].raw.p10, Microseconds(3));
  EXPECT_EQ(j.records[0].corrected, Microseconds(3));
  EXPECT_EQ(j.not_joined, 0);
}

TEST(Join, NamelessAndRepeatedNodesByOrderInsideTheirType) {
  Workload w;
  w.kernels = {MakeKernel("Add#0", "Add"), MakeKernel("x", "Mul"), MakeKernel("x#2", "Mul"),
               MakeKernel("Add#3", "Add")};
  const Joined j =
      Join(w, {Node("Add_0", "Add", 1), Node("x", "Mul", 2), Node("x", "Mul", 3), Node("Add_3", "Add", 4)});
  EXPECT_EQ(Names(j), (std::vector<std::string>{"Add#0", "x", "x#2", "Add#3"}));
}

TEST(Join, NeverAcrossTypesAndNeverByAGuess) {
  Workload w;
  w.kernels = {MakeKernel("a", "Relu"), MakeKernel("c", "Add"), MakeKernel("d", "Add")};
  const Joined j = Join(w, {Node("a", "Sigmoid", 6), Node("y", "Add", 2)});
  EXPECT_TRUE(j.records.empty());
  EXPECT_EQ(j.not_joined, 2);
  EXPECT_EQ(j.time, Microseconds(8));
  EXPECT_EQ(j.time_not_joined, Microseconds(8));
}

}  // namespace
}  // namespace simpred
