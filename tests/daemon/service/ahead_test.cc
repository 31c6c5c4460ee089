// Compilation ahead of the GPU, on a simulated clock: the GPU never waits for a build that could
// have been started earlier, no build delays what runs on the GPU, and no more is begun than that
// takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "service/job_text.h"
#include "tests/daemon/service/ahead_fixture.h"
#include "tests/support/answering_provider.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/mechanics_answers.h"

namespace cupilot::service {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(AheadTest, TheGpuWaitsOnlyForTheFirstBuild) {
  // A build takes longer than all that the GPU does with it.
  losers_ = true;
  Tune({}, 16, 60);
  std::chrono::nanoseconds free{0};
  int waits = 0;
  std::string said;
  for (const auto& event : workers_->events()) {
    if (!IsTrial(event)) continue;
    if (free.count() > 0 && event.began > free) {
      ++waits;
      said += " '" + event.op + "' of " + std::to_string(event.began.count()) + ", asked for at " +
              std::to_string(event.asked.count()) + ", after " + std::to_string(free.count());
    }
    free = event.ended;
  }
  EXPECT_EQ(waits, 0) << said;
  EXPECT_EQ(BusyShare(), 1.0);
}

// As a compiler that unrolls too much.
TEST_F(AheadTest, ABuildThatTakesLongKeepsNoOthersWaiting) {
  losers_ = true;
  Begin({}, 16);
  std::chrono::nanoseconds ended{0};
  int builds = 0;
  workers_->longer = [&](const evaluate::WorkerCall& call) {
    const bool slow = call.op == "build" && ++builds == 4;
    if (slow) ended = clock_->Now() + milliseconds(60000);
    return milliseconds(slow ? 60000 : 0);
  };
  while (!job_->finished()) Step();
  ASSERT_GT(ended.count(), 0);
  int meanwhile = 0;
  for (const auto& event : workers_->events()) {
    meanwhile += event.op == "measure" && event.ended < ended ? 1 : 0;
  }
  EXPECT_GE(meanwhile, 90) << "of a hundred";
  // The one that took long is told, too.
  for (const search::Idea& idea : job_->search()->ideas()) EXPECT_TRUE(idea.outcome);
}

// Where each is better than those before, many wait to be proven, and what beats them frees their
// places at once: the GPU then waits for the builds of those that come.
TEST_F(AheadTest, ManyThatAreBeatenAtOnceLeaveTheGpuIdleForALittle) {
  Tune({}, 16, 60);
  EXPECT_GE(BusyShare(), 0.9);
  EXPECT_LT(BusyShare(), 1.0);
  EXPECT_LT(confirmed_.size(), measured_.size() / 2) << "not all of them are proven";
}

TEST_F(AheadTest, NothingForTheGpuWaitsForABuild) {
  Tune({}, 4, 24);
  // Whatever was asked of it began at once or when its request before ended.
  std::chrono::nanoseconds free{0};
  int requests = 0;
  for (const auto& event : workers_->events()) {
    if (event.kind != WorkerKind::kDevice) continue;
    EXPECT_EQ(event.began, std::max(event.asked, free)) << event.op;
    free = event.ended;
    ++requests;
  }
  EXPECT_GT(requests, 48);
}

TEST_F(AheadTest, BuildsAreBegunBesideEachOtherAndBesideTheGpu) {
  Tune({}, 16, 24);
  int beside = 0;
  for (const auto& build : workers_->events()) {
    if (build.op != "build") continue;
    for (const auto& other : workers_->events()) {
      const bool overlaps = other.began < build.ended && build.began < other.ended;
      beside += overlaps && other.op == "measure" ? 1 : 0;
    }
  }
  EXPECT_GT(beside, 0);
}

// The GPU waits for three builders, however many builds wait for them.
TEST_F(AheadTest, WhereBuildsWaitForAProcessorNoMoreAreBegun) {
  losers_ = true;
  Times times;
  times.build = milliseconds(5000);
  Tune(times, 4, 60);
  std::ptrdiff_t most = 0;
  for (const auto& build : workers_->events()) {
    if (build.op != "build") continue;
    most = std::max(
        most,
        std::count_if(workers_->events().begin(), workers_->events().end(), [&](const auto& other) {
          return other.op == "build" && other.asked <= build.asked && other.ended > build.asked;
        }));
  }
  EXPECT_GE(most, 3);
  EXPECT_LE(most, kInFlightOnGpu.first);
}

TEST_F(AheadTest, OnlyWhatMayBeTheBestIsMeasuredTwice) {
  // One that does not go from one best point to the next better one.
  change_ = [](JobInput& input) { input.strategy = "random"; };
  Tune({}, 4, 60);
  ASSERT_THAT(measured_, Not(IsEmpty()));
  EXPECT_LT(confirmed_.size(), measured_.size() / 2);
  EXPECT_THAT(confirmed_, Contains(*std::max_element(measured_.begin(), measured_.end())));
  // The search learns as much of the others.
  EXPECT_THAT(kinds_, Each(search::Outcome::Kind::kAccepted));
}

// The other device's best ones, measured here by their own numbers.
TEST_F(AheadTest, WhatWonOnAnotherDeviceIsTriedEarly) {
  Tune({}, 4, 1000);
  ASSERT_THAT(order_, Contains("tunables WIDTH=100"));
  // The best one that was proven beside it.
  int second = 0;
  for (const int number : confirmed_) {
    if (number < 100) second = std::max(second, number);
  }
  ASSERT_GT(second, 0);
  keeps_records_ = true;
  change_ = [](JobInput& input) { input.place.identity = {"another GPU", "sm_90", 114, 1}; };
  Tune({}, 4, 12);
  const std::vector<std::string> first(order_.begin(), order_.begin() + 8);
  EXPECT_THAT(first, Contains("tunables WIDTH=100"));
  EXPECT_THAT(first, Contains("tunables WIDTH=" + std::to_string(second)));
  // Also where the search goes on after the daemon's end.
  Begin({}, 4);
  ASSERT_NE(job_->search(), nullptr);
  EXPECT_GE(job_->search()->ideas().size(), 12u);
}

// What is asked for later knows more.
TEST_F(AheadTest, WhereBuildsAreQuickNothingWaitsLongForTheGpu) {
  Times times;
  times.rewrite = times.check = times.build = milliseconds(20);
  losers_ = true;
  Tune(times, 16, 60);
  std::chrono::nanoseconds longest{0};
  for (const auto& event : workers_->events()) {
    if (IsTrial(event)) longest = std::max(longest, event.began - event.asked);
  }
  EXPECT_LE(longest, 8 * (times.verify + times.measure));
  EXPECT_EQ(BusyShare(), 1.0);
}

TEST_F(AheadTest, WhereBuildsAreSlowAllBuildersAreBusy) {
  Times times;
  times.build = milliseconds(20000);
  losers_ = true;
  Tune(times, 16, 60);
  std::map<std::chrono::nanoseconds, int> changes;
  for (const auto& event : workers_->events()) {
    if (event.op != "build") continue;
    ++changes[event.began];
    --changes[event.ended];
  }
  int at_once = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, at_once += change);
  EXPECT_GE(most, 15) << "of 15 that there may be";
}

