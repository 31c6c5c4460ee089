#include "worker/program.h"

#include <gmock/gmock.h>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;

records::Variant MakeVariant() {
  records::Variant variant;
  variant.kernel = "scale";
  variant.source = "__global__ void other(const float* in, float* out, float f, int n) {}";
  records::Launch launch;
  launch.entry = "other";
  launch.grid = {"ceil_div(n, WIDE)", "1", "1"};
  launch.block = {"WIDE", "1", "1"};
  variant.launches.push_back(launch);
  variant.values["WIDE"] = 128;
  return variant;
}

std::string ErrorOf(const records::Variant& variant) {
  CasePlan plan = MakePlan();
  const auto program = VariantProgram(MakeKernel(), variant, plan);
  return program ? "" : program.error().message;
}

TEST(Program, TheOriginalIsOneLaunchAsTheCaseSays) {
  const CasePlan plan = MakePlan();
  const Program program = OriginalProgram(plan, "scale");
  ASSERT_EQ(program.steps.size(), 1u);
  EXPECT_EQ(program.steps[0].grid, plan.grid);
  EXPECT_EQ(program.steps[0].block, plan.block);
  EXPECT_EQ(program.steps[0].arguments.size(), plan.arguments.size());
}

TEST(Program, ExpressionsAreEvaluatedWithTheTunables) {
  CasePlan plan = MakePlan();
  const auto program = VariantProgram(MakeKernel(), MakeVariant(), plan);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->steps.size(), 1u);
  EXPECT_EQ(program->steps[0].block[0], 128);
  EXPECT_EQ(program->steps[0].grid[0], (kCount + 127) / 128);
  EXPECT_EQ(program->steps[0].arguments.size(), 4u) << "the original's, where none are given";
}

TEST(Program, WorkspacesLieBehindTheRegionsAndAreCleared) {
  records::Variant variant = MakeVariant();
  records::Workspace workspace;
  workspace.name = "partial";
  workspace.bytes = "4 * grid_x";
  workspace.zeroed = true;
  variant.workspace.push_back(workspace);
  variant.launches[0].arguments = {"in", "out", "factor", "partial"};
  const CasePlan original = MakePlan();
  CasePlan plan = original;
  const auto program = VariantProgram(MakeKernel(), variant, plan);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(plan.layout.regions.size(), original.layout.regions.size() + 1);
  const Region& region = plan.layout.regions.back();
  EXPECT_EQ(region.bytes(), 4 * original.grid[0]);
  EXPECT_GE(region.offset, original.layout.regions.back().offset);
  ASSERT_EQ(program->steps.size(), 2u);
  EXPECT_EQ(program->steps[0].fill_offset, region.offset);
  EXPECT_EQ(program->steps[0].fill_bytes, region.bytes());
  EXPECT_EQ(program->steps[1].arguments[3].pointers[0].offset, region.offset);
}

TEST(Program, AGuardThatDoesNotHoldIsNoLaunch) {
  records::Variant variant = MakeVariant();
  variant.guard = "n % 64 == 0";
  EXPECT_THAT(ErrorOf(variant), HasSubstr("guard does not hold"));
  variant.guard = "aligned(in, 16)";
  EXPECT_EQ(ErrorOf(variant), "");
}

TEST(Program, ImpossibleGeometryIsRefused) {
  records::Variant variant = MakeVariant();
  variant.values["WIDE"] = 2048;
  EXPECT_THAT(ErrorOf(variant), HasSubstr("more than 1024 threads"));
  variant = MakeVariant();
  variant.launches[0].grid[0] = "n - n";
  EXPECT_THAT(ErrorOf(variant), HasSubstr("dimension of 0"));
  variant.launches[0].grid[0] = "n / (n - n)";
  EXPECT_NE(ErrorOf(variant), "");
  variant = MakeVariant();
  variant.launches[0].arguments = {"in", "out", "factor", "elsewhere"};
  EXPECT_THAT(ErrorOf(variant), HasSubstr("there is no 'elsewhere'"));
}

}  // namespace
}  // namespace cupilot::worker
