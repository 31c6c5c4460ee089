#include "worker/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "base/hash.h"
#include "device/parallel.h"
#include "worker/checks/check.h"
#include "worker/kept.h"
#include "worker/lease.h"
#include "worker/outside_range.h"
#include "worker/placement.h"
#include "worker/program.h"
#include "worker/twin_run.h"
#include "worker/two_runs.h"

namespace cupilot::worker {
namespace {

using records::Json;

// Of a run of the original, and of those on other inputs than the workload's (ten times as long as
// on these, which a busy machine does not make of the least).
constexpr std::chrono::milliseconds kOriginalLimit{60000}, kLeastLimit{5000};
constexpr double kMostTimes = 10;
// Of all threads, the same one every time (cupilot_host_schedule.h).
constexpr const char* kFixedOrder = "threads-forward";
constexpr std::size_t kBeyond = 4 << 20;  // bytes behind the buffers that are as those between them
// Further runs of an original whose bits may vary. A sum of two blocks came out in either order in
// every third run of a quiet machine.
constexpr int kRunsAgain = 8;
constexpr std::size_t kMostAsked = 4096;  // inputs that are remembered to have been asked again

std::span<const std::byte> BytesOf(const Region& region, std::span<const std::byte> arena) {
  return arena.subspan(static_cast<std::size_t>(region.offset),
                       static_cast<std::size_t>(region.bytes()));
}

std::size_t BytesOf(const OriginalResult& result) {
  std::size_t bytes = sizeof result;
  // Of fills, they are counted with those that FindInputs() keeps, too.
  for (std::size_t r = 0; result.inputs && r < result.inputs->regions.size(); ++r) {
    bytes += result.inputs->regions[r].size();
  }
  for (const ReferenceOutput& output : result.outputs) {
    bytes += output.bytes.size() + output.unwritten.size() / 8;
    if (output.expected) {
      bytes += sizeof(double) * (2 * output.expected->exact.size() + output.expected->rest.size());
    }
  }
  return bytes;
}

Kept<OriginalResult>& KeptResults() {
  static Kept<OriginalResult>& kept = *new Kept<OriginalResult>(KeptBytes());
  return kept;
}

}  // namespace

// The processes in which the original and its twin run on all fills of a case.
class References::Original {
 public:
  Original(const protocol::CandidateSet& set, const records::Case& workload, const CasePlan& plan)
      : set_(set), workload_(workload), plan_(plan) {}

  // Whose results depend on what lies beside its buffers, does not repeat them: other bytes lie
  // there the second time, and with other contents than the workload's other buffers, too.
  base::Result<OriginalResult> Run(std::shared_ptr<const CaseInputs> inputs, bool workload) {
    OriginalResult result;
    timed_out_ = false;
    result.inputs = std::move(inputs);
    const bool dear = set_.device != "host" && !workload;
    if (dear && !outside_.IsAsked(plan_.layout, *result.inputs)) {
      return Dropped("not asked: the original failed on others with numbers outside of their fill");
    }
    TRY(StartRunner());
    TRY_ASSIGN(std::string failure,
               RunOnce(plan_, *result.inputs, Before{kPoison, kRedByte}, result));
    if (!failure.empty()) {
      if (dear) outside_.Failed(plan_.layout, *result.inputs);
      return Dropped(failure);
    }
    const std::vector<std::byte> first(Arena(plan_).begin(), Arena(plan_).end());
    const CasePlan second = workload ? plan_ : Reversed(plan_);
    TRY_ASSIGN(failure,
               RunOnce(second, *result.inputs, Before{kOtherPoison, kOtherRedByte}, result));
    if (!failure.empty()) return Dropped(failure);
    // Whether its bits repeat is seen before a twin is asked, which bits that differ need.
    std::span<const std::byte> again = Arena(second);
    bool collected = CollectOutputs(first, again, second.layout, result);
    std::vector<bool> varies(result.outputs.size());
    std::vector<std::byte> copy;
    if (collected && KnownToVary(set_.original_artifact)) {
      copy.assign(again.begin(), again.end());
      again = copy;
      TRY_ASSIGN(varies, WhatVaries(result));
    }
    const bool any = std::find(varies.begin(), varies.end(), true) != varies.end();
    if (collected && result.repeats && !any && !set_.twin_artifact.empty()) {
      result.twin_waits = true;
      return result;
    }
    TRY(RunTwin(result));
    result.repeats = !any;
    collected = CollectOutputs(first, again, second.layout, result);
    for (std::size_t r = 0; r < varies.size(); ++r) {
      collected = collected && (!varies[r] || MayVary(plan_.layout.regions[r], result.outputs[r]));
    }
    if (!collected) {
      return Dropped("the original gives other bits when it runs again" +
                     (result.no_twin.empty() ? "" : ", and " + result.no_twin));
    }
    if (workload && result.scattered && set_.device == "host") {
      TRY_ASSIGN(const bool follows, FollowsItsSurroundings(result));
      if (follows) {
        return Dropped(
            "the original's results follow what lies beside its buffers, or what its outputs held "
            "before: the count of an argument is too small, or its access is \"inout\"");
      }
    }
    return result;
  }

