#include "profile/collectors/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

namespace simpred {
namespace {

struct Heard {
  std::vector<std::string> messages;
  ChildEnd end;
};

Heard Listen(const std::function<void(const SendMessage&)>& work, const ChildOptions& options = {}) {
  Heard heard;
  heard.end = RunInChild(
      work, [&](std::string m) { heard.messages.push_back(std::move(m)); }, options);
  return heard;
}

TEST(RunInChild, MessagesArriveWholeAndInOrder) {
  const std::string large(3'000'000, 'x');
  const Heard heard = Listen([&](const SendMessage& send) {
    send("one");
    send("");
    send(large);
  });
  EXPECT_TRUE(heard.end.status.ok());
  EXPECT_EQ(heard.messages, (std::vector<std::string>{"one", "", large}));
}

TEST(RunInChild, ACrashIsAStatusAndKeepsWhatWasSent) {
  const Heard heard = Listen([](const SendMessage& send) {
    send("before");
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  });
  EXPECT_EQ(heard.end.status.code(), StatusCode::kModel);
  EXPECT_NE(heard.end.status.message().find("signal 11"), std::string::npos) << heard.end.status.message();
  EXPECT_EQ(heard.messages, std::vector<std::string>{"before"});
}

TEST(RunInChild, ABeingKilledNamesMemory) {
  const Heard heard = Listen([](const SendMessage&) { raise(SIGKILL); });
  EXPECT_EQ(heard.end.status.code(), StatusCode::kModel);
  EXPECT_NE(heard.end.status.hint().find("memory"), std::string::npos);
}

TEST(RunInChild, AnExceptionIsAStatus) {
  EXPECT_EQ(Listen([](const SendMessage&) { throw std::runtime_error("x"); }).end.status.code(), StatusCode::kModel);
}

TEST(RunInChild, ASilentChildIsEnded) {
  const auto start = std::chrono::steady_clock::now();
  const Heard heard = Listen([](const SendMessage&) { sleep(60); }, {.silence_seconds = 0.3});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_FALSE(heard.end.status.ok());
  EXPECT_FALSE(heard.end.stopped);
}

TEST(RunInChild, StopEndsItAfterTheGrace) {
  std::atomic<bool> stop = true;
  const Heard heard =
      Listen([](const SendMessage&) { sleep(60); }, {.silence_seconds = 60, .stop = &stop, .grace_seconds = 0.2});
  EXPECT_TRUE(heard.end.stopped);
  const Heard quick = Listen([](const SendMessage& send) { send("done"); }, {.stop = &stop, .grace_seconds = 5});
  EXPECT_FALSE(quick.end.stopped);
  EXPECT_EQ(quick.messages.size(), 1U);
}

TEST(RunInChild, IgnoresTheTerminalsInterrupt) {
  EXPECT_TRUE(Listen([](const SendMessage&) { raise(SIGINT); }).end.status.ok());
}

TEST(RunInChild, DiesWithItsParent) {
  // A parent that is killed while its child works: the grandchild's pipe must close although it still has work.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(ends[0]);
    RunInChild(
        [&](const SendMessage& send) {
          send("started");
          sleep(60);
        },
        [](const std::string&) { raise(SIGKILL); }, {});
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  close(ends[0]);
}

}  // namespace
}  // namespace simpred
