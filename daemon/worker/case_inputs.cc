#include "worker/case_inputs.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/hash.h"
#include "device/host/host_properties.h"
#include "device/parallel.h"
#include "worker/kept.h"

namespace cupilot::worker {
namespace {

// A large case is several hundred megabytes a fill; without them its original runs again for each
// candidate.
constexpr std::size_t kMostKeptBytes = std::size_t{6} << 30;

// Stretches of large buffers are set and copied by all processors.
constexpr std::int64_t kStretch = std::int64_t{1} << 22;

void Set(std::span<std::byte> bytes, std::byte value) {
  device::InParallel(
      static_cast<std::int64_t>(bytes.size()),
      [&](std::int64_t begin, std::int64_t end) {
        std::memset(bytes.data() + begin, std::to_integer<int>(value),
                    static_cast<std::size_t>(end - begin));
      },
      kStretch);
}

void Copy(std::span<const std::byte> from, std::byte* to) {
  device::InParallel(
      static_cast<std::int64_t>(from.size()),
      [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(to + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
      },
      kStretch);
}

base::Result<CaseInputs> DrawInputs(const CasePlan& plan, const GateFill* fill,
                                    std::uint64_t seed) {
  CaseInputs inputs;
  std::vector<std::byte*> places;
  for (const Region& region : plan.layout.regions) {
    inputs.regions.emplace_back(region.input ? static_cast<std::size_t>(region.bytes()) : 0);
    places.push_back(inputs.regions.back().data());
  }
  TRY_ASSIGN(inputs.changed, FillInputs(plan.layout, fill, seed, plan.environment, places));
  return inputs;
}

}  // namespace

std::size_t KeptBytes() {
  static const auto memory = static_cast<std::size_t>(device::DescribeHost().memory_bytes);
  return std::min(kMostKeptBytes, memory / 12);
}

const Region* ChangedInput(const Layout& layout, const CaseInputs& before,
                           std::span<const std::byte> after) {
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    const std::vector<std::byte>& held = before.regions[r];
    if (!region.input || region.output || held.empty()) continue;
    if (!device::SameBytes(held.data(), after.data() + region.offset, held.size())) return &region;
  }
  return nullptr;
}

std::string InputsKey(const protocol::CandidateSet& set, const std::string& case_name,
                      const GateFill* fill) {
  return InputsKey(set, case_name, std::string(fill == nullptr ? "workload" : fill->name));
}

std::string InputsKey(const protocol::CandidateSet& set, const std::string& case_name,
                      const std::string& contents) {
  return base::Hasher()
      .Add(set.original_artifact)
      .Add(records::HashJson(records::ToJson(set.workload)))
      .Add(case_name)
      .Add(contents)
      .Add(std::to_string(set.seed))
      .Hex();
}

std::string DrawnKey(const protocol::CandidateSet& set, const std::string& case_name,
                     const GateFill* fill) {
  return base::Hasher()
      .Add(set.kernel.signature)
      .Add(set.kernel.closure_source)
      .Add(records::HashJson(records::ToJson(set.workload)))
      .Add(case_name)
      .Add(fill == nullptr ? "workload" : fill->name)
      .Add(std::to_string(set.seed))
      .Hex();
}

base::Result<std::shared_ptr<const CaseInputs>> FindInputs(const protocol::CandidateSet& set,
                                                           const CasePlan& plan,
                                                           const GateFill* fill) {
  static Kept<CaseInputs>& kept = *new Kept<CaseInputs>(KeptBytes());
  const std::string key = DrawnKey(set, plan.name, fill);
  if (auto found = kept.Find(key)) return found;
  TRY_ASSIGN(CaseInputs drawn, DrawInputs(plan, fill, set.seed));
  auto inputs = std::make_shared<const CaseInputs>(std::move(drawn));
  kept.Put(key, inputs, static_cast<std::size_t>(plan.layout.bytes));
  return inputs;
}

void PrepareArena(const Layout& layout, const CaseInputs& inputs, const Before& before,
                  std::span<std::byte> arena) {
  std::vector<std::size_t> order(layout.regions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return layout.regions[a].offset < layout.regions[b].offset;
  });
  std::size_t end = 0;  // of the region before
  for (const std::size_t r : order) {
    const Region& region = layout.regions[r];
    const auto begin = static_cast<std::size_t>(region.offset);
    const auto bytes = static_cast<std::size_t>(region.bytes());
    Set(arena.subspan(end, begin - end), before.red);
    end = begin + bytes;
    const bool given =
        before.contents != nullptr && r < before.contents->size() && !(*before.contents)[r].empty();
    if (r < inputs.regions.size() && !inputs.regions[r].empty()) {
      Copy(inputs.regions[r], arena.data() + begin);
    } else if (given) {
      Copy((*before.contents)[r], arena.data() + begin);
    } else if (!(region.workspace && before.keep_workspaces)) {
      Set(arena.subspan(begin, bytes), before.poison);
    }
  }
  Set(arena.subspan(end), before.red);
}

void PrepareArena(const Layout& layout, const CaseInputs& inputs, std::byte poison,
                  std::span<std::byte> arena) {
  Before before;
  before.poison = poison;
  PrepareArena(layout, inputs, before, arena);
}

base::Result<> DrawArena(const protocol::CandidateSet& set, const CasePlan& plan, std::byte poison,
                         std::span<std::byte> arena) {
  PrepareArena(plan.layout, CaseInputs{}, poison, arena);
  std::vector<std::byte*> places;
  places.reserve(plan.layout.regions.size());
  for (const Region& region : plan.layout.regions) places.push_back(arena.data() + region.offset);
  TRY(FillInputs(plan.layout, nullptr, set.seed, plan.environment, places));
  return {};
}

}  // namespace cupilot::worker
