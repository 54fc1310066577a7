// What every view must hold: the right numbers, nothing of a hostile name, valid documents.
#include "report/report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "report/schema_checker.h"

namespace simpred {
namespace {

using Json = nlohmann::json;

constexpr char kHostile[] = "x</script><img src=a onerror=alert(1)>\"'\033[2J,=1\xff";

ReportOperator Operator(const std::string& name, double start_us, double us, Source source = Source::kInterpolated) {
  ReportOperator o;
  o.name = name;
  o.type = "Conv";
  o.op_class = Name(OperatorClass::kConvolution);
  o.dtype = "float32";
  o.fused_from = {name, name + "_relu"};
  o.latency = Microseconds(us);
  o.low = Microseconds(us * 0.9);
  o.high = Microseconds(us * 1.1);
  o.source = source;
  o.reason = "nearest calibrated shape 1.2 times smaller";
  o.flops = Flops(us * 1e4);
  o.bytes = Bytes(static_cast<int64_t>(us * 1000));
  o.bound = Bound::kCompute;
  o.roofline = Microseconds(us / 2);
  o.start = Microseconds(start_us);
  o.end = Microseconds(start_us + us);
  o.resource = "cpu";
  return o;
}

Report Sample() {
  Report r;
  r.run = {.id = std::nullopt,
           .tool_version = "0.1.0",
           .config = "simulation:\n  device: cpu\n",
           .config_sha256 = std::string(64, 'a'),
           .model_path = "m.onnx",
           .model_name = "m",
           .model_sha256 = std::string(64, 'b'),
           .model_version = "",
           .commit = "",
           .input_shapes = "data=1x3x8x8",
           .device = "cpu",
           .device_description = "",
           .runtime = "onnxruntime",
           .runtime_version = "1.30.0",
           .threads = 1,
           .precision = "model",
           .fusion_mode = "auto",
           .family = "",
           .statistic = "p10",
           .calibration = "fitted on 3 kernels"};
  r.latency = Microseconds(121.5);
  r.low = Microseconds(110);
  r.high = Microseconds(130);
  r.grade = Grade::kBaseline;
  r.expected_deviation = 0.05;
  r.source = Source::kInterpolated;
  r.kernels = Microseconds(120);
  r.run_cost = Microseconds(1.5);
  r.by_source = {{Source::kInterpolated, Microseconds(100)}, {Source::kAnalytic, Microseconds(20)}};
  r.peak_memory = Bytes(3 << 20);
  r.memory_capacity = Bytes(int64_t{8} << 30);
  r.operators = {Operator("conv1", 1.5, 20, Source::kAnalytic), Operator("conv2", 21.5, 100)};
  r.resources = {{"cpu", 0.98}};
  r.bottleneck = "cpu: conv2 takes most of the time";
  r.warnings = {"one warning"};
  r.compute_ceilings = {{"float32", 1e11}};
  r.memory_ceilings = {{"DRAM", 1e10}};
  return r;
}

Report Hostile() {
  Report r = Sample();
  r.operators[0].name = r.operators[1].type = r.run.model_name = r.run.config = r.bottleneck = r.warnings[0] = kHostile;
  r.operators[0].fused_from = {kHostile};
  r.resources[0].name = r.operators[0].resource = r.operators[1].resource = kHostile;
  r.compute_ceilings[0].name = r.operators[0].reason = kHostile;
  r.operators[1].op_class = kHostile;
  return r;
}

Json Schema() {
  const auto text = ReadText(SIMPRED_SOURCE_DIR "/docs/schema/report.schema.json");
  EXPECT_TRUE(text.ok());
  return Json::parse(text.ok() ? *text : "{}");
}

void ExpectValid(const Report& r) {
  const std::string text = RenderJson(r, {});
  const Json document = Json::parse(text, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << text;
  for (const std::string& finding : CheckSchema(Schema(), document)) ADD_FAILURE() << finding;
}

TEST(JsonView, FollowsItsSchema) {
  ExpectValid(Sample());
  ExpectValid(Hostile());
  Report r = Sample();
  r.operators.clear();
  r.warnings.clear();
  r.resources.clear();
  ExpectValid(r);
  r = Sample();
  r.latency = r.operators[0].latency = r.operators[0].high = Seconds(std::numeric_limits<double>::infinity());
  r.expected_deviation = std::numeric_limits<double>::quiet_NaN();
  ExpectValid(r);
  r = Sample();
  r.comparison = Comparison{Microseconds(120), "p10", 3, 0.01};
  r.operators[0].measured = Microseconds(19);
  ExpectValid(r);
}

TEST(JsonView, TheSchemaIsNotEmpty) {
  Json document = Json::parse(RenderJson(Sample(), {}));
  document["end_to_end"]["grade"] = "good";
  document["operators"][0].erase("bytes");
  document["operators"][1]["extra"] = 1;
  document["run"]["threads"] = "1";
  document["end_to_end"]["interval_us"] = {1};
  EXPECT_EQ(CheckSchema(Schema(), document).size(), 5U);
}

TEST(JsonView, Values) {
  const Json j = Json::parse(RenderJson(Sample(), {}));
  EXPECT_EQ(j["end_to_end"]["latency_us"], 121.5);
  EXPECT_EQ(j["end_to_end"]["interval_us"], Json({110.0, 130.0}));
  EXPECT_EQ(j["end_to_end"]["by_source"]["analytic"], 20.0);
  EXPECT_EQ(j["operators"][1]["name"], "conv2");
  EXPECT_EQ(j["operators"][1]["start_us"], 21.5);
  EXPECT_EQ(j["operators"][0]["source"], "analytic");
  EXPECT_EQ(j["run"]["id"], nullptr);
  EXPECT_EQ(j["resources"][0]["utilization"], 0.98);
}

TEST(SavedReport, ComesBackTheSame) {
  for (Report r : {Sample(), Hostile()}) {
    r.comparison = Comparison{Microseconds(120), "p10", 3, 0.01};
    r.operators[0].measured = Microseconds(19);
    const std::string text = RenderJson(r, {});
    const auto back = ReportFromJson(text);
    ASSERT_TRUE(back.ok()) << back.status().ToString();
    EXPECT_EQ(RenderJson(*back, {}), text);
    EXPECT_EQ(RenderHtml(*back, {}).size(), RenderHtml(r, {}).size());
  }
}

TEST(SavedReport, RefusesDamage) {
  for (const char* text : {"", "{", "[]", "3", "{\"schema\": \"sim_predict.report/1\"}", "{\"schema\": \"other/1\"}"})
    EXPECT_EQ(ReportFromJson(text).status().code(), StatusCode::kDatabase) << text;
  const Json good = Json::parse(RenderJson(Sample(), {}));
  for (const auto& [key, unused] : good.items()) {
    if (key == "coverage") continue;  // derived
    Json damaged = good;
    damaged[key] = 3;
    EXPECT_FALSE(ReportFromJson(damaged.dump()).ok()) << key;
  }
}

TEST(TextView, HasTheThreeBlocksAndThenTheBottleneck) {
  const std::string text = RenderText(Sample(), {});
  size_t at = 0;
  for (const char* heading :
       {"Time per operator", "conv2", "conv1", "End to end", "122 us", "Utilisation", "98.0 %", "Bottleneck",
        "conv2 takes most", "Where the time comes from", "analytic", "16.7 %", "Warnings (1)"}) {
    const size_t found = text.find(heading, at);
    ASSERT_NE(found, std::string::npos) << heading << " after byte " << at << " of\n" << text;
    at = found;
  }
}

TEST(TextView, TopAndAll) {
  Report r = Sample();
  for (int i = 0; i < 30; ++i) r.operators.push_back(Operator(fmt::format("tail{}", i), 200 + i, 1));
  EXPECT_EQ(RenderText(r, {}).find("tail29"), std::string::npos);
  EXPECT_NE(RenderText(r, {.all = true}).find("tail29"), std::string::npos);
  EXPECT_NE(RenderText(r, {.top = 1}).find("(1 of 32"), std::string::npos);
}

TEST(TextView, SaysThatAPlanDoesNotFit) {
  Report r = Sample();
  r.fits = false;
  EXPECT_NE(RenderText(r, {}).find("DOES NOT FIT"), std::string::npos);
}

TEST(Views, HostileNamesStayNames) {
  const Report r = Hostile();
  const std::string html = RenderHtml(r, {});
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("x</script>"), std::string::npos);
  for (const std::string& name : ViewNames()) {
    const std::string out = FindView(name)->render(r, {});
    EXPECT_EQ(out.find(name == "csv" ? std::string("\xff") : std::string("\033")), std::string::npos) << name;
    EXPECT_EQ(out.find('\xff'), std::string::npos) << name;
  }
}

TEST(HtmlView, IsSelfContained) {
  const std::string html = RenderHtml(Sample(), {});
  for (const char* outside : {"http://", "https://", "src=", "url(", "@import"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  for (const char* part : {"<!doctype html>", "Roofline", "Timeline", "Where the time comes from", "Warnings", "conv2",
                           "prefers-color-scheme"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(HtmlView, TenThousandKernelsStaySmall) {
  Report r = Sample();
  r.operators.clear();
  for (int i = 0; i < 10'000; ++i) r.operators.push_back(Operator(fmt::format("k{}", i), i * 3.0, 1 + i % 7));
  const std::string html = RenderHtml(r, {});
  EXPECT_LT(html.size(), size_t{1} << 20);
  EXPECT_NE(html.find("and 9800 shorter operators"), std::string::npos);
}

TEST(TraceView, IsATraceWithOneTrackPerResource) {
  Report r = Sample();
  r.resources.push_back({"dma", 0.1});
  r.operators[1].resource = "dma";
  const Json j = Json::parse(RenderTrace(r, {}));
  int complete = 0, tracks = 0;
  for (const Json& e : j["traceEvents"]) {
    if (e["ph"] == "X") {
      ++complete;
      EXPECT_TRUE(e["ts"].is_number() && e["dur"].is_number());
    }
    if (e["name"] == "thread_name") ++tracks;
  }
  EXPECT_EQ(complete, 2);
  EXPECT_EQ(tracks, 2);
  EXPECT_EQ(j["traceEvents"][4]["ts"], 21.5);
  EXPECT_EQ(j["traceEvents"][4]["dur"], 100);
  EXPECT_EQ(j["traceEvents"][4]["tid"], 2);
}

TEST(CsvView, OneLineAnOperatorAndAsManyFieldsAsTitles) {
  const std::string csv = RenderCsv(Sample(), {});
  size_t lines = 0, commas = 0;
  for (const char c : csv) {
    lines += c == '\n' ? 1 : 0;
    commas += c == ',' ? 1 : 0;
  }
  EXPECT_EQ(lines, 3U);
  EXPECT_EQ(commas, 3U * 18);
  EXPECT_NE(csv.find("1,conv2,Conv,convolution,float32,100,90,110,interpolated,compute,"), std::string::npos) << csv;
}

TEST(Report, BuiltFromAPrediction) {
  Workload w;
  w.weights = Bytes(10);
  w.warnings = {{"from the workload"}};
  Kernel k;
  k.name = "a";
  k.type = "MatMul";
  k.has_rule = false;
  k.work.flops = Flops(100);
  k.work.read = Bytes(7);
  k.inputs = {{"ids", DataType::kInt64, {1}}, {"x", DataType::kFloat16, {1}}};
  w.kernels = {k};
  Prediction p;
  p.end_to_end.total.value = Microseconds(9);
  p.kernels.resize(1);
  p.kernels[0].estimate.value = Microseconds(8);
  p.kernels[0].estimate.source = Source::kMeasured;
  p.kernels[0].end_ns = 8000;
  p.resources = {"cpu"};
  p.utilization = {0.5};
  DeviceProfile d;
  d.kind = "cpu";
  d.cores = 4;
  d.peak[DataType::kFloat32] = FlopsPerSecond(4e9);
  d.memory = {{"L1", Bytes(1), BytesPerSecond(10), false, ""}, {"DRAM", Bytes(1), BytesPerSecond(30), true, ""}};
  RunInfo info;
  info.threads = 2;
  const Report r = BuildReport(info, w, p, d);
  ASSERT_EQ(r.operators.size(), 1U);
  EXPECT_EQ(r.operators[0].dtype, "float16");
  EXPECT_EQ(r.operators[0].bytes, Bytes(7));
  EXPECT_EQ(r.operators[0].end, Microseconds(8));
  EXPECT_EQ(r.compute_ceilings[0].per_second, 2e9);
  EXPECT_EQ(r.memory_ceilings[0].per_second, 20);
  EXPECT_EQ(r.memory_ceilings[1].per_second, 30);
  EXPECT_EQ(r.warnings, std::vector<std::string>{"from the workload"});
  EXPECT_EQ(r.without_rule(), 1);
  EXPECT_NE(r.Coverage().find("0 of 1 kernels have a cost rule; 1 (100 % of the kernel time)"), std::string::npos)
      << r.Coverage();
}

TEST(Report, DeviationIsRelativeToWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(Deviation(Microseconds(110), Microseconds(100)), 0.1);
  EXPECT_DOUBLE_EQ(Deviation(Microseconds(90), Microseconds(100)), -0.1);
  EXPECT_EQ(Deviation(Microseconds(90), Duration()), 0);
}

}  // namespace
}  // namespace simpred
