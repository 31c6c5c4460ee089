// A process looks at a file once, and sees that it has changed all the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "source/syntax/file_snapshot.h"
#include "source/syntax/preprocess.h"

namespace cupilot::source {
namespace {

namespace fs = std::filesystem;

class KeptFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (fs::temp_directory_path() / ("cupilot-kept-files-" + std::to_string(getpid()))).string();
    fs::create_directories(folder_ + "/first");
    fs::create_directories(folder_ + "/second");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // As if it had been written long ago, and so that its contents alone tell.
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  void Age(const std::string& name, std::chrono::seconds by = std::chrono::hours(1)) const {
    fs::last_write_time(folder_ + "/" + name, fs::file_time_type::clock::now() - by);
  }
  std::string Seen() const {
    PreprocessOptions options;
    options.file_name = folder_ + "/main.cu";
    options.directory = folder_;
    options.include_folders = {folder_ + "/first", folder_ + "/second"};
    const auto result = Preprocess("#include \"size.h\"\n", options);
    if (!result || !result->errors.empty()) return "an error";
    std::string tokens;
    std::istringstream lines(result->text);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#")) tokens += line;
    }
    return tokens;
  }

  std::string folder_;
};

TEST_F(KeptFilesTest, AChangedFileIsReadAgain) {
  Write("second/size.h", "one");
  Age("second/size.h");
  EXPECT_EQ(Seen(), "one");
  Write("second/size.h", "two");
  Age("second/size.h", std::chrono::minutes(30));
  EXPECT_EQ(Seen(), "two") << "another time";
  Write("second/size.h", "three");
  Age("second/size.h", std::chrono::minutes(30));
  EXPECT_EQ(Seen(), "three") << "another size";
}

// Within a clock's step neither time nor size tell.
TEST_F(KeptFilesTest, WhatWasJustWrittenIsNotBelieved) {
  Write("second/size.h", "one");
  const auto time = fs::last_write_time(folder_ + "/second/size.h");
  EXPECT_EQ(Seen(), "one");
  Write("second/size.h", "two");
  fs::last_write_time(folder_ + "/second/size.h", time);
  EXPECT_EQ(Seen(), "two");
}

TEST_F(KeptFilesTest, WhatWasNotThereIsFoundWhenItComes) {
  Write("second/size.h", "second");
  for (const char* name : {"first", "second", "second/size.h"}) Age(name);
  EXPECT_EQ(Seen(), "second");
  EXPECT_EQ(Seen(), "second");
  Write("first/size.h", "first");
  EXPECT_EQ(Seen(), "first") << "its folder has changed";
  fs::remove(folder_ + "/first/size.h");
  EXPECT_EQ(Seen(), "second");
  fs::remove_all(folder_ + "/second");
  EXPECT_EQ(Seen(), "an error");
  fs::create_directories(folder_ + "/second");
  Write("second/size.h", "again");
  EXPECT_EQ(Seen(), "again");
}

TEST_F(KeptFilesTest, ALinkThatLedNowhereMayLeadSomewhere) {
  fs::create_symlink(folder_ + "/elsewhere.h", folder_ + "/first/size.h");
  Age("first");
  EXPECT_EQ(Seen(), "an error");
  EXPECT_EQ(Seen(), "an error");
  Write("elsewhere.h", "linked");
  EXPECT_EQ(Seen(), "linked");
}

// One request sees one state of the disk.
TEST_F(KeptFilesTest, ASnapshotStays) {
  Write("first/size.h", "one");
  Age("first/size.h");
  const std::string path = folder_ + "/first/size.h";
  {
    const FileSnapshot outer;
    EXPECT_EQ(Seen(), "one");
    EXPECT_EQ(IdentifyAsSeen(path).size, 3u);
    Write("first/size.h", "other");
    EXPECT_EQ(Seen(), "one");
    EXPECT_EQ(IdentifyAsSeen(path).size, 3u);
  }
  EXPECT_EQ(Seen(), "other");
  EXPECT_EQ(IdentifyAsSeen(path).size, 5u);
  EXPECT_EQ(IdentifyAsSeen(folder_ + "/missing"), base::FileIdentity{});
}

}  // namespace
}  // namespace cupilot::source
