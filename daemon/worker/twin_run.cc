#include "worker/twin_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>

#include "device/describe.h"
#include "device/parallel.h"
#include "worker/reach.h"
#include "worker/split_mix.h"
#include "worker/tables.h"

namespace cupilot::worker {
namespace {

constexpr std::chrono::milliseconds kLimit{60000};
constexpr int kDraws = 8;
constexpr std::int64_t kTwinStretch = 512;

// Draw `index` of a stream: uniform in [-sqrt 3, sqrt 3], variance 1.
double Noise(std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t x = SplitMix(stream << 40, index);
  return (static_cast<double>(static_cast<std::int64_t>(x >> 11)) * 0x1p-53 - 0.5) *
         3.4641016151377544;
}

}  // namespace

// Draw 0: the inputs exactly; others: each floating input moved within its rounding.
TwinRun::Change TwinRun::RoundingOf(int draw) const {
  if (draw == 0) return {};
  return [draw, roundoff = roundoff_](const Stretch& s) {
    const std::uint64_t stream = s.region * (kDraws + 1) + static_cast<std::uint64_t>(draw);
    for (std::int64_t i = 0; i < s.count; ++i) {
      const double move = roundoff * Noise(stream, static_cast<std::uint64_t>(s.first + i));
      if (s.rests != nullptr) {
        s.rests[i] = s.values[i] * move;
      } else {
        s.values[i] *= 1.0 + move;
      }
    }
  };
}

base::Result<std::unique_ptr<TwinRun>> TwinRun::Start(const protocol::CandidateSet& set,
                                                      const records::Case& workload,
                                                      const CasePlan& original) {
  const Widening widening{set.twin.widened, set.twin.widened_globals, set.twin.structures};
  const std::string& where = set.twin.device.empty() ? set.device : set.twin.device;
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set.device));
  TRY_ASSIGN(CasePlan plan, PlanCase(set.kernel, workload, properties, &widening));
  plan.shared_bytes *= set.twin.shared_growth;
  Program program = OriginalProgram(plan, set.twin.entry);
  TRY_ASSIGN(Lease lease,
             Lease::Take(where, Role::kTwin, static_cast<std::size_t>(plan.layout.bytes),
                         {set.twin_artifact}));
  std::unique_ptr<TwinRun> twin(new TwinRun(original, static_cast<int>(set.twin.significand_bits),
                                            std::move(plan), std::move(program), std::move(lease)));
  TRY_ASSIGN(const auto inputs, FindInputs(set, original, nullptr));
  TRY(twin->FindReach(*inputs));
  return twin;
}

base::Result<std::vector<std::optional<Expected>>> TwinRun::Run(const CaseInputs& inputs) {
  const std::size_t count = original_.layout.regions.size();
  std::vector<std::optional<Expected>> all(count);
  PrepareArena(plan_.layout, {}, kPoison, lease_.memory());
  for (int draw = 0; draw <= kDraws; ++draw) {
    TRY(RunOn(inputs, RoundingOf(draw)));
    for (std::size_t r = 0; r < count; ++r) {
      if (!Measured(r)) continue;
      if (!all[r]) all[r].emplace();
      Accumulate(r, draw, *all[r]);
    }
  }
  for (std::size_t r = 0; r < count; ++r) {
    if (all[r]) all[r]->reach = reach_[r];
  }
  if (HasManyZeros(original_.layout, inputs.regions)) TRY(CountZeros(inputs, all));
  return all;
}

base::Result<std::vector<std::optional<Expected>>> TwinRun::RunOnce(const CaseInputs& inputs) {
  std::vector<std::optional<Expected>> all(original_.layout.regions.size());
  PrepareArena(plan_.layout, {}, kPoison, lease_.memory());
  TRY(RunOn(inputs, {}));
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (Measured(r)) Accumulate(r, 0, all[r].emplace());
  }
  return all;
}

base::Result<> TwinRun::RunOn(const CaseInputs& inputs, const Change& change) {
  Widen(inputs, change);
  TRY(lease_.Run(0, ToJson(program_, plan_.layout, 0), kLimit));
  return {};
}

