#include "worker/twin_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>

#include "device/describe.h"
#include "device/parallel.h"

namespace cupilot::worker {
namespace {

constexpr std::chrono::milliseconds kLimit{60000};
constexpr double kUnitRoundoff =
    1.0 / (1 << 24);  // of float arithmetic, the widest of the original
constexpr int kDraws = 8;
constexpr std::int64_t kStretch = 512;

// Draw `index` of a stream: uniform in [-sqrt 3, sqrt 3], variance 1. A function of its arguments
// alone (SplitMix64's output function), so that elements can be drawn in any order.
double Noise(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t x = (stream << 40) + (index + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return (static_cast<double>(static_cast<std::int64_t>(x >> 11)) * 0x1p-53 - 0.5) *
         3.4641016151377544;
}

}  // namespace

base::Result<std::unique_ptr<TwinRun>> TwinRun::Start(const protocol::CandidateSet& set,
                                                      const records::Case& workload,
                                                      const CasePlan& original) {
  const Widening widening{set.twin.widened, set.twin.widened_globals};
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set.device));
  TRY_ASSIGN(CasePlan plan, PlanCase(set.kernel, workload, properties, &widening));
  if (set.twin.widened_shared) plan.shared_bytes *= 2;
  Program program = OriginalProgram(plan, set.twin.entry);
  TRY_ASSIGN(Lease lease,
             Lease::Take(set.device, Role::kTwin, static_cast<std::size_t>(plan.layout.bytes),
                         {set.twin_artifact}));
  return std::unique_ptr<TwinRun>(
      new TwinRun(original, std::move(plan), std::move(program), std::move(lease)));
}

base::Result<std::vector<std::optional<Expected>>> TwinRun::Run(const CaseInputs& inputs) {
  const std::size_t count = original_.layout.regions.size();
  std::vector<std::optional<Expected>> all(count);
  for (int draw = 0; draw <= kDraws; ++draw) {
    Widen(inputs, draw);
    TRY(lease_.Run(0, ToJson(program_, plan_.layout, 0), kLimit));
    for (std::size_t r = 0; r < count; ++r) {
      if (!Measured(r)) continue;
      if (!all[r]) all[r].emplace();
      Accumulate(r, draw, *all[r]);
    }
  }
  return all;
}

bool TwinRun::Measured(std::size_t region) const {
  const Region& original = original_.layout.regions[region];
  return original.output && original.type.floating();
}

// Draw 0: the inputs exactly; others: each floating input moved within its rounding.
void TwinRun::Widen(const CaseInputs& inputs, int draw) {
  const std::span<std::byte> arena = lease_.memory();
  if (draw == 0) PrepareArena(plan_.layout, {}, kPoison, arena);
  for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) {
    const Region &to = plan_.layout.regions[r], &from = original_.layout.regions[r];
    if (!from.input) continue;
    if (from.type.floating()) {
      WidenRegion(r, inputs.regions[r].data(), draw);
    } else if (!inputs.regions[r].empty()) {
      std::memcpy(arena.data() + to.offset, inputs.regions[r].data(),
                  static_cast<std::size_t>(std::min(from.bytes(), to.bytes())));
    }
  }
}

void TwinRun::WidenRegion(std::size_t region, const std::byte* from, int draw) {
  const Region &to = plan_.layout.regions[region], &source = original_.layout.regions[region];
  std::byte* target = lease_.memory().data() + to.offset;
  const std::uint64_t stream = region * (kDraws + 1) + static_cast<std::uint64_t>(draw);
  device::InParallel(source.count * source.type.lanes, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kStretch> values;
    for (std::int64_t first = begin; first < end; first += kStretch) {
      const std::int64_t n = std::min(kStretch, end - first);
      device::ReadNumbers(from, first, n, source.type, values.data());
      for (std::int64_t i = 0; draw > 0 && i < n; ++i) {
        values[static_cast<std::size_t>(i)] *=
            1.0 + kUnitRoundoff * Noise(stream, static_cast<std::uint64_t>(first + i));
      }
      device::WriteNumbers(target, first, n, to.type, values.data());
    }
  });
}

// `unit` holds the sum of squares until the last draw makes it the unit.
void TwinRun::Accumulate(std::size_t region, int draw, Expected& expected) const {
  const Region &from = plan_.layout.regions[region], &original = original_.layout.regions[region];
  const std::byte* results = lease_.memory().data() + from.offset;
  const std::int64_t count = from.count * from.type.lanes;
  if (draw == 0) {
    expected.exact.resize(static_cast<std::size_t>(count));
    expected.unit.assign(static_cast<std::size_t>(count), 0.0);
  }
  const double roundoff = device::Roundoff(original.type);
  const double smallest = device::SmallestNormal(original.type);
  device::InParallel(count, [&](std::int64_t begin, std::int64_t end) {
    double* exact = expected.exact.data();
    double* unit = expected.unit.data();
    if (draw == 0)
      return device::ReadNumbers(results, begin, end - begin, from.type, exact + begin);
    std::array<double, kStretch> values;
    for (std::int64_t first = begin; first < end; first += kStretch) {
      const std::int64_t n = std::min(kStretch, end - first);
      device::ReadNumbers(results, first, n, from.type, values.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const double d = values[static_cast<std::size_t>(i)] - exact[first + i];
        unit[first + i] += std::isfinite(d) ? d * d : 0.0;
      }
    }
    if (draw < kDraws) return;
    for (std::int64_t i = begin; i < end; ++i) {
      unit[i] = std::sqrt(unit[i] / kDraws) + roundoff * std::fabs(exact[i]) + smallest;
    }
  });
}

}  // namespace cupilot::worker
