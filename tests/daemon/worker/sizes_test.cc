#include "worker/sizes.h"

#include <gmock/gmock.h>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Of the scalar n.
std::vector<std::string> ValuesOf(const std::vector<records::Case>& cases) {
  std::vector<std::string> values;
  for (const records::Case& one : cases) values.push_back(one.arguments[3].value);
  return values;
}

TEST(Sizes, FollowWhatCountsName) {
  const records::Case one = MakeCase();
  const auto sizes = OtherSizes(MakeKernel(), one, MakePlan(one));
  EXPECT_THAT(ValuesOf(sizes), ElementsAre("1", "0", "499", "65", "999", "1001"));
  EXPECT_EQ(sizes[3].name, "all, n = 65");
  for (const records::Case& other : sizes) {
    EXPECT_EQ(other.arguments[2], one.arguments[2]) << "factor is no size";
    EXPECT_EQ(other.grid, one.grid) << "an expression";
  }
}

TEST(Sizes, AGridThatStaysCoversNoMoreThanItDid) {
  records::Case one = MakeCase();
  one.grid = {"16", "1", "1"};
  EXPECT_THAT(ValuesOf(OtherSizes(MakeKernel(), one, MakePlan(one))), Not(Contains("1001")));
}

TEST(Sizes, TheTagsLaunchLineSaysTheGrid) {
  records::Case one = MakeCase();
  one.grid = {"16", "1", "1"};
  records::Kernel kernel = MakeKernel();
  kernel.launch_grid = {"ceil_div(n, BLOCK)"};
  kernel.tunables = {{"BLOCK", {32, 64}, 64}};
  const auto sizes = OtherSizes(kernel, one, MakePlan(one));
  ASSERT_EQ(sizes.size(), 6u);
  EXPECT_EQ(sizes[3].grid[0], "2") << "for 65";
  EXPECT_EQ(sizes[5].grid[0], "16") << "for 1001";
  // One that says something else for the case itself is none of it.
  kernel.tunables[0].default_value = 32;
  EXPECT_THAT(ValuesOf(OtherSizes(kernel, one, MakePlan(one))), Not(Contains("1001")));
}

TEST(Sizes, WithoutExpressionsThereAreNone) {
  records::Case one = MakeCase();
  one.arguments[0].count = one.arguments[1].count = "1000";
  EXPECT_THAT(OtherSizes(MakeKernel(), one, MakePlan(one)), IsEmpty());
}

constexpr std::int64_t kMostBytes = 8 << 20;

std::optional<records::Case> Guess(const records::Kernel& kernel, const records::Case& one) {
  const auto plan = PlanCase(kernel, one, device::DescribeHost(), nullptr);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? SmallerByGuess(kernel, one, *plan, device::DescribeHost(), kMostBytes)
              : std::nullopt;
}

// n = 1048576, in numbers.
records::Case MakeLarge() {
  records::Case one = MakeCase();
  one.grid = {"16384", "1", "1"};
  one.arguments[3].value = "1048576";
  one.arguments[0].count = "1048576";
  one.arguments[1].count = "4194304";
  return one;
}

TEST(Sizes, NumbersThatScalarsSayShrinkWithThem) {
  records::Case one = MakeLarge();
  const auto smaller = Guess(MakeKernel(), one);
  ASSERT_TRUE(smaller);
  EXPECT_EQ(smaller->arguments[0].count, "n");
  EXPECT_EQ(smaller->arguments[1].count, "4 * n");
  EXPECT_EQ(smaller->arguments[3].value, "262144");
  EXPECT_EQ(smaller->grid[0], "ceil_div(n, 64)");
  // Where nothing says them nothing is guessed.
  one.arguments[0].count = one.arguments[1].count = "4000037";
  EXPECT_FALSE(Guess(MakeKernel(), one));
}

TEST(Sizes, WhatWasCapturedIsCutOff) {
  records::Case one = MakeLarge();
  for (const std::size_t i : {0u, 1u}) {
    records::Argument& argument = one.arguments[i];
    one.buffers.push_back({argument.name, "4194304", std::nullopt});
    argument.count.clear();
    argument.fill.reset();
    argument.access.reset();
    argument.buffer = argument.name;
    argument.offset = "0";
  }
  one.buffers[1].bytes = "16777216";
  const auto smaller = Guess(MakeKernel(), one);
  ASSERT_TRUE(smaller);
  EXPECT_EQ(smaller->buffers[0].bytes, "(n) * 4");
  EXPECT_EQ(smaller->arguments[3].value, "262144");
  // An address inside of a buffer lies where it lies.
  one.arguments[1].offset = "16";
  EXPECT_FALSE(Guess(MakeKernel(), one));
  one.arguments[1].offset = "0";
  one.buffers[0].pointers.push_back({0, one.buffers[1].name, 0});
  EXPECT_FALSE(Guess(MakeKernel(), one));
}

