#include "worker/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "device/device_lock.h"
#include "device/host/host_properties.h"
#include "worker/arena.h"
#include "worker/case_inputs.h"
#include "worker/floor.h"
#include "worker/program.h"
#include "worker/reference.h"
#include "worker/runner.h"

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;

constexpr const char* kLockPath = "/tmp/cupilot-device-host.lock";
constexpr milliseconds kLockLimit{60000};
constexpr std::size_t kMostPairs = 60;
constexpr std::size_t kLeastPairs = 6;
// What a finalist gets where launches are long: so many pairs, or so much time.
constexpr std::size_t kGoodPairs = 20;
constexpr double kGoodSeconds = 0.4;
constexpr std::size_t kSurePairs = 10;  // before an interval may end it
constexpr std::size_t kSureEvery = 5;

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Two-sided 95 % quantile of Student's t (Cornish-Fisher expansion around the normal quantile).
double StudentQuantile(double n) {
  constexpr double z = 1.959963984540054;
  const double g1 = (z * z * z + z) / 4;
  const double g2 = (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / 96;
  const double g3 = (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * z * z * z - 15 * z) / 384;
  return n < 3 ? 4.303 : z + g1 / n + g2 / (n * n) + g3 / (n * n * n);
}

// The copy of what launches change and read, and where it is put back to.
Json RestoreList(const Layout& layout, std::int64_t pristine, const std::int64_t (&copies)[2]) {
  Json list = Json::array();
  for (const Region& region : layout.regions) {
    if (!region.input || !region.output) continue;
    list.push_back({pristine + region.offset, copies[0] + region.offset, copies[1] + region.offset,
                    region.bytes()});
  }
  return list;
}

base::Result<Json> MeasureCase(const protocol::MeasureRequest& request, const CasePlan& original,
                               const CasePlan& plan, const Program& program) {
  const protocol::CandidateSet& set = request.set;
  const std::int64_t stride = (plan.layout.bytes + 4095) / 4096 * 4096;
  TRY_ASSIGN(Arena arena, Arena::Create(static_cast<std::size_t>(3 * stride)));
  TRY_ASSIGN(const auto inputs, FindInputs(set, original, nullptr));
  for (int copy = 0; copy < 3; ++copy) {
    PrepareArena(plan.layout, *inputs, kPoison,
                 arena.bytes().subspan(static_cast<std::size_t>(copy * stride),
                                       static_cast<std::size_t>(plan.layout.bytes)));
  }
  TRY_ASSIGN(Runner runner, Runner::Start(arena, {set.original_artifact, set.candidate_artifact}));
  const Program first = OriginalProgram(original, set.kernel.name);
  const std::int64_t copies[2] = {0, stride};
  Json question = {
      {"op", "pairs"},
      {"modules", {0, 1}},
      {"programs",
       {ToJson(first, plan.layout, copies[0]), ToJson(first, plan.layout, copies[1]),
        ToJson(program, plan.layout, copies[0]), ToJson(program, plan.layout, copies[1])}},
      {"restore", RestoreList(plan.layout, 2 * stride, copies)},
      {"seconds", request.max_seconds},
      {"probe_limit", request.probe_limit},
      {"most_pairs", kMostPairs}};
  const auto limit = milliseconds(static_cast<int>(1000 * request.max_seconds * 8) + 20000);
  return runner.Ask(question, limit);
}

// By case. What the original writes is kept from the verification before; runs otherwise.
base::Result<std::vector<std::int64_t>> TrafficOf(const protocol::CandidateSet& set,
                                                  const device::Properties& properties) {
  std::vector<std::int64_t> bytes;
  for (const records::Case& workload : set.workload.cases) {
    TRY_ASSIGN(const CasePlan plan, PlanCase(set.kernel, workload, properties, nullptr));
    TRY_ASSIGN(const auto reference, References(set, workload, plan).Find(nullptr));
    bytes.push_back(reference->dropped.empty() ? NecessaryBytes(plan, *reference) : 0);
  }
  return bytes;
}

}  // namespace

