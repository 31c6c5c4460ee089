// What compiles make of a variant is compared with what was measured: other code is another
// program, of which nothing is proven.
#include <map>
#include <set>

#include "tests/daemon/service/gpu_fixture.h"

namespace cupilot::service {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ShippedCodeTest : public GpuTest {
 protected:
  ShippedCodeTest() {
    judge_ = [this](const evaluate::EvaluateRequest& request) { return Measured(request); };
    project_.MakeCode([this](const std::string& variant, const std::string& target) {
      return others_.contains(target + variant) ? "other" : variant + " for " + target;
    });
  }

  // The first of two techniques is the better one.
  records::Evaluation Measured(const evaluate::EvaluateRequest& request) {
    const bool first = request.variant.strategy->steps[0].technique == "launch_bounds";
    const bool alone = request.variant.strategy->steps.size() == 1;
    return MeasuredAs(request, !alone ? 0.9 : first ? 1.5 : 1.2);
  }
  records::Evaluation MeasuredAs(const evaluate::EvaluateRequest& request, double speedup) {
    records::Evaluation evaluation = Judge(request, speedup);
    evaluation.target =
        "compute_" + evaluation.device.arch.substr(3) + "," + evaluation.device.arch;
    evaluation.text_hash = request.variant.id + " for " + evaluation.target;
    return evaluation;
  }
  // Compiles of this variant for this architecture make code that nobody measured.
  void MakesOtherCode(const std::string& variant, const std::string& arch = "90") {
    others_.insert("compute_" + arch + ",sm_" + arch + variant);
  }
  std::string Published() {
    const auto variants = project_.PublishedVariants();
    return variants.size() == 1 ? variants[0] : "";
  }

  std::set<std::string> others_;
};

constexpr const char* kWhy = "other code in the program than what was measured";

TEST_F(ShippedCodeTest, TheSameCodeKeepsItsVariant) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  ASSERT_THAT(best, Not(IsEmpty()));
  EXPECT_EQ(Explain("one")["shipped"], "");
  EXPECT_TRUE(project_.Compile());
  DrainUntil([&] { return Explain("one")["shipped"] == "as measured"; });
  DrainEvents();
  EXPECT_EQ(Published(), best);
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_THAT(Explain("one")["warnings"], IsEmpty());
}

TEST_F(ShippedCodeTest, OtherCodeIsTakenBackAndTheNextBestComes) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  const std::string title = Explain("one")["strategy"];
  MakesOtherCode(best);
  EXPECT_TRUE(project_.Compile());
  DrainUntil([&] { return Published() != best; });
  const std::string next = Published();
  ASSERT_THAT(next, Not(IsEmpty()));
  DrainUntil([&] { return project_.StampIsNew(); });
  EXPECT_TRUE(project_.Compile());
  DrainUntil([&] { return Explain("one")["shipped"] == "as measured"; });
  const std::string warnings = Explain("one")["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr(title));
  EXPECT_THAT(warnings, HasSubstr(kWhy));
  // It is known to later daemons too.
  Restart();
  Drain();
  EXPECT_EQ(Published(), next);
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
}

TEST_F(ShippedCodeTest, WhatTheOneThatIsTakenBackHadBeatenIsLookedAtAgain) {
  std::string leader;
  std::set<std::string> beaten;
  judge_ = [&](const evaluate::EvaluateRequest& request) {
    if (leader.empty()) leader = request.variant.id;
    records::Evaluation evaluation = MeasuredAs(request, request.variant.id == leader ? 1.5 : 1.2);
    const double best = request.best_so_far ? request.best_so_far(evaluation.cases) : 0;
    if (!evaluation.accepted || evaluation.interval->at(1) >= best) return evaluation;
    beaten.insert(request.variant.id);
    evaluation.accepted = false;
    evaluation.reason = "not_faster";
    evaluation.metrics["beaten_by"] = best;
    return evaluation;
  };
  Prepare("kernel one a\n");
  Start();
  Drain();
  EXPECT_EQ(Published(), leader);
  ASSERT_THAT(beaten, Not(IsEmpty()));
  MakesOtherCode(leader);
  EXPECT_TRUE(project_.Compile());
  DrainUntil([&] { return Published() != leader && !Published().empty(); });
  EXPECT_TRUE(beaten.contains(Published()));
}

