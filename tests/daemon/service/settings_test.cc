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

}  // namespace
}  // namespace cupilot::service