std::vector<double> TwinRun::ResultsOf(std::size_t region) const {
  const Region& from = plan_.layout.regions[region];
  std::vector<double> results(static_cast<std::size_t>(from.count * from.type.lanes));
  device::ReadNumbers(lease_.memory().data() + from.offset, 0, std::ssize(results), from.type,
                      results.data());
  return results;
}

base::Result<> TwinRun::FindReach(const CaseInputs& inputs) {
  PrepareArena(plan_.layout, {}, kPoison, lease_.memory());
  TRY(RunOn(inputs, {}));
  std::vector<std::size_t> measured;
  std::vector<std::vector<double>> still;
  double components = 0;
  for (std::size_t r = 0; r < original_.layout.regions.size(); ++r) {
    const Region& region = original_.layout.regions[r];
    if (Measured(r)) {
      measured.push_back(r);
      still.push_back(ResultsOf(r));
    }
    if (region.input && region.type.floating()) {
      components += static_cast<double>(region.count * region.type.lanes);
    }
  }
  reach_.assign(original_.layout.regions.size(), 1);
  // All inputs of one output are the layout's word already.
  if (std::all_of(still.begin(), still.end(), [](const auto& one) { return one.size() <= 1; })) {
    return {};
  }
  std::uint64_t run = 0;
  const SharesMoved shares = [&](double density) -> base::Result<std::vector<double>> {
    const std::uint64_t stream = ++run << 16;
    TRY(RunOn(inputs, [&](const Stretch& s) {
      MoveSome(s.values, s.first, s.count, stream + s.region, density);
    }));
    std::vector<double> moved;
    moved.reserve(measured.size());
    for (std::size_t i = 0; i < measured.size(); ++i) {
      moved.push_back(ShareMoved(still[i], ResultsOf(measured[i])));
    }
    return moved;
  };
  TRY_ASSIGN(const std::vector<double> reach, MeasureReach(components, shares));
  for (std::size_t i = 0; i < measured.size(); ++i) reach_[measured[i]] = reach[i];
  return {};
}

base::Result<> TwinRun::CountZeros(const CaseInputs& inputs,
                                   std::vector<std::optional<Expected>>& expected) {
  TRY(RunOn(inputs, [](const Stretch& s) { std::fill_n(s.values, s.count, 0.0); }));
  std::vector<std::vector<double>> terms(expected.size());
  for (std::size_t r = 0; r < expected.size(); ++r) {
    if (expected[r]) terms[r] = ResultsOf(r);
  }
  if (!IsBalanced(original_.layout, inputs.regions)) TRY(ShiftInputs(inputs, expected, terms));
  for (std::size_t r = 0; r < expected.size(); ++r) {
    if (expected[r]) CountEqualTerms(terms[r], reach_[r], roundoff_, *expected[r]);
  }
  return {};
}

// Each by itself.
base::Result<> TwinRun::ShiftInputs(const CaseInputs& inputs,
                                    const std::vector<std::optional<Expected>>& expected,
                                    std::vector<std::vector<double>>& terms) {
  for (std::size_t shifted = 0; shifted < original_.layout.regions.size(); ++shifted) {
    const Region& region = original_.layout.regions[shifted];
    if (!region.input || !region.type.floating()) continue;
    TRY(RunOn(inputs, [shifted](const Stretch& s) {
      for (std::int64_t i = 0; s.region == shifted && i < s.count; ++i) s.values[i] += 1;
    }));
    for (std::size_t r = 0; r < expected.size(); ++r) {
      if (expected[r]) KeepUnshifted(expected[r]->exact, ResultsOf(r), terms[r]);
    }
  }
  return {};
}

bool TwinRun::Measured(std::size_t region) const {
  const Region& original = original_.layout.regions[region];
  return original.output && original.type.floating();
}

// `change` may be empty.
void TwinRun::Widen(const CaseInputs& inputs, const Change& change) {
  const std::span<std::byte> arena = lease_.memory();
  for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) {
    const Region &to = plan_.layout.regions[r], &from = original_.layout.regions[r];
    if (!from.input) continue;
    if (from.type.floating()) {
      WidenRegion(r, inputs.regions[r].data(), change);
    } else if (!to.members.empty()) {
      WidenStructures(r, inputs.regions[r].data(), change);
    } else if (!inputs.regions[r].empty()) {
      std::memcpy(arena.data() + to.offset, inputs.regions[r].data(),
                  static_cast<std::size_t>(std::min(from.bytes(), to.bytes())));
      MoveEntries(to, original_.layout, plan_.layout, arena.data() + to.offset);
    }
  }
}

