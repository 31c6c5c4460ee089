// Compilation ahead of the GPU, on a simulated clock: the GPU never waits for a build that could
// have been started earlier, no build delays what runs on the GPU, and no more is begun than that
// takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "cache/memory_store.h"
#include "evaluate/worker_evaluator.h"
#include "service/job_text.h"
#include "service/kernel_job.h"
#include "tests/daemon/service/simulated_workers.h"
#include "tests/support/answering_provider.h"
#include "tests/support/manual_alarms.h"
#include "tests/support/mechanics_answers.h"
#include "tests/support/temporary_folder.h"

namespace cupilot::service {
namespace {

using evaluate::WorkerKind;
using records::Json;
using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

struct Times {
  milliseconds rewrite{100}, check{50}, build{500}, verify{80}, measure{120};
};

class AheadTest : public ::testing::Test {
 protected:
  // A kernel with a hundred values of a tunable, on a GPU.
  void Begin(const Times& times, int cores) {
    job_.reset();
    evaluator_.reset();
    catalog_.reset();
    if (!keeps_records_) store_ = std::make_unique<cache::MemoryStore>();
    catalog_ = std::make_unique<Catalog>(*store_);
    pool_ = std::make_unique<Pool>(*store_, 100);
    clock_ = std::make_unique<test::ManualClock>();
    workers_ = std::make_unique<test::SimulatedWorkers>(*clock_, evaluate::LimitsFor(cores));
    evaluator_ = std::make_unique<evaluate::WorkerEvaluator>(
        *workers_, *clock_,
        evaluate::WorkerEvaluator::Settings{{folder_.path(), 1000}, folder_.path()});
    Answer(times);
    JobInput input;
    input.kernel.name = input.kernel.base_name = "k";
    input.kernel.key = "key";
    records::Tunable tunable;
    tunable.name = "WIDTH";
    tunable.default_value = 1;
    for (int value = 1; value <= 100; ++value) tunable.values.push_back(value);
    input.kernel.tunables = {tunable};
    records::Case one;
    one.name = "a";
    one.grid = one.block = {"1", "1", "1"};
    input.kernel.cases = input.workload.cases = {one};
    input.workload.kernel = "k";
    input.place.device = "cuda:0";
    input.place.identity = {"a GPU", "sm_90", 132, 1};
    input.budget_seconds = 1e6;
    if (change_) change_(input);
    job_ = std::make_unique<KernelJob>(
        KernelJob::Collaborators{*workers_, *evaluator_, *catalog_, *clock_, *pool_},
        std::move(input), [](const KernelJob&) {});
  }

  void EndStep() {
    while (job_->busy()) {
      ASSERT_TRUE(workers_->Advance());
      Watch();
    }
  }

  void Step() {
    job_->Step([](const base::Result<bool>&) {});
    EndStep();
  }

  // Until nothing is left or `most` candidates were asked for.
  void Tune(const Times& times, int cores, int most) {
    Begin(times, cores);
    for (int asked = 0; !job_->finished() && asked < most;) {
      Step();
      asked = static_cast<int>(job_->search()->ideas().size());
    }
    order_.clear();
    kinds_.clear();
    for (const search::Idea& idea : job_->search()->ideas()) {
      order_.push_back(idea.candidate.strategy.title);
      if (idea.outcome) kinds_.push_back(idea.outcome->kind);
    }
  }

  // After each event: the GPU has nothing to do only while everything that could be under way is.
  void Watch() {
    if (!workers_->DeviceIdle()) return;
    EXPECT_EQ(workers_->WaitingFor(WorkerKind::kDevice), 0u) << "the GPU waits beside its work";
    if (workers_->WaitingFor(WorkerKind::kBuild) > 0) {
      EXPECT_FALSE(workers_->CouldBuild()) << "a build waits beside a free worker";
    }
  }

