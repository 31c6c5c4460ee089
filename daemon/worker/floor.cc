#include "worker/floor.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "base/processors.h"

namespace cupilot::worker {
namespace {

using std::chrono::steady_clock;

constexpr std::int64_t kSmallest = std::int64_t{1} << 16;
constexpr std::int64_t kLargest = std::int64_t{1} << 27;
constexpr int kPatternRounds = 5;                            // of each pattern; the best counts
constexpr std::int64_t kRoundBytes = std::int64_t{1} << 24;  // at least, in one round
// Measurements before a case is impossible. The host's take milliseconds, and others may be at work
// there.
constexpr int kHostRepeats = 10;
constexpr int kGpuRepeats = 3;

enum class TrafficPattern { kRead, kWrite, kCopy };

// Bytes moved by one pass over a slice.
std::size_t Pass(TrafficPattern pattern, std::vector<char>& slice) {
  const std::size_t half = slice.size() / 2;
  switch (pattern) {
    case TrafficPattern::kRead:
      // The C library's search for a byte that is not there reads as fast as the machine can.
      return std::memchr(slice.data(), 2, slice.size()) == nullptr ? slice.size() : 0;
    case TrafficPattern::kWrite:
      std::memset(slice.data(), 1, slice.size());
      return slice.size();
    case TrafficPattern::kCopy:
      std::memcpy(slice.data(), slice.data() + half, half);
      return 2 * half;
  }
  return 0;
}

double Round(TrafficPattern pattern, std::vector<std::vector<char>>& slices, std::int64_t passes) {
  std::atomic<std::size_t> ready{0}, moved{0};
  const auto work = [&](std::vector<char>& slice) {
    ready.fetch_add(1);
    while (ready.load() < slices.size()) std::this_thread::yield();
    std::size_t bytes = 0;
    for (std::int64_t i = 0; i < passes; ++i) {
      bytes += Pass(pattern, slice);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // each pass counts
    }
    moved.fetch_add(bytes);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < slices.size(); ++i) threads.emplace_back(work, std::ref(slices[i]));
  while (ready.load() + 1 < slices.size()) std::this_thread::yield();
  const auto begin = steady_clock::now();
  work(slices[0]);
  for (std::thread& thread : threads) thread.join();
  const double us = std::chrono::duration<double, std::micro>(steady_clock::now() - begin).count();
  return static_cast<double>(moved.load()) / std::max(us, 1e-3);
}

}  // namespace

Traffic NecessaryTraffic(const CasePlan& plan, const OriginalResult& reference,
                         const std::vector<ShareThatMatters>& shares) {
  const auto& regions = plan.layout.regions;
  Traffic traffic;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const Region& region = regions[r];
    const auto elements = static_cast<double>(region.count);
    const std::int64_t size = region.type.size();
    if (region.input) {
      traffic.read += static_cast<std::int64_t>(shares[r].least * elements) * size;
      traffic.likely_read += static_cast<std::int64_t>(shares[r].likely * elements) * size;
    }
    // What is accumulated into may be written in part only; outputs are known to be.
    if (!region.output || region.input || r >= reference.outputs.size()) continue;
    const std::vector<bool>& unwritten = reference.outputs[r].unwritten;
    traffic.written +=
        region.bytes() - region.type.size() * std::count(unwritten.begin(), unwritten.end(), true);
  }
  return traffic;
}

base::Result<std::vector<Traffic>> TrafficOf(const protocol::CandidateSet& set,
                                             const std::vector<records::Case>& cases,
                                             const device::Properties& properties) {
  std::vector<Traffic> traffic;
  for (const records::Case& workload : cases) {
    TRY_ASSIGN(const CasePlan plan, PlanCase(set.kernel, workload, properties, nullptr));
    References references(set, workload, plan);
    TRY_ASSIGN(const auto reference, references.Find(nullptr));
    TRY_ASSIGN(const auto shares, SharesThatMatter(set, plan, *reference, references));
    traffic.push_back(reference->dropped.empty() ? NecessaryTraffic(plan, *reference, shares)
                                                 : Traffic{});
  }
  return traffic;
}

namespace {

// The power of two below: the rate of a smaller size is the greater one.
std::int64_t SizeClassOf(std::int64_t bytes) {
  const auto size = static_cast<std::uint64_t>(std::clamp(bytes, kSmallest, kLargest));
  return static_cast<std::int64_t>(std::bit_floor(size));
}

}  // namespace

double PeakRates::RateOf(std::int64_t bytes) {
  if (!measure_) {
    // The greatest that any mix reaches: a floor is from below.
    return std::max(
        {peaks_.value("read", 0.0), peaks_.value("write", 0.0), peaks_.value("copy", 0.0)});
  }
  const auto [it, is_new] = rates_.try_emplace(SizeClassOf(bytes), 0.0);
  if (is_new) it->second = measure_(it->first);
  return it->second;
}

double PeakRates::FloorUs(std::int64_t bytes) {
  const double rate = RateOf(bytes);
  const double launch = peaks_.value("launch_us", 0.0);
  return std::max(launch, rate > 0 ? static_cast<double>(bytes) / rate : 0);
}

int PeakRates::Repeats() const { return measure_ ? kHostRepeats : kGpuRepeats; }

void PeakRates::MeasureAgain(std::int64_t bytes) {
  if (measure_) {
    double& rate = rates_[SizeClassOf(bytes)];
    rate = std::max(rate, measure_(SizeClassOf(bytes)));
  } else if (records::Json peaks = again_(); !peaks.empty()) {
    peaks_ = std::move(peaks);
  }
}

double MeasureHostRate(std::int64_t bytes) {
  const std::size_t threads = static_cast<std::size_t>(base::UsableProcessors());
  const std::size_t slice = std::max<std::size_t>(64, static_cast<std::size_t>(bytes) / threads);
  std::vector<std::vector<char>> slices(threads, std::vector<char>(slice, 1));
  const std::int64_t passes = std::max<std::int64_t>(1, kRoundBytes / bytes);
  double best = 0;
  for (int round = 0; round < kPatternRounds; ++round) {
    for (const TrafficPattern pattern :
         {TrafficPattern::kRead, TrafficPattern::kWrite, TrafficPattern::kCopy}) {
      best = std::max(best, Round(pattern, slices, passes));
    }
  }
  return best;
}

FloorResult CompareWithFloor(PeakRates& rates, std::int64_t bytes, double original_us,
                             double variant_us) {
  FloorResult result;
  if (bytes <= 0) return result;
  result.floor_us = rates.FloorUs(bytes);
  for (int i = 0; i < rates.Repeats() && std::min(original_us, variant_us) < result.floor_us; ++i) {
    rates.MeasureAgain(bytes);
    result.floor_us = rates.FloorUs(bytes);
  }
  if (original_us < result.floor_us) return {};
  result.impossible = variant_us < result.floor_us;
  return result;
}

}  // namespace cupilot::worker
