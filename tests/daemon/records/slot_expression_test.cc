// What is compiled for many evaluations says what one evaluation says.
#include "records/slot_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace cupilot::records {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

std::optional<int> SlotOf(std::string_view name) {
  if (name == "a") return 0;
  if (name == "b") return 1;
  return std::nullopt;
}

Environment Constants() {
  Environment constants;
  constants.integers["n"] = 96;
  constants.floats["alpha"] = 0.5;
  return constants;
}

class SlotExpressionTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SlotExpressionTest, SaysWhatTheExpressionSays) {
  const auto expression = Expression::Parse(GetParam());
  ASSERT_TRUE(expression) << expression.error().message;
  const Environment constants = Constants();
  const auto compiled = SlotExpression::Compile(*expression, SlotOf, constants);
  ASSERT_TRUE(compiled) << compiled.error().message;
  const std::vector<std::int64_t> values = {kLeast, -7, -1, 0, 1, 2, 3, 5, 64, 1000, kMost};
  for (const std::int64_t a : values) {
    for (const std::int64_t b : values) {
      Environment environment = constants;
      environment.integers["a"] = a;
      environment.integers["b"] = b;
      const auto expected = expression->Evaluate(environment);
      const std::int64_t slots[] = {a, b};
      const auto found = compiled->Evaluate(slots);
      ASSERT_EQ(found.has_value(), expected.has_value()) << a << " " << b;
      EXPECT_EQ(found.value_or(0), expected.value_or(0)) << a << " " << b;
      EXPECT_EQ(compiled->Holds(slots), expected && *expected != 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SlotExpressionTest,
                         ::testing::Values("a + b * 3 - n", "a / b", "a % b", "-a", "!a", "a < b",
                                           "a <= b", "a > b", "a >= b", "a == b", "a != 2",
                                           "a && b", "a || b", "a != 0 && n % a == 0",
                                           "a == 0 || n / a > 3", "a ? b : n", "b > 0 ? a / b : -1",
                                           "ceil_div(a, b)", "floor_div(a, b)", "round_up(a, b)",
                                           "min(a, b, 3)", "max(a, 2, b)", "log2_ceil(a)",
                                           "alpha < 1 && a > 2", "(a + 1) * (b + 1)", "n * 2 - 1"));

TEST(SlotExpression, KnowsItsSlots) {
  const auto slots = [](const char* text) {
    return SlotExpression::Compile(*Expression::Parse(text), SlotOf, Constants())->slots();
  };
  EXPECT_THAT(slots("b * a + b"), ElementsAre(0, 1));
  EXPECT_THAT(slots("b > n"), ElementsAre(1));
  EXPECT_TRUE(slots("n > 2").empty());
}

TEST(SlotExpression, WhatIsNoIntegerIsRefused) {
  const auto why = [](const char* text) {
    const auto compiled = SlotExpression::Compile(*Expression::Parse(text), SlotOf, Constants());
    EXPECT_FALSE(compiled) << text;
    return compiled ? "" : compiled.error().message;
  };
  EXPECT_THAT(why("a < alpha"), HasSubstr("meet what is no integer"));
  EXPECT_THAT(why("a < c"), HasSubstr("unknown name 'c'"));
  EXPECT_THAT(why("c"), HasSubstr("unknown name 'c'"));
  EXPECT_THAT(why("a + n / 0"), HasSubstr("division by zero"));
}

}  // namespace
}  // namespace cupilot::records
