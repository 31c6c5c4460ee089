// A search on a GPU whose cases have much data, on a simulated clock: candidates are looked at, and
// few are proven.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "service/job_text.h"
#include "tests/daemon/service/ahead_fixture.h"

namespace cupilot::service {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

// Where a proof takes half a minute: all are looked at, and few are proven.
class MuchDataTest : public AheadTest {
 protected:
  MuchDataTest() {
    much_data_ = true;
    original_us_ = 1e4;
    times_.verify = std::chrono::seconds(15);  // twice a proof
  }

  bool HasVerdict(const search::Idea& idea) const {
    const std::string workload = records::HashJson(records::ToJson(job_->input().workload));
    return catalog_
        ->FindVerdict(job_->input().kernel.key, workload, job_->input().place,
                      idea.outcome->variant)
        .has_value();
  }

  double BestSpeedup() const {
    const auto best =
        catalog_->Best(job_->input().kernel.key, job_->input().workload, job_->input().place, {});
    return best ? best->evaluation.speedup.value_or(0) : 0;
  }

  Times times_;
};

TEST_F(MuchDataTest, TheBestOfAllIsProvenAtTheEnd) {
  Tune(times_, 16, 1000);
  EXPECT_EQ(order_.size(), 99u);
  EXPECT_EQ(probed_.size(), 99u) << "each is looked at";
  EXPECT_NEAR(BestSpeedup(), 2.1, 1e-6);
  EXPECT_LE(confirmed_.size(), 5u) << "and few are proven";
  // Those after the first beside what was there.
  EXPECT_THAT(dueled_, ::testing::ElementsAreArray(confirmed_.begin() + 1, confirmed_.end()));
  EXPECT_THAT(kinds_, Each(search::Outcome::Kind::kAccepted));
  EXPECT_EQ(CountIdeas(*job_).accepted, static_cast<std::int64_t>(confirmed_.size()));
  EXPECT_FALSE(job_->unproven());
  EXPECT_EQ(job_->ended(), "nothing is left to try");
}

// It has the GPU for itself for seconds: where kernels take turns the others come before it.
TEST_F(MuchDataTest, WhatBoundsAWinnerIsLookedAtLast) {
  change_ = [](JobInput& input) { input.takes_turns = true; };
  const auto profiles = [this] {
    return std::count_if(workers_->events().begin(), workers_->events().end(),
                         [](const auto& event) { return event.op == "profile"; });
  };
  Begin(times_, 16);
  while (!job_->finished() || job_->under_way()) {
    if (job_->awaits_proof()) {
      ASSERT_TRUE(workers_->Advance());
    } else {
      Step();
    }
  }
  EXPECT_FALSE(confirmed_.empty());
  EXPECT_EQ(profiles(), 0);
  EXPECT_FALSE(job_->done());
  EXPECT_EQ(job_->pass(), Pass::kWinner);
  Step();
  EXPECT_EQ(profiles(), 1);
  EXPECT_TRUE(job_->done());
}

TEST_F(MuchDataTest, MostOfTheTimeGoesIntoLooking) {
  // Each step saves all that was looked at: as many as tell, and not more.
  times_.verify = std::chrono::seconds(4);
  most_right_ = 1000;
  change_ = [](JobInput& input) {
    input.kernel.tunables[0].values.clear();
    for (int value = 1; value <= 1000; ++value) input.kernel.tunables[0].values.push_back(value);
    input.budget_seconds = 80;
    input.strategy = "random";  // quick itself
  };
  Tune(times_, 16, 100000);
  EXPECT_EQ(job_->ended(), "its time is used up");
  std::chrono::nanoseconds verifying{0}, looking{0};
  for (const auto& event : workers_->events()) {
    if (event.op == "verify") verifying += event.ended - event.began;
    if (event.op == "measure") looking += event.ended - event.began;
  }
  EXPECT_GT(looking, verifying) << looking.count() << " " << verifying.count();
  ASSERT_THAT(probed_, Not(IsEmpty()));
  // What was found is proven, and not much later than the time was up.
  const int best = *std::max_element(probed_.begin(), probed_.end());
  EXPECT_NEAR(BestSpeedup(), 1.1 + best / 100.0, 0.02 * (1.1 + best / 100.0));
  EXPECT_LT(job_->spent_seconds(), 107);
}

TEST_F(MuchDataTest, WhatIsFastAndWrongIsFoundOut) {
  most_right_ = 60;
  Tune(times_, 16, 1000);
  EXPECT_NEAR(BestSpeedup(), 1.7, 1e-6);
  // From the fastest on each was refused, and the search knows.
  EXPECT_THAT(verified_, Contains(100));
  EXPECT_EQ(job_->search()->numbers().best().at(0).second, 60);
  for (const search::Idea& idea : job_->search()->ideas()) {
    const int number = static_cast<int>(idea.candidate.values.at(0).second);
    if (number > most_right_) {
      EXPECT_EQ(idea.outcome->reason, "wrong_values") << number;
    }
  }
}

// Where a technique is wrong, hundreds may be.
TEST_F(MuchDataTest, AfterItsTimeFewAreTried) {
  change_ = [](JobInput& input) { input.budget_seconds = 40; };
  most_right_ = 1;
  Tune(times_, 16, 1000);
  EXPECT_TRUE(job_->finished());
  EXPECT_FALSE(job_->unproven());
  EXPECT_EQ(BestSpeedup(), 0);
  EXPECT_THAT(verified_, Not(IsEmpty()));
  EXPECT_LE(verified_.size(), 6u);
}

TEST_F(MuchDataTest, WhatTakesMuchLongerToCompileThanOthersIsStopped) {
  Begin(times_, 16);
  std::map<int, double> limits;  // by number
  workers_->On("build", times_.build, [&](const Json& params) -> base::Result<Json> {
    const auto request = protocol::ParseBuildRequest(params);
    const std::size_t at = request->text.find("/* ");
    const int number = at == std::string::npos ? 0 : std::stoi(request->text.substr(at + 3));
    const double takes = number % 4 == 3 ? 20 : 2;
    const auto first = limits.emplace(number, request->cpu_seconds).first;
    if (request->cpu_seconds > 0 && takes > request->cpu_seconds) {
      return base::Fail(base::ToolFailed(std::string("the build worker was ended by ") +
                                         ::strsignal(protocol::kStopSignal)));
    }
    if (number > 0 && first->second > 0 && request->cpu_seconds == 0) first->second = 0;  // a proof
    protocol::BuildReply reply;
    reply.artifact = folder_ / "artifact";
    reply.target = "compute_90,sm_90";
    reply.cpu_seconds = takes;
    return protocol::ToJson(reply);
  });
  while (!job_->finished()) Step();
  EXPECT_EQ(limits.at(0), 0) << "the original";
  int stopped = 0, unlimited = 0;
  for (const search::Idea& idea : job_->search()->ideas()) {
    const int number = static_cast<int>(idea.candidate.values.at(0).second);
    const double limit = limits.at(number);
    unlimited += limit == 0;
    if (limit > 0) {
      EXPECT_EQ(limit, 8) << "four times what they take";
    }
    ASSERT_TRUE(idea.outcome);
    const bool long_one = number % 4 == 3 && limit > 0;
    EXPECT_EQ(idea.outcome->reason == "build_failed", long_one) << number << " " << limit;
    EXPECT_FALSE(long_one && HasVerdict(idea)) << "for another search it may be what it needs";
    stopped += long_one;
  }
  EXPECT_GE(stopped, 10);
  EXPECT_GE(unlimited, 12) << "until enough is known, and what is proven";
  EXPECT_NEAR(BestSpeedup(), 2.1, 1e-6) << "100 is built soon";
}

TEST_F(MuchDataTest, GoesOnWithWhatWasLookedAt) {
  Tune(times_, 16, 40);
  const std::size_t looked_at = probed_.size();
  ASSERT_GE(looked_at, 20u);
  const records::Json before = job_->search()->ToJson();
  keeps_records_ = true;
  Begin(times_, 16);
  ASSERT_NE(job_->search(), nullptr);
  EXPECT_EQ(job_->search()->ToJson(), before);
  while (!job_->finished()) Step();
  EXPECT_EQ(std::set<int>(probed_.begin(), probed_.end()).size(), 99u);
  EXPECT_LE(probed_.size(), 99u + 16u) << "only what was under way is looked at again";
  EXPECT_NEAR(BestSpeedup(), 2.1, 1e-6);
}

TEST_F(MuchDataTest, WithoutMoreToTryThanItMayOnlyProofsAreMade) {
  Begin(times_, 16);
  job_->Step([](const base::Result<bool>&) {}, 8);
  EndStep();
  EXPECT_EQ(job_->evaluated(), 8);
  EXPECT_FALSE(job_->unproven());
  EXPECT_NEAR(BestSpeedup(), 1.1 + *std::max_element(probed_.begin(), probed_.end()) / 100.0, 1e-6);
}

}  // namespace
}  // namespace cupilot::service
