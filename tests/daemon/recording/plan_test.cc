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

std::vector<std::string> Signatures(const Plan& plan) {
  std::vector<std::string> signatures;
  for (const PlannedKernel& kernel : plan.kernels) signatures.push_back(kernel.signature);
  return signatures;
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
}

TEST(Plan, AKernelThatIsNotUnderstoodIsLeftOutAlone) {
  const std::string head = "cupilot-capture-plan 1\nfolder /tmp\nkernel a\n";
  for (const char* line : {"parameter reference 8", "parameter pointer", "global shared 4 x",
                           "global constant 4", "global constant 4 ", "weight 3"}) {
    Plan plan;
    std::string error;
    ASSERT_TRUE(ParsePlan(head + "kernel b\nname B\n" + line + "\nparameter pointer 8\nkernel c\n",
                          plan, error))
        << error;
    EXPECT_EQ(Signatures(plan), (std::vector<std::string>{"a", "c"})) << line;
    ASSERT_EQ(plan.problems.size(), 1u);
    EXPECT_THAT(plan.problems[0],
                HasSubstr("B is not captured: the plan's line 6: '" + std::string(line) + "'"));
  }
  for (const char* line : {"kernel", "kernel "}) {
    Plan plan;
    std::string error;
    ASSERT_TRUE(ParsePlan(head + line + "\nkernel c\n", plan, error)) << error;
    EXPECT_EQ(Signatures(plan), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(plan.problems.size(), 1u);
  }
}

TEST(Plan, AKernelWithoutASignatureIsNotWritten) {
  Plan plan = Example();
  plan.kernels.insert(plan.kernels.begin() + 1, PlannedKernel{"", "of_a_template", {}, {}});
  Plan read;
  std::string error;
  ASSERT_TRUE(ParsePlan(PrintPlan(plan), read, error)) << error;
  EXPECT_EQ(Signatures(read), (std::vector<std::string>{"_Z4blurPf", "_Z1kv"}));
  EXPECT_TRUE(read.problems.empty());
}

// Names as compilers and people write them, and worse.
TEST(Plan, TextsAreReadAsTheyWereWritten) {
  for (const std::string text : {"a b", "operator()", "scale<&(anonymous namespace)::f, 'x'>",
                                 "kernel x", "a\nb", "\nkernel x", " a ", "a\\nb", "a\\", "\\",
                                 "k<\"text\">", "ka\xc3\xb6", "a\tb", "a\rb", "a\r"}) {
    Plan plan = Example();
    plan.folder = plan.cupti = text;
    plan.kernels[0].signature = plan.kernels[0].name = plan.kernels[0].globals[0].symbol = text;
    Plan read;
    std::string error;
    ASSERT_TRUE(ParsePlan(PrintPlan(plan), read, error)) << error;
    EXPECT_TRUE(read.problems.empty()) << text;
    ASSERT_EQ(Signatures(read), (std::vector<std::string>{text, "_Z1kv"}));
    EXPECT_EQ(read.folder, text);
    EXPECT_EQ(read.cupti, text);
    EXPECT_EQ(read.kernels[0].name, text);
    EXPECT_EQ(read.kernels[0].globals[0].symbol, text);
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
