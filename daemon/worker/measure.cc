#include "worker/measure.h"

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "device/describe.h"
#include "worker/admission.h"
#include "worker/case_inputs.h"
#include "worker/check_nearby.h"
#include "worker/checks/check.h"
#include "worker/device_turn.h"
#include "worker/floor.h"
#include "worker/lease.h"
#include "worker/pair_loop.h"
#include "worker/program.h"
#include "worker/reference.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

using records::Json;
using std::chrono::milliseconds;

// Longer than a proof holds it at a time: its profile, or a tool that is slow.
constexpr milliseconds kLockLimit{180000};
constexpr std::size_t kMostPairs = 60;
constexpr std::size_t kLeastPairs = 6;
// What a finalist gets where launches are long: so many pairs, or so much time.
constexpr std::size_t kGoodPairs = 20;
constexpr double kGoodSeconds = 0.4;
// Of a case with so much a search looks at its candidates first, and several looks have one
// original.
constexpr std::int64_t kLooksFrom = 16 << 20;
constexpr std::size_t kSurePairs = 10;  // before an interval may end it
constexpr std::size_t kSureEvery = 5;

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

// One case's two programs and where their buffers lie.
struct Subject {
  const protocol::MeasureRequest& request;
  const records::Case& workload;
  const CasePlan& original;
  const CasePlan& plan;  // the same regions, and the candidate's workspaces behind them
  const Program& first;  // that the candidate is measured against
  const Program& candidate;
};

Json QuestionAbout(const Subject& subject) {
  return {{"op", "pairs"},
          {"modules", {0, 1}},
          {"seconds", subject.request.max_seconds},
          {"probe_limit", subject.request.probe_limit},
          {"most_pairs", subject.request.probe ? kProbePairs : kMostPairs},
          {"probe", subject.request.probe},
          {"promising", subject.request.promising}};
}

// The outputs, which hold poison before the launch that is looked at.
Json PoisonList(const Layout& layout, std::int64_t copy) {
  Json list = Json::array();
  for (const Region& region : layout.regions) {
    if (region.input || !region.output) continue;
    list.push_back({copy + region.offset, region.bytes(), std::to_integer<int>(kPoison)});
  }
  return list;
}

struct Measured {
  Json reply;
  Finding finding;  // about the results of the last launch
};

// What the candidate leaves among timed launches: those before were about the same launch by
// itself.
base::Result<Finding> LookAtResults(const Subject& subject, std::span<const std::byte> arena) {
  const protocol::CandidateSet& set = subject.request.set;
  References references(set, subject.workload, subject.original);
  TRY_ASSIGN(auto reference, references.Find(nullptr));
  // When the candidate was verified it did.
  if (!reference->dropped.empty()) {
    return base::Fail(
        base::InvalidArgument("the original of '" + set.kernel.name +
                              "' cannot be judged on this workload: " + reference->dropped));
  }
  const auto observe = [&] {
    return Observation{set,          subject.original,
                       subject.plan, *reference,
                       arena,        "of the workload, after timed runs",
                       true,         {}};
  };
  if (NeedsTwin(observe())) {
    TRY_ASSIGN(reference, references.WithTwin(*reference));
  }
  const Observation seen = observe();
  Errors errors;
  TRY_ASSIGN(Finding finding,
             CheckNearby(references, seen, errors, [](const CheckRow&) { return true; }));
  // It wrote them all when it was verified.
  if (finding.reason == "unwritten_output") finding.reason = "stateful";
  return Because(std::move(finding), "stateful");
}

// Results of what was stopped are few, and both of a duel were looked at when they were measured.
bool OnlyTimed(const Subject& subject, const Measured& measured) {
  return subject.request.probe || subject.request.rival ||
         measured.reply.value("stopped_early", false);
}

milliseconds LimitFor(const protocol::MeasureRequest& request) {
  return milliseconds(static_cast<int>(1000 * request.max_seconds * 8) + 20000);
}

Role RoleOf(const protocol::MeasureRequest& request) {
  return request.confirm ? Role::kFinalist : Role::kCandidate;
}

