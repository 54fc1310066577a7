#include "base/work_folder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace simpred {
namespace {

TEST(WorkFolder, IsThereWhileItLivesAndGoneWithItsFilesAfterwards) {
  std::filesystem::path path;
  {
    auto folder = WorkFolder::Create();
    ASSERT_TRUE(folder.ok());
    path = (*folder)->path();
    std::ofstream(path / "file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path / "file"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WorkFolder, AMissingTemporaryFolderIsAnErrorThatSaysWhatToSet) {
  ASSERT_EQ(::setenv("TMPDIR", "/nonexistent/folder", 1), 0);
  auto folder = WorkFolder::Create();
  ::unsetenv("TMPDIR");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(folder.status().hint().find("TMPDIR"), std::string_view::npos);
}

}  // namespace
}  // namespace simpred
