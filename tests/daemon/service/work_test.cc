// What is worked on, in which order, and what stops it.
#include <utility>

#include "tests/daemon/service/service_fixture.h"
#include "tests/support/make_records.h"

namespace cupilot::service {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WorkTest : public ServiceTest {
 protected:
  // Each evaluation takes a minute; the kernels' names in the order of their evaluations.
  void CountMinutes() {
    settings_.parallel = 1;
    judge_ = [this](const evaluate::EvaluateRequest& request) {
      order_ += request.kernel.name;
      clock_.Advance(std::chrono::minutes(1));
      return test::MakeEvaluation(request, 1.5);
    };
  }
  std::string order_;
};

// A kernel with a light case and a heavy one; all variants reach these shares of the floors.
class FloorTest : public ServiceTest {
 protected:
  std::size_t Evaluations(double light, double heavy) {
    judge_ = [=](const evaluate::EvaluateRequest& request) {
      records::Evaluation evaluation = test::MakeEvaluation(request, 1.5);
      evaluation.cases.clear();
      for (const auto& [name, share] : {std::pair("only", light), std::pair("heavy", heavy)}) {
        for (const char* l2 : {"warm", "cold"}) {
          records::CaseResult result = test::MakeCaseResult(name, 1.5);
          result.l2 = l2;
          result.floor_us = l2 == std::string("cold") ? share * result.variant_us : 0;
          evaluation.cases.push_back(result);
        }
      }
      return evaluation;
    };
    Prepare("kernel one a smaller=heavy\n");
    Start();
    Drain();
    EXPECT_EQ(IdleReason(), "done");
    return evaluator_.evaluated().size();
  }
};

TEST_F(FloorTest, NothingIsTriedBehindTheFloorsOfAllCases) {
  EXPECT_EQ(Evaluations(0.97, 0.97), 1u);
}

TEST_F(FloorTest, ACaseFarFromItsFloorIsTunedOn) { EXPECT_GT(Evaluations(0.97, 0.3), 1u); }

TEST_F(FloorTest, ACaseWhoseFloorIsNotKnownIsTunedOn) { EXPECT_GT(Evaluations(0.97, 0), 1u); }

TEST_F(WorkTest, AKernelGetsTimeByItsWeight) {
  CountMinutes();
  Prepare("kernel a x weight=1\nkernel b x weight=2\n");
  Start();
  Drain();
  // The heavier one begins; then each has the next turn when it has had less time for its weight.
  ASSERT_GE(order_.size(), 5u);
  EXPECT_EQ(order_.substr(0, 5), "babba") << order_;
  EXPECT_EQ(IdleReason(), "done");
}

TEST_F(WorkTest, TheBudgetEndsTheWorkOnAKernel) {
  CountMinutes();
  settings_.seconds_per_kernel = 90;
  Prepare("kernel a x\n");
  Start();
  Drain();
  EXPECT_EQ(order_, "aa");
  EXPECT_EQ(Row("a")["state"], "done");
}

TEST_F(WorkTest, AKernelThatWasEditedWaitsForWhatIsUnderWay) {
  settings_.parallel = 1;
  Prepare("kernel one a\n");
  Start();
  WorkUntilEvaluating();
  project_.SaveByRename("kernel one b\n");
  WorkUntil([&] { return service_->counters().scans == 2; });
  workers_.RunAll();
  EXPECT_EQ(workers_.Count("propose"), 1);
  EXPECT_EQ(StatusDocument(*service_)["now"].size(), 1u);
  const std::size_t evaluated = evaluator_.evaluated().size();
  ASSERT_TRUE(evaluator_.AnswerOne());
  // Of the old text nothing more is tried.
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
  Drain();
  EXPECT_EQ(workers_.Count("propose"), 2);
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_EQ(Row("one")["published"], true);
}

TEST_F(WorkTest, WhenAllIsTunedItIsDone) {
  Prepare("kernel one a\n");
  Start();
  EXPECT_EQ(IdleReason(), "scanning");
  EXPECT_EQ(StatusDocument(*service_)["state"], "idle");
  WorkUntilEvaluating();
  EXPECT_EQ(IdleReason(), "");
  EXPECT_EQ(StatusDocument(*service_)["state"], "tuning");
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_EQ(events_.back()["event"], "idle");
  EXPECT_EQ(events_.back()["data"]["reason"], "done");
}

TEST_F(WorkTest, ASnoozeHoldsTheWorkAndItsTime) {
  settings_.seconds_per_kernel = 90;
  Prepare("kernel one a\n");
  Start();
  WorkUntilEvaluating();
  ASSERT_TRUE(service_->Snooze(3600));
  EXPECT_TRUE(workers_.paused());
  EXPECT_EQ(IdleReason(), "snoozed");
  clock_.Advance(std::chrono::minutes(30));
  ASSERT_TRUE(evaluator_.AnswerOne());
  const std::size_t before = evaluator_.evaluated().size();
  Drain();
  EXPECT_EQ(evaluator_.evaluated().size(), before);
  ASSERT_TRUE(service_->Resume());
  EXPECT_FALSE(workers_.paused());
  Drain();
  // Half an hour of snooze is not counted as work.
  EXPECT_GT(evaluator_.evaluated().size(), before);
  EXPECT_EQ(IdleReason(), "done");
}

TEST_F(WorkTest, ASnoozeEndsByItselfAndOutlivesTheDaemon) {
  Prepare("kernel one a\n");
  Start();
  ASSERT_TRUE(service_->Snooze(3600));
  Restart();
  Drain();
  EXPECT_EQ(IdleReason(), "snoozed");
  EXPECT_THAT(evaluator_.evaluated(), IsEmpty());
  clock_.Advance(std::chrono::hours(2));
  DrainUntil([&] { return IdleReason() == "done"; });
}

// Who starts the daemon during a snooze asks what there is.
TEST_F(WorkTest, DuringASnoozeItIsKnownWhatIsTaggedAndWhatWon) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  ASSERT_EQ(Row("one")["published"], true);
  const std::size_t evaluated = evaluator_.evaluated().size();
  ASSERT_TRUE(service_->Snooze(3600));
  Restart();
  EXPECT_EQ(StatusDocument(*service_)["unread"], 1);
  Drain();
  EXPECT_EQ(StatusDocument(*service_)["unread"], 0);
  EXPECT_EQ(IdleReason(), "snoozed");
  EXPECT_EQ(Row("one")["published"], true);
  EXPECT_FALSE(Explain("one")["evaluation"].is_null()) << Explain("one").dump(1);
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
}

