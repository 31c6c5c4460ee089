#include "tests/bench/search/compare.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"

namespace cupilot::bench {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ArmsOf(const Options& options) {
  std::vector<std::string> names;
  for (const Arm& arm : Arms()) {
    const bool wanted = options.arms.empty() || std::find(options.arms.begin(), options.arms.end(),
                                                          arm.name) != options.arms.end();
    if (wanted) names.emplace_back(arm.name);
  }
  return names;
}

std::vector<std::string> RecordedKernels(const Options& options) {
  if (!options.kernels.empty()) return options.kernels;
  std::set<std::string> kernels;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(options.recordings, error)) {
    if (entry.is_directory()) kernels.insert(entry.path().filename());
  }
  return {kernels.begin(), kernels.end()};
}

void Add(ArmRun run, const Recording& recording, Comparison& comparison) {
  comparison.evaluations = std::max(comparison.evaluations, recording.evaluations);
  comparison.open_requests += run.open_requests;
  if (run.open_requests == 0) comparison.curves.push_back(std::move(run.curve));
}

// Where a recording stands until its arm has ended: nothing is compared from it.
std::string PartPath(const Options& options, const std::string& kernel, const std::string& arm) {
  return RecordingPath(options.recordings, kernel, arm) + ".part";
}

// The recording of an arm, whole or not; empty: it was never recorded.
std::string LatestPath(const Options& options, const std::string& kernel, const std::string& arm) {
  const std::string part = PartPath(options, kernel, arm);
  if (base::FileExists(part)) return part;
  const std::string whole = RecordingPath(options.recordings, kernel, arm);
  return base::FileExists(whole) ? whole : "";
}

// A whole recording takes the place of what there was; one that is not leaves it alone.
base::Result<> Keep(const Options& options, const Recording& recording, bool whole) {
  const std::string part = PartPath(options, recording.kernel, recording.arm);
  if (!whole) return WriteRecording(part, recording);
  TRY(WriteRecording(RecordingPath(options.recordings, recording.kernel, recording.arm),
                     recording));
  return base::RemoveTree(part);
}

// All that any arm of the kernel was told.
base::Result<Facts> KnownFacts(const Options& options, const std::string& kernel) {
  Facts facts;
  for (const Arm& arm : Arms()) {
    const std::string path = LatestPath(options, kernel, std::string(arm.name));
    if (path.empty()) continue;
    TRY_ASSIGN(const Recording recording, ReadRecording(path));
    facts.replies.insert(recording.facts.replies.begin(), recording.facts.replies.end());
    facts.evaluations.insert(recording.facts.evaluations.begin(),
                             recording.facts.evaluations.end());
  }
  return facts;
}

// Of a run that did not get to its end nothing is forgotten that was recorded before.
Recording Joined(Recording used, const Recording& before) {
  used.facts.replies.insert(before.facts.replies.begin(), before.facts.replies.end());
  used.facts.evaluations.insert(before.facts.evaluations.begin(), before.facts.evaluations.end());
  const auto same = [](const agents::ModelRequest& a, const agents::ModelRequest& b) {
    return a.role == b.role && a.system == b.system && a.prompt == b.prompt && a.sample == b.sample;
  };
  for (const agents::ExchangeRecord& one : before.exchanges) {
    const bool known = std::any_of(
        used.exchanges.begin(), used.exchanges.end(),
        [&](const agents::ExchangeRecord& other) { return same(one.request, other.request); });
    if (!known) used.exchanges.push_back(one);
  }
  return used;
}

// What the arm was told so far; what is new where it was never recorded.
base::Result<Recording> RecordedBefore(const Options& options, const Recording& fresh,
                                       const std::string& arm) {
  const std::string path = LatestPath(options, fresh.kernel, arm);
  Recording recording = fresh;
  recording.arm = arm;
  recording.evaluations = kEvaluationsOfArm;
  recording.requests = kRequestsOfArm;
  if (!path.empty()) {
    TRY_ASSIGN(recording, ReadRecording(path));
    if (recording.scanned.key != fresh.scanned.key || recording.workload != fresh.workload ||
        recording.identity != fresh.identity) {
      return base::Fail(base::InvalidArgument(
          path +
          " is of an earlier text of the kernel, of another workload or of another device; "
          "remove the kernel's folder to record it anew"));
    }
  }
  if (options.evaluations) recording.evaluations = *options.evaluations;
  if (options.requests) recording.requests = *options.requests;
  if (options.seed) recording.seed = *options.seed;
  return recording;
}

}  // namespace

base::Result<Comparison> CompareRecorded(loop::Loop& loop, const base::Clock& clock,
                                         const Options& options, const Say& say) {
  Comparison comparison;
  for (const std::string& kernel : RecordedKernels(options)) {
    for (const std::string& arm : ArmsOf(options)) {
      const std::string path = RecordingPath(options.recordings, kernel, arm);
      if (!base::FileExists(path)) {
        say(kernel + ": " + arm + " was not recorded");
        continue;
      }
      TRY_ASSIGN(const Recording recording, ReadRecording(path));
      auto run = RunArm(loop, clock, *FindArm(arm), recording, nullptr);
      if (!run) return base::Fail(run.error().In(path));
      Add(std::move(*run), recording, comparison);
    }
  }
  if (comparison.curves.empty()) {
    return base::Fail(base::NotFound("nothing was recorded in " + options.recordings +
                                     "; --live makes recordings"));
  }
  return comparison;
}

base::Result<Comparison> CompareLive(loop::Loop& loop, const base::Clock& clock,
                                     const Options& options, LiveMachine& machine, const Say& say) {
  Comparison comparison;
  std::vector<std::string> kernels = options.kernels;
  if (kernels.empty()) kernels.assign(std::begin(kKernels), std::end(kKernels));
  for (const std::string& kernel : kernels) {
    TRY_ASSIGN(const Recording fresh, machine.Begin(kernel));
    TRY_ASSIGN(LiveSide side, machine.Side(kernel, options.provider));
    TRY_ASSIGN(side.facts, KnownFacts(options, kernel));
    for (const std::string& name : ArmsOf(options)) {
      const Arm& arm = *FindArm(name);
      if (arm.models && options.provider.empty()) {
        say(kernel + ": " + name + " needs --provider");
        continue;
      }
      TRY_ASSIGN(const Recording before, RecordedBefore(options, fresh, name));
      Recording used;
      auto run = RunArm(loop, clock, arm, before, &side, &used);
      const bool whole = run && run->open_requests == 0;
      TRY(Keep(options, whole ? used : Joined(std::move(used), before), whole));
      if (!run) return base::Fail(run.error().In(kernel + ", " + name));
      say(kernel + ": " + name + ": " +
          (whole ? run->ended : std::to_string(run->open_requests) + " requests are open"));
      Add(std::move(*run), before, comparison);
    }
  }
  return comparison;
}

}  // namespace cupilot::bench
