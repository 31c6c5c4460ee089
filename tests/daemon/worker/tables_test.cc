// Tables of pointers: their regions, what the judge has in their place, and what the runner has.
#include "worker/tables.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/daemon/worker/case_fixture.h"
#include "worker/case_inputs.h"
#include "worker/checks/check.h"
#include "worker/placement.h"
#include "worker/plant.h"
#include "worker/program.h"

namespace cupilot::worker {
namespace {

using ::testing::HasSubstr;

records::Parameter TableParameter(const std::string& name, bool is_const) {
  records::Parameter parameter = Pointer(name, true);
  parameter.element = is_const ? "const float *" : "float *";
  parameter.type = parameter.element + "const *";
  parameter.element_bytes = 8;
  parameter.pointee = "float";
  parameter.pointee_bytes = 4;
  parameter.pointee_const = is_const;
  return parameter;
}

// batched(a, c, n, batch)
records::Kernel BatchedKernel() {
  records::Kernel kernel;
  kernel.name = kernel.base_name = "batched";
  kernel.parameters = {TableParameter("a", true), TableParameter("c", false),
                       Scalar("n", records::ParameterKind::kInteger, "int"),
                       Scalar("batch", records::ParameterKind::kInteger, "int")};
  return kernel;
}

records::Case BatchedCase() {
  records::Case one;
  one.name = "all";
  one.grid = {"batch", "1", "1"};
  one.block = {"64", "1", "1"};
  one.arguments.resize(4);
  const char* names[] = {"a", "c", "n", "batch"};
  for (std::size_t i = 0; i < 4; ++i) one.arguments[i].name = names[i];
  for (std::size_t i : {0u, 1u}) {
    one.arguments[i].count = "batch";
    one.arguments[i].fill.emplace();
    one.arguments[i].fill->kind = "pointers";
    one.arguments[i].fill->bytes = "4 * n";
  }
  one.arguments[0].fill->inner.resize(1);
  one.arguments[0].fill->inner[0].kind = "normal";
  one.arguments[1].access = records::Access::kOut;
  one.arguments[2].value = "37";
  one.arguments[3].value = "5";
  return one;
}

base::Result<CasePlan> PlanBatched(const records::Case& one) {
  return PlanCase(BatchedKernel(), one, device::DescribeHost(), nullptr);
}

CasePlan BatchedPlan() {
  auto plan = PlanBatched(BatchedCase());
  EXPECT_TRUE(plan) << plan.error().message;
  return plan.value_or(CasePlan{});
}

CaseInputs Drawn(const CasePlan& plan, const GateFill* fill = nullptr) {
  CaseInputs inputs;
  std::vector<std::byte*> places;
  for (const Region& region : plan.layout.regions) {
    inputs.regions.emplace_back(region.input ? static_cast<std::size_t>(region.bytes()) : 0);
    places.push_back(inputs.regions.back().data());
  }
  EXPECT_TRUE(FillInputs(plan.layout, fill, 1, plan.environment, places));
  return inputs;
}

std::uint64_t Word(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// A run: `kernel` sees addresses in the arena, whose first byte has the address kAddress.
constexpr std::uint64_t kAddress = 0x7f0000000000;
template <class Kernel>
void RunOn(const CasePlan& plan, std::vector<std::byte>& arena, const Kernel& kernel) {
  const Tables tables(TablesJson(plan.layout, 0), kAddress);
  tables.ToAddresses(arena);
  kernel();
  tables.ToEntries(arena);
}

TEST(TablesTest, AreARegionAndOneOfWhatTheyLeadTo) {
  const CasePlan plan = BatchedPlan();
  ASSERT_EQ(plan.layout.regions.size(), 4u);
  const Region &area = plan.layout.regions[0], &table = plan.layout.regions[1];
  EXPECT_EQ(area.name, "a[*]");
  EXPECT_TRUE(area.input && !area.output);
  EXPECT_EQ(area.slices.count, 5);
  EXPECT_EQ(area.slices.elements, 37);
  EXPECT_EQ(area.slices.stride * 4 % kAlignment, 0);
  EXPECT_GE(area.slices.stride * 4, 37 * 4 + kSliceZone);
  EXPECT_TRUE(table.table && table.input && !table.output);
  ASSERT_EQ(table.entries.size(), 5u);
  EXPECT_EQ(table.entries[2].region, 0);
  EXPECT_EQ(table.entries[2].offset, 3 * area.slices.stride * 4);
  EXPECT_EQ(table.entries[3].offset, 2 * area.slices.stride * 4);
  EXPECT_EQ(table.entries[4].offset, 4 * area.slices.stride * 4);
  EXPECT_TRUE(plan.layout.regions[2].output && !plan.layout.regions[2].input);
  EXPECT_EQ(plan.references[0]->region, 1);
  EXPECT_EQ(Where(area, static_cast<std::size_t>(area.slices.stride) + 3), "'a[0]'[3]");
  EXPECT_EQ(Where(area, 37), "'a[1]'[37] behind its end");
}

TEST(TablesTest, OfATwinLeadToTheSameElements) {
  const Widening widening{{true, false, false}, {}};
  const CasePlan plan = BatchedPlan();
  const auto wide = PlanCase(BatchedKernel(), BatchedCase(), device::DescribeHost(), &widening);
  ASSERT_TRUE(wide) << wide.error().message;
  const Region &area = plan.layout.regions[0], &wide_area = wide->layout.regions[0];
  EXPECT_EQ(wide_area.type.number, device::Number::kFloat64);
  EXPECT_EQ(wide_area.count, area.count);
  EXPECT_EQ(wide_area.slices.stride, area.slices.stride);
  const Region &table = plan.layout.regions[1], &wide_table = wide->layout.regions[1];
  EXPECT_EQ(wide_table.entries[2].offset, 2 * table.entries[2].offset);
  std::vector<std::byte> contents(static_cast<std::size_t>(table.bytes()));
  std::vector<std::byte> expected(contents.size());
  WriteEntries(table, contents.data());
  WriteEntries(wide_table, expected.data());
  EXPECT_NE(contents, expected);
  MoveEntries(wide_table, plan.layout, wide->layout, contents.data());
  EXPECT_EQ(contents, expected);
}

TEST(TablesTest, AreIllegalWhereNothingCanBeBehindThem) {
  records::Case one = BatchedCase();
  one.arguments[0].fill->bytes = "4 * n + 1";
  EXPECT_THAT(PlanBatched(one).error().message, HasSubstr("149 bytes are no whole float"));
  one = MakeCase();
  one.arguments[0].fill->kind = "pointers";
  one.arguments[0].fill->bytes = "4";
  const auto plan = Plan(one);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("no pointer to pointers"));
}

TEST(TablesTest, SlicesAreFilledLikeArraysAndTheirZonesAreNoNumbers) {
  const CasePlan plan = BatchedPlan();
  const Region& area = plan.layout.regions[0];
  const CaseInputs inputs = Drawn(plan);
  const auto at = [&](std::int64_t slice, std::int64_t i) {
    float value = 0;
    std::memcpy(&value, inputs.regions[0].data() + 4 * (slice * area.slices.stride + i), 4);
    return value;
  };
  EXPECT_EQ(at(0, 3), at(0, 3));
  EXPECT_NE(at(0, 3), at(1, 3));
  EXPECT_TRUE(std::isnan(at(0, 37)));
  for (const std::size_t r : PlantableRegions(plan.layout)) EXPECT_EQ(r, 0u);
  EXPECT_EQ(PlantableRegions(plan.layout).size(), 1u);
  // Another fill is another one of what it leads to, and the same table.
  const CaseInputs other = Drawn(plan, &kGateFills.front());
  EXPECT_NE(other.regions[0], inputs.regions[0]);
  EXPECT_EQ(other.regions[1], inputs.regions[1]);
}

TEST(TablesTest, AreTheSameForTheJudgeWhereverBuffersLie) {
  const CasePlan plan = BatchedPlan();
  const CaseInputs inputs = Drawn(plan);
  for (const CasePlan& placed : {plan, Shifted(plan, 1), Reversed(plan)}) {
    const Layout& layout = placed.layout;
    std::vector<std::byte> arena(static_cast<std::size_t>(layout.bytes));
    PrepareArena(layout, inputs, kPoison, arena);
    const std::byte* table = arena.data() + layout.regions[1].offset;
    RunOn(placed, arena, [&] {
      for (std::int64_t i = 0; i < 5; ++i) {
        const std::int64_t slice =
            layout.regions[0].offset + 4 * SliceOfEntry(i, 5) * layout.regions[0].slices.stride;
        EXPECT_EQ(Word(table + 8 * i), kAddress + static_cast<std::uint64_t>(slice));
      }
    });
    EXPECT_EQ(std::memcmp(table, inputs.regions[1].data(), inputs.regions[1].size()), 0);
  }
}

TEST(TablesTest, WhatAKernelChangesInThemIsSeen) {
  const CasePlan plan = BatchedPlan();
  const CaseInputs inputs = Drawn(plan);
  std::vector<std::byte> arena(static_cast<std::size_t>(plan.layout.bytes));
  std::byte* const table = arena.data() + plan.layout.regions[1].offset;
  const auto changed = [&](const auto& kernel) {
    PrepareArena(plan.layout, inputs, kPoison, arena);
    RunOn(plan, arena, kernel);
    return std::memcmp(table, inputs.regions[1].data(), inputs.regions[1].size()) != 0;
  };
  EXPECT_FALSE(changed([] {}));
  EXPECT_TRUE(changed([&] { std::swap_ranges(table, table + 8, table + 8); }));
  EXPECT_TRUE(changed([&] { std::memset(table, 0, 8); }));
  EXPECT_TRUE(changed([&] { std::memset(table + 1, 1, 1); }));
  // Nor does it help to write what the judge has there.
  EXPECT_TRUE(changed([&] { std::memcpy(table, inputs.regions[1].data(), 8); }));
  // Back again is no change, and a pointer may lead to a region's end.
  EXPECT_FALSE(changed([&] {
    std::swap_ranges(table, table + 8, table + 8);
    std::swap_ranges(table, table + 8, table + 8);
  }));
  PrepareArena(plan.layout, inputs, kPoison, arena);
  RunOn(plan, arena, [&] {
    const std::uint64_t end = kAddress + static_cast<std::uint64_t>(plan.layout.regions[0].offset +
                                                                    plan.layout.regions[0].bytes());
    std::memcpy(table, &end, 8);
  });
  EXPECT_EQ(Word(table), EntryFor(0, plan.layout.regions[0].bytes()));
}

// A capture's: entries that are equal, null, into the middle of a buffer, into the table itself.
records::Case CapturedCase() {
  records::Case one = BatchedCase();
  one.buffers = {{"data", "400", {}, {}},
                 {"ptrs", "40", {}, {{0, "data", 0}, {8, "data", 200}, {24, "data", 0}}},
                 {"out", "64", {}, {}},
                 {"outs", "8", {}, {{0, "out", 16}}}};
  for (std::size_t i : {0u, 1u}) {
    one.arguments[i] = {};
    one.arguments[i].name = i == 0 ? "a" : "c";
    one.arguments[i].buffer = i == 0 ? "ptrs" : "outs";
    one.arguments[i].access = records::Access::kIn;
  }
  return one;
}

TEST(TablesTest, BuffersMayHoldPointersToBuffers) {
  const auto plan = PlanBatched(CapturedCase());
  ASSERT_TRUE(plan) << plan.error().message;
  const std::vector<Region>& regions = plan->layout.regions;
  EXPECT_EQ(regions[0].type, device::ElementTypeOf("float", 4));
  EXPECT_FALSE(regions[0].output);  // the table leads to const data
  EXPECT_TRUE(regions[2].output);
  EXPECT_TRUE(regions[1].table && !regions[1].output);
  const CaseInputs inputs = Drawn(*plan);
  EXPECT_EQ(Word(inputs.regions[1].data()), EntryFor(0, 0));
  EXPECT_EQ(Word(inputs.regions[1].data() + 8), EntryFor(0, 200));
  EXPECT_EQ(Word(inputs.regions[1].data() + 16), 0u);
  EXPECT_EQ(Word(inputs.regions[1].data() + 24), EntryFor(0, 0));
  std::vector<std::byte> arena(static_cast<std::size_t>(plan->layout.bytes));
  PrepareArena(plan->layout, inputs, kPoison, arena);
  const std::byte* table = arena.data() + regions[1].offset;
  RunOn(*plan, arena, [&] {
    EXPECT_EQ(Word(table + 8) - Word(table), 200u);
    EXPECT_EQ(Word(table + 16), 0u);
    EXPECT_EQ(Word(table + 24), Word(table));
  });
  EXPECT_EQ(std::memcmp(table, inputs.regions[1].data(), 40), 0);

  records::Case one = CapturedCase();
  one.buffers[1].pointers[0].at = 33;
  EXPECT_THAT(PlanBatched(one).error().message, HasSubstr("a pointer lies outside of it"));
  one = CapturedCase();
  one.buffers[1].pointers[0].offset = 401;
  EXPECT_THAT(PlanBatched(one).error().message, HasSubstr("leads outside of 'data'"));
}

}  // namespace
}  // namespace cupilot::worker