base::Result<Measured> PairsOnHost(const Subject& subject) {
  const protocol::CandidateSet& set = subject.request.set;
  const Layout& layout = subject.plan.layout;
  const std::int64_t stride = (layout.bytes + 4095) / 4096 * 4096;
  TRY_ASSIGN(const auto inputs, FindInputs(set, subject.original, nullptr));
  TRY_ASSIGN(const Lease lease,
             Lease::Take(set.device, Role::kCandidate, static_cast<std::size_t>(3 * stride),
                         {set.original_artifact, set.candidate_artifact}));
  for (int copy = 0; copy < 3; ++copy) {
    PrepareArena(layout, *inputs, kPoison,
                 lease.memory().subspan(static_cast<std::size_t>(copy * stride),
                                        static_cast<std::size_t>(layout.bytes)));
  }
  const Program& first = subject.first;
  const std::int64_t copies[2] = {0, stride};
  Json question = QuestionAbout(subject);
  question["programs"] = {ToJson(first, layout, copies[0]), ToJson(first, layout, copies[1]),
                          ToJson(subject.candidate, layout, copies[0]),
                          ToJson(subject.candidate, layout, copies[1])};
  question["restore"] = RestoreList(layout, 2 * stride, copies);
  question["poison"] = PoisonList(layout, copies[1]);
  Measured measured;
  TRY_ASSIGN(measured.reply, lease.runner().Ask(question, LimitFor(subject.request)));
  if (OnlyTimed(subject, measured)) return measured;
  TRY_ASSIGN(measured.finding, LookAtResults(subject, lease.memory().subspan(
                                                          static_cast<std::size_t>(copies[1]),
                                                          static_cast<std::size_t>(layout.bytes))));
  return measured;
}

// What PrepareArena makes of the workload's own inputs.
std::string ContentsKey(const protocol::CandidateSet& set, const std::string& case_name,
                        const Layout& layout) {
  base::Hasher hasher;
  hasher.Add(DrawnKey(set, case_name, nullptr));
  hasher.Add(std::to_string(layout.bytes));
  for (const Region& region : layout.regions) {
    hasher.Add(std::to_string(region.offset) + " " + std::to_string(region.bytes()) +
               (region.input ? " in" : "") + (region.output ? " out" : ""));
  }
  return hasher.Hex();
}

// Looks may run beside the toolkit's tools, verdicts may not.
base::Result<QuietTurn> TurnFor(const Subject& subject) {
  const std::string& device = subject.request.set.device;
  if (!subject.request.probe) return TakeTurnToMeasure(device, kLockLimit);
  QuietTurn turn;
  TRY_ASSIGN(turn.device, TakeTurnToLook(device, kLockLimit));
  return turn;
}

// The runner makes the copies itself, in the GPU's memory.
base::Result<Measured> PairsOnGpu(const Subject& subject, bool only_original = false) {
  const protocol::CandidateSet& set = subject.request.set;
  const Layout& layout = subject.plan.layout;
  TRY_ASSIGN(const Lease lease, Lease::Take(set.device, RoleOf(subject.request),
                                            static_cast<std::size_t>(layout.bytes),
                                            {set.original_artifact, set.candidate_artifact}));
  const std::string contents = ContentsKey(set, subject.original.name, layout);
  if (lease.held() != contents) {
    TRY_ASSIGN(const auto inputs, FindInputs(set, subject.original, nullptr));
    PrepareArena(layout, *inputs, kPoison, lease.memory());
  }
  Json question = QuestionAbout(subject);
  question["bytes"] = layout.bytes;
  question["only_original"] = only_original;
  const Json original = ToJson(subject.first, layout, 0);
  question["programs"] = {original, ToJson(subject.candidate, layout, 0)};
  if (subject.request.probe) {
    question["contents"] =
        base::Hasher().Add(contents).Add(set.original_artifact).Add(original.dump()).Hex();
  }
  question["restore"] = Json::array();
  for (const Region& region : layout.regions) {
    if (region.input && region.output) {
      question["restore"].push_back({region.offset, region.bytes()});
    }
  }
  question["poison"] = PoisonList(layout, 0);
  Measured measured;
  {
    // What begins before and what is looked at behind it may be beside others.
    TRY_ASSIGN(const QuietTurn turn, TurnFor(subject));
    TRY_ASSIGN(measured.reply, lease.runner().Ask(question, LimitFor(subject.request)));
  }
  measured.reply["resources"] = lease.runner().resources();
  // A probe works on copies: what the next one needs is there.
  if (subject.request.probe) lease.Hold(contents);
  if (OnlyTimed(subject, measured)) return measured;
  TRY_ASSIGN(
      measured.finding,
      LookAtResults(subject, lease.memory().subspan(0, static_cast<std::size_t>(layout.bytes))));
  return measured;
}

// No candidate causes these: a lock or memory that cannot be had.
bool IsOfTheEnvironment(base::ErrorCode code) {
  return code == base::ErrorCode::kUnavailable || code == base::ErrorCode::kIo ||
         code == base::ErrorCode::kInternal;
}

}  // namespace

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
  return n >= kSurePairs && n % kSureEvery == 0 && base::RatioOf(pairs).high < 1.0;
}

namespace {

class Measurement {
 public:
  Measurement(const protocol::MeasureRequest& request, device::Properties properties)
      : request_(request),
        properties_(std::move(properties)),
        on_gpu_(request.set.device != "host") {}

