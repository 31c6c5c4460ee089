// What the candidate's threads read and write: no two of them at once what nothing orders, and
// nothing that is not theirs. Results need not show it: it is found by what orders accesses
// (cupilot_host_watch.h), on the workload's own inputs and on small sizes, in one run of a build of
// its own. That build is for the host device also where the candidate is for a GPU: what orders
// accesses is the language's, not the device's.
//
// What the original does too, on the same buffer (or in shared memory), does not count.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "device/describe.h"
#include "host_runtime/include/cupilot_host_watch.h"
#include "worker/kept.h"
#include "worker/program.h"
#include "worker/sizes.h"
#include "worker/steps/step.h"
#include "worker/watched_run.h"

namespace cupilot::worker {
namespace {

using records::Json;

constexpr const char* kAccessesStep = "accesses";
constexpr std::int64_t kMostWatchedBytes = std::int64_t{24} << 20;  // of a case's buffers
constexpr std::int64_t kShiftedBytes = std::int64_t{4} << 20;       // of the case elsewhere
constexpr std::int64_t kSmallBytes = std::int64_t{512} << 10;       // of another size
constexpr std::size_t kMostSizes = 3;
// What shared memory holds before it is written: zeros, great numbers, no numbers.
constexpr unsigned char kPoisons[] = {0x00, 0x7f, 0xff};
constexpr std::size_t kKeptBytes = 1 << 20;  // of findings of originals

// What the original is asked for of a finding: findings are the same if this is.
std::pair<int, std::string> KeyOf(const WatchFinding& finding) {
  switch (finding.kind) {
    case cupilot_host_watch_shared_race:
    case cupilot_host_watch_unwritten_shared:
      return {finding.kind, ""};  // its arrays are its own
    default:
      return {finding.kind, finding.name.substr(0, finding.name.find('['))};  // of any slice
  }
}

bool IsOutside(const WatchFinding& finding) {
  return finding.kind == cupilot_host_watch_outside_read ||
         finding.kind == cupilot_host_watch_outside_write;
}

Finding FindingOf(const WatchFinding& found) {
  switch (found.kind) {
    case cupilot_host_watch_shared_race:
    case cupilot_host_watch_global_race:
      return {"race", found.detail};
    case cupilot_host_watch_outside_read:
    case cupilot_host_watch_outside_write:
      return {"out_of_bounds", found.detail};
    case cupilot_host_watch_read_only_write:
      return {"modified_input", "an input is written, though it may be put back: " + found.detail};
    case cupilot_host_watch_constant_write:
      return {"stateful", "constant memory is written: " + found.detail};
    case cupilot_host_watch_unwritten_memory:
      return {"stateful", "a workspace holds what an earlier call has left, or anything: " +
                              found.detail + "; it has to be written first, or \"zeroed\""};
    case cupilot_host_watch_misaligned:
      return {"crashed", found.detail + ": a GPU ends the launch there"};
    default:
      return {};
  }
}

// One case, watched.
class Watched {
 public:
  // `of`: for details and notes; another one for each plan.
  Watched(Trial& trial, const CasePlan& plan, std::string of)
      : trial_(trial), set_(trial.set()), plan_(plan), of_(std::move(of)) {}

  // Nothing where it says nothing.
  base::Result<std::optional<Finding>> Run(bool own_size) {
    auto scene = trial_.MakeScene(plan_);
    if (!scene) return std::nullopt;  // the guard does not admit it
    scene_ = std::move(*scene);
    auto inputs = FindInputs(set_, plan_, nullptr);
    if (!inputs && inputs.error().code == base::ErrorCode::kInvalidArgument) return std::nullopt;
    if (!inputs) return base::Fail(inputs.error());
    inputs_ = std::move(*inputs);
    TRY_ASSIGN(const auto original, Original());
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
    TRY_ASSIGN(const WatchedRun run, RunCandidate(kPoisons[0]));
    // The original does neither.
    if (run.died) return std::optional<Finding>(Ended("crashed", run.failed));
    if (run.late) return std::optional<Finding>(Ended("timed_out", run.failed));
    if (!run.failed.empty()) {
      Say("not looked at: the candidate fails so: " + run.failed);
      return std::nullopt;
    }
    return Judge(*original, run);
  }

 private:
  Finding Ended(const std::string& reason, const std::string& how) const {
    return {reason, how + " (" + of_ + ", seed " + std::to_string(set_.seed) + ", watched)",
            kAccessesStep};
  }
  // On a GPU compute-sanitizer looks as well, and a proof takes 10 s in all.
  unsigned long MostAccesses() const { return set_.device == "host" ? 40'000'000 : 8'000'000; }
  void Say(const std::string& what) { trial_.Note(kAccessesStep, of_ + ": " + what); }

  base::Result<std::shared_ptr<const WatchedRun>> Original() {
    static Kept<WatchedRun>& kept = *new Kept<WatchedRun>(kKeptBytes);
    const std::string key = base::Hasher()
                                .Add(InputsKey(set_, plan_.name, nullptr))
                                .Add(of_)
                                .Add(set_.watched_original)
                                .Hex();
    if (auto found = kept.Find(key)) return found;
    const Json program = ToJson(OriginalProgram(plan_, set_.kernel.name), plan_.layout, 0);
    TRY_ASSIGN(WatchedRun run, RunWatched(set_.watched_original, program, plan_.layout, *inputs_,
                                          kPoisons[0], MostAccesses()));
    run.outputs.clear();
    std::size_t bytes = sizeof run;
    for (const WatchFinding& finding : run.findings) {
      bytes += sizeof finding + finding.name.size() + finding.detail.size();
    }
    auto original = std::make_shared<const WatchedRun>(std::move(run));
    kept.Put(key, original, bytes);
    return original;
  }

