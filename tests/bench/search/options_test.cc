#include "tests/bench/search/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupilot::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string WhyNot(const std::vector<std::string>& words) {
  const auto options = ParseOptions(words, "here");
  return options ? "" : options.error().message;
}

TEST(Options, SayWhatIsCompared) {
  const auto options = ParseOptions({"--kernel", "softmax", "--arm", "code", "--live", "--requests",
                                     "5", "--provider", "exchange:x"},
                                    "here");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->recordings, "here");
  EXPECT_THAT(options->kernels, ElementsAre("softmax"));
  EXPECT_THAT(options->arms, ElementsAre("code"));
  EXPECT_TRUE(options->live);
  EXPECT_EQ(options->requests, 5);
  EXPECT_FALSE(options->evaluations);
}

TEST(Options, SayWhatIsWrong) {
  EXPECT_THAT(WhyNot({"--arm", "nothing"}), HasSubstr("no_roofline"));
  EXPECT_THAT(WhyNot({"--live", "--requests", "many"}), HasSubstr("needs a number"));
  EXPECT_THAT(WhyNot({"--requests", "5"}), HasSubstr("--live"));
  EXPECT_THAT(WhyNot({"--provider", "exchange:x"}), HasSubstr("--live"));
  EXPECT_THAT(WhyNot({"--what", "x"}), HasSubstr("unknown argument '--what'"));
  EXPECT_THAT(WhyNot({"--out"}), HasSubstr("needs a value"));
  EXPECT_THAT(WhyNot({"folder"}), HasSubstr("unknown argument 'folder'"));
}

}  // namespace
}  // namespace cupilot::bench
