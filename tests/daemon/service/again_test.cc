// What failed for a reason that passes by itself goes on by itself: nobody has to start the daemon
// anew.
#include "service/again.h"

#include "tests/daemon/service/gpu_fixture.h"

namespace cupilot::service {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Again, EachPauseIsTwiceTheOneBeforeUpToABound) {
  Again again;
  nanoseconds now(0), longest(0);
  EXPECT_FALSE(again.Next());
  again.Failed("a", now);
  EXPECT_EQ(again.Next(), nanoseconds(minutes(1)));
  again.Failed("a", now + minutes(1));
  EXPECT_EQ(again.Next(), nanoseconds(minutes(1))) << "the same failure";
  for (int time = 0; time < 20; ++time) {
    EXPECT_THAT(again.Take(*again.Next() - nanoseconds(1)), IsEmpty());
    longest = *again.Next() - now;
    now = *again.Next();
    EXPECT_THAT(again.Take(now), ElementsAre("a"));
    EXPECT_FALSE(again.Next()) << "it is being tried";
    again.Failed("a", now);
  }
  EXPECT_EQ(longest, nanoseconds(Again::kMost));
  again.Forget("a");
  again.Failed("a", now);
  EXPECT_EQ(*again.Next() - now, nanoseconds(Again::kFirst));
}

// Timers go by the test's clock.
class AgainTest : public GpuTest {
 protected:
  AgainTest() { loop_ = std::make_unique<loop::Loop>(clock_); }

  // Ends what is asked for, and lets timers go off that are due in that time.
  void Pass(std::chrono::nanoseconds time) {
    const auto until = clock_.Now() + time;
    Drain();
    for (auto next = loop_->NextTimer(); next && *next <= until; next = loop_->NextTimer()) {
      clock_.Advance(*next - clock_.Now());
      loop_->RunTimers();
      Drain();
    }
    clock_.Advance(until - clock_.Now());
  }

  // A monitor that sees the GPUs that there are, and none of them used; until something is
  // evaluated.
  void StartUntilAtWork() {
    workers_.On("sample", [this](const records::Json&) -> base::Result<records::Json> {
      records::Json gpus = records::Json::array();
      for (const records::Json& gpu : gpus_) {
        gpus.push_back({{"uuid", gpu["uuid"]}, {"processes", records::Json::array()}});
      }
      return records::Json{{"gpus", gpus}, {"reason", ""}};
    });
    settings_.gpu.quiet = settings_.gpu.pause = {};
    Start();
    while (evaluator_.open() == 0) {
      workers_.RunOne();
      loop_->RunOnce(false);
    }
  }
};

TEST_F(AgainTest, WorkThatAFullDiskEndedGoesOnWhenThereIsRoom) {
  Prepare("kernel one a\n");
  Start();
  disk_.full = true;
  Pass(minutes(10));
  EXPECT_EQ(Row("one")["state"], "declined");
  EXPECT_THAT(Explain("one")["why_not"].get<std::string>(), HasSubstr("No space left"));
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  disk_.full = false;
  Pass(minutes(30));
  EXPECT_EQ(Row("one")["state"], "done");
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_FALSE(loop_->NextTimer()) << "an idle daemon has no timer";
}

TEST_F(AgainTest, WhatCouldNotBePublishedIsPublishedLater) {
  files_.full = true;
  Prepare("kernel one a\n");
  Start();
  Pass(minutes(10));
  EXPECT_EQ(Row("one")["state"], "done");
  EXPECT_GT(files_.writes, 0);
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
  files_.full = false;
  Pass(minutes(30));
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
  EXPECT_TRUE(project_.StampIsNew());
}

