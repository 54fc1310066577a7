#include "device/profile.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "base/work_folder.h"

namespace simpred {
namespace {

namespace fs = std::filesystem;

constexpr char kSmall[] = R"(name: Small
kind: gpu
cores: 4
peak: {float32: 2 TFLOP/s}
memory:
  - {name: HBM, capacity: 8 GiB, bandwidth: 100 GB/s, shared: true, source: a datasheet}
launch_cost: 3 us
)";

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class DeviceTest : public testing::Test {
 protected:
  DeviceTest() {
    ::setenv("SIMPRED_DEVICES", SIMPRED_SOURCE_DIR "/devices", 1);
    ::setenv("XDG_DATA_HOME", folder_->path().c_str(), 1);
  }
  ~DeviceTest() override {
    ::unsetenv("SIMPRED_DEVICES");
    ::unsetenv("XDG_DATA_HOME");
  }
  std::unique_ptr<WorkFolder> folder_ = WorkFolder::Create().value();
};

TEST(DeviceYamlTest, ReadsQuantities) {
  const DeviceProfile d = ParseDeviceYaml(kSmall, "small.yaml").value();
  EXPECT_EQ(d.name, "Small");
  EXPECT_EQ(d.cores, 4);
  EXPECT_EQ(d.peak.at(DataType::kFloat32), FlopsPerSecond(2e12));
  EXPECT_EQ(d.memory.at(0).capacity, Bytes(int64_t{8} << 30));
  EXPECT_TRUE(d.memory.at(0).shared);
  EXPECT_EQ(d.launch_cost, Microseconds(3));
  EXPECT_EQ(d.fingerprint, "Small");
}

struct Wrong {
  const char* from;
  const char* to;
  const char* message;
};

TEST(DeviceYamlTest, ErrorsSayWhereAndWhat) {
  for (const Wrong& wrong :
       std::vector<Wrong>{{"cores: 4", "coers: 4", "small.yaml:3: 'coers' is not a key of a device profile"},
                          {"cores: 4", "cores: 0", "small.yaml:3: a whole number"},
                          {"cores: 4", "cores: [4]", "small.yaml:3: a whole number"},
                          {"2 TFLOP/s", "2", "small.yaml:4: '2': a compute rate needs a unit"},
                          {"float32", "float33", "small.yaml:4: the key must be an element type"},
                          {"8 GiB", "8 XB", "small.yaml:6: '8 XB': 'XB' is not a unit"},
                          {"bandwidth", "bandwith", "small.yaml:6: 'bandwith' is not a key of a memory level"},
                          {"shared: true", "shared: perhaps", "small.yaml:6: 'true' or 'false'"},
                          {"kind: gpu", "kind: toaster", "'kind' must be cpu, npu or gpu"},
                          {"name: Small", "", "needs a 'name'"},
                          {"bandwidth: 100 GB/s, ", "", "'memory' level with a 'bandwidth'"},
                          {"launch_cost: 3 us", "launch_cost: [", "not YAML"},
                          {"launch_cost: 3 us", "launch_cost: -3 us", "is not negative"}}) {
    const Status status = ParseDeviceYaml(Replaced(kSmall, wrong.from, wrong.to), "small.yaml").status();
    EXPECT_EQ(status.code(), StatusCode::kUsage) << wrong.to;
    EXPECT_NE(status.ToString().find(wrong.message), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(ParseDeviceYaml(Replaced(kSmall, "cores", "coers"), "f").status().hint(), "did you mean 'cores'?");
}

TEST(DeviceYamlTest, NothingCrashesTheParser) {
  for (const std::string& text :
       {std::string(), std::string("["), std::string("- 1"), std::string("a: *b"), std::string(10000, '['),
        std::string("{? [1]: 2}"), std::string("\x00\x01", 2), std::string("name: {a: 1}"), std::string("peak: 3")}) {
    EXPECT_FALSE(ParseDeviceYaml(text, "x").ok());
  }
}

TEST_F(DeviceTest, EveryShippedProfileLoadsWithItsSources) {
  const std::vector<std::string> names = KnownDevices();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  for (const char* expected :
       {"A100", "Ascend310", "Ascend310P", "Ascend910B2", "Ascend910B3", "H100", "L4", "T4", "cpu"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), expected), names.end()) << expected;
  }
  for (const std::string& name : names) {
    if (name == "cpu") continue;
    const Result<DeviceProfile> d = LoadDevice(name);
    ASSERT_TRUE(d.ok()) << d.status().ToString();
    EXPECT_EQ(d->name, name);
    EXPECT_EQ(d->sources.count("peak"), 1U) << name;
    for (const MemoryLevel& level : d->memory) EXPECT_FALSE(level.source.empty()) << name << " " << level.name;
    EXPECT_GT(d->memory.back().bandwidth.count(), 0) << name;
  }
}

TEST_F(DeviceTest, WritingAndReadingGivesTheSame) {
  for (const std::string& name : KnownDevices()) {
    if (name == "cpu") continue;
    const DeviceProfile d = LoadDevice(name).value();
    const Result<DeviceProfile> again = ParseDeviceYaml(ToYaml(d), name);
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(ToYaml(*again), ToYaml(d));
    EXPECT_EQ(again->memory.size(), d.memory.size());
    EXPECT_EQ(again->memory_capacity, d.memory_capacity);
    EXPECT_EQ(again->collector, d.collector);
  }
}

TEST_F(DeviceTest, AWrongNameGetsTheNearest) {
  const Status status = LoadDevice("Ascend310B").status();
  EXPECT_EQ(status.code(), StatusCode::kUsage);
  EXPECT_NE(status.hint().find("'Ascend310'"), std::string::npos) << status.hint();
  EXPECT_EQ(LoadDevice("ascend310p").value().name, "Ascend310P") << "case does not matter";
}

TEST_F(DeviceTest, APathIsRelativeToTheConfig) {
  ASSERT_TRUE(WriteAtomically(folder_->path() / "mine.yaml", kSmall).ok());
  EXPECT_EQ(LoadDevice("mine.yaml", folder_->path()).value().name, "Small");
  EXPECT_EQ(LoadDevice((folder_->path() / "mine.yaml").string()).value().name, "Small");
  EXPECT_EQ(LoadDevice("none.yaml", folder_->path()).status().code(), StatusCode::kUsage);
}

TEST_F(DeviceTest, TheProcessorIsIdentifiedTheSameEachTime) {
  const DeviceProfile cpu = IdentifyCpu().value();
  EXPECT_EQ(cpu.name, "cpu");
  EXPECT_GE(cpu.cores, 1);
  EXPECT_FALSE(cpu.fingerprint.empty());
  EXPECT_GT(cpu.memory_capacity, Bytes(64 << 20));
  EXPECT_EQ(cpu.fingerprint, IdentifyCpu().value().fingerprint);
}

TEST_F(DeviceTest, TheProcessorIsMeasuredOnceAndKept) {
  const DeviceProfile cpu = DetectCpu().value();
  EXPECT_GT(cpu.peak.at(DataType::kFloat32).count(), 1e8);
  for (const MemoryLevel& level : cpu.memory) EXPECT_GT(level.bandwidth.count(), 1e7) << level.name;
  const auto start = std::chrono::steady_clock::now();
  const DeviceProfile again = LoadDevice("cpu").value();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(200)) << "measured a second time";
  EXPECT_EQ(ToYaml(again), ToYaml(cpu));
}

TEST_F(DeviceTest, AKeptProfileThatIsDamagedIsMeasuredAgain) {
  const DeviceProfile cpu = DetectCpu().value();
  for (const auto& file : fs::recursive_directory_iterator(folder_->path())) {
    if (!file.is_regular_file()) continue;
    EXPECT_TRUE(WriteAtomically(file.path(), "name: [").ok());
  }
  EXPECT_TRUE(DetectCpu().ok());
}

}  // namespace
}  // namespace simpred
