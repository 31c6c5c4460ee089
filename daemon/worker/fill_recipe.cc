#include "worker/fill_recipe.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "records/launch_names.h"
#include "worker/case_plan.h"
#include "worker/tables.h"

namespace cupilot::worker {
namespace {

using device::FillKind;
using device::FillRecipe;

constexpr double kShortRoundoff = 0x1p-14;

base::Result<double> Bound(const std::string& text, double otherwise,
                           const records::Environment& environment) {
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() + text.size()) return value;
  TRY_ASSIGN(const std::int64_t integer, records::EvaluateText(text, environment));
  return static_cast<double>(integer);
}

base::Result<std::int64_t> IntegerBound(const std::string& text, std::int64_t otherwise,
                                        const records::Environment& environment) {
  if (text.empty()) return otherwise;
  return records::EvaluateText(text, environment);
}

// Streams of redraws; 0 is the workload's own.
std::uint32_t StreamOf(const GateFill& fill) {
  return static_cast<std::uint32_t>(&fill - kGateFills.data()) + 1;
}

// How many components a row of the region has: the largest integer scalar that divides it, else
// all.
std::int64_t RowOf(const Region& region, const records::Environment& environment) {
  const bool cut = region.slices.count > 0;
  const std::int64_t components = (cut ? region.slices.elements : region.count) * region.type.lanes;
  std::int64_t row = 0;
  for (const auto& [name, value] : environment.integers) {
    const bool parameter = !records::IsLaunchName(name);
    if (parameter && value > 1 && value < components && components % value == 0) {
      row = std::max(row, value);
    }
  }
  return row == 0 ? components : row;
}

// Floating inputs may be redrawn, except constants: those are starting values of accumulations.
// What is sorted stays so.
bool Refillable(const Region& region) {
  return region.input && region.type.floating() && region.fill &&
         region.fill->kind != FillKind::kConstant && region.fill->kind != FillKind::kSorted;
}

// Whose own fill says what may stand there, so that it is drawn again by it.
bool Redrawable(const Region& region) {
  const bool sorted = region.fill && region.fill->kind == FillKind::kSorted;
  return region.declared && (region.type.integer() || (sorted && region.type.floating()));
}

// Slices are arrays by themselves; what lies between them is no number.
base::Result<> FillRegion(const Region& region, const FillRecipe& recipe,
                          const device::FillSource& source, std::byte* place) {
  const Region::Slices& slices = region.slices;
  if (slices.count == 0) {
    return device::FillBuffer(place, region.count, region.type, recipe, source);
  }
  std::memset(place, 0xff, static_cast<std::size_t>(region.bytes()));
  for (std::int64_t i = 0; i < slices.count; ++i) {
    device::FillSource of_slice = source;
    of_slice.name = SliceName(region, i);
    TRY(device::FillBuffer(place + i * slices.stride * region.type.size(), slices.elements,
                           region.type, recipe, of_slice));
  }
  return {};
}

}  // namespace

const std::vector<GateFill> kGateFills = {
    {"wide", true, FillKind::kWide, 0, true},
    {"sparse4", false, FillKind::kSparse, 4, true},
    {"exact", false, FillKind::kExact, 0, true},
    {"uniform", true, FillKind::kUniform, 0, false},
    {"normal", true, FillKind::kNormal, 0, false},
    {"offset", true, FillKind::kNormal, 0, false},
    // Small values: half precision where it seems to do no harm shows here.
    {"sparse1", false, FillKind::kSparse, 1, false, 0x1p-7},
    {"negative", true, FillKind::kUniform, 0, false},
    {"pairs", false, FillKind::kSparse, 4, false},
};

base::Result<FillRecipe> RecipeOf(const records::Fill& fill, const device::ElementType& type,
                                  std::int64_t count, const records::Environment& environment) {
  FillRecipe recipe;
  TRY_ASSIGN(recipe.kind, device::FillKindOf(fill.kind));
  recipe.zeros = fill.zeros;
  recipe.mean = fill.mean;
  recipe.stddev = fill.stddev;
  recipe.path = fill.path;
  const bool whole = recipe.kind == FillKind::kIntegers || recipe.kind == FillKind::kIndices ||
                     (recipe.kind == FillKind::kSorted && !type.floating());
  if (whole) {
    const std::int64_t last = std::max<std::int64_t>(0, count - 1);
    TRY_ASSIGN(recipe.integer_low, IntegerBound(fill.low, 0, environment));
    TRY_ASSIGN(recipe.integer_high, IntegerBound(fill.high, last, environment));
    // `indices` is written with an exclusive upper end.
    const bool exclusive = recipe.kind == FillKind::kIndices && !fill.high.empty();
    if (exclusive && recipe.integer_high > std::numeric_limits<std::int64_t>::min()) {
      recipe.integer_high -= 1;
    }
  } else {
    TRY_ASSIGN(recipe.low, Bound(fill.low, 0, environment));
    TRY_ASSIGN(recipe.high, Bound(fill.high, 1, environment));
  }
  TRY_ASSIGN(recipe.total, IntegerBound(fill.total, 0, environment));
  TRY_ASSIGN(recipe.value, Bound(fill.value, 0, environment));
  if (recipe.kind == FillKind::kConstant && !type.floating()) {
    TRY_ASSIGN(recipe.integer_value, IntegerBound(fill.value, 0, environment));
  }
  return recipe;
}

bool IsGenerator(FillKind kind) {
  return kind != FillKind::kFile && kind != FillKind::kConstant && kind != FillKind::kIota;
}

base::Result<bool> FillInputs(const Layout& layout, const GateFill* fill, std::uint64_t seed,
                              const records::Environment& environment,
                              const std::vector<std::byte*>& places) {
  std::int64_t operands = 0, operand = 0;
  for (const Region& region : layout.regions) operands += Refillable(region) ? 1 : 0;
  bool changed = false;
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    if (!region.input) continue;
    FillRecipe recipe = region.fill.value_or(FillRecipe{});
    device::FillSource source{seed, region.name, 0};
    if (fill != nullptr && Refillable(region)) {
      recipe = FillRecipe{};
      recipe.kind = fill->kind;
      recipe.nonzeros = fill->nonzeros;
      recipe.row = RowOf(region, environment);
      // The smallest normal number of a short type is not small beside small values.
      if (device::Roundoff(region.type) < kShortRoundoff) recipe.scale = fill->scale;
      recipe.pairs = std::string_view(fill->name) == "pairs";
      if (std::string_view(fill->name) == "offset") recipe.mean = 1000;
      if (std::string_view(fill->name) == "negative") recipe.low = -3, recipe.high = -1;
      // Of a product one operand is exact, the others are -1, 0 or 1; which one, the seed says.
      const bool exact_operand = operand == static_cast<std::int64_t>(seed % 997) % operands;
      if (fill->kind == FillKind::kExact && !exact_operand) recipe.kind = FillKind::kTernary;
      operand += 1;
      source.stream = StreamOf(*fill);
      changed = true;
    } else if (fill != nullptr && Redrawable(region)) {
      source.stream = StreamOf(*fill);
      changed = true;
    }
    auto filled = FillRegion(region, recipe, source, places[r]);
    if (!filled) return base::Fail(filled.error().In("filling '" + region.name + "'"));
    WriteEntries(region, places[r]);
  }
  return changed;
}

}  // namespace cupilot::worker