  base::Result<protocol::MeasureReply> Run() {
    const Admission admission = Admit(request_.set, properties_);
    if (admission.cases.empty()) Fail("invalid_launch", kAdmitsNone);
    if (request_.rival && !(admission.left.empty() && RivalRunsAll())) {
      Fail("invalid_launch", "the two do not run the same cases");
      return std::move(reply_);
    }
    reply_.device = {properties_.name, properties_.architecture, properties_.sm_count,
                     properties_.memory_bytes};
    // What the original writes is kept from the verification before; runs otherwise.
    std::vector<Traffic> traffic(admission.cases.size());
    const bool alone = !request_.probe && !request_.rival;  // against the original
    if (alone) {
      TRY_ASSIGN(traffic, TrafficOf(request_.set, admission.cases, properties_));
    }
    DeviceTurn turn;  // on a GPU only the timed part takes one (TurnFor)
    if (!on_gpu_) {
      TRY_ASSIGN(turn, TakeDeviceTurn(device::DeviceLockPath("host"), kLockLimit));
    }
    if (alone) {
      TRY_ASSIGN(rates_, RatesOf(request_.set.device, properties_, request_.set.work_folder));
    }
    for (std::size_t i = 0; i < traffic.size(); ++i) {
      TRY(MeasureCase(admission.cases[i], traffic[i]));
      if (reply_.failed && reply_.reason != "faster_than_physics") break;
    }
    for (const std::string& name : admission.left) {
      reply_.cases.push_back(records::LeftToOriginal(name));
    }
    return std::move(reply_);
  }

 private:
  base::Result<> MeasureCase(const records::Case& workload, const Traffic& traffic) {
    const protocol::CandidateSet& set = request_.set;
    TRY_ASSIGN(const CasePlan original, PlanCase(set.kernel, workload, properties_, nullptr));
    CasePlan plan = original;
    TRY_ASSIGN(const Program program, VariantProgram(set.kernel, set.variant, plan));
    // Each has its workspaces behind the buffers, where the other's are as well: neither finds
    // anything in them.
    CasePlan rivals = original;
    Program first = OriginalProgram(original, set.kernel.name);
    if (request_.rival) {
      TRY_ASSIGN(first, VariantProgram(set.kernel, *request_.rival, rivals));
      plan.layout.bytes = std::max(plan.layout.bytes, rivals.layout.bytes);
    }
    const Subject subject{request_, workload, original, plan, first, program};
    auto measured = on_gpu_ ? PairsOnGpu(subject) : PairsOnHost(subject);
    // A file that cannot be opened now may be soon: kIo would end the kernel's search.
    if (!measured && IsOfTheEnvironment(measured.error().code)) {
      return base::Fail(base::Unavailable(measured.error().message));
    }
    if (!measured) {
      Fail(measured.error().code == base::ErrorCode::kTimeout ? "timed_out" : "crashed",
           "while it was measured: " + measured.error().message);
      return {};
    }
    if (!measured->finding.reason.empty()) {
      Fail(measured->finding.reason, measured->finding.detail);
      return {};
    }
    const Json& reply = measured->reply;
    const PairsTaken taken = PairsFrom(reply);
    if (taken.pairs.size() < (request_.probe ? std::size_t{1} : kProbePairs)) {
      Fail("unstable_timing", "fewer than three pairs within the time limit");
      return {};
    }
    const base::PairedRatio ratio = base::RatioOf(taken.pairs);
    records::CaseResult result = ResultOf(workload.name, taken.pairs, ratio);
    result.l2 = on_gpu_ ? "cold" : "warm";
    if (request_.rival) {
      reply_.stopped_early = reply_.stopped_early || taken.stopped_early;
      reply_.cases.push_back(std::move(result));
      return {};
    }
    if (request_.probe) {
      result.speedup =
          std::clamp(base::MedianRatioOf(taken.pairs), result.interval[0], result.interval[1]);
      reply_.stopped_early = reply_.stopped_early || taken.stopped_early;
      reply_.cases.push_back(std::move(result));
      return {};
    }
    const FloorResult floor = CompareWithFloor(*rates_, traffic.bytes(), ratio.first, ratio.second);
    result.floor_us = floor.floor_us;
    if (floor.impossible) {
      Fail("faster_than_physics", "case '" + workload.name + "' would take " +
                                      std::to_string(ratio.second) + " us, and its " +
                                      std::to_string(traffic.bytes()) +
                                      " bytes of necessary traffic take at least " +
                                      std::to_string(floor.floor_us) + " us");
    }
    reply_.stopped_early = reply_.stopped_early || taken.stopped_early;
    reply_.cases.push_back(std::move(result));
    if (on_gpu_) AddGpuFacts(workload, reply);
    reply_.metrics[workload.name]["necessary"] = {{"read", traffic.read},
                                                  {"written", traffic.written}};
    return {};
  }