TEST_F(AgainTest, AScanWhoseWorkerWasKilledIsMadeAgain) {
  int scans = 0;
  workers_.On("scan", [&](const records::Json& params) -> base::Result<records::Json> {
    if (++scans == 1) return base::Fail(base::ToolFailed("the source worker was ended by SIGKILL"));
    return test::AnswersForFakeProjects().at("scan")(params);
  });
  Prepare("kernel one a\n");
  Start();
  Pass(minutes(5));
  EXPECT_EQ(scans, 2);
  EXPECT_EQ(Row("one")["state"], "done");
}

// Its original cannot be built by a compiler that the system kills.
TEST_F(AgainTest, WhatAlwaysFailsIsTriedSeldom) {
  int asked = 0;
  judge_ = [&](const evaluate::EvaluateRequest&) -> base::Result<records::Evaluation> {
    ++asked;
    return base::Fail(base::InvalidArgument("the original faults"));
  };
  Prepare("kernel one a\n");
  Start();
  Pass(minutes(1));
  const int first = asked;
  EXPECT_GT(first, 0);
  Pass(std::chrono::hours(24));
  EXPECT_EQ(Explain("one")["why_not"], "the original faults");
  EXPECT_GT(asked, first);
  EXPECT_LE(asked, first * 14);
}

// Verdicts between the failures are no sign that these have passed.
TEST_F(AgainTest, WhatFailsAmongVerdictsIsTriedAsSeldom) {
  int failures = 0;
  std::set<std::string> judged;
  judge_ = [&](const evaluate::EvaluateRequest& request) -> base::Result<records::Evaluation> {
    if (judged.insert(request.variant.id).second && judged.size() % 2 == 1) {
      return Judge(request, 1.0 + 0.1 * static_cast<double>(judged.size()));
    }
    ++failures;
    return base::Fail(base::Timeout("the device worker did not end 'verify' within its limit"));
  };
  Prepare("kernel one abcdef\n");
  Start();
  Pass(minutes(1));
  const int first = failures;
  EXPECT_GT(first, 0);
  Pass(std::chrono::hours(24));
  EXPECT_GT(failures, first);
  EXPECT_LE(failures, (first + 4) * 14);
}

TEST_F(AgainTest, AGpuThatComesIsFoundByAndBy) {
  Have({}, "no NVIDIA GPU was found");
  Prepare("kernel one a\n");
  Start();
  Pass(minutes(10));
  EXPECT_THAT(evaluator_.evaluated(), IsEmpty());
  Have({Gpu("cuda:0", "NVIDIA H200")});
  Pass(minutes(30));
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(1));
}

TEST_F(AgainTest, ASecondGpuThatComesDuringTheWorkIsTunedFor) {
  Prepare("kernel one a\n");
  StartUntilAtWork();
  Have({Gpu("cuda:0", "NVIDIA H200"), Gpu("cuda:1", "NVIDIA H100 PCIe")});
  clock_.Advance(minutes(1));
  loop_->RunTimers();
  Pass(minutes(30));
  EXPECT_THAT(std::set<std::string>(devices_.begin(), devices_.end()),
              ElementsAre("cuda:0", "cuda:1"));
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(2));
}

// Two alike; one goes, and the other one has its name now.
TEST_F(AgainTest, WorkOnAGpuThatWentGoesOnWithTheOther) {
  Have({Gpu("cuda:0", "NVIDIA H200"), Gpu("cuda:1", "NVIDIA H200")});
  Prepare("kernel one a\nkernel two b\n");
  StartUntilAtWork();
  Have({Gpu("cuda:0", "NVIDIA H200")});
  clock_.Advance(minutes(1));
  loop_->RunTimers();
  Pass(minutes(1));
  devices_.clear();  // of what was under way
  Pass(minutes(30));
  EXPECT_EQ(Row("one")["state"], "done");
  EXPECT_EQ(Row("two")["state"], "done");
  EXPECT_EQ(std::count(devices_.begin(), devices_.end(), "cuda:1"), 0);
  EXPECT_THAT(project_.PublishedVariants(), SizeIs(2));
}

}  // namespace
}  // namespace cupilot::service
