// A kernel of two sizes, where one technique wins at one and loses at the other: each gets its own
// variant, and a launch the one that is for it.
#include <algorithm>

#include "base/file.h"
#include "evaluate/verdict.h"
#include "records/lock.h"
#include "records/selection.h"
#include "service/lock_document.h"
#include "source/swap/lock_choice.h"
#include "tests/daemon/service/service_fixture.h"
#include "tests/support/make_records.h"

namespace cupilot::service {
namespace {

using records::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kLarge = "grid_x >= 4";  // of the case "only"; "small" has a grid of 2
constexpr const char* kSmall = "grid_x <= 2";

class SizeClassesTest : public ServiceTest {
 protected:
  SizeClassesTest() {
    judge_ = [this](const evaluate::EvaluateRequest& request) { return Judge(request); };
  }

  // By the real rule, with the evaluator's question about what is there already.
  records::Evaluation Judge(const evaluate::EvaluateRequest& request) {
    double large = 1, small = 1;
    for (const records::StrategyStep& step : request.variant.strategy->steps) {
      const auto found = speedups_.find(step.technique);
      if (found == speedups_.end()) continue;
      large *= found->second.first;
      small *= found->second.second;
    }
    protocol::MeasureReply measured;
    measured.cases = {Result("only", large, request.variant.guard, kSmall),
                      Result("small", small, request.variant.guard, kLarge)};
    const auto verdict = evaluate::JudgeOnce(measured, request.workload);
    EXPECT_TRUE(verdict) << verdict.error().message;
    records::Evaluation evaluation = test::MakeEvaluation(request, verdict->accepted ? 2 : 0.5);
    evaluation.cases = measured.cases;
    evaluation.guard = request.variant.guard;
    evaluation.speedup.reset();
    evaluation.interval.reset();
    if (!verdict->accepted) return evaluation;
    const double best = request.best_so_far ? request.best_so_far(measured.cases) : 0;
    if (verdict->combined->interval[1] < best) {
      evaluation.accepted = false;
      evaluation.reason = "not_faster";
      evaluation.metrics["beaten_by"] = best;
      return evaluation;
    }
    evaluation.speedup = verdict->combined->speedup;
    evaluation.interval = verdict->combined->interval;
    accepted_[request.variant.guard] = request.variant.id;
    return evaluation;
  }

  static records::CaseResult Result(const std::string& name, double speedup,
                                    const std::string& guard, const char* of_the_other) {
    if (guard == of_the_other) return records::LeftToOriginal(name);
    return test::MakeCaseResult(name, speedup);
  }

  void Tune() {
    Prepare("kernel one a smaller=small\n");
    Start();
    Drain();
  }