void TwinRun::WidenRegion(std::size_t region, const std::byte* from, const Change& change) {
  const Region &to = plan_.layout.regions[region], &source = original_.layout.regions[region];
  std::byte* target = lease_.memory().data() + to.offset;
  const bool extended = to.type.number == device::Number::kExtended;
  device::InParallel(source.count * source.type.lanes, [&](std::int64_t begin, std::int64_t end) {
    std::array<double, kTwinStretch> values, rests;
    for (std::int64_t first = begin; first < end; first += kTwinStretch) {
      const std::int64_t n = std::min(kTwinStretch, end - first);
      device::ReadNumbers(from, first, n, source.type, values.data());
      if (extended) std::fill_n(rests.data(), n, 0.0);
      if (change) change({region, first, n, values.data(), extended ? rests.data() : nullptr});
      device::WriteParts(target, first, n, to.type, values.data(), rests.data());
    }
  });
}

// Number by number: one of all structures after the other, so that each has components of its own.
void TwinRun::WidenStructures(std::size_t region, const std::byte* from, const Change& change) {
  const Region &to = plan_.layout.regions[region], &source = original_.layout.regions[region];
  std::byte* target = lease_.memory().data() + to.offset;
  std::int64_t component = 0;
  for (const protocol::TwinMember& member : to.members) {
    const auto type = device::ElementTypeOf(member.canonical, member.from_bytes);
    const bool widens = type.floating() && member.to_bytes != member.from_bytes;
    const device::ElementType wide = device::Widened(type);
    for (std::int64_t i = 0; i < source.count; ++i) {
      const std::byte* narrow = from + i * source.type.size() + member.from;
      std::byte* place = target + i * to.type.size() + member.to;
      if (!widens) {
        std::memcpy(place, narrow, static_cast<std::size_t>(member.from_bytes));
        continue;
      }
      double value = device::ReadNumber(narrow, 0, type), rest = 0;
      const bool extended = wide.number == device::Number::kExtended;
      if (change) change({region, component, 1, &value, extended ? &rest : nullptr});
      device::WriteParts(place, 0, 1, wide, &value, &rest);
      component += 1;
    }
  }
}

// `unit` holds the sum of squares until the last draw makes it the unit.
void TwinRun::Accumulate(std::size_t region, int draw, Expected& expected) const {
  const Region &from = plan_.layout.regions[region], &original = original_.layout.regions[region];
  const std::byte* results = lease_.memory().data() + from.offset;
  const std::int64_t count = from.count * from.type.lanes;
  const bool extended = from.type.number == device::Number::kExtended;
  if (draw == 0) {
    expected.exact.resize(static_cast<std::size_t>(count));
    if (extended) expected.rest.resize(static_cast<std::size_t>(count));
    expected.unit.assign(static_cast<std::size_t>(count), 0.0);
    DescribeRounding(original.type, roundoff_, expected);
  }
  device::InParallel(count, [&](std::int64_t begin, std::int64_t end) {
    double* exact = expected.exact.data();
    double* rest = extended ? expected.rest.data() : nullptr;
    double* unit = expected.unit.data();
    if (draw == 0) {
      if (!extended) {
        return device::ReadNumbers(results, begin, end - begin, from.type, exact + begin);
      }
      return device::ReadParts(results, begin, end - begin, from.type, exact + begin, rest + begin);
    }
    std::array<double, kTwinStretch> values, rests;
    for (std::int64_t first = begin; first < end; first += kTwinStretch) {
      const std::int64_t n = std::min(kTwinStretch, end - first);
      device::ReadParts(results, first, n, from.type, values.data(), rests.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        double d = values[at] - exact[first + i];
        if (extended) d += rests[at] - rest[first + i];
        unit[first + i] += std::isfinite(d) ? d * d : 0.0;
      }
    }
    if (draw < kDraws) return;
    for (std::int64_t i = begin; i < end; ++i) {
      unit[i] = UnitOf(std::sqrt(unit[i] / kDraws), exact[i], roundoff_, original.type);
    }
  });
}

}  // namespace cupilot::worker
