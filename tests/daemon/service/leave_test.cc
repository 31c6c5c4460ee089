// A daemon that makes way for another ends what is measured, begins nothing, and nothing is lost.
#include <algorithm>
#include <chrono>

#include "tests/daemon/service/service_fixture.h"

namespace cupilot::service {
namespace {

class LeaveTest : public ServiceTest {
 protected:
  void Leave() {
    service_->Leave([this] { left_ = true; });
  }
  bool left_ = false;
};

TEST_F(LeaveTest, WhatIsMeasuredIsMeasuredToItsEnd) {
  settings_.parallel = 1;
  Prepare("kernel a x\nkernel b x\n");
  Start();
  WorkUntilEvaluating();
  Leave();
  loop_->RunOnce(false);
  EXPECT_FALSE(left_);
  EXPECT_TRUE(service_->leaving());
  Drain();
  EXPECT_TRUE(left_);
  EXPECT_GE(service_->counters().evaluations, 1);
  EXPECT_EQ(service_->BusyJobs().size(), 0u);
  EXPECT_NE(IdleReason(), "done") << "the other kernel was not to be begun";
  // The next one goes on where this one was, and evaluates nothing twice.
  Restart();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_EQ(Row("a")["state"], "done");
  EXPECT_EQ(Row("b")["state"], "done");
  std::vector<std::string> evaluated = evaluator_.evaluated();
  std::sort(evaluated.begin(), evaluated.end());
  EXPECT_EQ(std::unique(evaluated.begin(), evaluated.end()), evaluated.end());
}

TEST_F(LeaveTest, WhereNothingIsUnderWayItIsLeftAtOnce) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  Leave();
  loop_->RunOnce(false);
  EXPECT_TRUE(left_);
}

TEST_F(LeaveTest, WhatWaitsToBePublishedTogetherIsPublished) {
  settings_.publish_pause = std::chrono::hours(1);
  Prepare("kernel one a\nkernel two b\n");
  Start();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_GE(service_->counters().accepted, 2);
  EXPECT_EQ(files_.writes, 0);
  Leave();
  loop_->RunOnce(false);
  EXPECT_TRUE(left_);
  EXPECT_EQ(service_->counters().published, 1);
  EXPECT_EQ(project_.PublishedVariants().size(), 2u);
  EXPECT_TRUE(project_.StampIsNew());
}

TEST_F(LeaveTest, WorkThatIsHeldBackIsNotWaitedFor) {
  Prepare("kernel one a\n");
  Start();
  WorkUntilEvaluating();
  ASSERT_TRUE(service_->Snooze(60));
  Leave();
  loop_->RunOnce(false);
  EXPECT_TRUE(left_);
  EXPECT_EQ(evaluator_.open(), 1u);
}

}  // namespace
}  // namespace cupilot::service
