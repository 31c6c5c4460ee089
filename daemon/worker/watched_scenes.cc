#include "worker/watched_scenes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "device/describe.h"
#include "host_runtime/include/cupilot_host_watch.h"
#include "worker/kept.h"
#include "worker/program.h"
#include "worker/regimes.h"
#include "worker/sizes.h"
#include "worker/steps/step.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr std::int64_t kMostWatchedBytes = std::int64_t{24} << 20;  // of a case's buffers
constexpr std::int64_t kShiftedBytes = std::int64_t{4} << 20;       // of the case elsewhere
constexpr std::int64_t kSmallBytes = std::int64_t{512} << 10;       // of another size
constexpr std::size_t kMostSizes = 3;
constexpr unsigned char kSharedPoison = 0x00;
constexpr std::size_t kKeptBytes = 1 << 20;  // of findings

using Judge = std::function<base::Result<Finding>(const WatchedScene& scene)>;

bool IsOutside(const WatchFinding& finding) {
  return finding.kind == cupilot_host_watch_outside_read ||
         finding.kind == cupilot_host_watch_outside_write;
}

// On a GPU compute-sanitizer looks as well, and a proof takes 10 s in all.
unsigned long MostAccesses(const protocol::CandidateSet& set) {
  return set.device == "host" ? 40'000'000 : 8'000'000;
}

std::size_t BytesOf(const WatchedRun& run) {
  std::size_t bytes = sizeof run;
  for (const WatchFinding& finding : run.findings) {
    bytes += sizeof finding + finding.name.size() + finding.detail.size();
  }
  return bytes;
}

Kept<WatchedRun>& KeptRuns() {
  static Kept<WatchedRun>& kept = *new Kept<WatchedRun>(kKeptBytes);
  return kept;
}

// `of`: another one for each plan and each contents.
std::string WatchedKey(const protocol::CandidateSet& set, const CasePlan& plan,
                       const std::string& of, const std::string& artifact, const Json& program) {
  return base::Hasher()
      .Add(InputsKey(set, plan.name, nullptr))
      .Add(of)
      .Add(artifact)
      .Add(program.dump())
      .Hex();
}

base::Result<std::shared_ptr<const WatchedRun>> WatchOriginal(const protocol::CandidateSet& set,
                                                              const CasePlan& plan,
                                                              const std::string& of,
                                                              const CaseInputs& inputs) {
  const Json program = ToJson(OriginalProgram(plan, set.kernel.name), plan.layout, 0);
  const std::string key = WatchedKey(set, plan, of, set.watched_original, program);
  if (auto found = KeptRuns().Find(key)) return found;
  TRY_ASSIGN(WatchedRun run, RunWatched(set.watched_original, program, plan.layout, inputs,
                                        kSharedPoison, MostAccesses(set)));
  const std::size_t bytes = BytesOf(run);
  auto original = std::make_shared<const WatchedRun>(std::move(run));
  KeptRuns().Put(key, original, bytes);
  return original;
}

std::string CaseOf(const CasePlan& plan) { return "case '" + plan.name + "'"; }

// One case, watched.
class Watched {
 public:
  // `of`: for details and notes; another one for each plan.
  // `contents`: what its inputs are changed to; empty: they stay.
  Watched(Trial& trial, const char* step, const CasePlan& plan, std::string of,
          std::shared_ptr<const CaseInputs> contents = nullptr)
      : trial_(trial),
        step_(step),
        set_(trial.set()),
        plan_(plan),
        of_(std::move(of)),
        inputs_(std::move(contents)) {}

  // Nothing where it says nothing.
  base::Result<std::optional<Finding>> Run(bool own_size, const Judge& judge) {
    auto scene = trial_.MakeScene(plan_);
    if (!scene) return std::nullopt;  // the guard does not admit it
    scene_ = std::move(*scene);
    if (!inputs_) {
      auto inputs = FindInputs(set_, plan_, nullptr);
      if (!inputs && inputs.error().code == base::ErrorCode::kInvalidArgument) return std::nullopt;
      if (!inputs) return base::Fail(inputs.error());
      inputs_ = std::move(*inputs);
    }
    TRY_ASSIGN(const auto original, WatchOriginal(set_, plan_, of_, *inputs_));
    if (!original->failed.empty() || !original->failure.empty() || original->stopped) {
      if (own_size) {
        Say(original->stopped
                ? "not looked at: the original makes too many accesses"
                : "not looked at: the original fails so: " + original->failed + original->failure);
      }
      return std::nullopt;
    }
    // At another size it may be asked for what it was not made for.
    if (!own_size && std::any_of(original->findings.begin(), original->findings.end(), IsOutside)) {
      return std::nullopt;
    }
    TRY_ASSIGN(const auto candidate, Candidate());
    const WatchedScene watched({step_, of_, set_.seed, original, candidate,
                                [this](unsigned char poison) { return RunCandidate(poison); }});
    // The original does neither.
    if (candidate->died) return std::optional(watched.Ended("crashed", candidate->failed));
    if (candidate->late) return std::optional(watched.Ended("timed_out", candidate->failed));
    if (!candidate->failed.empty()) {
      Say("not looked at: the candidate fails so: " + candidate->failed);
      return std::nullopt;
    }
    TRY_ASSIGN(Finding finding, judge(watched));
    return std::optional<Finding>(std::move(finding));
  }

