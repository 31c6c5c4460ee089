#include "device/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace cupilot::device {
namespace {

const ElementType kFloat = ElementTypeOf("float", 4);
const ElementType kInt = ElementTypeOf("int", 4);
constexpr std::int64_t kMany = 200000;  // more than one thread's share

std::vector<double> Numbers(const FillRecipe& recipe, const FillSource& source,
                            const ElementType& type, std::int64_t count) {
  std::vector<std::byte> data(static_cast<std::size_t>(count * type.size()));
  const auto filled = FillBuffer(data.data(), count, type, recipe, source);
  EXPECT_TRUE(filled) << filled.error().message;
  std::vector<double> values(static_cast<std::size_t>(count * type.lanes));
  ReadNumbers(data.data(), 0, count * type.lanes, type, values.data());
  return values;
}

FillRecipe RecipeFor(FillKind kind) {
  FillRecipe recipe;
  recipe.kind = kind;
  return recipe;
}

TEST(Fill, IsAFunctionOfSeedNameAndIndex) {
  const FillRecipe normal = RecipeFor(FillKind::kNormal);
  const auto all = Numbers(normal, {1, "x", 0}, kFloat, kMany);
  EXPECT_EQ(all, Numbers(normal, {1, "x", 0}, kFloat, kMany));
  const auto few = Numbers(normal, {1, "x", 0}, kFloat, 100);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin())) << "not of the count";
  EXPECT_NE(few, Numbers(normal, {2, "x", 0}, kFloat, 100));
  EXPECT_NE(few, Numbers(normal, {1, "y", 0}, kFloat, 100));
  EXPECT_NE(few, Numbers(normal, {1, "x", 1}, kFloat, 100)) << "a redraw";
}

TEST(Fill, NormalHasItsMoments) {
  FillRecipe recipe = RecipeFor(FillKind::kNormal);
  recipe.mean = 3;
  recipe.stddev = 2;
  const auto values = Numbers(recipe, {7, "x", 0}, kFloat, kMany);
  const double n = static_cast<double>(kMany);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  EXPECT_NEAR(mean, recipe.mean, 6 * recipe.stddev / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), recipe.stddev, 6 * recipe.stddev / std::sqrt(2 * n));
}

TEST(Fill, UniformStaysBelowItsUpperEnd) {
  FillRecipe recipe = RecipeFor(FillKind::kUniform);
  recipe.low = 1;
  recipe.high = 1 + 4 * Roundoff(kFloat);  // so narrow that rounding would reach the end
  for (const double v : Numbers(recipe, {1, "x", 0}, kFloat, 1000)) {
    ASSERT_GE(v, recipe.low);
    ASSERT_LT(v, recipe.high);
  }
}

TEST(Fill, IntegersReachBothEnds) {
  FillRecipe recipe = RecipeFor(FillKind::kIntegers);
  recipe.integer_low = -2;
  recipe.integer_high = 2;
  const auto values = Numbers(recipe, {1, "x", 0}, kInt, 1000);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(*low, -2);
  EXPECT_EQ(*high, 2);
}

TEST(Fill, AShareIsZeroAndTheOthersAreDrawnAsWithoutIt) {
  for (const FillKind kind : {FillKind::kNormal, FillKind::kUniform, FillKind::kIntegers}) {
    FillRecipe recipe = RecipeFor(kind);
    recipe.mean = 50;
    recipe.low = recipe.integer_low = 20;
    recipe.high = recipe.integer_high = 30;
    const auto& type = kind == FillKind::kIntegers ? kInt : kFloat;
    const auto all = Numbers(recipe, {1, "x", 0}, type, 20000);
    recipe.zeros = 0.9;
    const auto values = Numbers(recipe, {1, "x", 0}, type, 20000);
    EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 0)) / 20000, 0.9,
                0.01);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(values[i] == 0 || values[i] == all[i]) << i;
    }
    EXPECT_EQ(values, Numbers(recipe, {1, "x", 0}, type, 20000)) << "of the same run";
    EXPECT_NE(values, Numbers(recipe, {1, "x", 3}, type, 20000)) << "drawn again";
    recipe.zeros = 1;
    EXPECT_EQ(Numbers(recipe, {1, "x", 0}, type, 100), std::vector<double>(100, 0.0));
  }
}

TEST(Fill, SortedIntegersReachBothBounds) {
  FillRecipe recipe = RecipeFor(FillKind::kSorted);
  recipe.integer_low = -3;
  recipe.integer_high = 3;
  const auto values = Numbers(recipe, {1, "s", 0}, kInt, 1000);
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(values.front(), -3);
  EXPECT_EQ(values.back(), 3);
}

