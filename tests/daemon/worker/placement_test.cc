#include "worker/placement.h"

#include <gtest/gtest.h>

#include "tests/daemon/worker/case_fixture.h"

namespace cupilot::worker {
namespace {

// What must hold of any arrangement of a plan's regions.
void ExpectConsistent(const CasePlan& plan, const CasePlan& placed) {
  ASSERT_EQ(placed.layout.regions.size(), plan.layout.regions.size());
  for (std::size_t r = 0; r < placed.layout.regions.size(); ++r) {
    const Region& region = placed.layout.regions[r];
    EXPECT_GE(region.offset, kRedZone);
    EXPECT_LE(region.offset + region.bytes() + kRedZone, placed.layout.bytes);
    for (const Region& other : placed.layout.regions) {
      if (&other == &region || other.offset < region.offset) continue;
      EXPECT_GE(other.offset, region.offset + region.bytes() + kRedZone);
    }
  }
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    if (!plan.references[i]) continue;
    const auto r = static_cast<std::size_t>(plan.references[i]->region);
    const std::int64_t place = placed.layout.regions[r].offset + plan.references[i]->offset;
    ASSERT_EQ(placed.arguments[i].pointers.size(), 1u);
    EXPECT_EQ(placed.arguments[i].pointers[0].offset, place);
    EXPECT_EQ(placed.environment.pointers.at("$" + std::to_string(i)),
              kNominalBase + static_cast<std::uint64_t>(place));
  }
  EXPECT_LE(static_cast<std::size_t>(placed.layout.bytes), BytesOfAllPlacements(plan));
}

TEST(Placement, ShiftsRegionsByWhatTheirTypeAllows) {
  const CasePlan plan = MakePlan();
  const CasePlan shifted = Shifted(plan, 1);
  ExpectConsistent(plan, shifted);
  for (const Region& region : shifted.layout.regions) EXPECT_EQ(region.offset % kAlignment, 4);
  for (const Region& region : Shifted(plan, 16).layout.regions) {
    EXPECT_EQ(region.offset % kAlignment, 16);
  }
}

TEST(Placement, ReversesTheOrder) {
  const CasePlan plan = MakePlan();
  const CasePlan reversed = Reversed(plan);
  ExpectConsistent(plan, reversed);
  EXPECT_GT(reversed.layout.regions[0].offset, reversed.layout.regions[1].offset);
  for (const Region& region : reversed.layout.regions) EXPECT_EQ(region.offset % kAlignment, 0);
}

TEST(Placement, FollowsAnArgumentIntoABuffer) {
  records::Case one = MakeCase();
  one.arguments[0].count.clear();
  one.arguments[0].fill.reset();
  one.arguments[0].buffer = "pool";
  one.arguments[0].offset = "64";
  one.buffers = {{"pool", "8000", {}}};
  const CasePlan plan = MakePlan(one);
  ExpectConsistent(plan, Shifted(plan, 1));
  ExpectConsistent(plan, Reversed(plan));
}

TEST(Placement, AWorkspaceComesBehindWhateverLiesLast) {
  CasePlan reversed = Reversed(MakePlan());
  Region workspace;
  workspace.count = 100;
  reversed.layout.Add(workspace);
  for (const Region& region : reversed.layout.regions) {
    EXPECT_LE(region.offset, reversed.layout.regions.back().offset);
  }
}

TEST(Placement, AnElementsAlignmentIsThatOfItsSize) {
  EXPECT_EQ(NaturalAlignment(device::ElementTypeOf("float", 4)), 4);
  EXPECT_EQ(NaturalAlignment(device::ElementTypeOf("float4", 16)), 16);
  EXPECT_EQ(NaturalAlignment(device::ElementTypeOf("float3", 12)), 4);
  EXPECT_EQ(NaturalAlignment(device::ElementTypeOf("Pair", 24)), 8);
  EXPECT_EQ(NaturalAlignment(device::ElementType{}), 1);
}

}  // namespace
}  // namespace cupilot::worker
