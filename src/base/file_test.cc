#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace simpred {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string name = (fs::temp_directory_path() / "simpred-file-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }
  size_t FilesInFolder() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

TEST_F(FileTest, WritesReadsAndMaps) {
  const fs::path path = folder_ / "a.txt";
  ASSERT_TRUE(WriteAtomically(path, "old").ok());
  ASSERT_TRUE(WriteAtomically(path, "new content").ok());
  EXPECT_EQ(ReadText(path).value(), "new content");
  Result<MappedFile> mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  MappedFile moved = std::move(mapped).value();
  EXPECT_EQ(moved.bytes(), "new content");
  EXPECT_EQ(FilesInFolder(), 1U) << "a temporary file was left behind";
}

TEST_F(FileTest, AnEmptyFileMapsToNothing) {
  ASSERT_TRUE(WriteAtomically(folder_ / "empty", "").ok());
  EXPECT_EQ(MappedFile::Open(folder_ / "empty").value().size(), 0U);
}

TEST_F(FileTest, WhatIsForgottenIsReadAgain) {
  std::string content(1 << 20, 'a');
  content[500000] = 'b';
  ASSERT_TRUE(WriteAtomically(folder_ / "large", content).ok());
  const MappedFile map = MappedFile::Open(folder_ / "large").value();
  EXPECT_EQ(map.bytes(), content);
  map.Forget(map.bytes());
  map.Forget(map.bytes().substr(3, 5));  // no whole page
  map.Forget({});
  EXPECT_EQ(map.bytes(), content);
}

TEST_F(FileTest, ErrorsSayWhy) {
  const Status missing = MappedFile::Open(folder_ / "none.onnx").status();
  EXPECT_EQ(missing.code(), StatusCode::kModel);
  EXPECT_NE(missing.message().find("No such file"), std::string::npos) << missing.ToString();
  EXPECT_NE(MappedFile::Open(folder_).status().message().find("folder"), std::string::npos);
  EXPECT_FALSE(ReadText(folder_).ok());
  EXPECT_FALSE(ReadText(folder_ / "none").ok());
  EXPECT_FALSE(WriteAtomically(folder_, "x").ok());
  EXPECT_FALSE(WriteAtomically(folder_ / "no" / "such" / "folder", "x").ok());
}

TEST_F(FileTest, APipeDoesNotHang) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(MappedFile::Open(pipe).ok());
}

TEST_F(FileTest, ALimitIsKept) {
  ASSERT_TRUE(WriteAtomically(folder_ / "a", std::string(200000, 'x')).ok());
  EXPECT_EQ(ReadText(folder_ / "a", 200000).value().size(), 200000U);
  EXPECT_FALSE(ReadText(folder_ / "a", 199999).ok());
}

TEST_F(FileTest, AFullDiskIsNamed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Status status = WriteAtomically("/dev/full", "x");
  EXPECT_NE(status.message().find("No space left on device"), std::string::npos) << status.ToString();
  EXPECT_FALSE(status.hint().empty());
}

TEST_F(FileTest, ALinkStaysALink) {
  ASSERT_TRUE(WriteAtomically(folder_ / "target", "old").ok());
  fs::create_symlink("target", folder_ / "link");
  ASSERT_TRUE(WriteAtomically(folder_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(ReadText(folder_ / "target").value(), "new");
}

TEST_F(FileTest, TheModeOfAReplacedFileIsKept) {
  ASSERT_TRUE(WriteAtomically(folder_ / "a", "old").ok());
  fs::permissions(folder_ / "a", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(WriteAtomically(folder_ / "a", "new").ok());
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, TheUsersFolderFollowsXdg) {
  ::setenv("XDG_DATA_HOME", folder_.c_str(), 1);
  const Result<fs::path> user = UserDataFolder();
  ::unsetenv("XDG_DATA_HOME");
  ASSERT_TRUE(user.ok());
  EXPECT_EQ(*user, folder_ / "sim_predict");
  EXPECT_TRUE(fs::is_directory(*user));
}

}  // namespace
}  // namespace simpred