PairedRatio RatioOf(const TimedPairs& pairs) {
  PairedRatio ratio;
  std::vector<double> a, b, logs;
  for (const auto& [original, variant] : pairs) {
    a.push_back(original);
    b.push_back(variant);
    logs.push_back(std::log(original / variant));
  }
  std::sort(logs.begin(), logs.end());
  const std::size_t n = logs.size(), cut = n / 10, kept = n - 2 * cut;
  double mean = 0, winsorised = 0;
  for (std::size_t i = cut; i < n - cut; ++i) mean += logs[i] / static_cast<double>(kept);
  double centre = 0;
  const auto clamp = [&](std::size_t i) { return logs[std::clamp(i, cut, n - cut - 1)]; };
  for (std::size_t i = 0; i < n; ++i) centre += clamp(i) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) winsorised += (clamp(i) - centre) * (clamp(i) - centre);
  const double variance = winsorised / static_cast<double>(n - 1);
  const double share = static_cast<double>(kept) / static_cast<double>(n);
  const double error = std::sqrt(variance / static_cast<double>(n)) / share;
  const double half = StudentQuantile(static_cast<double>(kept - 1)) * error;
  ratio.original_us = Median(a);
  ratio.variant_us = Median(b);
  ratio.speedup = std::exp(mean);
  ratio.low = std::exp(mean - half);
  ratio.high = std::exp(mean + half);
  return ratio;
}

bool LosesProbe(const TimedPairs& pairs, double limit) {
  return !pairs.empty() && std::all_of(pairs.begin(), pairs.end(), [limit](const auto& pair) {
    return pair.second > limit * pair.first;
  });
}

bool EnoughPairs(const TimedPairs& pairs, double spent_seconds, double seconds) {
  const std::size_t n = pairs.size();
  if (spent_seconds > 4 * seconds) return true;
  if (n >= kLeastPairs && spent_seconds > seconds) return true;
  if (n >= kGoodPairs && spent_seconds > kGoodSeconds) return true;
  return n >= kSurePairs && n % kSureEvery == 0 && RatioOf(pairs).high < 1.0;
}

base::Result<protocol::MeasureReply> Measure(const protocol::MeasureRequest& request) {
  protocol::MeasureReply reply;
  const device::Properties properties = device::DescribeHost();
  reply.device = {properties.name, properties.architecture, properties.sm_count,
                  properties.memory_bytes};
  static PeakRates& rates = *new PeakRates(&MeasureHostRate);
  TRY_ASSIGN(const std::vector<std::int64_t> traffic, TrafficOf(request.set, properties));
  TRY_ASSIGN(const device::DeviceLock lock, device::DeviceLock::Acquire(kLockPath, kLockLimit));
  for (const records::Case& workload : request.set.workload.cases) {
    TRY_ASSIGN(const CasePlan original,
               PlanCase(request.set.kernel, workload, properties, nullptr));
    CasePlan plan = original;
    TRY_ASSIGN(const Program program,
               VariantProgram(request.set.kernel, request.set.variant, plan));
    auto measured = MeasureCase(request, original, plan, program);
    if (!measured) {
      reply.failed = true;
      reply.reason = measured.error().code == base::ErrorCode::kTimeout ? "timed_out" : "crashed";
      reply.detail = "while it was measured: " + measured.error().message;
      return reply;
    }
    TimedPairs pairs;
    for (const Json& pair : (*measured)["pairs"]) {
      pairs.emplace_back(std::max(pair[0].get<double>(), 1e-3),
                         std::max(pair[1].get<double>(), 1e-3));
    }
    if (pairs.size() < 3) {
      reply.failed = true;
      reply.reason = "unstable_timing";
      reply.detail = "fewer than three pairs within the time limit";
      return reply;
    }
    const PairedRatio ratio = RatioOf(pairs);
    records::CaseResult result;
    result.name = workload.name;
    result.original_us = ratio.original_us;
    result.variant_us = ratio.variant_us;
    result.speedup = ratio.speedup;
    result.interval = {ratio.low, ratio.high};
    result.samples = static_cast<std::int64_t>(pairs.size());
    result.l2 = "warm";
    const FloorResult floor =
        CompareWithFloor(rates, traffic[reply.cases.size()], ratio.original_us, ratio.variant_us);
    result.floor_us = floor.floor_us;
    if (floor.impossible) {
      reply.failed = true;
      reply.reason = "faster_than_physics";
      reply.detail = "case '" + workload.name + "' would take " + std::to_string(ratio.variant_us) +
                     " us, and its " + std::to_string(traffic[reply.cases.size()]) +
                     " bytes of necessary traffic take at least " + std::to_string(floor.floor_us) +
                     " us";
    }
    reply.stopped_early = reply.stopped_early || measured->value("stopped_early", false);
    reply.cases.push_back(std::move(result));
  }
  return reply;
}

}  // namespace cupilot::worker
