#include "service/idle_exit.h"

#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

using std::chrono::minutes;

TEST(IdleExit, WithoutAProjectItIsTimeAfterTheTime) {
  IdleExit exit(IdleExitRule::kNoProject, minutes(60));
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(100)));  // it only just began
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(159)));
  EXPECT_TRUE(exit.IsTime("no project", false, minutes(160)));
}

TEST(IdleExit, WorkRequestsAndListenersBeginItAnew) {
  IdleExit exit(IdleExitRule::kNoProject, minutes(60));
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(0)));
  exit.OnRequest(minutes(50));
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(100)));
  EXPECT_FALSE(exit.IsTime("", false, minutes(105)));
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(160)));
  EXPECT_FALSE(exit.IsTime("no project", true, minutes(200)));
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(259)));
  EXPECT_TRUE(exit.IsTime("no project", false, minutes(260)));
}

TEST(IdleExit, AProjectThatIsDoneKeepsItUnlessTheUserSaysOtherwise) {
  IdleExit stays(IdleExitRule::kNoProject, minutes(1));
  IdleExit goes(IdleExitRule::kDone, minutes(1));
  for (IdleExit* exit : {&stays, &goes}) EXPECT_FALSE(exit->IsTime("done", false, minutes(0)));
  EXPECT_FALSE(stays.IsTime("done", false, minutes(9)));
  EXPECT_TRUE(goes.IsTime("done", false, minutes(9)));
  // Held back is not done.
  EXPECT_FALSE(goes.IsTime("snoozed", false, minutes(20)));
}

TEST(IdleExit, NeverIsNever) {
  IdleExit exit(IdleExitRule::kNever, minutes(1));
  EXPECT_EQ(exit.period().count(), 0);
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(0)));
  EXPECT_FALSE(exit.IsTime("no project", false, minutes(999)));
}

}  // namespace
}  // namespace cupilot::service
