#include "agents/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace cupilot::agents {
namespace {

constexpr const char* kVariable = "CUPILOT_TEST_OF_KEYS";

class KeysTest : public testing::Test {
 protected:
  KeysTest() {
    ::unsetenv(kVariable);
    ::unsetenv("CREDENTIALS_DIRECTORY");
  }
  ~KeysTest() override {
    ::unsetenv(kVariable);
    ::unsetenv("CREDENTIALS_DIRECTORY");
  }
  std::string Write(const std::string& name, const std::string& text, mode_t mode) const {
    const std::string path = folder_.Write(name, text);
    ::chmod(path.c_str(), mode);
    return path;
  }
  KeySource Source(const std::string& file = "") const {
    return {kVariable, file.empty() ? folder_ / "none" : file, "model-key"};
  }

  test::TemporaryFolder folder_;
};

TEST_F(KeysTest, FromTheEnvironmentWhichThenHasItNoLonger) {
  ::setenv(kVariable, "sk-env", 1);
  const auto key = TakeKey(Source(Write("key", "sk-file", 0600)));
  ASSERT_TRUE(key);
  EXPECT_EQ(key->Reveal(), "sk-env");
  EXPECT_EQ(std::getenv(kVariable), nullptr);
}

TEST_F(KeysTest, FromAFileOfOnesOwn) {
  EXPECT_EQ(TakeKey(Source(Write("a", "sk-file\r\n", 0600)))->Reveal(), "sk-file");
  EXPECT_EQ(TakeKey(Source(Write("b", "sk-file", 0400)))->Reveal(), "sk-file");
}

TEST_F(KeysTest, NotFromAFileThatOthersCanRead) {
  for (const mode_t mode : {0644, 0640, 0604, 0620, 0602}) {
    const auto key = TakeKey(Source(Write("key", "sk-file", mode)));
    ASSERT_FALSE(key) << mode;
    EXPECT_EQ(key.error().code, base::ErrorCode::kUnavailable);
    EXPECT_NE(key.error().message.find("chmod 600"), std::string::npos);
    EXPECT_EQ(key.error().message.find("sk-file"), std::string::npos);
  }
}

TEST_F(KeysTest, NotThroughALinkNorFromWhatIsNoFile) {
  std::filesystem::create_symlink(Write("real", "sk-file", 0600), folder_ / "link");
  EXPECT_EQ(TakeKey(Source(folder_ / "link")).error().code, base::ErrorCode::kUnavailable);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(TakeKey(Source(folder_ / "pipe")).error().code, base::ErrorCode::kUnavailable);
  EXPECT_EQ(TakeKey(Source(folder_.path())).error().code, base::ErrorCode::kUnavailable);
}

TEST_F(KeysTest, FromSystemd) {
  Write("model-key", "sk-systemd\n", 0440);
  ::setenv("CREDENTIALS_DIRECTORY", folder_.path().c_str(), 1);
  EXPECT_EQ(TakeKey(Source())->Reveal(), "sk-systemd");
}

TEST_F(KeysTest, NoKeyNamesThePlaces) {
  const auto key = TakeKey(Source());
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().code, base::ErrorCode::kNotFound);
  EXPECT_NE(key.error().message.find(kVariable), std::string::npos);
  EXPECT_NE(key.error().message.find("none"), std::string::npos);
  EXPECT_NE(key.error().message.find("model-key"), std::string::npos);
}

TEST_F(KeysTest, WhatCouldEndAHeaderIsNoKey) {
  for (const std::string& text :
       {std::string(""), std::string("\n"), std::string("a b"), std::string("sk\r\nHost: evil"),
        std::string("sk\0x", 4), std::string("schl\xc3\xbcssel"), std::string(100000, 'x')}) {
    const auto key = TakeKey(Source(Write("key", text, 0600)));
    ASSERT_FALSE(key) << text.size();
    EXPECT_EQ(key.error().code, base::ErrorCode::kInvalidArgument);
    EXPECT_EQ(key.error().message.find("evil"), std::string::npos);
  }
}

}  // namespace
}  // namespace cupilot::agents
