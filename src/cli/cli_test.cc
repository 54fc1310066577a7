// Exit status and streams of the whole command line, in process. tests/cases has the cases with files.
#include "cli/cli.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace simpred {
namespace {

struct Outcome {
  int status;
  std::string out, err;
};

Outcome RunWith(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "sim_predict");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int status = Run(static_cast<int>(arguments.size()), arguments.data());
  return {status, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST(Cli, HelpAndVersion) {
  Outcome o = RunWith({"--help"});
  EXPECT_EQ(o.status, 0);
  EXPECT_NE(o.out.find("Examples:"), std::string::npos);
  o = RunWith({"--version"});
  EXPECT_EQ(o.status, 0);
  EXPECT_EQ(o.out.rfind("sim_predict ", 0), 0U);
}

TEST(Cli, EveryCommandHasAnExample) {
  for (const char* command : {"predict", "calibrate", "describe", "measure", "devices", "db", "show", "fusions"}) {
    const Outcome o = RunWith({command, "--help"});
    EXPECT_EQ(o.status, 0) << command;
    EXPECT_NE(o.out.find("Example"), std::string::npos) << command;
    EXPECT_NE(o.out.find("sim_predict"), std::string::npos) << command;
  }
}

TEST(Cli, WrongUsageIsTwoAndSaysWhatToDo) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{},
                                             {"prdict"},
                                             {"predict"},
                                             {"predict", "--nonsense"},
                                             {"predict", "a.onnx", "--format", "pdf"},
                                             {"predict", "a.onnx", "--shape", "x"},
                                             {"predict", "a.onnx", "--set", "nothing"},
                                             {"predict", "a.onnx", "--threads", "0"},
                                             {"--config", "not_there.yaml"},
                                             {"--config", "not_there.yaml", "--predict"},
                                             {"db"},
                                             {"show"},
                                             {"sweep"}}) {
    const Outcome o = RunWith(arguments);
    EXPECT_EQ(o.status, 2) << o.err;
    EXPECT_EQ(o.out, "");
    EXPECT_EQ(o.err.rfind("error: ", 0), 0U) << o.err;
    EXPECT_NE(o.err.find("hint: "), std::string::npos) << o.err;
  }
}

TEST(Cli, TheCommandMeant) { EXPECT_NE(RunWith({"prdict"}).err.find("did you mean 'predict'?"), std::string::npos); }

TEST(Cli, JsonIsNothingButJson) {
  for (const std::vector<const char*>& arguments :
       std::vector<std::vector<const char*>>{{"devices", "--format", "json"}, {"fusions", "--format", "json"}}) {
    const Outcome o = RunWith(arguments);
    EXPECT_EQ(o.status, 0) << o.err;
    EXPECT_FALSE(nlohmann::json::parse(o.out, nullptr, false).is_discarded()) << o.out;
  }
}

TEST(Cli, MissingModelIsThree) {
  const Outcome o = RunWith({"describe", "not_there.onnx"});
  EXPECT_EQ(o.status, 3);
  EXPECT_NE(o.err.find("not_there.onnx"), std::string::npos);
}

}  // namespace
}  // namespace simpred
