#include "workloads/fitted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "device/fill.h"
#include "records/json.h"
#include "records/workload.h"

namespace cupilot::workloads {
namespace {

template <class T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

const device::ElementType kFloat = device::ElementTypeOf("float", 4);
const device::ElementType kInt = device::ElementTypeOf("int", 4);

// As the device fills it.
std::string Filled(device::FillRecipe recipe, const device::ElementType& type, std::int64_t count) {
  std::string bytes(static_cast<std::size_t>(count * type.size()), '\0');
  EXPECT_TRUE(device::FillBuffer(reinterpret_cast<std::byte*>(bytes.data()), count, type, recipe,
                                 {1, "x", 0}));
  return bytes;
}

TEST(Fitted, FindsTheDistributionsThatFillsDrawFrom) {
  device::FillRecipe recipe;
  recipe.kind = device::FillKind::kNormal;
  recipe.mean = 3;
  recipe.stddev = 2;
  const Fitted normal = Fit(Filled(recipe, kFloat, 20000), kFloat);
  EXPECT_EQ(normal.fill.kind, "normal");
  EXPECT_NEAR(normal.fill.mean, 3, 0.1);
  EXPECT_NEAR(normal.fill.stddev, 2, 0.1);
  recipe.kind = device::FillKind::kUniform;
  recipe.low = -1;
  recipe.high = 4;
  const Fitted uniform = Fit(Filled(recipe, kFloat, 20000), kFloat);
  EXPECT_EQ(uniform.fill.kind, "uniform");
  EXPECT_NEAR(std::stod(uniform.fill.low), -1, 0.01);
  EXPECT_NEAR(std::stod(uniform.fill.high), 4, 0.01);
}

TEST(Fitted, FindsWhatIntegersAre) {
  EXPECT_EQ(Fit(Bytes<int>({0, 1, 2, 3}), kInt).fill.kind, "iota");
  EXPECT_EQ(Fit(Bytes<int>({2, 0, 3, 1}), kInt).fill.kind, "permutation");
  EXPECT_EQ(Fit(Bytes<int>({7, 7, 7}), kInt).fill.kind, "constant");
  const Fitted sorted = Fit(Bytes<int>({1, 1, 5, 9}), kInt);
  EXPECT_EQ(sorted.fill.kind, "sorted");
  const Fitted any = Fit(Bytes<int>({5, -2, 5, 9}), kInt);
  EXPECT_EQ(any.fill.kind, "integers");
  EXPECT_EQ(any.fill.low, "-2");
  EXPECT_EQ(any.fill.high, "9");
}

TEST(Fitted, TheGreatestNumberOfARangeCanBeDrawn) {
  const Fitted fitted = Fit(Bytes<float>({0.5f, 3.0f, 1.0f, 2.25f, 0.75f, 1.75f, 2.5f}), kFloat);
  ASSERT_EQ(fitted.fill.kind, "uniform");
  EXPECT_EQ(fitted.fill.low, "0.5");
  EXPECT_EQ(std::stof(fitted.fill.high), std::nextafter(3.0f, 4.0f));
  EXPECT_EQ(fitted.distribution.high, "3");
  const Fitted negative =
      Fit(Bytes<double>({-4, -1, -2, -3, -2.5}), device::ElementTypeOf("double", 8));
  EXPECT_EQ(std::stod(negative.fill.high), std::nextafter(-1.0, 0.0));
}

TEST(Fitted, OfSparseNumbersTheFillSaysTheZerosAndFitsTheOthers) {
  device::FillRecipe recipe;
  recipe.kind = device::FillKind::kNormal;
  recipe.mean = 40;
  recipe.stddev = 5;
  recipe.zeros = 0.95;
  const Fitted normal = Fit(Filled(recipe, kFloat, 100000), kFloat);
  EXPECT_EQ(normal.fill.kind, "normal");
  EXPECT_NEAR(normal.fill.zeros, 0.95, 0.01);
  EXPECT_NEAR(normal.fill.mean, 40, 0.5);
  EXPECT_NEAR(normal.fill.stddev, 5, 0.3);
  // All of it together is another distribution.
  EXPECT_NEAR(normal.distribution.mean, 2, 0.2);
  EXPECT_NEAR(normal.distribution.zeros, 0.95, 0.01);
  EXPECT_EQ(normal.distribution.low, "0");
  recipe.kind = device::FillKind::kUniform;
  recipe.low = 5;
  recipe.high = 6;
  const Fitted uniform = Fit(Filled(recipe, kFloat, 100000), kFloat);
  EXPECT_EQ(uniform.fill.kind, "uniform");
  EXPECT_GE(std::stod(uniform.fill.low), 5);
  EXPECT_NEAR(uniform.fill.zeros, 0.95, 0.01);
  // A mask of zeros and ones.
  const Fitted mask = Fit(Bytes<float>({1, 0, 0, 1, 0, 1, 0}), kFloat);
  EXPECT_EQ(mask.fill.kind, "uniform");
  EXPECT_EQ(mask.fill.low, "1");
  EXPECT_NEAR(mask.fill.zeros, 4.0 / 7, 1e-9);
}

TEST(Fitted, OfSparseIntegersTheFillSaysTheZerosThatItsBoundsDoNot) {
  std::vector<int> values(1000, 0);
  for (std::size_t i = 0; i < 100; ++i) values[i * 7] = i % 2 == 0 ? 3 : -4;
  const Fitted sparse = Fit(Bytes(values), kInt);
  EXPECT_EQ(sparse.fill.kind, "integers");
  EXPECT_EQ(sparse.fill.low, "-4");
  EXPECT_EQ(sparse.fill.high, "3");
  EXPECT_NEAR(sparse.fill.zeros, (0.9 - 0.125) / (1 - 0.125), 1e-9);
  // As many zeros as ones are what their bounds say.
  EXPECT_EQ(Fit(Bytes<int>({1, 0, 0, 1, 1, 0}), kInt).fill.zeros, 0);
}

TEST(Fitted, TheDistributionKeepsWhatTheFillCannotSay) {
  // Skewed: nearly all are small.
  std::vector<int> skewed(1000, 1);
  skewed[500] = 1000;
  const Fitted integers = Fit(Bytes(skewed), kInt);
  EXPECT_EQ(integers.fill.kind, "integers");
  EXPECT_NEAR(integers.distribution.mean, 1.999, 1e-9);
  EXPECT_NEAR(integers.distribution.stddev, 31.575, 0.01);
  const float inf = std::numeric_limits<float>::infinity();
  const Fitted odd = Fit(Bytes<float>({1, inf, std::nanf(""), 3, 2, -inf, 2, 2}), kFloat);
  EXPECT_EQ(odd.distribution.finite, 0.625);
  EXPECT_EQ(odd.distribution.mean, 2);
  EXPECT_EQ(odd.distribution.low, "1");
  EXPECT_EQ(odd.distribution.high, "3");
  EXPECT_FALSE(odd.distribution.sorted);
  EXPECT_TRUE(Fit(Bytes<float>({1, 2, 2, 7}), kFloat).distribution.sorted);
}

TEST(Fitted, IntegersOf64BitsKeepTheirExactBounds) {
  const auto signed_type = device::ElementTypeOf("long", 8);
  const auto unsigned_type = device::ElementTypeOf("unsigned long", 8);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const Fitted ends = Fit(Bytes<std::int64_t>({5, kMost, kLeast, 0}), signed_type);
  EXPECT_EQ(ends.fill.low, std::to_string(kLeast));
  EXPECT_EQ(ends.fill.high, std::to_string(kMost));
  // 2^53 + 1 and its neighbours are one double.
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  const Fitted close = Fit(Bytes<std::int64_t>({odd + 1, odd, odd + 1, odd}), signed_type);
  EXPECT_EQ(close.fill.kind, "integers");
  EXPECT_EQ(close.fill.low, std::to_string(odd));
  EXPECT_EQ(Fit(Bytes<std::int64_t>({odd, odd}), signed_type).fill.value, std::to_string(odd));
  // What no fill can say is clamped; the record has it.
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  const Fitted large = Fit(Bytes<std::uint64_t>({7, kTop, 9}), unsigned_type);
  EXPECT_EQ(large.fill.kind, "integers");
  EXPECT_EQ(large.fill.low, "7");
  EXPECT_EQ(large.fill.high, std::to_string(kMost));
  EXPECT_EQ(large.distribution.high, std::to_string(kTop));
  EXPECT_EQ(Fit(Bytes<std::uint64_t>({kTop - 1, kTop, kTop - 3}), unsigned_type).fill.kind, "bits");
  const Fitted all_ones = Fit(Bytes<std::uint64_t>({kTop, kTop}), unsigned_type);
  EXPECT_EQ(all_ones.fill.kind, "constant");
  EXPECT_EQ(all_ones.fill.value, "-1") << "whose bits these are";
  EXPECT_EQ(all_ones.distribution.low, std::to_string(kTop));
}

TEST(Fitted, NumbersAtTheEndsOfTheirTypeHaveFiniteMoments) {
  const double most = std::numeric_limits<double>::max();
  const Fitted fitted = Fit(Bytes<double>({most, -most, 0.5 * most, 1, most, -most}),
                            device::ElementTypeOf("double", 8));
  EXPECT_TRUE(std::isfinite(fitted.distribution.mean));
  EXPECT_TRUE(std::isfinite(fitted.distribution.stddev));
  EXPECT_EQ(fitted.fill.kind, "normal") << "its range is no double";
}

// Whatever is fitted is a fill that people may write.
TEST(Fitted, EveryFillIsOneThatTheStrictReaderTakes) {
  const auto half = device::ElementTypeOf("__half", 2);
  const auto unsigned_type = device::ElementTypeOf("unsigned long", 8);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  device::FillRecipe normal;
  normal.kind = device::FillKind::kNormal;
  const std::vector<std::pair<std::string, records::Fill>> fitted = {
      {"constant", Fit(Bytes<float>({2.5f, 2.5f}), kFloat).fill},
      {"constant", Fit(Bytes<std::uint64_t>({~std::uint64_t{0}}), unsigned_type).fill},
      {"sorted", Fit(Bytes<float>({-1.5f, 2, 2, 8e30f}), kFloat).fill},
      {"sorted", Fit(Bytes<int>({0, 0, 4, 9}), kInt).fill},
      {"sorted",
       Fit(Bytes<std::int64_t>({kLeast, 5, -(kLeast + 1)}), device::ElementTypeOf("long", 8)).fill},
      {"uniform", Fit(Bytes<float>({0, 4, 1, 3, 2}), kFloat).fill},
      {"uniform", Fit(Bytes<float>({0, 4, 0, 0, 1, 3, 2}), kFloat).fill},
      {"uniform", Fit(Bytes<std::uint16_t>({0x3c00, 0x3800, 0x3a00}), half).fill},
      {"normal", Fit(Filled(normal, kFloat, 10000), kFloat).fill},
      {"integers", Fit(Bytes<int>({5, -2, 0, 0, 0, 0, 0, 9}), kInt).fill},
      {"integers", Fit(Bytes<std::uint64_t>({3, ~std::uint64_t{0}, 4}), unsigned_type).fill},
      {"iota", Fit(Bytes<int>({0, 1, 2}), kInt).fill},
      {"permutation", Fit(Bytes<int>({2, 0, 1}), kInt).fill},
      {"bits", Fit("abcdef", device::ElementTypeOf("app::Cell", 6)).fill}};
  for (const auto& [kind, fill] : fitted) {
    EXPECT_EQ(fill.kind, kind);
    records::Argument argument;
    argument.name = "x";
    argument.type = "const float *";
    argument.count = "4";
    argument.fill = fill;
    records::Workload workload;
    workload.kernel = "app::blur";
    workload.cases.resize(1);
    workload.cases[0].name = "only";
    workload.cases[0].grid = workload.cases[0].block = {"1", "1", "1"};
    workload.cases[0].arguments = {argument};
    const std::string text = records::PrettyJson(records::ToJson(workload));
    const auto again = records::ParseWorkload(*records::ParseJson(text));
    ASSERT_TRUE(again) << again.error().message << "\n" << text;
    EXPECT_EQ(*again, workload) << text;
  }
}

TEST(Fitted, BytesOfUnknownTypesAreBits) {
  EXPECT_EQ(Fit("abcdef", device::ElementTypeOf("app::Cell", 6)).fill.kind, "bits");
}

}  // namespace
}  // namespace cupilot::workloads