TEST_F(ShippedCodeTest, WhereNothingIsLeftTheOriginalRuns) {
  Prepare("kernel one a\n");
  Start();
  Drain();
  while (!project_.PublishedVariants().empty()) {
    const std::string variant = Published();
    MakesOtherCode(variant);
    ASSERT_TRUE(project_.Compile());
    DrainUntil([&] { return Published() != variant; });
  }
  EXPECT_FALSE(project_.Compile());
  DrainEvents();
  EXPECT_FALSE(project_.StampIsNew());
  EXPECT_EQ(Row("one")["published"], false);
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr(kWhy));
  EXPECT_EQ(Explain("one")["verdict"], "original");
  EXPECT_THAT(Explain("one")["why_not"].get<std::string>(), HasSubstr(kWhy));
}

TEST_F(ShippedCodeTest, NothingIsSaidAgainstCodeThatCannotBeRead) {
  project_.MakeCode(nullptr);
  Prepare("kernel one a\n");
  Start();
  Drain();
  const std::string best = Published();
  EXPECT_TRUE(project_.Compile());
  DrainEvents();
  EXPECT_EQ(Published(), best);
  EXPECT_EQ(Explain("one")["shipped"], "");
}

TEST_F(ShippedCodeTest, EachTargetStandsForItself) {
  Have({Gpu("cuda:0", "NVIDIA H200"), Gpu("cuda:1", "NVIDIA A100", "sm_80")});
  auto& arguments = project_.command().arguments;
  arguments[1] = "-gencode=arch=compute_90,code=sm_90";
  arguments.insert(arguments.begin() + 1, "-gencode=arch=compute_80,code=sm_80");
  Prepare("kernel one a\n");
  Start();
  Drain();
  const auto first = project_.PublishedVariants();
  ASSERT_THAT(first, SizeIs(2));
  ASSERT_EQ(first[0], first[1]) << "the same variant wins for both";
  MakesOtherCode(first[0], "80");
  EXPECT_TRUE(project_.Compile());
  DrainUntil([&] { return project_.PublishedVariants() != first; });
  std::map<std::string, std::string> by_target;
  const records::Selection selection = Selection();
  for (const auto& variant : selection.kernels.at(0).variants) {
    by_target[variant.target] = variant.id;
  }
  EXPECT_EQ(by_target["compute_90,sm_90"], first[0]);
  EXPECT_NE(by_target["compute_80,sm_80"], first[0]);
}

TEST_F(ShippedCodeTest, AManualTargetIsToldToApply) {
  Prepare("kernel one a\n", {{"apply", "manual"}});
  judge_ = [this](const evaluate::EvaluateRequest& request) {
    records::Evaluation evaluation = Measured(request);
    if (evaluation.speedup == 1.2) evaluation.accepted = false;
    return evaluation;
  };
  Start();
  Drain();
  ASSERT_THAT(service_->Apply(""), SizeIs(1));
  const std::string best = Published();
  MakesOtherCode(best);
  EXPECT_TRUE(project_.Compile());
  DrainUntil([&] { return Explain("one")["verdict"] == "original"; });
  EXPECT_EQ(Published(), best);
  EXPECT_THAT(Row("one")["why"].get<std::string>(), HasSubstr("cupilot apply"));
  EXPECT_THAT(service_->Apply(""), SizeIs(1));
  EXPECT_THAT(project_.PublishedVariants(), IsEmpty());
}

}  // namespace
}  // namespace cupilot::service
