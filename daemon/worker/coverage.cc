#include "worker/coverage.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/element.h"
#include "device/parallel.h"
#include "worker/kept.h"
#include "worker/plant.h"

namespace cupilot::worker {
namespace {

constexpr double kCoverageDoubt = 0.001;
constexpr int kMostProbes = 32;          // all of them moving: at least 81 % matter
constexpr double kMostProbeUs = 5e5;     // of the original's runs for one case
constexpr double kMostProbeBytes = 4e9;  // that are copied for them
constexpr double kProbeRunUs = 500;      // that a run takes beside the kernel
constexpr double kNoiseUnits = 8;        // times what the original's own error may be

// P(at least `moved` of `asked`) if each moves with probability `share`.
double Tail(int asked, int moved, double share) {
  double sum = 0;
  for (int k = moved; k <= asked; ++k) {
    const double choices =
        std::lgamma(asked + 1.0) - std::lgamma(k + 1.0) - std::lgamma(asked - k + 1.0);
    sum += std::exp(choices + k * std::log(share) + (asked - k) * std::log1p(-share));
  }
  return sum;
}

int ProbesFor(const Layout& layout, double original_us, std::size_t regions) {
  const double by_time = kMostProbeUs / (original_us + kProbeRunUs);
  const double by_bytes =
      kMostProbeBytes / static_cast<double>(std::max<std::int64_t>(1, layout.bytes));
  // Two runs for each: a large value may be what a small one is not.
  const double probes = std::min(by_time, by_bytes) / 2 / static_cast<double>(regions);
  return static_cast<int>(std::min<double>(probes, kMostProbes));
}

// Whether an output is another for sure. Where the original does not repeat its bits, by more than
// its rounding can do.
bool OutputMoved(const Layout& layout, const OriginalResult& workload, const QuickResult& now) {
  for (std::size_t r = 0; r < layout.regions.size(); ++r) {
    const Region& region = layout.regions[r];
    const ReferenceOutput& before = workload.outputs[r];
    if (now.outputs[r].empty()) continue;
    if (workload.repeats) {
      const std::vector<std::byte>& moved = now.outputs[r];
      if (moved.size() != before.bytes.size() ||
          !device::SameBytes(moved.data(), before.bytes.data(), moved.size())) {
        return true;
      }
      continue;
    }
    if (region.order_free || !before.expected) continue;
    const double units = kNoiseUnits * LimitsOf(before.original_rho, 1, true).max;
    for (std::int64_t i = 0; i < region.count * region.type.lanes; ++i) {
      const double a = device::ReadNumber(before.bytes.data(), i, region.type);
      const double b = device::ReadNumber(now.outputs[r].data(), i, region.type);
      if (std::fabs(a - b) > units * before.expected->unit[static_cast<std::size_t>(i)])
        return true;
    }
  }
  return false;
}

base::Result<ShareThatMatters> ShareOf(std::size_t region, int probes, std::uint64_t seed,
                                       const CasePlan& plan, const OriginalResult& workload,
                                       References& references) {
  CaseInputs inputs = *workload.inputs;
  inputs.changed = true;
  int asked = 0, moved = 0;
  for (int probe = 0; probe < probes; ++probe) {
    bool moves = false, ran = false;
    for (const bool largest : {true, false}) {
      if (moves) break;
      PlantOne(plan, *workload.inputs, {region, 2 * probe + (largest ? 0 : 1)}, seed, inputs);
      TRY_ASSIGN(const QuickResult now, references.RunOf(inputs));
      inputs.regions[region] = workload.inputs->regions[region];
      if (!now.dropped.empty()) continue;
      ran = true;
      moves = OutputMoved(plan.layout, workload, now);
    }
    asked += ran ? 1 : 0;
    moved += moves ? 1 : 0;
  }
  if (asked == 0) return ShareThatMatters{};
  return ShareThatMatters{LeastShare(asked, moved), static_cast<double>(moved) / asked};
}

}  // namespace

double LeastShare(int asked, int moved) {
  if (moved <= 0) return 0;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (Tail(asked, moved, middle) < kCoverageDoubt ? low : high) = middle;
  }
  return low;
}

base::Result<std::vector<ShareThatMatters>> SharesThatMatter(const protocol::CandidateSet& set,
                                                             const CasePlan& plan,
                                                             const OriginalResult& workload,
                                                             References& references) {
  static Kept<std::vector<ShareThatMatters>>& kept =
      *new Kept<std::vector<ShareThatMatters>>(KeptBytes());
  const std::string key = InputsKey(set, plan.name, "shares that matter");
  if (auto found = kept.Find(key)) return *found;
  std::vector<ShareThatMatters> shares(plan.layout.regions.size());
  const std::vector<std::size_t> regions = PlantableRegions(plan.layout);
  if (workload.dropped.empty()) {
    for (const std::size_t r : regions) {
      const int probes = ProbesFor(plan.layout, workload.original_us, regions.size());
      TRY_ASSIGN(shares[r], ShareOf(r, probes, set.seed, plan, workload, references));
    }
  }
  kept.Put(key, std::make_shared<const std::vector<ShareThatMatters>>(shares),
           key.size() + shares.size() * sizeof(ShareThatMatters));
  return shares;
}

}  // namespace cupilot::worker
