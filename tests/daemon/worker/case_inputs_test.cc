#include "worker/case_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/daemon/worker/case_fixture.h"
#include "worker/arena.h"

namespace cupilot::worker {
namespace {

protocol::CandidateSet MakeSet(std::uint64_t seed) {
  protocol::CandidateSet set;
  set.kernel = MakeKernel();
  set.workload.cases = {MakeCase()};
  set.seed = seed;
  return set;
}

std::shared_ptr<const CaseInputs> Inputs(const GateFill* fill, std::uint64_t seed = 1) {
  auto inputs = FindInputs(MakeSet(seed), MakePlan(), fill);
  EXPECT_TRUE(inputs) << inputs.error().message;
  return inputs ? *inputs : std::make_shared<const CaseInputs>();
}

TEST(CaseInputs, AreKeptByFillAndSeed) {
  EXPECT_EQ(Inputs(nullptr), Inputs(nullptr)) << "drawn once";
  EXPECT_NE(Inputs(nullptr)->regions[0], Inputs(nullptr, 2)->regions[0]);
  EXPECT_NE(Inputs(nullptr)->regions[0], Inputs(&kGateFills[0])->regions[0]);
  EXPECT_TRUE(Inputs(&kGateFills[0])->changed);
}

TEST(CaseInputs, ArenaIsRedOutsideOfTheRegionsAndPoisonedInOutputs) {
  CasePlan plan = MakePlan();
  const auto inputs = Inputs(nullptr);
  Region workspace;
  workspace.name = "partial";
  workspace.count = 100;
  workspace.workspace = true;
  plan.layout.Add(workspace);
  auto arena = Arena::Create(static_cast<std::size_t>(plan.layout.bytes));
  ASSERT_TRUE(arena) << arena.error().message;
  const std::span<std::byte> bytes = arena->bytes();
  std::fill(bytes.begin(), bytes.end(), std::byte{1});
  PrepareArena(plan.layout, *inputs, kPoison, bytes);
  std::vector<bool> inside(bytes.size());
  for (std::size_t r = 0; r < plan.layout.regions.size(); ++r) {
    const Region& region = plan.layout.regions[r];
    for (std::int64_t i = 0; i < region.bytes(); ++i) {
      const auto at = static_cast<std::size_t>(region.offset + i);
      inside[at] = true;
      const std::byte expected =
          region.input ? inputs->regions[r][static_cast<std::size_t>(i)] : kPoison;
      ASSERT_EQ(bytes[at], expected) << region.name << " " << i;
    }
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!inside[i]) {
      ASSERT_EQ(bytes[i], kRedByte) << i;
    }
  }
}

TEST(CaseInputs, DrawnIntoTheArenaTheyAreTheSame) {
  const CasePlan plan = MakePlan();
  const auto size = static_cast<std::size_t>(plan.layout.bytes);
  std::vector<std::byte> copied(size, std::byte{1}), drawn(size, std::byte{2});
  PrepareArena(plan.layout, *Inputs(nullptr, 5), kPoison, copied);
  const auto done = DrawArena(MakeSet(5), plan, kPoison, drawn);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(drawn, copied);
  ASSERT_TRUE(DrawArena(MakeSet(6), plan, kPoison, drawn));
  EXPECT_NE(drawn, copied);
}

// What is prepared before the original is built is found by who measures after it.
TEST(CaseInputs, AreNamedWithoutTheBuildOfTheOriginal) {
  protocol::CandidateSet set = MakeSet(1), other = set;
  other.original_artifact = "/elsewhere";
  EXPECT_EQ(DrawnKey(set, "c", nullptr), DrawnKey(other, "c", nullptr));
  EXPECT_NE(InputsKey(set, "c", nullptr), InputsKey(other, "c", nullptr));
  other.seed = 2;
  EXPECT_NE(DrawnKey(set, "c", nullptr), DrawnKey(other, "c", nullptr));
  other = set;
  other.kernel.closure_source += "//";
  EXPECT_NE(DrawnKey(set, "c", nullptr), DrawnKey(other, "c", nullptr));
  EXPECT_NE(DrawnKey(set, "c", nullptr), DrawnKey(set, "c", &kGateFills[0]));
}

TEST(Arena, IsSeenThroughItsDescriptor) {
  auto arena = Arena::Create(8192);
  ASSERT_TRUE(arena) << arena.error().message;
  EXPECT_EQ(arena->bytes().size(), 8192u);
  EXPECT_TRUE(std::all_of(arena->bytes().begin(), arena->bytes().end(),
                          [](std::byte b) { return b == std::byte{0}; }));
  const Arena moved = std::move(*arena);
  moved.bytes()[8191] = kRedByte;
  EXPECT_GE(moved.descriptor(), 0);
}

}  // namespace
}  // namespace cupilot::worker