 private:
  void Say(const std::string& what) { trial_.Note(step_, of_ + ": " + what); }

  base::Result<std::shared_ptr<const WatchedRun>> Candidate() {
    const std::string key = WatchedKey(set_, plan_, of_, set_.watched_candidate, scene_.program);
    if (auto found = KeptRuns().Find(key)) return found;
    TRY_ASSIGN(WatchedRun run, RunCandidate(kSharedPoison));
    const std::size_t bytes = BytesOf(run);
    auto candidate = std::make_shared<const WatchedRun>(std::move(run));
    // What failed may do so by chance.
    if (candidate->failed.empty()) KeptRuns().Put(key, candidate, bytes);
    return candidate;
  }

  base::Result<WatchedRun> RunCandidate(unsigned char poison) {
    trial_.CountLaunches(1);
    return RunWatched(set_.watched_candidate, scene_.program, scene_.plan.layout, *inputs_, poison,
                      MostAccesses(set_));
  }

  Trial& trial_;
  const char* const step_;
  const protocol::CandidateSet& set_;
  const CasePlan& plan_;
  const std::string of_;
  Trial::Scene scene_;
  std::shared_ptr<const CaseInputs> inputs_;
};

base::Result<Finding> WatchSizes(Trial& trial, const char* step, const Judge& judge,
                                 std::string& looked_at) {
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(trial.set().device));
  const CasePlan& own = trial.scene().original;
  std::size_t judged = 0;
  for (const records::Case& one : OtherSizes(trial.set().kernel, trial.workload(), own)) {
    if (judged == kMostSizes) break;
    const auto plan = PlanCase(trial.set().kernel, one, properties, nullptr);
    if (!plan || plan->layout.bytes > kSmallBytes) continue;
    Watched watched(trial, step, *plan, CaseOf(*plan));
    TRY_ASSIGN(auto finding, watched.Run(false, judge));
    if (!finding) continue;
    if (!finding->reason.empty()) return *finding;
    ++judged;
    looked_at += "; " + one.name.substr(trial.workload().name.size() + 2);
  }
  return Finding{};
}

}  // namespace

Finding WatchedScene::Ended(const std::string& reason, const std::string& how) const {
  return {reason, how + " (" + parts_.of + ", seed " + std::to_string(parts_.seed) + ", watched)",
          parts_.step};
}

base::Result<Finding> WatchScenes(Trial& trial, const char* step, const Judge& judge) {
  const protocol::CandidateSet& set = trial.set();
  if (set.watched_original.empty() || set.watched_candidate.empty()) {
    trial.Note(step, "not looked at: " +
                         (set.not_watched.empty() ? "nothing was built for it" : set.not_watched));
    return Finding{};
  }
  const CasePlan& plan = trial.scene().original;
  const std::string of = CaseOf(plan);
  std::string looked_at;
  if (plan.layout.bytes <= kMostWatchedBytes) {
    TRY_ASSIGN(auto finding, Watched(trial, step, plan, of).Run(true, judge));
    if (finding && !finding->reason.empty()) return *finding;
    if (finding) looked_at = "its own size";
  }
  if (!looked_at.empty() && plan.layout.bytes <= kShiftedBytes) {
    std::string how;
    if (const auto scene = MakeShiftedScene(trial, &how)) {
      Watched shifted(trial, step, scene->original, of + ", " + how);
      TRY_ASSIGN(auto finding, shifted.Run(false, judge));
      if (finding && !finding->reason.empty()) return *finding;
      if (finding) looked_at += "; " + how;
    }
  }
  if (!looked_at.empty() && plan.layout.bytes <= kShiftedBytes) {
    TRY_ASSIGN(const auto inputs, FindInputs(set, plan, nullptr));
    if (const auto meeting = IntegersThatMeet(plan, *inputs, set.seed)) {
      Watched met(trial, step, plan, of + ", " + meeting->name,
                  std::make_shared<const CaseInputs>(meeting->draw()));
      TRY_ASSIGN(auto finding, met.Run(false, judge));
      if (finding && !finding->reason.empty()) return *finding;
      if (finding) looked_at += "; " + meeting->name;
    }
  }
  TRY_ASSIGN(Finding finding, WatchSizes(trial, step, judge, looked_at));
  if (!finding.reason.empty()) return finding;
  trial.Note(step, looked_at.empty() ? of + ": not looked at: no size is small enough"
                                     : of + ": all are in order at " + looked_at);
  return Finding{};
}

base::Result<bool> OriginalCollides(const protocol::CandidateSet& set, const CasePlan& plan) {
  if (set.watched_original.empty() || plan.layout.bytes > kMostWatchedBytes) return false;
  TRY_ASSIGN(const auto inputs, FindInputs(set, plan, nullptr));
  TRY_ASSIGN(const auto run, WatchOriginal(set, plan, CaseOf(plan), *inputs));
  return std::any_of(run->findings.begin(), run->findings.end(), [](const WatchFinding& finding) {
    return finding.kind == cupilot_host_watch_global_race;
  });
}

bool IsUndefined(const WatchFinding& finding) {
  return finding.kind >= cupilot_host_watch_signed_overflow;
}

}  // namespace cupilot::worker
