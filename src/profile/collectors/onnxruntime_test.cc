#include "profile/collectors/onnxruntime.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/file.h"
#include "base/work_folder.h"
#include "frontend/onnx/model_builder.h"
#include "profile/collectors/ort_session.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> Runtime() {
  const fs::path here = fs::path(SIMPRED_SOURCE_DIR) / ".deps/onnxruntime/lib/libonnxruntime.so.1";
  if (!BuiltWithRuntimeHeader()) return std::nullopt;
  if (fs::exists(here)) return here;
  const Result<fs::path> found = FindOnnxRuntime();
  return found.ok() ? std::optional(*found) : std::nullopt;
}

class WithRuntime : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<fs::path> library = Runtime();
    if (!library) GTEST_SKIP() << "ONNX Runtime is not there: scripts/get_onnxruntime.sh";
    auto folder = WorkFolder::Create();
    ASSERT_TRUE(folder.ok());
    folder_ = *std::move(folder);
    options_.library = *library;
    options_.iters = 20;
    options_.max_seconds = 0.2;
    options_.rounds = 2;
  }

  MeasureItem Write(const std::string& name, const std::string& onnx) const {
    MeasureItem item;
    item.path = folder_->path() / (name + ".onnx");
    EXPECT_TRUE(WriteAtomically(item.path, onnx).ok());
    return item;
  }

  MeasureItem SmallNetwork(const std::string& name) const {
    ModelBuilder b;
    std::string x = b.Input("x", DataType::kFloat32, {1, 32});
    for (int i = 0; i < 3; ++i) x = b.Op("Softmax", {b.Op("MatMul", {x, b.Weight({32, 32})})});
    b.Output(x);
    return Write(name, b.Serialize());
  }

  std::vector<Measured> Measure(const std::vector<MeasureItem>& items) const {
    std::vector<Measured> all;
    const Status s = Collector(options_).Measure(items, [&](Measured m) {
      all.push_back(std::move(m));
      return OkStatus();
    });
    EXPECT_TRUE(s.ok()) << s.ToString();
    return all;
  }

  std::unique_ptr<WorkFolder> folder_;
  CollectorOptions options_;
};

TEST_F(WithRuntime, MeasuresInterleavedRounds) {
  const std::vector<Measured> all = Measure({SmallNetwork("a"), SmallNetwork("b")});
  ASSERT_EQ(all.size(), 4U);
  for (size_t i = 0; i < all.size(); ++i) {
    const Measured& m = all[i];
    ASSERT_TRUE(m.status.ok()) << m.status.ToString();
    EXPECT_EQ(m.item, i % 2);
    EXPECT_EQ(m.round, static_cast<int>(i / 2));
    EXPECT_EQ(m.run.end_to_end.count, 20);
    EXPECT_GT(m.run.end_to_end.min, Duration());
    EXPECT_EQ(m.run.input_shapes, "x=1x32");
    EXPECT_EQ(m.records.size(), 6U);
    for (const Record& r : m.records) EXPECT_EQ(r.raw.count, 20) << r.kernel.name;
    EXPECT_TRUE(m.warnings.empty());
    EXPECT_TRUE(m.facts.contains("load"));
  }
}

TEST_F(WithRuntime, AModelThatFailsIsReportedOnceAndEndsNothing) {
  ModelBuilder wrong;  // valid to read, refused by the runtime
  wrong.Output(wrong.Op("NoSuchOperator", {wrong.Input("x", DataType::kFloat32, {1})}));
  const std::vector<Measured> all =
      Measure({Write("garbage", "not a model"), Write("wrong", wrong.Serialize()), SmallNetwork("good")});
  std::map<size_t, int> failed, fine;
  for (const Measured& m : all) ++(m.status.ok() ? fine : failed)[m.item];
  EXPECT_EQ(failed, (std::map<size_t, int>{{0, 1}, {1, 1}}));
  EXPECT_EQ(fine, (std::map<size_t, int>{{2, 2}}));
}

TEST_F(WithRuntime, SingleKernelsShareAProcessAndAreAlsoTimedWithoutTheProfiler) {
  std::vector<MeasureItem> items;
  for (int i = 0; i < 5; ++i) {
    ModelBuilder b;
    b.Output(b.Op("Softmax", {b.Input("x", DataType::kFloat32, {1, 1000 * (i + 1)})}));
    items.push_back(Write("k" + std::to_string(i), b.Serialize()));
    items.back().context = KernelContext::kAloneWarm;
  }
  options_.rounds = 1;
  const std::vector<Measured> all = Measure(items);
  ASSERT_EQ(all.size(), 5U);
  for (const Measured& m : all) {
    ASSERT_EQ(m.records.size(), 1U);
    EXPECT_EQ(m.records[0].context, KernelContext::kAloneWarm);
    EXPECT_GT(m.records[0].counters.at("unprofiled_ns"), 0);
    EXPECT_GE(m.run.end_to_end.count, 30);
  }
}

TEST_F(WithRuntime, AFullSinkEndsTheMeasuring) {
  int calls = 0;
  const Status s = Collector(options_).Measure({SmallNetwork("a"), SmallNetwork("b")}, [&](Measured) {
    ++calls;
    return DatabaseError("No space left on device");
  });
  EXPECT_EQ(s.code(), StatusCode::kDatabase);
  EXPECT_EQ(calls, 1);
}

TEST_F(WithRuntime, StopsBetweenProcesses) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  int calls = 0;
  const Status s = Collector(options_).Measure({SmallNetwork("a"), SmallNetwork("b")}, [&](Measured) {
    ++calls;
    stop = true;
    return OkStatus();
  });
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(calls, 1);
}

TEST_F(WithRuntime, SavesTheOptimisedGraph) {
  const fs::path to = folder_->path() / "saved.onnx";
  const Status s = Collector(options_).SaveOptimized(SmallNetwork("a"), to);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(fs::exists(to));
}

TEST_F(WithRuntime, FindsItsOwnBias) {
  const auto b = Collector(options_).MeasureBias();
  ASSERT_TRUE(b.ok()) << b.status().ToString();
  // Orders of magnitude only: the machine that runs the tests may be busy.
  EXPECT_GT(b->kernel_bias, Microseconds(0));
  EXPECT_LT(b->kernel_bias, Microseconds(100));
  EXPECT_GT(b->smallest, Nanoseconds(10));
  EXPECT_LT(b->run_cost, Microseconds(500));
}

TEST(Collector, WithoutTheLibraryItSaysHowToGetIt) {
  CollectorOptions options;
  options.library = "/nowhere/libonnxruntime.so.1";
  EXPECT_EQ(Collector(options).RuntimeVersion().status().code(), StatusCode::kUnavailable);
  options.library = "/proc/self/exe";  // a program, not the runtime
  EXPECT_EQ(Collector(options).RuntimeVersion().status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace simpred