  void Answer(const Times& times) {
    const auto always = [](Json json) {
      return [json = std::move(json)](const Json&) -> base::Result<Json> { return json; };
    };
    workers_->On("describe_device", milliseconds(1),
                 always({{"name", "a GPU"},
                         {"arch", "sm_90"},
                         {"sm_count", 132},
                         {"memory_bytes", 1},
                         {"driver", ""}}));
    workers_->On("prepare", milliseconds(1), always({{"prepared", true}}));
    protocol::ProposeReply proposed;
    if (much_data_) {
      proposed.features.emplace();
      proposed.features->values[records::FeatureAt("case_bytes")] = 64 << 20;
    }
    workers_->On("propose", milliseconds(1), always(protocol::ToJson(proposed)));
    workers_->On("retune", times.rewrite, [this](const Json& params) -> base::Result<Json> {
      const auto request = protocol::ParseRetuneRequest(params);
      protocol::RewriteReply reply;
      reply.variant.kernel = "k";
      reply.variant.entry = "v";
      reply.variant.source =
          "__global__ void v() { /* " + std::to_string(request->values[0].second) + " */ }";
      if (block_is_width_) {
        records::Launch launch;
        launch.entry = "v";
        launch.block = {std::to_string(request->values[0].second), "1", "1"};
        reply.variant.launches = {launch};
        reply.variant.entry.clear();
      }
      reply.variant.strategy.emplace();
      reply.variant.strategy->title = std::to_string(request->values[0].second);
      records::StrategyStep step;
      step.technique = search::kTunablesStep;
      step.parameters["WIDTH"] = request->values[0].second;
      reply.variant.strategy->steps = {step};
      return protocol::ToJson(reply);
    });
    protocol::CheckVariantReply checked;
    checked.passed = true;
    checked.entries = {"v"};
    workers_->On("check_variant", times.check, always(protocol::ToJson(checked)));
    protocol::TwinReply twin;
    twin.declined = true;
    workers_->On("twin", milliseconds(1), always(protocol::ToJson(twin)));
    protocol::BuildReply built;
    built.artifact = folder_.Write("artifact", "");
    built.target = "compute_90,sm_90";
    workers_->On("build", times.build, [this, built](const Json& params) -> base::Result<Json> {
      protocol::BuildReply reply = built;
      const std::string text = protocol::ParseBuildRequest(params)->text;
      if (const std::size_t at = text.find("/* "); at != std::string::npos && code_of_) {
        reply.text_hashes = {{"v", code_of_(std::stoi(text.substr(at + 3)))}};
        reply.data_hash = "none";
      }
      return protocol::ToJson(reply);
    });
    workers_->On("verify", times.verify, [this](const Json& params) -> base::Result<Json> {
      const auto request = protocol::ParseVerifyRequest(params);
      const int number = std::stoi(request->set.variant.strategy->title);
      verified_.push_back(number);
      protocol::VerifyReply reply;
      reply.passed = number <= most_right_;
      if (!reply.passed) reply.reason = "wrong_values";
      return protocol::ToJson(reply);
    });
    // Faster by its number, so that the search has something to follow.
    workers_->On("measure", times.measure, [this](const Json& params) -> base::Result<Json> {
      const auto request = protocol::ParseMeasureRequest(params);
      (request->probe     ? probed_
       : request->confirm ? confirmed_
                          : measured_)
          .push_back(std::stoi(request->set.variant.strategy->title));
      const double speedup =
          (losers_ ? 0.5 : 1.1) +
          std::stod(request->set.variant.strategy->title) / (losers_ ? 1000 : 100);
      protocol::MeasureReply reply;
      for (const char* l2 : {"cold", "warm"}) {
        records::CaseResult result;
        result.name = "a";
        result.l2 = l2;
        result.original_us = original_us_;
        result.variant_us = original_us_ / speedup;
        result.speedup = speedup;
        result.interval = {speedup * 0.999, speedup * 1.001};
        reply.cases.push_back(result);
      }
      reply.device = {"a GPU", "sm_90", 132, 1};
      return protocol::ToJson(reply);
    });
    workers_->On("profile", times.measure, always(protocol::ToJson(protocol::ProfileReply())));
  }

  // What begins a candidate or its evaluation, asked for after `time`.
  int BegunAfter(std::chrono::nanoseconds time) const {
    return static_cast<int>(std::count_if(
        workers_->events().begin(), workers_->events().end(), [time](const auto& event) {
          return event.asked > time && (event.op == "retune" || event.op == "check_variant");
        }));
  }

  // What the device does for a candidate.
  static bool IsTrial(const test::SimulatedWorkers::Event& event) {
    return event.kind == WorkerKind::kDevice && event.op != "describe_device" &&
           event.op != "prepare";
  }

  // Of the time between the first and the last request of the device, the share that it had one.
  double BusyShare() const {
    std::chrono::nanoseconds first{0}, last{0}, busy{0};
    bool any = false;
    for (const auto& event : workers_->events()) {
      if (!IsTrial(event)) continue;
      if (!any) first = event.began;
      any = true;
      last = event.ended;
      busy += event.ended - event.began;
    }
    return any ? static_cast<double>(busy.count()) / static_cast<double>((last - first).count())
               : 0;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<test::ManualClock> clock_;
  std::unique_ptr<test::SimulatedWorkers> workers_;
  std::unique_ptr<cache::MemoryStore> store_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<evaluate::WorkerEvaluator> evaluator_;
  std::unique_ptr<KernelJob> job_;
  std::vector<std::string> order_;  // what was tried
  std::vector<search::Outcome::Kind> kinds_;
  std::vector<int> measured_, confirmed_;  // by number, which is how good it is
  std::function<void(JobInput&)> change_;
  bool block_is_width_ = false;
  bool losers_ = false;  // all are slower than the original
  double original_us_ = 100;
  bool much_data_ = false;  // so that candidates are probed
  int most_right_ = 100;    // those with greater numbers are wrong
  std::vector<int> probed_, verified_;
  bool keeps_records_ = false;               // of the job before
  std::function<std::string(int)> code_of_;  // what a candidate is built to; not set: nobody says
};

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
  EXPECT_THAT(kinds_, Each(search::Outcome::Kind::kAccepted));
  EXPECT_EQ(CountIdeas(*job_).accepted, static_cast<std::int64_t>(confirmed_.size()));
  EXPECT_FALSE(job_->unproven());
  EXPECT_EQ(job_->ended(), "nothing is left to try");
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
