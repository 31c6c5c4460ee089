#include "recording/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace cupilot::capture {
namespace {

using ::testing::HasSubstr;

Plan Example() {
  Plan plan;
  plan.folder = "/tmp/a folder";
  plan.launches = 7;
  plan.max_bytes = 123456789012;
  plan.seed = 99;
  PlannedKernel kernel;
  kernel.signature = "_Z4blurPf";
  kernel.name = "image::blur";
  for (std::uint32_t kind = 0; kind <= 5; ++kind) {
    kernel.parameters.push_back({static_cast<ParameterKind>(kind), 8 * kind + 4});
  }
  kernel.globals = {{"image::weights", true, 64}, {"(anonymous namespace)::count", false, 4}};
  plan.kernels = {kernel, {"_Z1kv", "", {}, {}}};
  return plan;
}

TEST(Plan, IsReadAsItWasPrinted) {
  const Plan plan = Example();
  Plan read;
  std::string error;
  ASSERT_TRUE(ParsePlan(PrintPlan(plan), read, error)) << error;
  EXPECT_EQ(read.folder, plan.folder);
  EXPECT_EQ(read.launches, 7u);
  EXPECT_EQ(read.max_bytes, 123456789012u);
  EXPECT_EQ(read.seed, 99u);
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(read.kernels[0].name, "image::blur");
  ASSERT_EQ(read.kernels[0].parameters.size(), 6u);
  EXPECT_EQ(read.kernels[0].parameters[4].kind, ParameterKind::kTable);
  EXPECT_EQ(read.kernels[0].parameters[4].bytes, 36u);
  ASSERT_EQ(read.kernels[0].globals.size(), 2u);
  EXPECT_EQ(read.kernels[0].globals[1].symbol, "(anonymous namespace)::count");
  EXPECT_FALSE(read.kernels[0].globals[1].constant);
  EXPECT_EQ(read.kernels[1].signature, "_Z1kv");
  EXPECT_EQ(PrintPlan(read), PrintPlan(plan));
}

TEST(Plan, LinesThatAreNotUnderstoodAreNamed) {
  const std::string head = "cupilot-capture-plan 1\nfolder /tmp\n";
  for (const char* line :
       {"launches many", "max_bytes", "parameter pointer 8", "name k", "speed 3", "folder"}) {
    Plan plan;
    std::string error;
    EXPECT_FALSE(ParsePlan(head + line + "\n", plan, error)) << line;
    EXPECT_THAT(error, HasSubstr("line 3: '" + std::string(line) + "'"));
  }
  for (const char* line : {"parameter reference 8", "parameter pointer", "global shared 4 x",
                           "global constant 4", "weight 3"}) {
    Plan plan;
    std::string error;
    EXPECT_FALSE(ParsePlan(head + "kernel k\n" + line + "\n", plan, error)) << line;
    EXPECT_THAT(error, HasSubstr("line 4: '" + std::string(line) + "'"));
  }
}

TEST(Plan, AnotherVersionAndNoFolderAreErrors) {
  Plan plan;
  std::string error;
  EXPECT_FALSE(ParsePlan("cupilot-capture-plan 2\nfolder /tmp\n", plan, error));
  EXPECT_THAT(error, HasSubstr("line 1"));
  EXPECT_FALSE(ParsePlan("", plan, error));
  EXPECT_FALSE(ParsePlan("cupilot-capture-plan 1\nseed 1\n", plan, error));
  EXPECT_THAT(error, HasSubstr("folder"));
}

TEST(Plan, AFileThatIsNotThereIsNamed) {
  const test::TemporaryFolder folder;
  Plan plan;
  std::string error;
  EXPECT_FALSE(ReadPlan(folder / "plan", plan, error));
  EXPECT_THAT(error, HasSubstr("plan: cannot be opened"));
  EXPECT_TRUE(ReadPlan(folder.Write("plan", PrintPlan(Example())), plan, error)) << error;
}

TEST(Plan, ANameMayLackNamespacesOfTemplateArguments) {
  EXPECT_TRUE(MayName("a::f<float, b::T, 4>", "a::f<float, T, 4>"));
  EXPECT_TRUE(MayName("a::f<float, b::T>", "a::f<float,b::T>"));
  EXPECT_TRUE(MayName("f<b::G<c::T> >", "f<G<T>>"));
  EXPECT_FALSE(MayName("a::f<b::T>", "f<b::T>"));
  EXPECT_FALSE(MayName("a::f<b::T>", "a::f<U>"));
  EXPECT_FALSE(MayName("a::f<b::T>", "a::f<bT>"));
  EXPECT_FALSE(MayName("a::f<b::T, 4>", "a::f<b::T, 5>"));
}

}  // namespace
}  // namespace cupilot::capture
