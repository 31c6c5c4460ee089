#include "evaluate/new_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/daemon/evaluate/worker_evaluator_fixture.h"

namespace cupilot::evaluate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

protocol::BuildReply MakeBuild(std::vector<std::pair<std::string, std::string>> losses) {
  protocol::BuildReply build;
  build.text_hashes = {{"k", "1"}, {"own::entry", "2"}};
  build.losses = std::move(losses);
  return build;
}

TEST(NewLosses, AreThoseOfKindsThatTheOriginalLacks) {
  EXPECT_EQ(NewLosses(MakeBuild({}), {"own::entry"}, false), "");
  EXPECT_EQ(NewLosses(MakeBuild({{"own::entry", "f16 cvt.rn.f16.f32"}}), {"own::entry"}, false),
            "'own::entry' rounds to f16 (cvt.rn.f16.f32), which the original does not");
  EXPECT_EQ(
      NewLosses(MakeBuild({{"own::entry", "approximate sin.approx.f32"}}), {"own::entry"}, false),
      "'own::entry' computes approximately (sin.approx.f32), which the original does not");
  EXPECT_EQ(NewLosses(MakeBuild({{"k", "f16 fma.rn.f16"}, {"own::entry", "f16 cvt.rn.f16.f32"}}),
                      {"own::entry"}, false),
            "");
  EXPECT_THAT(
      NewLosses(MakeBuild({{"k", "f16 fma.rn.f16"}, {"own::entry", "bf16 cvt.rn.bf16.f32"}}),
                {"own::entry"}, false),
      HasSubstr("rounds to bf16"));
}

TEST(NewLosses, ADeclaredToleranceAllowsShortFormatsOnly) {
  EXPECT_EQ(NewLosses(MakeBuild({{"own::entry", "f16 cvt.rn.f16.f32"}}), {"own::entry"}, true), "");
  EXPECT_THAT(NewLosses(MakeBuild({{"own::entry", "ftz add.ftz.f32"}}), {"own::entry"}, true),
              HasSubstr("flushes what is tiny to zero"));
}

// Of a text without the original's body the original's build tells what that loses.
TEST(NewLosses, TheOriginalMayHaveBeenBuiltApart) {
  const auto build = MakeBuild({{"own::entry", "f16 cvt.rn.f16.f32"}});
  EXPECT_EQ(NewLosses(build, {"own::entry"}, false, {{"k", "f16 fma.rn.f16"}}), "");
  EXPECT_THAT(NewLosses(build, {"own::entry"}, false, {{"k", "ftz add.ftz.f32"}}),
              HasSubstr("rounds to f16"));
}

TEST(NewLosses, WithoutTheOriginalNothingIsSaid) {
  protocol::BuildReply build = MakeBuild({{"own::entry", "f16 cvt.rn.f16.f32"}});
  build.text_hashes.erase(build.text_hashes.begin());
  EXPECT_EQ(NewLosses(build, {"own::entry"}, false), "");
}

TEST_F(WorkerEvaluatorTest, ACandidateThatLosesPrecisionByItsInstructionsIsForbidden) {
  protocol::BuildReply built;
  built.artifact = original_;
  built.target = "compute_90,sm_90";
  built.text_hashes = {{"entry", "text"}, {"k", "more"}};
  built.losses = {{"entry", "f16 cvt.rn.f16.f32"}};
  workers_.On("build", Always(protocol::ToJson(built)));
  const Outcome outcome = Run(MakeRequest());
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->reason, "forbidden_numerics");
  EXPECT_THAT(outcome->detail, AllOf(HasSubstr("'entry'"), HasSubstr("cvt.rn.f16.f32")));
  EXPECT_EQ(workers_.Count("verify"), 0);
  EvaluateRequest tolerant = MakeRequest();
  tolerant.workload.tolerance.emplace().relative = 1e-3;
  const Outcome tolerated = Run(std::move(tolerant));
  ASSERT_TRUE(tolerated) << tolerated.error().message;
  EXPECT_TRUE(tolerated->accepted) << tolerated->detail;
}

}  // namespace
}  // namespace cupilot::evaluate