TEST_F(AheadTest, WhatTheDeviceCannotRunIsNotMade) {
  change_ = [](JobInput& input) {
    input.kernel.launch_grid = input.kernel.launch_block = {"1", "1", "1"};
    input.kernel.launch_shared_bytes = "WIDTH * 4096";  // of at most 232448: up to 56
  };
  Tune({}, 16, 1000);
  ASSERT_EQ(order_.size(), 99u);
  EXPECT_THAT(measured_, Each(::testing::Le(56)));
  EXPECT_EQ(measured_.size(), 55u);
  EXPECT_EQ(CountDropped(*job_), (std::map<std::string, std::int64_t>{{"shared memory", 44}}));
  const auto made = std::count_if(workers_->events().begin(), workers_->events().end(),
                                  [](const auto& event) { return event.op == "retune"; });
  EXPECT_EQ(made, 55);
  EXPECT_EQ(CountIdeas(*job_).tried, 55);
}

TEST_F(AheadTest, OfCandidatesOfTheSameCodeOneIsMeasured) {
  code_of_ = [](int number) { return std::to_string(number / 10); };
  Tune({}, 16, 1000);
  ASSERT_EQ(order_.size(), 99u);
  EXPECT_EQ(measured_.size(), 11u);
  EXPECT_EQ(CountIdeas(*job_).same_code, 88);
  EXPECT_EQ(CountIdeas(*job_).tried, 11);
  // Each has the result of what was built to its code.
  std::map<std::string, double> by_code;
  for (const search::Idea& idea : job_->search()->ideas()) {
    ASSERT_TRUE(idea.outcome && idea.outcome->speedup);
    const std::string code = code_of_(static_cast<int>(idea.candidate.values[0].second));
    EXPECT_EQ(by_code.emplace(code, *idea.outcome->speedup).first->second, *idea.outcome->speedup);
  }
  // Nothing is known of those that nobody ran.
  EXPECT_EQ(catalog_->Evaluations("key").size(), 11u);
}

TEST_F(AheadTest, WhatIsLaunchedInAnotherWayIsNotTheSame) {
  code_of_ = [](int) { return "one code"; };
  block_is_width_ = true;
  Tune({}, 16, 40);
  EXPECT_EQ(CountIdeas(*job_).same_code, 0);
  EXPECT_GT(measured_.size(), 30u);
}

// The first of a code comes to no verdict: who waited for it is measured.
TEST_F(AheadTest, WhatWaitsForOneWithoutAVerdictIsMeasuredItself) {
  code_of_ = [](int) { return "one code"; };
  Begin({}, 16);
  int failing = 1;
  protocol::VerifyReply verified;
  verified.passed = true;
  workers_->On("verify", milliseconds(5), [&failing, verified](const Json&) -> base::Result<Json> {
    if (failing-- > 0) return base::Fail(base::Internal("a fault of ours"));
    return protocol::ToJson(verified);
  });
  Step();
  Step();
  // Those that waited; whoever was built later takes a result again.
  EXPECT_GT(measured_.size(), 1u);
  EXPECT_GT(CountIdeas(*job_).same_code, 0);
}

