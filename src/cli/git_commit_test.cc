#include "cli/git_commit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace simpred {
namespace {

namespace fs = std::filesystem;

class GitCommit : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ / ".git/refs/heads");
    fs::create_directories(folder_ / "models");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / ".git" / name) << text; }
  std::string Commit() { return CommitOf(folder_ / "models/a.onnx"); }

  fs::path folder_;
  const std::string commit_ = std::string(39, 'a') + "7";
};

TEST_F(GitCommit, Branch) {
  Write("HEAD", "ref: refs/heads/main\n");
  Write("refs/heads/main", commit_ + "\n");
  EXPECT_EQ(Commit(), commit_);
}

TEST_F(GitCommit, PackedBranch) {
  Write("HEAD", "ref: refs/heads/main\n");
  Write("packed-refs", "# pack-refs\n" + std::string(40, 'b') + " refs/heads/other\n" + commit_ + " refs/heads/main\n");
  EXPECT_EQ(Commit(), commit_);
}

TEST_F(GitCommit, Detached) {
  Write("HEAD", commit_ + "\n");
  EXPECT_EQ(Commit(), commit_);
}

TEST_F(GitCommit, NothingThatIsNoCommit) {
  Write("HEAD", "ref: ../../../etc/passwd\n");
  EXPECT_EQ(Commit(), "");
  Write("HEAD", "garbage\n");
  EXPECT_EQ(Commit(), "");
  Write("HEAD", "ref: refs/heads/none\n");
  EXPECT_EQ(Commit(), "");
}

}  // namespace
}  // namespace simpred
