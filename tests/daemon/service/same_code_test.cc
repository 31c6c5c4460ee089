// One result for all candidates that are built to the same code.
#include "service/same_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::service {
namespace {

using ::testing::IsEmpty;

records::Workload WorkloadOf(const std::string& width) {
  records::Case one;
  one.name = "a";
  records::Argument argument;
  argument.name = "width";
  argument.type = "int";
  argument.value = width;
  one.arguments = {argument};
  one.grid = one.block = {"1", "1", "1"};
  records::Workload workload;
  workload.cases = {one};
  return workload;
}

records::Variant LaunchedWith(const std::string& block, const std::string& grid) {
  records::Launch launch;
  launch.entry = "v";
  launch.block = {block, "1", "1"};
  launch.grid = {grid, "1", "1"};
  launch.shared_bytes = "0";
  records::Variant variant;
  variant.kernel = "k";
  variant.id = block;
  variant.source = "// " + block;
  variant.launches = {launch};
  return variant;
}

TEST(LaunchKey, IsOfWhatLaunchesAreInTheCases) {
  const records::Workload workload = WorkloadOf("512");
  const std::string key = LaunchKey(LaunchedWith("(64) * (4)", "ceil_div(width, 256)"), workload);
  EXPECT_EQ(key, LaunchKey(LaunchedWith("(128) * (2)", "width / 256"), workload));
  EXPECT_NE(key, LaunchKey(LaunchedWith("128", "ceil_div(width, 256)"), workload));
  EXPECT_NE(key, LaunchKey(LaunchedWith("256", "3"), workload));
  // What has no value here is what it says.
  EXPECT_NE(LaunchKey(LaunchedWith("256", "sm_count"), workload),
            LaunchKey(LaunchedWith("256", "sm_count * 1"), workload));
}

TEST(LaunchKey, IsAlsoOfArgumentsAndGuard) {
  const records::Workload workload = WorkloadOf("512");
  const records::Variant plain = LaunchedWith("64", "8");
  records::Variant other = plain;
  other.guard = "width > 3";
  EXPECT_NE(LaunchKey(plain, workload), LaunchKey(other, workload));
  other = plain;
  other.launches[0].arguments = {"in"};
  EXPECT_NE(LaunchKey(plain, workload), LaunchKey(other, workload));
  other = plain;
  other.id = "other";
  other.launches[0].entry = "of_another_name";
  other.source = "of another text";
  EXPECT_EQ(LaunchKey(plain, workload), LaunchKey(other, workload));
  other.launches.push_back(plain.launches[0]);
  EXPECT_THAT(LaunchKey(other, workload), IsEmpty()) << "several kernels";
}

// Code that is told its tile by an argument is the same for every tile, but does other work.
TEST(LaunchKey, IsOfTheValuesThatArgumentsAskFor) {
  const records::Workload workload = WorkloadOf("512");
  records::Variant small = LaunchedWith("64", "TILE / TILE");
  small.values["TILE"] = 2;
  records::Variant large = small;
  large.values["TILE"] = 4;
  EXPECT_EQ(LaunchKey(small, workload), LaunchKey(large, workload)) << "the grid is the same";
  for (records::Variant* variant : {&small, &large}) {
    variant->launches[0].arguments = {"in", {{"type", "int"}, {"value", "2 * TILE"}}};
  }
  EXPECT_NE(LaunchKey(small, workload), LaunchKey(large, workload));
}

class SameCodeTest : public ::testing::Test {
 protected:
  // Who asked gets its place in the list, and what it was answered.
  std::string Ask(const std::string& code) {
    const std::size_t at = answers_.size();
    answers_.emplace_back("waits");
    return same_.Ask(code, LaunchedWith("64", "8"), WorkloadOf("512"),
                     [this, at](std::optional<records::Evaluation> known) {
                       answers_[at] = known ? known->variant : "measure";
                     });
  }
  static records::Evaluation Of(const std::string& variant) {
    records::Evaluation evaluation;
    evaluation.variant = variant;
    return evaluation;
  }

  SameCode same_{[this](const std::string& variant) {
    return lost_ ? std::optional<records::Evaluation>() : Of(variant);
  }};
  bool lost_ = false;
  std::vector<std::string> answers_;
};

TEST_F(SameCodeTest, TheFirstIsMeasuredAndTheOthersTakeItsResult) {
  const std::string key = Ask("code");
  EXPECT_FALSE(key.empty());
  EXPECT_THAT(Ask("code"), IsEmpty());
  EXPECT_FALSE(Ask("other code").empty());
  EXPECT_EQ(answers_, (std::vector<std::string>{"measure", "waits", "measure"}));
  const records::Evaluation first = Of("first");
  same_.Tell(key, &first);
  EXPECT_EQ(answers_[1], "first");
  EXPECT_THAT(Ask("code"), IsEmpty());
  EXPECT_EQ(answers_.back(), "first");
}

TEST_F(SameCodeTest, WithoutAVerdictEachIsMeasured) {
  const std::string key = Ask("code");
  Ask("code");
  same_.Tell(key, nullptr);
  EXPECT_EQ(answers_[1], "measure");
  EXPECT_FALSE(Ask("code").empty());
}

TEST_F(SameCodeTest, AVerdictThatIsNotThereAnyMoreIsMadeAgain) {
  const std::string key = Ask("code");
  const records::Evaluation first = Of("first");
  same_.Tell(key, &first);
  lost_ = true;
  EXPECT_EQ(Ask("code"), key);
  EXPECT_EQ(answers_.back(), "measure");
  EXPECT_THAT(Ask("code"), IsEmpty());
  EXPECT_EQ(answers_.back(), "waits");
}

TEST_F(SameCodeTest, WhatIsForgottenIsMeasuredAgain) {
  const std::string key = Ask("code");
  const records::Evaluation first = Of("first");
  same_.Tell(key, &first);
  same_.Clear();
  EXPECT_FALSE(Ask("code").empty());
  EXPECT_EQ(answers_.back(), "measure");
}

}  // namespace
}  // namespace cupilot::service