TEST_F(WorkTest, AKernelThatNothingAppliesToSaysWhy) {
  Prepare("kernel one a refuses=recursion\n");
  Start();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  const records::Json row = Row("one");
  EXPECT_EQ(row["state"], "declined");
  EXPECT_EQ(row["tried"], 0);
  EXPECT_THAT(row["why"].get<std::string>(), HasSubstr("recursion"));
  EXPECT_THAT(Explain("one")["why_not"].get<std::string>(), HasSubstr("recursion"));
  const records::Json warnings = StatusDocument(*service_)["projects"][0]["warnings"];
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0].get<std::string>(), HasSubstr("one: nothing could be tried: recursion"));
}

TEST_F(WorkTest, ARowHasTheBestSoFarAndWhatIsUsedOfTheBudget) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const records::Json row = Row("one");
  const auto curve = row["curve"].get<std::vector<double>>();
  ASSERT_EQ(curve.size(), std::min<std::size_t>(60, row["tried"].get<std::size_t>()));
  EXPECT_TRUE(std::is_sorted(curve.begin(), curve.end()));
  double best = 1;
  const records::Json tried = Explain("one")["tried"];
  for (const records::Json& one : tried) {
    if (one["verdict"] == "accepted") best = std::max(best, one["speedup"].get<double>());
  }
  EXPECT_GT(best, 1);
  EXPECT_NEAR(curve.back(), best, 0.001);
  EXPECT_EQ(row["budget"]["evaluations"], row["tried"]);
  EXPECT_EQ(row["budget"]["of_seconds"], 900.0);
}

TEST_F(WorkTest, AKernelWhoseRewritesAllDeclineSaysWhy) {
  workers_.On("rewrite", [](const records::Json&) -> base::Result<records::Json> {
    protocol::RewriteReply reply;
    reply.declined = true;
    reply.reason = "a goto";
    return protocol::ToJson(reply);
  });
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(Row("one")["state"], "declined");
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("a goto"));
}

TEST_F(WorkTest, AnOriginalThatFailsEndsTheJobWithItsReason) {
  judge_ = [](const evaluate::EvaluateRequest&) -> base::Result<records::Evaluation> {
    return base::Fail(base::InvalidArgument("the original faults"));
  };
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(Row("one")["state"], "declined");
  EXPECT_EQ(Explain("one")["why_not"], "the original faults");
  EXPECT_EQ(IdleReason(), "done");
}

TEST_F(WorkTest, ARestartGoesOnWhereItWas) {
  Prepare("kernel one a\nkernel two b\n");
  Start();
  while (evaluator_.evaluated().size() < 3) {
    workers_.RunOne();
    evaluator_.AnswerOne();
    loop_->RunOnce(false);
  }
  const std::vector<std::string> open(
      evaluator_.evaluated().end() - static_cast<std::ptrdiff_t>(evaluator_.open()),
      evaluator_.evaluated().end());
  Restart();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  std::map<std::string, int> times;
  for (const std::string& id : evaluator_.evaluated()) ++times[id];
  for (const std::string& id : open) --times[id];
  for (const auto& [id, count] : times) EXPECT_LE(count, 1) << id;
  const auto tried = Explain("one")["tried"];
  EXPECT_THAT(tried, Not(IsEmpty()));
  const auto evaluated = evaluator_.evaluated();
  const int rewrites = workers_.Count("rewrite");
  Restart();
  Drain();
  EXPECT_EQ(IdleReason(), "done");
  EXPECT_EQ(evaluator_.evaluated(), evaluated);
  EXPECT_EQ(workers_.Count("rewrite"), rewrites);
  EXPECT_EQ(Explain("one")["tried"], tried);
}

TEST_F(WorkTest, AnEditThatIsTakenBackNeedsNoTuning) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::size_t first = evaluator_.evaluated().size();
  project_.SaveByRename("kernel one b\n");
  DrainUntil([&] { return evaluator_.evaluated().size() > first && IdleReason() == "done"; });
  const std::size_t second = evaluator_.evaluated().size();
  project_.SaveByRename("kernel one a\n");
  DrainUntil([&] { return service_->counters().scans == 3; });
  EXPECT_EQ(evaluator_.evaluated().size(), second);
  EXPECT_EQ(Row("one")["published"], true);
}

}  // namespace
}  // namespace cupilot::service
