// One daemon a state folder, and what is said of a start that fails. The real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "service/instance_lock.h"
#include "tests/support/private_xdg.h"
#include "tests/support/run_program.h"

namespace cupilot::service {
namespace {

using ::testing::HasSubstr;

class StartTest : public ::testing::Test {
 protected:
  StartTest() {
    options_.environment = xdg_.Environment();
    std::filesystem::create_directory(xdg_.state());
    std::filesystem::permissions(xdg_.state(), std::filesystem::perms::owner_all);
  }
  // For starts that fail: one that does not would go on.
  test::ProgramRun Start() { return test::RunProgram({CUPILOT_DAEMON}, options_); }

  test::PrivateXdg xdg_;
  test::RunOptions options_;
};

TEST_F(StartTest, ASecondOneSaysThatThereIsOne) {
  const auto held = InstanceLock::Take(xdg_.state() + "/daemon.lock");
  ASSERT_TRUE(held);
  EXPECT_FALSE(InstanceLock::Take(xdg_.state() + "/daemon.lock"));
  const auto run = Start();
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("a daemon is running already"));
}

TEST_F(StartTest, TheLockIsFreeAgainAfterItsHolder) {
  {
    ASSERT_TRUE(InstanceLock::Take(xdg_.state() + "/daemon.lock"));
  }
  EXPECT_TRUE(InstanceLock::Take(xdg_.state() + "/daemon.lock"));
}

TEST_F(StartTest, AStoreThatCannotBeOpenedIsTheReason) {
  xdg_.folder().Write("state/cupilot/store", "no folder");
  const auto run = Start();
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr(xdg_.state() + "/store"));
}

TEST_F(StartTest, AWrongSettingIsTheReason) {
  xdg_.folder().Write("config/cupilot/config.json", R"({"parallel": "many"})");
  const auto run = Start();
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.errors, HasSubstr("parallel"));
}

}  // namespace
}  // namespace cupilot::service
