// Every key is read, and every way to get one wrong is answered with place and remedy.
#include "cli/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace simpred {
namespace {

Result<Config> Parse(const std::string& body, const std::vector<std::string>& sets = {}) {
  return ParseConfig("simulation:\n" + body, "a.yaml", "/models", sets);
}

Config MustParse(const std::string& body, const std::vector<std::string>& sets = {}) {
  auto c = Parse(body, sets);
  EXPECT_TRUE(c.ok()) << c.status().ToString();
  return c.ok() ? *c : Config{};
}

// Message and hint of what must fail.
std::string Fails(const std::string& body, const std::vector<std::string>& sets = {}) {
  const auto c = Parse(body, sets);
  EXPECT_FALSE(c.ok()) << body;
  EXPECT_EQ(c.status().code(), StatusCode::kUsage);
  return c.status().ToString();
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Config, TheDesignsExample) {
  const Config c = MustParse(R"(
  device: Ascend310P
  model_path: ./models/resnet50.onnx
  input_shape: [1, 3, 224, 224]
  precision: FP16
  fusion_mode: auto
  calibrate:
    enable: true
    iters: 64
    sample_ratio: 0.25
    threshold: 0.1
)");
  EXPECT_EQ(c.device, "Ascend310P");
  EXPECT_EQ(c.model_path, "/models/models/resnet50.onnx");
  EXPECT_EQ(c.input_shapes.at(""), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(c.precision, "FP16");
  EXPECT_TRUE(c.calibrate.enable);
  EXPECT_EQ(c.calibrate.iters, 64);
  EXPECT_EQ(c.calibrate.sample_ratio, 0.25);
  EXPECT_EQ(c.calibrate.threshold, 0.1);
}

TEST(Config, Defaults) {
  const Config c = MustParse("  device: cpu\n");
  EXPECT_FALSE(c.calibrate.enable);
  EXPECT_EQ(c.calibrate.iters, 128);
  EXPECT_EQ(c.calibrate.sample_ratio, 0.5);
  EXPECT_EQ(c.calibrate.threshold, 0.15);
  EXPECT_EQ(c.precision, "model");
  EXPECT_EQ(c.fusion_mode, "auto");
  EXPECT_EQ(c.runtime.threads, 1);
  EXPECT_TRUE(c.database.empty());
}

TEST(Config, OptionalKeys) {
  const Config c = MustParse(R"(
  device: cpu
  runtime: {name: onnxruntime, version: 1.30.0, threads: 2, execution: sequential, queue_depth: 8, policy: fifo}
  family: cnn
  database: ./db.sqlite
  shape_mode: exact
  known_deviation: [TopK, nms]
  exclude: [conv1, {after: fc}, {between: [a, b]}]
  corrections: {memory: 1.1, compute: 0.9}
  overrides: {Conv: {latency: 25 us}}
  model_version: v3
  report: {format: html, output: out.html, top: 5}
)");
  EXPECT_EQ(c.runtime.threads, 2);
  EXPECT_EQ(c.runtime.version, "1.30.0");
  EXPECT_EQ(c.runtime.queue_depth, 8);
  EXPECT_EQ(c.database, "/models/db.sqlite");
  EXPECT_EQ(c.known_deviation, (std::vector<std::string>{"TopK", "nms"}));
  ASSERT_EQ(c.exclude.size(), 3U);
  EXPECT_EQ(c.exclude[1].kind, ExcludeRule::Kind::kAfter);
  EXPECT_EQ(c.exclude[2].second, "b");
  EXPECT_EQ(c.memory_correction, 1.1);
  EXPECT_EQ(c.latency_overrides.at("Conv"), Microseconds(25));
  EXPECT_EQ(c.report.output, "/models/out.html");
}

TEST(Config, Shapes) {
  Config c = MustParse("  input_shape: {data: [N, 3, 224, 224], mask: [N]}\n");
  EXPECT_EQ(c.input_shapes.at("data"), (Shape{Dim::Symbol("N"), 3, 224, 224}));
  EXPECT_EQ(c.input_shapes.at("mask"), (Shape{Dim::Symbol("N")}));
  c = MustParse("  input_shape: [{batch: [4]}, 3]\n");
  EXPECT_EQ(c.symbols.at("batch"), 4);
  EXPECT_HAS(Fails("  input_shape: [{batch: [1, 4, 16]}, 3]\n"), "not available in this version");
  EXPECT_HAS(Fails("  input_shape: [-1, 3]\n"), "a.yaml:2:17: key 'input_shape' needs dimensions");
  EXPECT_HAS(Fails("  input_shape: 224\n"), "a list");
  EXPECT_HAS(Fails("  input_shape: [[1], 3]\n"), "a list");
  EXPECT_HAS(Fails("  input_shape: [99999999999999999999]\n"), "dimensions");
}

TEST(Config, UnknownKeyHasPlaceAndNearest) {
  const std::string text = Fails("  device: cpu\n  model_pth: x.onnx\n");
  EXPECT_HAS(text, "a.yaml:3:3: unknown key 'model_pth'");
  EXPECT_HAS(text, "did you mean 'model_path'?");
  EXPECT_HAS(Fails("  iters: 3\n"), "did you mean 'calibrate.iters'?");
  EXPECT_HAS(Fails("  calibrate: {device: cpu}\n"), "'device' belongs directly under 'simulation'");
  EXPECT_HAS(Fails("  qqqqqqqqqqqqqqqqqqqq: 1\n"), "known in 'simulation': device, model_path");
}

TEST(Config, WrongTypesAndRanges) {
  EXPECT_HAS(Fails("  calibrate: {iters: many}\n"), "a whole number from 1");
  EXPECT_HAS(Fails("  calibrate: {iters: 0}\n"), "a whole number from 1");
  EXPECT_HAS(Fails("  calibrate: {sample_ratio: 2}\n"), "from 0 to 1");
  EXPECT_HAS(Fails("  calibrate: {threshold: '0,15'}\n"), "the decimal sign is a point");
  EXPECT_HAS(Fails("  calibrate: {enable: maybe}\n"), "true or false");
  EXPECT_HAS(Fails("  calibrate: 3\n"), "a map");
  EXPECT_HAS(Fails("  precision: FP61\n"), "did you mean 'FP16'?");
  EXPECT_HAS(Fails("  device: [cpu]\n"), "needs a text, has a list");
  EXPECT_HAS(Fails("  device: cpu\n  device: gpu\n"), "given twice");
  EXPECT_HAS(Fails("  overrides: {Conv: {latency: 25}}\n"), "25 us");
  EXPECT_HAS(Fails("  exclude: [{between: [a]}]\n"), "two node names");
  EXPECT_HAS(Fails("  [1]: 3\n"), "not a text");
}

TEST(Config, KnownButNotAvailableIsSaid) {
  for (const char* body :
       {"  shape_mode: loose\n", "  trip_counts: {loop: 3}\n", "  custom_operators: {A: {flops: 3}}\n",
        "  overrides: {Conv: {tiling: x}}\n", "  overrides: {Conv: {variant: x}}\n",
        "  overrides: {Conv: {layout: NC1HWC0}}\n", "  runtime: {execution: parallel}\n"})
    EXPECT_HAS(Fails(body), "not available in this version");
}

TEST(Config, NotYaml) {
  EXPECT_HAS(Fails("  device: [cpu\n"), "not valid YAML");
  EXPECT_FALSE(ParseConfig("", "a.yaml", {}, {}).ok());
  EXPECT_FALSE(ParseConfig("- 1\n", "a.yaml", {}, {}).ok());
  EXPECT_FALSE(ParseConfig("device: cpu\n", "a.yaml", {}, {}).ok());
  EXPECT_FALSE(ParseConfig("simulation: {}\nother: 1\n", "a.yaml", {}, {}).ok());
  EXPECT_FALSE(ParseConfig(std::string(100000, '['), "a.yaml", {}, {}).ok());
  EXPECT_FALSE(ParseConfig("simulation: {input_shape: &a [*a]}\n", "a.yaml", {}, {}).ok());
  EXPECT_FALSE(ParseConfig(std::string("simulation:\0\xff", 13), "a.yaml", {}, {}).ok());
}

TEST(Config, OverridesWin) {
  const Config c =
      MustParse("  device: cpu\n  calibrate: {iters: 3, threshold: 0.5}\n",
                {"calibrate.iters=64", "simulation.precision=FP32", "input_shape=[2, 3]", "model_path=m.onnx"});
  EXPECT_EQ(c.calibrate.iters, 64);
  EXPECT_EQ(c.calibrate.threshold, 0.5);
  EXPECT_EQ(c.precision, "FP32");
  EXPECT_EQ(c.input_shapes.at(""), (Shape{2, 3}));
  EXPECT_EQ(c.model_path, "m.onnx");
  EXPECT_HAS(c.text, "# --set calibrate.iters=64\n");
  EXPECT_HAS(Fails("  device: cpu\n", {"calibrate.iter=1"}), "--set calibrate.iter: unknown key 'iter'");
  EXPECT_HAS(Fails("  device: cpu\n", {"novalue"}), "key=value");
  EXPECT_HAS(Fails("  device: cpu\n", {"=1"}), "key=value");
  EXPECT_HAS(Fails("  device: cpu\n", {"precision=[a"}), "not valid YAML");
}

TEST(Config, EveryKeyOfTheListIsKnown) {
  for (const std::string& key : ConfigKeys()) {
    const auto c = Parse("  device: cpu\n", {key + "=1"});
    EXPECT_EQ(c.status().ToString().find("unknown key"), std::string::npos) << c.status().ToString();
  }
}

TEST(Config, MissingFile) {
  const auto c = ReadConfig("/does/not/exist.yaml", {});
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.status().code(), StatusCode::kUsage);
}

TEST(Shapes, FromTheCommandLine) {
  std::map<std::string, Shape> shapes;
  EXPECT_TRUE(AddShape("data=1x3x224x224", shapes).ok());
  EXPECT_TRUE(AddShape("ids=N,128", shapes).ok());
  EXPECT_TRUE(AddShape("a=b:0=2x2", shapes).ok());
  EXPECT_TRUE(AddShape("7", shapes).ok());
  EXPECT_EQ(shapes.at("data"), (Shape{1, 3, 224, 224}));
  EXPECT_EQ(shapes.at("ids"), (Shape{Dim::Symbol("N"), 128}));
  EXPECT_EQ(shapes.at("a=b:0"), (Shape{2, 2}));
  EXPECT_EQ(shapes.at(""), (Shape{7}));
  for (const char* wrong : {"data=1xx3", "data=-1x3", "data=1;3"}) EXPECT_FALSE(AddShape(wrong, shapes).ok()) << wrong;
}

TEST(Symbols, FromTheCommandLine) {
  SymbolBindings s;
  EXPECT_TRUE(AddSymbol("N=4", s).ok());
  EXPECT_EQ(s.at("N"), 4);
  for (const char* wrong : {"N", "=4", "N=", "N=-1", "N=1.5", "N=99999999999999999999"})
    EXPECT_FALSE(AddSymbol(wrong, s).ok()) << wrong;
}

}  // namespace
}  // namespace simpred