  // Whether it was not the order of threads by which two runs differed: in one that is always the
  // same they differ as well.
  base::Result<bool> FollowsItsSurroundings(const OriginalResult& result) {
    OriginalResult ignored;
    TRY_ASSIGN(std::string failure,
               RunOnce(plan_, *result.inputs, Before{kPoison, kRedByte}, ignored, kFixedOrder));
    if (!failure.empty()) return false;
    const std::vector<std::byte> first(Arena(plan_).begin(), Arena(plan_).end());
    TRY_ASSIGN(failure, RunOnce(plan_, *result.inputs, Before{kOtherPoison, kOtherRedByte}, ignored,
                                kFixedOrder));
    if (!failure.empty()) return false;
    for (std::size_t r = 0; r < result.outputs.size(); ++r) {
      const Region& region = plan_.layout.regions[r];
      if (!region.output || region.order_free || !region.type.floating()) continue;
      const auto a = BytesOf(region, first), b = BytesOf(region, lease_->memory());
      if (!device::SameBytes(a.data(), b.data(), a.size()) &&
          FarApart(region, a, b, result.outputs[r])) {
        return true;
      }
    }
    return false;
  }

  // By region: whether further runs gave other bits than `here`. On the host device blocks run in
  // other orders as well, of which only sums say something: who races is found by its own step.
  base::Result<std::vector<bool>> WhatVaries(const OriginalResult& here) {
    std::vector<bool> varies(here.outputs.size());
    for (int run = 0; run < kRunsAgain + (set_.device == "host" ? 1 : 0); ++run) {
      OriginalResult ignored;
      const bool reversed = run == kRunsAgain;
      TRY_ASSIGN(const std::string failure,
                 RunOnce(plan_, *here.inputs, {}, ignored, reversed ? "blocks-reversed" : ""));
      if (!failure.empty()) return varies;
      for (std::size_t r = 0; r < varies.size(); ++r) {
        const ReferenceOutput& output = here.outputs[r];
        const Region& region = plan_.layout.regions[r];
        if (output.bytes.empty() || region.order_free) continue;
        const auto now = BytesOf(region, lease_->memory());
        const bool same = device::SameBytes(output.bytes.data(), now.data(), now.size());
        const bool sums = region.type.floating() && !FarApart(region, output.bytes, now, output);
        varies[r] = varies[r] || (!same && (!reversed || sums));
      }
    }
    return varies;
  }

  // Whether the last Run() failed by taking too long, for which a busy machine may be the reason.
  bool TookTooLong() { return std::exchange(timed_out_, false); }

  base::Result<> AddTwin(OriginalResult& result) {
    TRY(RunTwin(result));
    for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) MeasureOriginal(r, result);
    result.twin_waits = false;
    return {};
  }

