#include "worker/fill_recipe.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

const device::ElementType kFloat = device::ElementTypeOf("float", 4);
const device::ElementType kInt = device::ElementTypeOf("int", 4);

records::Fill MakeFill(const std::string& kind, const std::string& low, const std::string& high) {
  records::Fill fill;
  fill.kind = kind;
  fill.low = low;
  fill.high = high;
  return fill;
}

TEST(FillRecipe, BoundsAreNumbersOrExpressions) {
  records::Environment environment;
  environment.integers["n"] = 10;
  auto recipe = RecipeOf(MakeFill("uniform", "-0.5", "n"), kFloat, 100, environment);
  ASSERT_TRUE(recipe) << recipe.error().message;
  EXPECT_EQ(recipe->low, -0.5);
  EXPECT_EQ(recipe->high, 10);
  EXPECT_FALSE(RecipeOf(MakeFill("uniform", "0", "missing"), kFloat, 100, environment));
  EXPECT_FALSE(RecipeOf(MakeFill("gaussian", "", ""), kFloat, 100, environment));
}

TEST(FillRecipe, TheUpperEndOfIndicesIsExclusiveAndOfIntegersInclusive) {
  const auto indices = RecipeOf(MakeFill("indices", "0", "8"), kInt, 100, {});
  const auto integers = RecipeOf(MakeFill("integers", "0", "8"), kInt, 100, {});
  ASSERT_TRUE(indices && integers);
  EXPECT_EQ(indices->integer_high, 7);
  EXPECT_EQ(integers->integer_high, 8);
}

TEST(FillRecipe, SortedIntegersArePlacesUnlessBoundsAreSaid) {
  const auto places = RecipeOf(MakeFill("sorted", "", ""), kInt, 100, {});
  const auto bounded = RecipeOf(MakeFill("sorted", "-4", "9000"), kInt, 100, {});
  const auto floats = RecipeOf(MakeFill("sorted", "-0.5", "2.5"), kFloat, 100, {});
  ASSERT_TRUE(places && bounded && floats);
  EXPECT_EQ(places->integer_low, 0);
  EXPECT_EQ(places->integer_high, 99);
  EXPECT_EQ(bounded->integer_low, -4);
  EXPECT_EQ(bounded->integer_high, 9000);
  EXPECT_EQ(floats->low, -0.5);
  EXPECT_EQ(floats->high, 2.5);
}

TEST(FillRecipe, TakesTheShareOfZeros) {
  records::Fill fill = MakeFill("uniform", "0", "1");
  fill.zeros = 0.75;
  const auto recipe = RecipeOf(fill, kFloat, 100, {});
  ASSERT_TRUE(recipe);
  EXPECT_EQ(recipe->zeros, 0.75);
}

// Two floating operands, an accumulator that starts at a constant, and integers.
struct Drawn {
  std::vector<std::vector<std::byte>> bytes;
  bool changed = false;

  std::vector<double> Numbers(std::size_t region, const device::ElementType& type) const {
    std::vector<double> values(bytes[region].size() / static_cast<std::size_t>(type.bytes));
    device::ReadNumbers(bytes[region].data(), 0, static_cast<std::int64_t>(values.size()), type,
                        values.data());
    return values;
  }
};

Layout MakeLayout(bool integers_are_declared) {
  Layout layout;
  for (const char* name : {"a", "b", "sum", "index"}) {
    Region region;
    region.name = name;
    region.count = 4000;
    region.type = std::string(name) == "index" ? kInt : kFloat;
    region.input = true;
    region.fill.emplace();
    region.fill->kind = region.type.integer()        ? device::FillKind::kIndices
                        : std::string(name) == "sum" ? device::FillKind::kConstant
                                                     : device::FillKind::kNormal;
    region.fill->integer_high = 99;
    region.declared = region.type.integer() && integers_are_declared;
    layout.Add(region);
  }
  return layout;
}

Drawn Draw(const GateFill* fill, bool integers_are_declared = true) {
  const Layout layout = MakeLayout(integers_are_declared);
  Drawn drawn;
  std::vector<std::byte*> places;
  for (const Region& region : layout.regions) {
    drawn.bytes.emplace_back(static_cast<std::size_t>(region.bytes()));
  }
  for (auto& bytes : drawn.bytes) places.push_back(bytes.data());
  records::Environment environment;
  environment.integers["columns"] = 500;
  environment.integers["block_x"] = 1000;  // says nothing about rows
  const auto changed = FillInputs(layout, fill, 1, environment, places);
  EXPECT_TRUE(changed) << changed.error().message;
  drawn.changed = changed.value_or(false);
  return drawn;
}

const GateFill& FillNamed(const std::string& name) {
  for (const GateFill& fill : kGateFills) {
    if (fill.name == name) return fill;
  }
  ADD_FAILURE() << name;
  return kGateFills[0];
}

TEST(FillRecipe, GateFillsRedrawOperandsAndDeclaredIntegersOnly) {
  const Drawn own = Draw(nullptr);
  EXPECT_FALSE(own.changed);
  for (const GateFill& fill : kGateFills) {
    const Drawn drawn = Draw(&fill);
    EXPECT_TRUE(drawn.changed) << fill.name;
    EXPECT_NE(drawn.bytes[0], own.bytes[0]) << fill.name;
    EXPECT_NE(drawn.bytes[1], own.bytes[1]) << fill.name;
    EXPECT_EQ(drawn.bytes[2], own.bytes[2]) << fill.name << ": where a sum starts";
    EXPECT_NE(drawn.bytes[3], own.bytes[3]) << fill.name;
    for (const double index : drawn.Numbers(3, kInt)) ASSERT_LE(index, 99) << fill.name;
    EXPECT_EQ(Draw(&fill, false).bytes[3], own.bytes[3]) << fill.name << ": integers are data";
  }
}

TEST(FillRecipe, SparseRowsAreThoseOfTheScalars) {
  const auto values = Draw(&FillNamed("sparse4")).Numbers(0, kFloat);
  for (std::size_t row = 0; row < values.size() / 500; ++row) {
    int count = 0;
    for (std::size_t i = 0; i < 500; ++i) count += values[500 * row + i] != 0 ? 1 : 0;
    EXPECT_EQ(count, 4) << row;
  }
}

TEST(FillRecipe, OfAProductOneOperandIsExactAndTheOthersAreSigns) {
  const Drawn drawn = Draw(&FillNamed("exact"));
  int exact = 0;
  for (const std::size_t region : {0u, 1u}) {
    double largest = 0;
    for (const double v : drawn.Numbers(region, kFloat)) {
      largest = std::max(largest, std::fabs(v));
      ASSERT_EQ(v, std::floor(v));
    }
    if (largest > 1) ++exact;
  }
  EXPECT_EQ(exact, 1);
}

TEST(FillRecipe, AtLeastThreeFillsBesideTheWorkloadsAreUsed) {
  int active = 0;
  for (const GateFill& fill : kGateFills) active += fill.active ? 1 : 0;
  EXPECT_GE(active, 3);
}

}  // namespace
}  // namespace cupilot::worker