TEST(Sizes, ScalarsOfOneValueShrinkTogether) {
  records::Kernel kernel = MakeKernel();
  records::Case one = MakeLarge();
  kernel.parameters.push_back(kernel.parameters[3]);
  kernel.parameters.back().name = "stride";
  one.arguments.push_back(one.arguments[3]);
  one.arguments.back().name = "stride";
  const auto smaller = Guess(kernel, one);
  ASSERT_TRUE(smaller);
  EXPECT_EQ(smaller->arguments[3].value, "262144");
  EXPECT_EQ(smaller->arguments[4].value, "262144");
}

// A cube's edges: who takes two that are equal for all of them.
TEST(Scalars, EachIsAsTheOthersToo) {
  records::Kernel kernel = MakeKernel();
  kernel.parameters.push_back(Scalar("other", records::ParameterKind::kFloating, "float"));
  records::Case one = MakeCase();
  one.arguments.emplace_back();
  one.arguments[4].name = "other";
  one.arguments[4].value = "0.25";
  const auto plan = PlanCase(kernel, one, device::DescribeHost(), nullptr);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto cases = OtherScalars(kernel, one, *plan);
  ASSERT_EQ(cases.size(), 2u + 14u);
  EXPECT_EQ(cases[0].name, "all, factor = other");
  EXPECT_EQ(cases[0].arguments[2].value, "0.25");
  EXPECT_EQ(cases[1].arguments[4].value, "1.5");
  one.arguments[4].value = "1.5";
  const auto equal = PlanCase(kernel, one, device::DescribeHost(), nullptr);
  ASSERT_TRUE(equal);
  EXPECT_EQ(OtherScalars(kernel, one, *equal).size(), 14u) << "they are equal already";
}

TEST(Scalars, ThoseInStructuresAreVariedToo) {
  using records::ParameterKind;
  records::Kernel kernel = MakeKernel();
  kernel.parameters[2] = Scalar("f", ParameterKind::kOther, "Frame");
  kernel.parameters[2].bytes = 8;
  kernel.parameters[2].members = {{"width", "int", ParameterKind::kInteger, 0, 4, true},
                                  {"scale", "float", ParameterKind::kFloating, 4, 4, false}};
  records::Case one = MakeCase();
  one.arguments[2].name = "f";
  one.arguments[2].value = "";
  one.arguments[2].bytes = "ZAAAAAAAAEA=";  // 100 and 2.0f
  const auto planned = PlanCase(kernel, one, device::DescribeHost(), nullptr);
  ASSERT_TRUE(planned) << planned.error().message;
  const CasePlan& plan = *planned;
  EXPECT_EQ(plan.environment.integers.at("f.width"), 100);
  EXPECT_EQ(plan.environment.integers.at("$2.width"), 100);
  EXPECT_EQ(plan.environment.floats.at("f.scale"), 2.0);
  const auto cases = OtherScalars(kernel, one, plan);
  ASSERT_EQ(cases.size(), 7u);
  EXPECT_EQ(cases[0].name, "all, f.scale = 2.625");
  EXPECT_EQ(cases[0].arguments[2].bytes, "ZAAAAAAAKEA=") << "the width stays";
}

TEST(Scalars, ATextThatNobodyReadsIsVariedToo) {
  using records::ParameterKind;
  records::Kernel kernel = MakeKernel();
  kernel.closure_source = "struct Frame { int width; char name[4]; };";
  kernel.parameters[2] = Scalar("f", ParameterKind::kOther, "Frame");
  kernel.parameters[2].bytes = 8;
  kernel.parameters[2].members = {{"width", "int", ParameterKind::kInteger, 0, 4, true},
                                  {"name[0]", "char", ParameterKind::kInteger, 4, 1, true},
                                  {"name[1]", "char", ParameterKind::kInteger, 5, 1, true}};
  records::Case one = MakeCase();
  one.arguments[2].name = "f";
  one.arguments[2].value = "";
  one.arguments[2].bytes = "ZAAAAG15AAA=";  // 100 and "my"
  const auto plan = PlanCase(kernel, one, device::DescribeHost(), nullptr);
  ASSERT_TRUE(plan) << plan.error().message;
  const auto cases = OtherScalars(kernel, one, *plan);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].name, "all, other texts in f");
  EXPECT_EQ(cases[0].arguments[2].bytes, "ZAAAAHhsAAA=");
  kernel.closure_source += " bool Is(Frame f) { return f.name[0] == 'm'; }";
  EXPECT_TRUE(OtherScalars(kernel, one, *plan).empty()) << "the guard asks for it instead";
}

}  // namespace
}  // namespace cupilot::worker