TEST_F(AheadTest, ABudgetInVerdictsIsHeld) {
  change_ = [](JobInput& input) { input.budget_evaluations = 21; };
  Tune({}, 16, 1000);
  EXPECT_TRUE(job_->finished());
  EXPECT_EQ(CountIdeas(*job_).tried, 21);
  EXPECT_EQ(job_->ended(), "its evaluations are used up");
}

// As many are begun ahead as the whole budget has: those count, or there were nothing left of it
// when the models' turn comes.
TEST_F(AheadTest, ModelsAreAskedBeforeAShortBudgetIsGone) {
  cache::MemoryStore store;
  test::ManualClock clock;
  test::ManualAlarms alarms(clock);
  test::AnsweringProvider provider(test::MechanicsAnswer);
  provider.traits_.sends = false;  // nobody needs to allow it
  const ModelSurroundings surroundings{&alarms, {}, {{&provider, "m"}}};
  Models models(store, clock, folder_.path(), {});
  ASSERT_TRUE(models.Use(surroundings));
  change_ = [&](JobInput& input) {
    input.budget_evaluations = 24;
    input.models = JobModelsOf(models, {"project", {}});
  };
  Begin({}, 16);
  for (int steps = 0; steps < 5 && provider.asked().empty(); ++steps) Step();
  EXPECT_EQ(provider.asked().size(), 1u);
  EXPECT_EQ(job_->search()->Results().size(), 12u) << "half of its budget";
  EXPECT_FALSE(job_->finished());
  job_.reset();  // it asks what ends here
}

TEST_F(AheadTest, WorkEndsWhenLittleIsExpectedOfMore) {
  change_ = [](JobInput& input) { input.until_gain = 0.05; };
  Times slow;
  slow.measure = std::chrono::seconds(20);
  Tune(slow, 16, 1000);
  EXPECT_TRUE(job_->finished());
  EXPECT_EQ(job_->ended(), "too little is expected of more time");
  ASSERT_TRUE(job_->Expected());
  EXPECT_LT(job_->Expected()->gain, 0.05);
  EXPECT_GT(job_->Expected()->gain, 0);
  const std::size_t tried = order_.size();
  EXPECT_EQ(NumbersJson(*job_), records::Json({{"points", 100}, {"tried", tried}}));
  EXPECT_GE(tried, search::kFewestResults);
  EXPECT_LT(tried, 99u);
  // The clock is simulated: as often as it runs.
  Tune(slow, 16, 1000);
  EXPECT_EQ(order_.size(), tried);
  // All of it where that is not asked for, and then nothing is left.
  change_ = nullptr;
  Tune(slow, 16, 1000);
  EXPECT_EQ(order_.size(), 99u);
  EXPECT_EQ(job_->ended(), "nothing is left to try");
  EXPECT_EQ(job_->Expected()->gain, 0);
}

TEST_F(AheadTest, WhatComesBeforeASearchIsAStepOfItsOwn) {
  base::Callback<bool> answer;
  change_ = [&](JobInput& input) {
    input.takes_turns = true;
    input.prepare = [&](const evaluate::EvaluateRequest&, base::Callback<bool> done) {
      answer = std::move(done);
    };
  };
  Begin({}, 16);
  job_->Step([](const base::Result<bool>&) {});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(job_->busy() && job_->preparing());
  answer(true);
  EXPECT_FALSE(job_->busy() || job_->preparing());
  EXPECT_EQ(job_->search(), nullptr) << "others may have its place";
  EXPECT_EQ(job_->spent_seconds(), 0);
  answer = nullptr;
  Step();
  EXPECT_FALSE(answer) << "it is asked once";
  EXPECT_NE(job_->search(), nullptr);
}

TEST_F(AheadTest, AJobThatIsGivenUpBeginsNothingMore) {
  Begin({}, 16);
  job_->Step([](const base::Result<bool>&) {});
  while (measured_.empty()) ASSERT_TRUE(workers_->Advance());
  const auto given_up = clock_->Now();
  job_->GiveUp("a test");
  EndStep();
  EXPECT_TRUE(job_->finished());
  EXPECT_FALSE(job_->under_way());
  EXPECT_EQ(BegunAfter(given_up), 0);
  EXPECT_FALSE(workers_->Advance()) << "its step ended before what it asked for";
}

TEST_F(AheadTest, AJobThatIsGivenUpBetweenStepsIsUnderWayUntilAllHasEnded) {
  Begin({}, 16);
  Step();
  ASSERT_FALSE(job_->busy());
  ASSERT_TRUE(job_->under_way());
  const auto given_up = clock_->Now();
  job_->GiveUp("a test");
  EXPECT_TRUE(job_->under_way());
  Step();
  EXPECT_FALSE(job_->under_way());
  EXPECT_EQ(BegunAfter(given_up), 0);
  EXPECT_FALSE(workers_->Advance()) << "its step ended before what it asked for";
}

}  // namespace
}  // namespace cupilot::service
