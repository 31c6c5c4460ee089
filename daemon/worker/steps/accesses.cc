// What the candidate's threads read and write: no two of them at once what nothing orders, and
// nothing that is not theirs. Results need not show it: it is found by what orders accesses
// (cupilot_host_watch.h), on the workload's own inputs and on small sizes, in one run of a build of
// its own. That build is for the host device also where the candidate is for a GPU: what orders
// accesses is the language's, not the device's.
//
// What the original does too, on the same buffer (or in shared memory), does not count.
#include <algorithm>
#include <set>
#include <utility>

#include "host_runtime/include/cupilot_host_watch.h"
#include "worker/steps/step.h"
#include "worker/watched_scenes.h"

namespace cupilot::worker {
namespace {

constexpr const char* kAccessesStep = "accesses";
// What shared memory holds before it is written, after zeros: great numbers, no numbers.
constexpr unsigned char kOtherPoisons[] = {0x7f, 0xff};

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

class Judgement {
 public:
  Judgement(Trial& trial, const WatchedScene& scene) : trial_(trial), scene_(scene) {}

  base::Result<Finding> Run() {
    const WatchedRun& run = scene_.candidate();
    if (!run.failure.empty()) return scene_.Ended("crashed", run.failure);
    std::set<std::pair<int, std::string>> of_original;
    for (const WatchFinding& finding : scene_.original().findings) {
      of_original.insert(KeyOf(finding));
    }
    // A barrier that is missing shows as both.
    std::vector<WatchFinding> findings = run.findings;
    std::erase_if(findings, IsUndefined);
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
      finding.detail += scene_.Place();
      finding.check = kAccessesStep;
      return finding;
    }
    if (run.stopped) Say("the candidate makes too many accesses: not all were looked at");
    return Finding{};
  }

 private:
  void Say(const std::string& what) { trial_.Note(kAccessesStep, scene_.of() + ": " + what); }

  // A thread may load what nobody wrote and not use it; so the question is whether results follow
  // it. Nothing else differs between these runs.
  base::Result<Finding> JudgeUnwritten(const WatchFinding& found, const WatchedRun& run) {
    if (run.stopped) return Finding{};
    for (const unsigned char poison : kOtherPoisons) {
      TRY_ASSIGN(const WatchedRun other, scene_.Again(poison));
      if (other.failed.empty() && other.outputs == run.outputs) continue;
      return Finding{"nondeterministic", found.detail + ", and results follow what was there"};
    }
    Say("does not count, since no result follows it: " + found.detail);
    return Finding{};
  }

  Trial& trial_;
  const WatchedScene& scene_;
};

}  // namespace

base::Result<Finding> StepAccesses(Trial& trial) {
  return WatchScenes(trial, kAccessesStep,
                     [&](const WatchedScene& scene) { return Judgement(trial, scene).Run(); });
}

}  // namespace cupilot::worker