  // By region; empty: the draw does not count.
  base::Result<std::vector<Rho>> RunNearby(const CaseInputs& inputs, const OriginalResult& here) {
    OriginalResult ignored;
    TRY_ASSIGN(const std::string failure, RunOnce(plan_, inputs, {}, ignored));
    if (!failure.empty()) return std::vector<Rho>();
    TRY_ASSIGN(const std::string no_twin, WhyNoTwin());
    if (!no_twin.empty()) return std::vector<Rho>();
    auto expected = twin_->RunOnce(inputs);
    if (!expected) {
      twin_.reset();
      return std::vector<Rho>();
    }
    std::vector<Rho> errors(here.outputs.size());
    for (std::size_t r = 0; r < errors.size(); ++r) {
      const ReferenceOutput& output = here.outputs[r];
      if (!output.expected || !(*expected)[r]) continue;
      const Region& region = plan_.layout.regions[r];
      const std::span<const std::byte> results = BytesOf(region, lease_->memory());
      Expected& near = *(*expected)[r];
      near.unit = output.expected->unit;
      LeaveOut(UntouchedOf(region, results), region.type.lanes, near);
      errors[r] = RhoOf(results.data(), results.data(), region.type, near);
    }
    return errors;
  }

  base::Result<QuickResult> RunQuick(const CaseInputs& inputs) {
    QuickResult result;
    OriginalResult ignored;
    TRY_ASSIGN(result.dropped, RunOnce(plan_, inputs, {}, ignored));
    if (!result.dropped.empty()) return result;
    for (const Region& region : plan_.layout.regions) {
      result.outputs.emplace_back();
      if (!region.output) continue;
      const auto bytes = BytesOf(region, lease_->memory());
      result.outputs.back().assign(bytes.begin(), bytes.end());
    }
    return result;
  }

  base::Result<SeriesResult> RunSeries(const CaseInputs& inputs, const SeriesRequest& series) {
    SeriesResult result;
    TRY(StartRunner());
    PrepareArena(plan_.layout, inputs, kPoison, lease_->memory());
    const Json program = ToJson(OriginalProgram(plan_, set_.kernel.name), plan_.layout, 0);
    TRY_ASSIGN(result.dropped, Failure(SeriesOp(series, 0, program, plan_.layout)));
    for (std::size_t run = 0; result.dropped.empty() && run < series.pokes.size(); ++run) {
      result.outputs.push_back(
          SeriesResults(plan_.layout, plan_.layout, lease_->memory(), static_cast<int>(run)));
    }
    return result;
  }

  base::Result<std::string> WhyNotAt(const CasePlan& placed, const OriginalResult& here,
                                     const std::string& schedule = "") {
    TRY(StartRunner());
    OriginalResult there;
    TRY_ASSIGN(std::string failure, RunOnce(placed, *here.inputs, {}, there, schedule));
    if (!failure.empty() || !here.repeats) return failure;
    for (std::size_t r = 0; r < here.outputs.size(); ++r) {
      const ReferenceOutput& output = here.outputs[r];
      if (output.bytes.empty() || placed.layout.regions[r].order_free) continue;
      const auto bytes = BytesOf(placed.layout.regions[r], lease_->memory());
      if (!device::SameBytes(bytes.data(), output.bytes.data(), bytes.size())) {
        return std::string("the original gives other bits there");
      }
    }
    return std::string();
  }

 private:
  std::span<const std::byte> Arena(const CasePlan& plan) const {
    return lease_->memory().subspan(0, static_cast<std::size_t>(plan.layout.bytes));
  }