  // By technique, at the large and at the small size. What wins most is tried first: of the other
  // one, alone for certain slower, it has to be seen that it is of use beside it.
  std::map<std::string, std::pair<double, double>> speedups_ = {{"restrict_readonly", {2, 0.4}},
                                                                {"launch_bounds", {0.5, 1.5}}};
  std::map<std::string, std::string> accepted_;  // ids by guard
};

TEST_F(SizeClassesTest, EachSizeGetsItsVariantBehindOneLaunch) {
  Tune();
  ASSERT_THAT(accepted_, SizeIs(2));
  EXPECT_THAT(project_.PublishedVariants(), ElementsAre(accepted_[kLarge], accepted_[kSmall]));
  EXPECT_TRUE(project_.Compile());
  const Json row = Row("one");
  EXPECT_EQ(row["published"], true);
  EXPECT_NEAR(row["speedup"].get<double>(), 2 / (1 / 2.0 + 1 / 1.5), 1e-9);
  ASSERT_THAT(row["variants"], SizeIs(2));
  EXPECT_EQ(row["variants"][0]["id"], accepted_[kLarge]);
  EXPECT_THAT(row["variants"][0]["cases"], ElementsAre("only"));
  EXPECT_NEAR(row["variants"][0]["speedup"].get<double>(), 2 / (1 / 2.0 + 1), 1e-9);
  EXPECT_THAT(row["variants"][1]["cases"], ElementsAre("small"));
  const Json explained = Explain("one");
  EXPECT_NEAR(explained["speedup"].get<double>(), row["speedup"].get<double>(), 1e-9);
  EXPECT_GT(explained["interval"][0].get<double>(), 1.69);
  // What `inspect` finds in the program.
  const std::string swap =
      base::ReadFile(project_.object_folder() + "/" + project_.PublishedSwap()).value_or("");
  EXPECT_THAT(swap, HasSubstr(std::string("\\\"guard\\\":\\\"") + kLarge));
  EXPECT_THAT(swap, HasSubstr(std::string("\\\"guard\\\":\\\"") + kSmall));
}

TEST_F(SizeClassesTest, WithoutOneTheOtherStays) {
  Tune();
  EXPECT_FALSE(project_.Compile(true, "error in " + records::VariantNamespace(accepted_[kLarge])));
  DrainUntil([&] { return project_.PublishedVariants().size() == 1; });
  EXPECT_THAT(project_.PublishedVariants(), ElementsAre(accepted_[kSmall]));
  EXPECT_NEAR(Row("one")["speedup"].get<double>(), 2 / (1 + 1 / 1.5), 1e-9);
}

TEST_F(SizeClassesTest, WhereOnlyOneSizeWinsTheOriginalRunsTheOther) {
  speedups_.erase("launch_bounds");
  Tune();
  EXPECT_THAT(project_.PublishedVariants(), ElementsAre(accepted_[kLarge]));
  const Json explained = Explain("one");
  EXPECT_EQ(explained["guard"], kLarge);
  EXPECT_EQ(explained["evaluation"]["cases"][1]["admitted"], false);
}

TEST_F(SizeClassesTest, ValuesOfTunablesAreForASizeToo) {
  speedups_ = {{"other:tunables", {2, 0.5}}};
  Prepare("kernel one a smaller=small tunable=BX\n");
  Start();
  Drain();
  ASSERT_THAT(project_.PublishedVariants(), ElementsAre(accepted_[kLarge]));
  const Json variant = Explain("one")["variants"][0];
  EXPECT_EQ(variant["strategy"], std::string("tunables BX=32, then for launches with ") + kLarge);
  EXPECT_THAT(variant["cases"], ElementsAre("only"));
}

TEST_F(SizeClassesTest, ALaterDaemonFindsTheSame) {
  Tune();
  const auto published = project_.PublishedVariants();
  const auto evaluated = evaluator_.evaluated().size();
  Restart();
  Drain();
  EXPECT_EQ(project_.PublishedVariants(), published);
  EXPECT_EQ(evaluator_.evaluated().size(), evaluated);
  EXPECT_EQ(IdleReason(), "done");
}

// From the lock file the launcher makes the text that was published, its variants in their order.
TEST_F(SizeClassesTest, ALockFilePinsThemInTheirOrder) {
  Tune();
  const auto document = LockDocument(*service_, folder_ / "source", "", folder_ / "replies");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_THAT((*document)["problems"], IsEmpty());
  const std::string text =
      base::ReadFile((*document)["locks"][0]["document"].get<std::string>()).value_or("");
  const std::string file = folder_ / "source/cupilot.lock";
  ASSERT_TRUE(base::WriteFileAtomically(file, text));
  const source::LockFile lock = source::ReadLockFile(file);
  ASSERT_THAT(lock.kernels, SizeIs(2)) << lock.error;
  EXPECT_EQ(lock.kernels[0].variant.id, accepted_[kLarge]);
  EXPECT_EQ(lock.kernels[1].rank, 1);
  const source::LockChoice choice = source::ChooseFromLock(
      lock, {"app", {folder_ / "source", folder_ / "source", project_.build_folder()}},
      project_.command());
  const auto swapped = source::WriteSwappedSource(choice.request);
  ASSERT_TRUE(swapped) << swapped.error().message;
  EXPECT_EQ(swapped->file_name, project_.PublishedSwap());
}

}  // namespace
}  // namespace cupilot::service
