// Errors, hashes, clocks, functions that own, and the log.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/unique_function.h"
#include "log/log.h"

namespace cupilot::base {
namespace {

TEST(Error, NamesGoBothWays) {
  for (const ErrorCode code :
       {ErrorCode::kInvalidArgument, ErrorCode::kNotFound, ErrorCode::kTimeout,
        ErrorCode::kUnavailable, ErrorCode::kIo, ErrorCode::kCorruption, ErrorCode::kUnsupported}) {
    EXPECT_EQ(CodeOf(Name(code)), code);
  }
  EXPECT_EQ(CodeOf("no such name"), ErrorCode::kInternal);
  EXPECT_EQ(NotFound("x").In("reading y").message, "reading y: x");
}

Result<int> Half(int value) {
  if (value % 2 != 0) return Fail(InvalidArgument("odd"));
  return value / 2;
}
Result<int> Quarter(int value) {
  TRY_ASSIGN(const int half, Half(value));
  TRY(Half(half));
  return Half(half);
}

TEST(Result, PassesErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_EQ(Quarter(3).error().code, ErrorCode::kInvalidArgument);
}

TEST(Hash, IsBlake2b160) {
  // Of the empty text: from the reference implementation with a digest of 20 bytes.
  EXPECT_EQ(HashHex(""), "3345524abf6bbe1809449224b5972c41790b6cf2");
  EXPECT_EQ(HashHex("a").size(), 40U);
  EXPECT_NE(HashHex("a"), HashHex("b"));
}

TEST(Hasher, KeepsPartsApart) {
  EXPECT_NE(Hasher().Add("ab").Add("c").Hex(), Hasher().Add("a").Add("bc").Hex());
  EXPECT_EQ(Hasher().Add("ab").Add("").Hex(), Hasher().Add("ab").Add("").Hex());
  EXPECT_NE(Hasher().Add("ab").Add("").Hex(), Hasher().Add("ab").Hex());
}

TEST(Clock, FormatsDatesInUtc) {
  using std::chrono::seconds;
  EXPECT_EQ(FormatDate(seconds(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatDate(seconds(1795249800)), "2026-11-21T08:30:00Z");
  const SystemClock clock;
  const auto before = clock.Now();
  EXPECT_LE(before, clock.Now());
  EXPECT_GT(clock.WallTime(), seconds(1700000000));
}

TEST(UniqueFunction, OwnsWhatItCaptures) {
  auto owned = std::make_unique<int>(3);
  UniqueFunction<int(int)> add = [value = std::move(owned)](int more) { return *value + more; };
  UniqueFunction<int(int)> moved = std::move(add);
  EXPECT_EQ(moved(4), 7);
  EXPECT_FALSE(static_cast<bool>(add));
  EXPECT_FALSE(static_cast<bool>(UniqueFunction<void()>()));
}

class LogTest : public ::testing::Test {
 protected:
  std::string file_ =
      std::filesystem::temp_directory_path() / ("cupilot-log-" + std::to_string(getpid()) + "/log");
  void SetUp() override { ASSERT_TRUE(MakeFolders(file_.substr(0, file_.rfind('/')))); }
  void TearDown() override {
    ASSERT_TRUE(log::Configure({}).has_value());
    ASSERT_TRUE(RemoveTree(file_.substr(0, file_.rfind('/'))).has_value());
  }
};

TEST_F(LogTest, WritesTextLines) {
  log::Settings settings;
  settings.file = file_;
  ASSERT_TRUE(log::Configure(settings).has_value());
  log::Debug("not at this level");
  log::Info("published", {{"kernel", "image::blur"}, {"reason", "two words"}, {"count", 3}});
  log::Flush();
  const std::string text = *ReadFile(file_);
  EXPECT_EQ(text.find("not at this level"), std::string::npos);
  EXPECT_NE(text.find("published kernel=image::blur reason=\"two words\" count=3\n"),
            std::string::npos)
      << text;
}

TEST_F(LogTest, WritesJsonLines) {
  log::Settings settings;
  settings.file = file_;
  settings.json = true;
  ASSERT_TRUE(log::Configure(settings).has_value());
  log::Warning("bad \"thing\"\n", {{"seconds", 1.5}, {"ok", false}});
  const std::string text = *ReadFile(file_);
  EXPECT_NE(text.find(R"("event":"bad \"thing\"\n","seconds":1.5,"ok":false})"), std::string::npos)
      << text;
  EXPECT_EQ(log::LevelOf("loud").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(*log::LevelOf("debug"), log::Level::kDebug);
}

TEST_F(LogTest, RotatesAndFailsWithAReason) {
  log::Settings settings;
  settings.file = file_;
  settings.max_bytes = 1000;
  settings.kept_files = 2;
  ASSERT_TRUE(log::Configure(settings).has_value());
  for (int i = 0; i < 100; ++i) log::Info("line", {{"number", i}});
  log::Flush();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(file_.substr(0, file_.rfind('/')))) {
    EXPECT_LE(entry.file_size(), 1000U);
    ++files;
  }
  EXPECT_EQ(files, 3U);
  settings.file = "/dev/null/none";
  EXPECT_EQ(log::Configure(settings).error().code, ErrorCode::kIo);
}

TEST(Secret, CannotBeLogged) {
  EXPECT_FALSE((std::is_constructible_v<log::Field, const char*, Secret>));
  EXPECT_EQ(ToString(Secret("key")), "***");
  EXPECT_EQ(Secret("key").Reveal(), "key");
}

}  // namespace
}  // namespace cupilot::base