  // Why the run does not count; empty: it does, and its results are in the memory.
  base::Result<std::string> RunOnce(const CasePlan& plan, const CaseInputs& inputs,
                                    const Before& before, OriginalResult& result,
                                    const std::string& schedule = "") {
    TRY(StartRunner());
    PrepareArena(plan.layout, inputs, before, lease_->memory());
    // What lies behind the last buffer is read as well by who goes astray. A GPU fills it by
    // itself.
    const std::span<std::byte> rest =
        lease_->memory().subspan(static_cast<std::size_t>(plan.layout.bytes));
    const std::size_t beyond = set_.device == "host" ? std::min(rest.size(), kBeyond) : 0;
    std::fill_n(rest.begin(), beyond, before.red);
    const Json program = ToJson(OriginalProgram(plan, set_.kernel.name), plan.layout, 0);
    Json request = {{"op", "run"},
                    {"module", 0},
                    {"program", program},
                    {"bytes", plan.layout.bytes + static_cast<std::int64_t>(beyond)},
                    {"beyond", static_cast<int>(before.red)}};
    if (!schedule.empty()) request["schedule"] = schedule;
    double took = 0;
    TRY_ASSIGN(std::string failure, Failure(request, &took));
    if (!failure.empty()) return failure;
    // How much is asked goes by it: one run that had to wait must not say.
    result.original_us = result.original_us > 0 ? std::min(result.original_us, took) : took;
    const auto outside = FirstByteOutside(plan.layout, lease_->memory(), before.red);
    if (!outside) {
      const Region* const changed = ChangedInput(plan.layout, inputs, lease_->memory());
      if (changed == nullptr) return std::string();
      return "the original writes to '" + changed->name +
             "', and its access says that it is only read; \"out\" or \"inout\" is right";
    }
    return "the original itself is at fault: " + DescribeByteOutside(plan.layout, *outside);
  }

  // Why the original does not do what is asked; empty: it did, in so many microseconds.
  base::Result<std::string> Failure(const Json& request, double* microseconds = nullptr) {
    const auto runs = request.contains("pokes") ? request["pokes"].size() : std::size_t{1};
    auto ran = lease_->runner().Ask(request, LimitFor(runs));
    if (!ran && ran.error().code == base::ErrorCode::kUnavailable) return base::Fail(ran.error());
    if (!ran) {
      lease_.reset();
      timed_out_ = ran.error().code == base::ErrorCode::kTimeout;
      return "the original fails on it: " + ran.error().message;
    }
    const double took = ran->value("microseconds", 0.0);
    longest_us_ = std::max(longest_us_, took / static_cast<double>(runs));
    if (microseconds != nullptr) *microseconds = took;
    return std::string();
  }

  // By the longest run so far: the workload's comes first, unless its results were kept.
  std::chrono::milliseconds LimitFor(std::size_t runs) const {
    if (longest_us_ == 0) return kOriginalLimit;
    const double ms = kMostTimes * longest_us_ * static_cast<double>(runs) / 1000;
    return std::clamp(std::chrono::milliseconds(static_cast<std::int64_t>(ms)), kLeastLimit,
                      kOriginalLimit);
  }

  static OriginalResult Dropped(const std::string& why) {
    OriginalResult dropped;
    dropped.dropped = why;
    return dropped;
  }

  base::Result<> StartRunner() {
    // Trials of other sizes have the same process, and may have ended it.
    if (lease_ && lease_->runner().alive()) return {};
    lease_.reset();
    const std::size_t bytes = BytesOfAllPlacements(plan_) + kSeriesRoom;
    TRY_ASSIGN(Lease lease,
               Lease::Take(set_.device, Role::kOriginal, bytes, {set_.original_artifact}));
    lease_ = std::move(lease);
    return {};
  }

  // False if the two runs differ and nothing says how far that may go. `second`: where the second
  // one's buffers lie in the memory.
  bool CollectOutputs(std::span<const std::byte> first, std::span<const std::byte> again,
                      const Layout& second, OriginalResult& result) const {
    result.outputs.resize(plan_.layout.regions.size());
    for (std::size_t r = 0; r < plan_.layout.regions.size(); ++r) {
      const Region& region = plan_.layout.regions[r];
      ReferenceOutput& output = result.outputs[r];
      if (!region.output) continue;
      const auto a = BytesOf(region, first), b = BytesOf(second.regions[r], again);
      output.bytes.assign(a.begin(), a.end());
      output.unwritten.clear();
      const bool may_differ = MayVary(region, output);
      const bool same = device::SameBytes(a.data(), b.data(), a.size());
      if (!same && !FindUnwritten(region, a, b, may_differ || region.order_free, output)) {
        return false;
      }
      if (!same && region.order_free &&
          SortedElements(region, a.data(), output.unwritten) !=
              SortedElements(region, b.data(), output.unwritten)) {
        return false;
      }
      const bool repeats = same || SameBits(region, a, b, output.unwritten);
      result.repeats = result.repeats && repeats;
      result.scattered =
          result.scattered || (!repeats && !region.order_free && region.type.floating() &&
                               FarApart(region, a, b, output));
      MeasureOriginal(r, result);
    }
    return true;
  }