  bool RivalRunsAll() const {
    protocol::CandidateSet set = request_.set;
    set.variant = *request_.rival;
    return Admit(set, properties_).left.empty();
  }

  static records::CaseResult ResultOf(const std::string& name, const TimedPairs& pairs,
                                      const base::PairedRatio& ratio) {
    records::CaseResult result;
    result.name = name;
    result.original_us = ratio.first;
    result.variant_us = ratio.second;
    result.speedup = ratio.ratio;
    result.interval = {ratio.low, ratio.high};
    if (pairs.size() == 1) {
      result.interval = {ratio.ratio / kOneIsOff, ratio.ratio * kOneIsOff};
    }
    result.samples = static_cast<std::int64_t>(pairs.size());
    return result;
  }

  void AddGpuFacts(const records::Case& workload, const Json& measured) {
    Json facts = {{"copies", measured.value("copies", 0)},
                  {"launches_a_sample", measured.value("launches", 0)},
                  {"graph", measured.value("graph", false)},
                  {"dropped_pairs", measured.value("dropped", 0)}};
    if (measured.contains("warm")) {
      const PairsTaken warm = PairsFrom(measured["warm"]);
      if (warm.pairs.size() >= 3) {
        records::CaseResult result = ResultOf(workload.name, warm.pairs, base::RatioOf(warm.pairs));
        result.l2 = "warm";
        reply_.cases.push_back(std::move(result));
      }
    }
    reply_.metrics[workload.name] = std::move(facts);
    // Module 1 holds the candidate, and the original beside it.
    const Json& resources = measured["resources"];
    if (resources.size() < 2) return;
    for (const auto& [kernel, needs] : resources[1].items()) {
      if (kernel == request_.set.kernel.name) continue;
      reply_.resources.registers =
          std::max(reply_.resources.registers, needs.value("registers", std::int64_t{0}));
      reply_.resources.shared_bytes =
          std::max(reply_.resources.shared_bytes, needs.value("shared_bytes", std::int64_t{0}));
      reply_.resources.local_bytes =
          std::max(reply_.resources.local_bytes, needs.value("local_bytes", std::int64_t{0}));
    }
  }

  void Fail(const std::string& reason, std::string detail) {
    reply_.failed = true;
    reply_.reason = reason;
    reply_.detail = std::move(detail);
  }

  const protocol::MeasureRequest& request_;
  device::Properties properties_;
  bool on_gpu_;
  PeakRates* rates_ = nullptr;
  protocol::MeasureReply reply_;
};

}  // namespace

base::Result<records::Json> BeginDevice(const records::Json& params) {
  const std::string device = params.value("device", "host");
  if (device != "host") {
    Lease::BeginKept(device, Role::kCandidate, {params.value("artifacts", "") + "/artifact"});
    Lease::BeginContext(device, Role::kCandidate);
  }
  return Json::object();
}

namespace {

// A look at the original itself: the copies of its buffers are made, and a long one is timed.
base::Result<> TimeOriginal(const protocol::CandidateSet& set, const CasePlan& plan) {
  protocol::MeasureRequest look;
  look.set = set;
  look.set.candidate_artifact = set.original_artifact;
  look.probe = true;
  const Program program = OriginalProgram(plan, set.kernel.name);
  TRY(PairsOnGpu({look, set.workload.cases.front(), plan, plan, program, program}, true));
  return {};
}

}  // namespace

base::Result<records::Json> PrepareDevice(const records::Json& params) {
  TRY_ASSIGN(const protocol::CandidateSet set, protocol::ParseCandidateSet(params));
  Json prepared = {{"prepared", false}};
  if (set.device == "host" || set.workload.cases.empty()) return prepared;
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(set.device));
  TRY_ASSIGN(const CasePlan plan,
             PlanCase(set.kernel, set.workload.cases.front(), properties, nullptr));
  const std::string contents = ContentsKey(set, plan.name, plan.layout);
  const bool built = base::FileExists(set.original_artifact);
  if (built && plan.layout.bytes < kLooksFrom) return prepared;
  {
    TRY_ASSIGN(const Lease lease,
               Lease::TakeUnloaded(
                   set.device, Role::kCandidate, static_cast<std::size_t>(plan.layout.bytes),
                   {set.original_artifact}, contents, [&](std::span<std::byte> memory) {
                     return DrawArena(set, plan, kPoison, memory);
                   }));
    lease.Hold(contents);
  }
  if (built) TRY(TimeOriginal(set, plan));
  prepared["prepared"] = true;
  return prepared;
}

base::Result<protocol::MeasureReply> Measure(const protocol::MeasureRequest& request) {
  TRY_ASSIGN(device::Properties properties, device::DescribeDevice(request.set.device));
  return Measurement(request, std::move(properties)).Run();
}

}  // namespace cupilot::worker
