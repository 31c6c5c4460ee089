// The settings as the daemon reads them.
#include "service/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/strategy.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

using ::testing::HasSubstr;

TEST(Settings, TheSearchForNumbersIsOneOfTheTable) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(ReadSettings(folder.path())->search_strategy, search::kDefaultStrategy);
  folder.Write("config.json", R"({"search_strategy": "random"})");
  EXPECT_EQ(ReadSettings(folder.path())->search_strategy, "random");
  folder.Write("config.json", R"({"search_strategy": "clever"})");
  const auto wrong = ReadSettings(folder.path());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("config.json: search_strategy: "));
  EXPECT_THAT(wrong.error().message, HasSubstr("there are random, number_search"));
}

TEST(Settings, HowTheDaemonGivesWayAndEndsIsTheUsersChoice) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(ReadSettings(folder.path())->idle_exit, IdleExitRule::kNoProject);
  EXPECT_EQ(ReadSettings(folder.path())->io_class, IoClass::kLow);
  folder.Write("config.json",
               R"({"idle_exit": "done", "idle_exit_minutes": 5, "io_class": "idle", "threads": 3,
                   "log_megabytes": 2, "log_files": 7})");
  const auto settings = ReadSettings(folder.path());
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->idle_exit, IdleExitRule::kDone);
  EXPECT_EQ(settings->idle_exit_after, std::chrono::minutes(5));
  EXPECT_EQ(settings->io_class, IoClass::kIdle);
  EXPECT_EQ(settings->threads, 3);
  EXPECT_EQ(settings->log_megabytes, 2);
  EXPECT_EQ(settings->log_files, 7);
  folder.Write("config.json", R"({"io_class": "fast"})");
  const auto wrong = ReadSettings(folder.path());
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("io_class: expected one of idle, low, normal"));
}

}  // namespace
}  // namespace cupilot::service