  base::Result<WatchedRun> RunCandidate(unsigned char poison) {
    trial_.CountLaunches(1);
    return RunWatched(set_.watched_candidate, scene_.program, scene_.plan.layout, *inputs_, poison,
                      MostAccesses());
  }

  base::Result<std::optional<Finding>> Judge(const WatchedRun& original, const WatchedRun& run) {
    if (!run.failure.empty()) return std::optional<Finding>(Ended("crashed", run.failure));
    std::set<std::pair<int, std::string>> of_original;
    for (const WatchFinding& finding : original.findings) of_original.insert(KeyOf(finding));
    // A barrier that is missing shows as both.
    std::vector<WatchFinding> findings = run.findings;
    std::stable_partition(findings.begin(), findings.end(), [](const WatchFinding& finding) {
      return finding.kind != cupilot_host_watch_unwritten_shared;
    });
    for (const WatchFinding& found : findings) {
      if (of_original.contains(KeyOf(found))) {
        Say("does not count, since the original does the like: " + found.detail);
        continue;
      }
      Finding finding = FindingOf(found);
      if (found.kind == cupilot_host_watch_unwritten_shared) {
        TRY_ASSIGN(finding, JudgeUnwritten(found, run));
      }
      if (finding.reason.empty()) continue;
      finding.detail += " (" + of_ + ", seed " + std::to_string(set_.seed) + ")";
      finding.check = kAccessesStep;
      return std::optional<Finding>(std::move(finding));
    }
    if (run.stopped) Say("the candidate makes too many accesses: not all were looked at");
    return std::optional<Finding>(Finding{});
  }

  // A thread may load what nobody wrote and not use it; so the question is whether results follow
  // it. Nothing else differs between these runs.
  base::Result<Finding> JudgeUnwritten(const WatchFinding& found, const WatchedRun& run) {
    if (run.stopped) return Finding{};
    for (const unsigned char poison : kPoisons) {
      if (poison == kPoisons[0]) continue;
      TRY_ASSIGN(const WatchedRun other, RunCandidate(poison));
      if (other.failed.empty() && other.outputs == run.outputs) continue;
      return Finding{"nondeterministic", found.detail + ", and results follow what was there"};
    }
    Say("does not count, since no result follows it: " + found.detail);
    return Finding{};
  }

  Trial& trial_;
  const protocol::CandidateSet& set_;
  const CasePlan& plan_;
  const std::string of_;
  Trial::Scene scene_;
  std::shared_ptr<const CaseInputs> inputs_;
};

base::Result<Finding> JudgeSizes(Trial& trial, std::size_t most, std::string& looked_at) {
  TRY_ASSIGN(const device::Properties properties, device::DescribeDevice(trial.set().device));
  const CasePlan& own = trial.scene().original;
  std::size_t judged = 0;
  for (const records::Case& one : OtherSizes(trial.set().kernel, trial.workload(), own)) {
    if (judged == most) break;
    const auto plan = PlanCase(trial.set().kernel, one, properties, nullptr);
    if (!plan || plan->layout.bytes > kSmallBytes) continue;
    TRY_ASSIGN(auto finding, Watched(trial, *plan, "case '" + plan->name + "'").Run(false));
    if (!finding) continue;
    if (!finding->reason.empty()) return *finding;
    ++judged;
    looked_at += "; " + one.name.substr(trial.workload().name.size() + 2);
  }
  return Finding{};
}

}  // namespace

base::Result<Finding> StepAccesses(Trial& trial) {
  const protocol::CandidateSet& set = trial.set();
  if (set.watched_original.empty() || set.watched_candidate.empty()) {
    trial.Note(kAccessesStep,
               "not looked at: " +
                   (set.not_watched.empty() ? "nothing was built for it" : set.not_watched));
    return Finding{};
  }
  const CasePlan& plan = trial.scene().original;
  const std::string of = "case '" + plan.name + "'";
  std::string looked_at;
  if (plan.layout.bytes <= kMostWatchedBytes) {
    TRY_ASSIGN(auto finding, Watched(trial, plan, of).Run(true));
    if (finding && !finding->reason.empty()) return *finding;
    if (finding) looked_at = "its own size";
  }
  if (!looked_at.empty() && plan.layout.bytes <= kShiftedBytes) {
    std::string how;
    if (const auto scene = MakeShiftedScene(trial, &how)) {
      TRY_ASSIGN(auto finding, Watched(trial, scene->original, of + ", " + how).Run(false));
      if (finding && !finding->reason.empty()) return *finding;
      if (finding) looked_at += "; " + how;
    }
  }
  TRY_ASSIGN(Finding finding, JudgeSizes(trial, kMostSizes, looked_at));
  if (!finding.reason.empty()) return finding;
  trial.Note(kAccessesStep, looked_at.empty() ? of + ": not looked at: no size is small enough"
                                              : of + ": all are in order at " + looked_at);
  return Finding{};
}

}  // namespace cupilot::worker