  bool MayVary(const Region& region, const ReferenceOutput& output) const {
    return region.type.floating() && (output.expected || DeclaresTolerance(set_.workload));
  }

  void MeasureOriginal(std::size_t r, OriginalResult& result) const {
    const Region& region = plan_.layout.regions[r];
    ReferenceOutput& output = result.outputs[r];
    if (!region.output || !output.expected) return;
    LeaveOut(output.unwritten, region.type.lanes, *output.expected);
    const std::byte* bytes = output.bytes.data();
    output.original_rho = RhoOf(bytes, bytes, region.type, *output.expected);
  }

  // Elements that hold the poison.
  static std::vector<bool> UntouchedOf(const Region& region, std::span<const std::byte> results) {
    const auto size = static_cast<std::size_t>(region.type.size());
    std::vector<bool> untouched(results.size() / size);
    for (std::size_t i = 0; i < untouched.size(); ++i) {
      untouched[i] = IsAll(results.data() + i * size, size, kPoison);
    }
    return untouched;
  }

  // What the original leaves alone has no exact value; it is compared with the original's bytes.
  static void LeaveOut(const std::vector<bool>& unwritten, std::int64_t lanes, Expected& expected) {
    const auto width = static_cast<std::size_t>(lanes);
    for (std::size_t i = 0; i < unwritten.size() * width; ++i) {
      if (unwritten[i / width]) expected.exact[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }

  // A twin that cannot be run is no error: results are compared bit by bit then.
  base::Result<> RunTwin(OriginalResult& result) {
    result.outputs.resize(plan_.layout.regions.size());
    TRY_ASSIGN(result.no_twin, WhyNoTwin());
    if (!result.no_twin.empty()) return {};
    auto expected = twin_->Run(*result.inputs);
    if (!expected && expected.error().code == base::ErrorCode::kUnavailable) {
      return base::Fail(expected.error());
    }
    if (!expected) {
      result.no_twin = "the double twin fails on it: " + expected.error().message;
      twin_.reset();
      return {};
    }
    for (std::size_t r = 0; r < expected->size(); ++r) {
      result.outputs[r].expected = std::move((*expected)[r]);
    }
    return {};
  }

  base::Result<std::string> WhyNoTwin() {
    if (set_.twin_artifact.empty()) {
      return "there is no double twin" +
             (set_.twin.reason.empty() ? "" : " (" + set_.twin.reason + ")");
    }
    if (twin_ && twin_->alive()) return std::string();
    twin_.reset();
    auto started = TwinRun::Start(set_, workload_, plan_);
    if (!started && started.error().code == base::ErrorCode::kUnavailable) {
      return base::Fail(started.error());  // no process at all: nothing about the twin
    }
    if (!started) return "the double twin cannot be run: " + started.error().message;
    twin_ = std::move(*started);
    return std::string();
  }

  const protocol::CandidateSet& set_;
  const records::Case& workload_;
  const CasePlan& plan_;
  std::optional<Lease> lease_;
  double longest_us_ = 0;
  bool timed_out_ = false;  // the last run that failed
  OutsideRange outside_;
  std::unique_ptr<TwinRun> twin_;
};

bool IsDense(const GateFill* fill, const OriginalResult& reference) {
  if (fill == nullptr) return true;
  if (fill->kind != device::FillKind::kExact) return fill->dense;
  for (const ReferenceOutput& output : reference.outputs) {
    if (output.expected && !IsExact(output.original_rho)) return true;
  }
  return fill->dense;
}

std::string WhyNotJudgedBy(const OriginalResult& reference, const OriginalResult& workload) {
  if (!reference.dropped.empty()) return reference.dropped;
  if (!reference.scattered || workload.scattered) return {};
  return "the original's results depend on what lies beside its buffers";
}

bool DeclaresTolerance(const records::Workload& workload) {
  return workload.tolerance && !workload.tolerance->bitwise &&
         (workload.tolerance->relative || workload.tolerance->absolute);
}

References::References(const protocol::CandidateSet& set, const records::Case& workload,
                       const CasePlan& plan)
    : set_(set), workload_(workload), plan_(plan) {}

References::~References() = default;

// What is kept of an original is none of its results any more once it is known to vary.
static const char* KindOfOriginal(const protocol::CandidateSet& set) {
  return KnownToVary(set.original_artifact) ? "varies" : "repeats";
}

base::Result<std::shared_ptr<const OriginalResult>> References::Find(const GateFill* fill) {
  return FindKept(InputsKey(set_, plan_.name, fill), fill == nullptr,
                  [&] { return FindInputs(set_, plan_, fill); });
}

base::Result<std::shared_ptr<const OriginalResult>> References::FindOf(
    const std::string& name, const std::function<CaseInputs()>& draw) {
  return FindKept(InputsKey(set_, plan_.name, name), false,
                  [&]() -> base::Result<std::shared_ptr<const CaseInputs>> {
                    return std::make_shared<const CaseInputs>(draw());
                  });
}

base::Result<std::shared_ptr<const OriginalResult>> References::FindKept(
    const std::string& contents, bool always,
    const std::function<base::Result<std::shared_ptr<const CaseInputs>>()>& draw) {
  Kept<OriginalResult>& kept = KeptResults();
  const std::string key =
      base::Hasher().Add(contents).Add(set_.twin_artifact).Add(KindOfOriginal(set_)).Hex();
  if (auto found = kept.Find(key)) return found;
  TRY_ASSIGN(auto inputs, draw());
  OriginalResult result;
  if (always || inputs->changed) {
    TRY_ASSIGN(result, Runs().Run(std::move(inputs), always));
  } else {
    result.redundant = true;
  }
  result.key = key;
  auto reference = std::make_shared<const OriginalResult>(std::move(result));
  if (IsForThisTime(*reference)) return reference;
  kept.Put(key, reference, BytesOf(*reference));
  return reference;
}

// Whether it says nothing for others: the original took too long, for the first time.
bool References::IsForThisTime(const OriginalResult& result) {
  if (result.dropped.empty()) return false;
  static std::set<std::string>& took_too_long = *new std::set<std::string>();
  return Runs().TookTooLong() && took_too_long.insert(result.key).second;
}

base::Result<std::shared_ptr<const OriginalResult>> References::WithTwin(
    const OriginalResult& here) {
  if (auto found = KeptResults().Find(here.key); found && !found->twin_waits) return found;
  auto whole = std::make_shared<OriginalResult>(here);
  if (whole->twin_waits) TRY(Runs().AddTwin(*whole));
  KeptResults().Put(whole->key, whole, BytesOf(*whole));
  return whole;
}

base::Result<std::shared_ptr<const NearbyErrors>> References::FindNearby(const OriginalResult& here,
                                                                         bool first) {
  static Kept<NearbyErrors>& kept = *new Kept<NearbyErrors>(KeptBytes());
  const std::string key = here.key + (first ? " first" : " further");
  if (auto found = kept.Find(key)) return found;
  NearbyErrors errors;
  const int begin = first ? 0 : kFirstNearbyDraws, end = first ? kFirstNearbyDraws : kNearbyDraws;
  for (int draw = begin; draw < end; ++draw) {
    const std::optional<CaseInputs> inputs = InputsNear(plan_.layout, *here.inputs, draw);
    if (!inputs) break;
    TRY_ASSIGN(std::vector<Rho> one, Runs().RunNearby(*inputs, here));
    if (!one.empty()) errors.push_back(std::move(one));
  }
  const std::size_t bytes = key.size() + errors.size() * here.outputs.size() * sizeof(Rho);
  auto nearby = std::make_shared<const NearbyErrors>(std::move(errors));
  kept.Put(key, nearby, bytes);
  return nearby;
}

base::Result<std::shared_ptr<const QuickResult>> References::QuickOf(const std::string& name,
                                                                     const CaseInputs& inputs) {
  static Kept<QuickResult>& kept = *new Kept<QuickResult>(KeptBytes());
  const std::string key = InputsKey(set_, plan_.name, name);
  if (auto found = kept.Find(key)) return found;
  TRY_ASSIGN(QuickResult result, Runs().RunQuick(inputs));
  std::size_t bytes = sizeof result;
  for (const std::vector<std::byte>& output : result.outputs)
    bytes += sizeof(std::vector<std::byte>) + output.size();
  auto quick = std::make_shared<const QuickResult>(std::move(result));
  kept.Put(key, quick, bytes);
  return quick;
}

base::Result<std::shared_ptr<const SeriesResult>> References::SeriesOf(
    const std::string& name, const CaseInputs& inputs, const SeriesRequest& series) {
  static Kept<SeriesResult>& kept = *new Kept<SeriesResult>(KeptBytes());
  const std::string key = InputsKey(set_, plan_.name, name);
  if (auto found = kept.Find(key)) return found;
  TRY_ASSIGN(SeriesResult result, Runs().RunSeries(inputs, series));
  std::size_t bytes = sizeof result;
  for (const auto& run : result.outputs) {
    for (const auto& output : run) bytes += sizeof(std::vector<std::byte>) + output.size();
  }
  auto found = std::make_shared<const SeriesResult>(std::move(result));
  kept.Put(key, found, bytes);
  return found;
}

base::Result<> References::AskAgain(const OriginalResult& here) {
  static std::set<std::string>& asked = *new std::set<std::string>();
  if (!here.repeats || here.key.empty() || KnownToVary(set_.original_artifact)) return {};
  if (asked.size() > kMostAsked) asked.clear();
  if (!asked.insert(here.key).second) return {};
  TRY_ASSIGN(const std::vector<bool> varies, Runs().WhatVaries(here));
  if (std::find(varies.begin(), varies.end(), true) != varies.end()) {
    NoteThatItVaries(set_.original_artifact);
  }
  return {};
}

base::Result<QuickResult> References::RunOf(const CaseInputs& inputs) {
  return Runs().RunQuick(inputs);
}

References::Original& References::Runs() {
  if (!original_) original_ = std::make_unique<Original>(set_, workload_, plan_);
  return *original_;
}

static std::string PlacesOf(const CasePlan& placed) {
  base::Hasher key;
  for (const Region& region : placed.layout.regions) key.Add(std::to_string(region.offset));
  return key.Hex();
}

base::Result<std::string> References::WhyNotAt(const CasePlan& placed) {
  return WhyNotKept(placed, PlacesOf(placed), "");
}

base::Result<std::string> References::WhyNotUnder(const std::string& schedule) {
  return WhyNotKept(plan_, "schedule " + schedule, schedule);
}

base::Result<std::string> References::WhyNotKept(const CasePlan& plan, const std::string& what,
                                                 const std::string& schedule) {
  static Kept<std::string>& kept = *new Kept<std::string>(KeptBytes());
  const std::string key = base::Hasher()
                              .Add(InputsKey(set_, plan_.name, nullptr))
                              .Add(what)
                              .Add(KindOfOriginal(set_))
                              .Hex();
  if (auto found = kept.Find(key)) return *found;
  TRY_ASSIGN(const auto workload, Find(nullptr));
  TRY_ASSIGN(std::string why, Runs().WhyNotAt(plan, *workload, schedule));
  kept.Put(key, std::make_shared<const std::string>(why), key.size() + why.size());
  return why;
}

}  // namespace cupilot::worker
