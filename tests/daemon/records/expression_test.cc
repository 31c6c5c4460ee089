#include "records/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "records/launch_names.h"

namespace cupilot::records {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Environment SomeNames() {
  Environment environment;
  environment.integers = {{"width", 1920}, {"n", 7},    {"min64", kMin},  {"max64", kMax},
                          {"$2", 12},      {"zero", 0}, {"p.dims[1]", 5}, {"grid_x", 3}};
  environment.floats = {{"alpha", 0.5}, {"beta", 2.0}};
  environment.pointers = {{"in", 0x1010}, {"out", 0x2000}, {"none", 0}};
  environment.blocks_per_sm = [](std::string_view entry) -> std::optional<std::int64_t> {
    if (entry == "blur_t4") return 8;
    return std::nullopt;
  };
  return environment;
}

std::string Of(const std::string& text) {
  const auto value = EvaluateText(text, SomeNames());
  return value ? std::to_string(*value) : value.error().message;
}

TEST(Expression, Computes) {
  EXPECT_EQ(Of("1 + 2 * 3 - 4 / 2 % 3"), "5");
  EXPECT_EQ(Of("-(2 - 5) * -3"), "-9");
  EXPECT_EQ(Of("0x1F + 0xff"), "286");
  EXPECT_EQ(Of("10 - 3 - 2"), "5");
  EXPECT_EQ(Of("2 < 3 == 1"), "1");
  EXPECT_EQ(Of("!0 + !5"), "1");
  EXPECT_EQ(Of("1 ? 2 : 0 ? 3 : 4"), "2");
  EXPECT_EQ(Of("0 ? 2 : 0 ? 3 : 4"), "4");
  EXPECT_EQ(Of("1 || 0 && 0"), "1");
  EXPECT_EQ(Of("-9223372036854775808"), std::to_string(kMin));
  EXPECT_EQ(Of("-7 / 2"), "-3");
  EXPECT_EQ(Of("-7 % 2"), "-1");
  EXPECT_EQ(Of("5 && 3"), "1");
}

TEST(Expression, KnowsTrueAndFalse) {
  EXPECT_EQ(Of("true"), "1");
  EXPECT_EQ(Of("false"), "0");
  EXPECT_EQ(Of("n == 7 && true || false"), "1");
  EXPECT_EQ(Of("!true ? 2 : 3"), "3");
  EXPECT_THAT(Of("is_null(true)"), HasSubstr("pointer"));
  EXPECT_THAT(Of("true(1)"), HasSubstr("unknown function 'true'"));
  EXPECT_TRUE(Expression::Parse("true && !false")->Names().empty());
  const auto printed = Expression::Parse("true && false")->PrintCpp("x", [](std::string_view) {
    return std::optional<PrintedName>();
  });
  ASSERT_TRUE(printed) << printed.error().message;
}

TEST(LaunchNames, AParameterOfSuchANameIsReachedByItsPosition) {
  Kernel kernel;
  for (const char* name : {"n", "", "grid_x", "warp_size", "BLOCK",
                           "gr\xc3\xb6\xc3\x9f"
                           "e",
                           "min", "l2_bytes", "grid", "a$b"}) {
    kernel.parameters.emplace_back().name = name;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    names.push_back(NameInExpressions(kernel, i, {"BLOCK"}));
  }
  EXPECT_THAT(names, ElementsAre("n", "$1", "$2", "$3", "$4", "$5", "min", "$7", "grid", "$9"));
  for (const std::string& name : names) EXPECT_TRUE(Expression::Parse(name + " == 1")) << name;
}

TEST(LaunchNames, AGuardThatDoesNotAskSuchAParameterIsFound) {
  Kernel kernel;
  kernel.parameters.resize(2);
  kernel.parameters[0].name = "n";
  kernel.parameters[1].name = "warp_size";
  for (Parameter& parameter : kernel.parameters) parameter.kind = ParameterKind::kInteger;
  EXPECT_THAT(WhatGuardLeavesOut(kernel, "n == 1 && warp_size == 32"),
              HasSubstr("'warp_size' ($1)"));
  EXPECT_EQ(WhatGuardLeavesOut(kernel, "n == 1 && $1 == 32 && warp_size == 32"), "");
  kernel.parameters[1].kind = ParameterKind::kPointer;
  EXPECT_EQ(WhatGuardLeavesOut(kernel, "n == 1"), "");
}

TEST(Expression, HasItsFunctions) {
  EXPECT_EQ(Of("ceil_div(width, 16)"), "120");
  EXPECT_EQ(Of("ceil_div(-7, 2)"), "-3");
  EXPECT_EQ(Of("floor_div(-7, 2)"), "-4");
  EXPECT_EQ(Of("floor_div(7, -2)"), "-4");
  EXPECT_EQ(Of("round_up(n, 4)"), "8");
  EXPECT_EQ(Of("round_up(-7, 4)"), "-4");
  EXPECT_EQ(Of("min(3, n, 5) + max(1, 2)"), "5");
  EXPECT_EQ(Of("log2_ceil(1)"), "0");
  EXPECT_EQ(Of("log2_ceil(1025)"), "11");
  EXPECT_EQ(Of("log2_ceil(max64)"), "63");
  EXPECT_EQ(Of("aligned(in, 16)"), "1");
  EXPECT_EQ(Of("aligned(in, 32)"), "0");
  EXPECT_EQ(Of("is_null(none) + is_null(in)"), "1");
  EXPECT_EQ(Of("disjoint(in, 4080, out, 16)"), "1");
  EXPECT_EQ(Of("disjoint(in, 4081, out, 16)"), "0");
  EXPECT_EQ(Of("disjoint(in, 0, in, 16)"), "1");
  EXPECT_EQ(Of("blocks_per_sm(blur_t4) * 2"), "16");
}

TEST(Expression, ReadsNames) {
  EXPECT_EQ(Of("$2 + p.dims[1] + grid_x"), "20");
  EXPECT_EQ(Of("alpha < 1 && beta == 2 && alpha != beta"), "1");
  const auto expression = Expression::Parse("width * n + width / p.dims[1] + aligned(in, 4)");
  EXPECT_THAT(expression->Names(), ElementsAre("width", "n", "p.dims[1]", "in"));
}

TEST(Expression, EvaluatesOnlyWhatItNeeds) {
  EXPECT_EQ(Of("0 && 1 / zero"), "0");
  EXPECT_EQ(Of("1 || 1 / zero"), "1");
  EXPECT_EQ(Of("1 ? 2 : 1 / zero"), "2");
  EXPECT_EQ(Of("0 && unknown"), "0");
  EXPECT_THAT(Of("1 && 1 / zero"), StartsWith("column 8: division by zero"));
}

TEST(Expression, FailsWithTheColumn) {
  EXPECT_EQ(Of("1 + n / zero"), "column 7: division by zero");
  EXPECT_EQ(Of("n % zero"), "column 3: division by zero");
  EXPECT_EQ(Of("max64 + 1"), "column 7: overflow");
  EXPECT_EQ(Of("min64 - 1"), "column 7: overflow");
  EXPECT_EQ(Of("max64 * 2"), "column 7: overflow");
  EXPECT_EQ(Of("min64 / -1"), "column 7: overflow");
  EXPECT_EQ(Of("min64 % -1"), "column 7: overflow");
  EXPECT_EQ(Of("1 + -min64"), "column 5: overflow");
  EXPECT_EQ(Of("round_up(max64, 2)"), "column 1: overflow");
  EXPECT_EQ(Of("2 * ceil_div(n, 0)"), "column 5: 'ceil_div' by a number that is not positive");
  EXPECT_EQ(Of("log2_ceil(0)"), "column 1: 'log2_ceil' of a number that is not positive");
  EXPECT_EQ(Of("aligned(in, 12)"), "column 1: 'aligned' to a number that is not a power of two");
  EXPECT_EQ(Of("disjoint(in, -1, out, 2)"), "column 1: 'disjoint' of a negative size");
  EXPECT_EQ(Of("blocks_per_sm(other)"), "column 1: the occupancy of 'other' is not known");
  EXPECT_EQ(Of("n + height"), "column 5: unknown name 'height'");
  EXPECT_THAT(Of("alpha + 1"), StartsWith("column 1: 'alpha' is floating"));
  EXPECT_THAT(Of("n + in"), StartsWith("column 5: 'in' is a pointer"));
  EXPECT_EQ(Of("aligned(n, 4)"), "column 9: 'n' is not a pointer");
}

TEST(Expression, RefusesOtherText) {
  const auto error = [](const std::string& text) {
    const auto parsed = Expression::Parse(text);
    return parsed ? "accepted" : parsed.error().message;
  };
  EXPECT_EQ(error("(1 + 2"), "column 7: expected ')', found the end");
  EXPECT_EQ(error(""), "column 1: expected a number, a name or '(', found the end");
  EXPECT_EQ(error("1 2"), "column 3: expected an operator or the end, found '2'");
  EXPECT_EQ(error("n ? 1"), "column 6: expected ':', found the end");
  EXPECT_EQ(error("a & b"), "column 3: unexpected character '&'");
  EXPECT_EQ(error("sqrt(2)"), "column 1: unknown function 'sqrt'");
  EXPECT_EQ(error("min(1)"), "column 1: 'min' takes at least 2 arguments, found 1");
  EXPECT_EQ(error("aligned(in + 1, 4)"), "column 12: expected the name of a pointer");
  EXPECT_EQ(error("9223372036854775808"),
            "column 1: '9223372036854775808' does not fit in 64 bits");
  EXPECT_EQ(error("99999999999999999999"),
            "column 1: '99999999999999999999' does not fit in 64 bits");
  EXPECT_THAT(error("010"), HasSubstr("leading zeros"));
  EXPECT_THAT(error("1.5"), HasSubstr("column 2"));
  EXPECT_THAT(error("0x"), HasSubstr("digits after 0x"));
  EXPECT_THAT(error("12ab"), HasSubstr("not an integer"));
  EXPECT_THAT(error("$x"), HasSubstr("position after '$'"));
  EXPECT_THAT(error("p."), HasSubstr("member"));
  EXPECT_THAT(error(std::string(5000, '(')), HasSubstr("nested too deeply"));
  EXPECT_THAT(error(std::string(5000, '!') + "1"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error(std::string(9000, '1')), HasSubstr("longer than"));
}

TEST(PrintCpp, RefusesUnknownNamesEverywhere) {
  const NamePrinter none = [](std::string_view) { return std::optional<PrintedName>(); };
  EXPECT_EQ(Expression::Parse("0 && x")->PrintCpp("r", none).error().message,
            "column 6: unknown name 'x'");
  EXPECT_TRUE(Expression::Parse("1 + 2")->PrintCpp("r", none).has_value());
}

TEST(Expression, ConjunctsAreWhatMustHoldTogether) {
  const auto whole =
      Expression::Parse("n % 4 == 0 && (aligned(in, 16) || n < 2) && (zero && n > 5)");
  ASSERT_TRUE(whole);
  std::vector<std::int64_t> values;
  std::vector<bool> asks;
  for (const Expression& conjunct : whole->Conjuncts()) {
    const auto value = conjunct.Evaluate(SomeNames());
    ASSERT_TRUE(value) << value.error().message;
    values.push_back(*value);
    asks.push_back(conjunct.AsksAddresses());
  }
  EXPECT_THAT(values, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(asks, ElementsAre(false, true, false, false));
  EXPECT_TRUE(whole->AsksAddresses());
  EXPECT_EQ(Expression::Parse("is_null(none) || n > 1")->Conjuncts().size(), 1u);
  EXPECT_FALSE(Expression::Parse("is_null(none) || n > 1")->AsksAddresses());
}

}  // namespace
}  // namespace cupilot::records
