#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

namespace cupilot::base {
namespace {

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("cupilot-file-" + std::to_string(getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(folder_).has_value()); }
  std::string folder_;
};

TEST_F(FileTest, WritesAndReadsWholeFiles) {
  const std::string path = folder_ + "/a/b/file";
  const std::string bytes("one\0two\n", 8);
  ASSERT_TRUE(WriteFileAtomically(path, bytes).has_value());
  EXPECT_EQ(*ReadFile(path), bytes);
  struct stat status{};
  ASSERT_EQ(stat((folder_ + "/a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_ + "/a/b")) {
    ++entries;
  }
  EXPECT_EQ(entries, 1U) << "no temporary file may stay";
}

TEST_F(FileTest, NamesThePathOfWhatIsMissing) {
  const auto result = ReadFile(folder_ + "/none");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_NE(result.error().message.find(folder_ + "/none"), std::string::npos);
  EXPECT_EQ(ReadFile("/").error().code, ErrorCode::kIo);
}

TEST_F(FileTest, LeavesEqualFilesAlone) {
  const std::string path = folder_ + "/file";
  EXPECT_TRUE(*WriteFileIfDifferent(path, "text"));
  const FileIdentity before = *IdentifyFile(path);
  EXPECT_FALSE(*WriteFileIfDifferent(path, "text"));
  EXPECT_EQ(IdentifyFile(path)->mtime_ns, before.mtime_ns);
  EXPECT_TRUE(*WriteFileIfDifferent(path, "next"));
  EXPECT_EQ(*ReadFile(path), "next");
}

TEST_F(FileTest, ReadersSeeOldOrNewNeverHalf) {
  const std::string path = folder_ + "/file";
  const std::string one(100000, '1');
  const std::string two(50000, '2');
  for (const auto write : {&WriteFileAtomically, &WriteFileUnsynced}) {
    ASSERT_TRUE(write(path, one).has_value());
    std::thread writer([&] {
      for (int i = 0; i < 30; ++i) {
        EXPECT_TRUE(write(path, i % 2 == 0 ? two : one).has_value());
      }
    });
    for (int i = 0; i < 200; ++i) {
      const auto read = ReadFile(path);
      ASSERT_TRUE(read.has_value());
      EXPECT_TRUE(*read == one || *read == two);
    }
    writer.join();
  }
}

// That it is there after a power cut, storage_faults_test sees.
TEST_F(FileTest, WritesDurably) {
  const std::string path = folder_ + "/a/file";
  ASSERT_TRUE(WriteFileDurably(path, "text").has_value());
  EXPECT_EQ(*ReadFile(path), "text");
  EXPECT_TRUE(SyncFolderOf(path).has_value());
  EXPECT_TRUE(SyncFolderOf(folder_ + "/a/none").has_value()) << "that it is not there";
  EXPECT_EQ(SyncFolderOf(folder_ + "/none/file").error().code, ErrorCode::kNotFound);
}

TEST_F(FileTest, FailsWhereAFileStandsInTheWay) {
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/file", "x").has_value());
  EXPECT_FALSE(WriteFileAtomically(folder_ + "/file/below", "x").has_value());
  EXPECT_FALSE(MakeFolders(folder_ + "/file").has_value());
}

TEST(AbsolutePath, IsNormalised) {
  EXPECT_EQ(AbsolutePath("src/../a.cu", "/home/u/p"), "/home/u/p/a.cu");
  EXPECT_EQ(AbsolutePath("/x//y/./z/", "/home"), "/x/y/z");
  EXPECT_EQ(AbsolutePath(".", "/home/u"), "/home/u");
}

TEST(ExecutableFolder, HoldsThisTest) {
  EXPECT_TRUE(FileExists(ExecutableFolder() + "/base_test"));
}

}  // namespace
}  // namespace cupilot::base