TEST(Fill, PermutationOffsetsAndSortedAreWhatTheySay) {
  auto permutation = Numbers(RecipeFor(FillKind::kPermutation), {1, "p", 0}, kInt, 1000);
  EXPECT_FALSE(std::is_sorted(permutation.begin(), permutation.end()));
  std::sort(permutation.begin(), permutation.end());
  EXPECT_EQ(permutation, Numbers(RecipeFor(FillKind::kIota), {1, "p", 0}, kInt, 1000));

  FillRecipe recipe = RecipeFor(FillKind::kOffsets);
  recipe.total = 5000;
  const auto offsets = Numbers(recipe, {1, "o", 0}, kInt, 100);
  EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_EQ(offsets.back(), recipe.total);

  recipe = RecipeFor(FillKind::kSorted);
  const auto sorted = Numbers(recipe, {1, "s", 0}, kFloat, 1000);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
}

TEST(Fill, SparseHasItsCountInEachRow) {
  FillRecipe recipe = RecipeFor(FillKind::kSparse);
  recipe.row = 100;
  recipe.nonzeros = 4;
  const auto values = Numbers(recipe, {1, "x", 0}, kFloat, 2000);
  for (std::size_t row = 0; row < 20; ++row) {
    int count = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      const double v = std::fabs(values[100 * row + i]);
      if (v == 0) continue;
      ++count;
      EXPECT_GE(v, 1);
      EXPECT_LE(v, 2);
    }
    EXPECT_EQ(count, 4) << row;
  }
}

TEST(Fill, SparseValuesOfTwoArgumentsMeet) {
  FillRecipe recipe = RecipeFor(FillKind::kSparse);
  recipe.row = 100;
  recipe.nonzeros = 4;
  recipe.scale = 0x1p-7;
  const auto x = Numbers(recipe, {1, "x", 0}, kFloat, 2000);
  const auto y = Numbers(recipe, {1, "y", 0}, kFloat, 2000);
  EXPECT_NE(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i] == 0, y[i] == 0) << i;
    ASSERT_LE(std::fabs(x[i]), 0x1p-6);
  }
}

TEST(Fill, PairsAddUpToNothing) {
  FillRecipe recipe = RecipeFor(FillKind::kSparse);
  recipe.row = 100;
  recipe.nonzeros = 4;
  recipe.pairs = true;
  const auto values = Numbers(recipe, {1, "x", 0}, kFloat, 2000);
  for (std::size_t row = 0; row < 20; ++row) {
    int count = 0;
    for (std::size_t i = 100 * row; i < 100 * row + 100; ++i) {
      if (values[i] == 0) continue;
      ASSERT_EQ(values[i + 1], -values[i]) << "its opposite is its neighbour";
      ASSERT_LT(++i, 100 * row + 100);
      count += 2;
    }
    EXPECT_EQ(count, 4) << row;
  }
  recipe.row = 1;  // no room for a pair
  for (const double v : Numbers(recipe, {1, "x", 0}, kFloat, 10)) EXPECT_EQ(v, 0);
}

TEST(Fill, ExactValuesAreOddAndHaveFourteenBits) {
  for (const double v : Numbers(RecipeFor(FillKind::kExact), {1, "x", 0}, kFloat, 1000)) {
    ASSERT_EQ(std::fmod(std::fabs(v), 2), 1) << v;
    ASSERT_LT(std::fabs(v), 1 << 14);
    ASSERT_GE(std::fabs(v), 1 << 13);
  }
}

TEST(Fill, WideSpansItsScales) {
  const auto values = Numbers(RecipeFor(FillKind::kWide), {1, "x", 0}, kFloat, 10000);
  double low = 1, high = 1;
  for (const double v : values) {
    low = std::min(low, std::fabs(v));
    high = std::max(high, std::fabs(v));
  }
  EXPECT_GE(low, std::ldexp(1, -12));
  EXPECT_LE(high, std::ldexp(1, 12));
  EXPECT_GT(high / low, std::ldexp(1, 20));
}

TEST(Fill, ReadsFilesAndRefusesShortOnes) {
  const test::TemporaryFolder folder;
  FillRecipe recipe = RecipeFor(FillKind::kFile);
  recipe.path = folder.Write("data.raw", std::string("\1\0\0\0\2\0\0\0", 8));
  EXPECT_EQ(Numbers(recipe, {1, "x", 0}, kInt, 2), (std::vector<double>{1, 2}));
  std::byte data[12];
  const auto filled = FillBuffer(data, 3, kInt, recipe, {1, "x", 0});
  ASSERT_FALSE(filled);
  EXPECT_THAT(filled.error().message, ::testing::HasSubstr("has 8 bytes"));
}

TEST(Fill, RefusesWhatDoesNotFit) {
  std::byte data[16];
  EXPECT_FALSE(FillBuffer(data, 1, ElementTypeOf("ns::Point", 12), RecipeFor(FillKind::kNormal),
                          {1, "x", 0}));
  FillRecipe empty = RecipeFor(FillKind::kIntegers);
  empty.integer_low = 1;
  EXPECT_FALSE(FillBuffer(data, 1, kInt, empty, {1, "x", 0}));
  EXPECT_FALSE(FillKindOf("gaussian"));
}

}  // namespace
}  // namespace cupilot::device
