// What the user's builds made of what was published: taken, refused, or compiled to other code.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/file.h"
#include "log/log.h"
#include "service/service.h"
#include "source/swap/selection_check.h"

namespace cupilot::service {
namespace {

constexpr const char* kOtherCode =
    "the compiler made other code in the program than what was measured";

// Whether it is tuned on what a program did although its tag has a workload.
bool RunsAsCaptured(const ObjectScan& scan, const records::Kernel& kernel,
                    const CapturedWorkloads& all) {
  const std::string& label = records::LabelOf(kernel);
  const workloads::Captured* captured = all.Find(kernel.file, label);
  return captured != nullptr && captured->replaces_tag && scan.declared.contains(label) &&
         !workloads::UsableCases(*captured, kernel).empty();
}

}  // namespace

void Service::LookAtBuild(ObjectState& state) {
  LearnRefusals(state);
  LearnShipped(state);
  LookAtObject(state);
  // Somebody deleted or changed what was written for the build: it is written again.
  const std::string& swap = state.published.swap;
  if (!swap.empty() && !source::WhyTextsDiffer(state.object.folder, swap).empty()) {
    state.publish_due = true;
  }
  LookAtStamp(state);
}

// A selection whose swapped source does not compile is not offered again under another name: what
// it may be blamed for is left out from then on.
void Service::LearnRefusals(ObjectState& state) {
  if (!Refuse(state, ReadRefusal(state.object.folder))) return;
  log::Warning("a swapped source did not compile", {{"object", state.object.folder}});
  state.publish_due = true;
}

// Same code, same evidence. Of other code nothing is proven: neither that it is right nor that it
// is faster, so the object does without the variant.
void Service::LearnShipped(ObjectState& state) {
  state.as_measured.clear();
  const std::vector<source::ShippedText> shipped = source::ReadShippedText(state.object.folder);
  if (shipped.empty()) return;
  std::vector<Refusal> others;
  for (const AppliedVariant& applied : ReadApplied(state.object.folder)) {
    for (const records::Kernel& kernel : state.scan->kernels) {
      if (kernel.key != applied.kernel_key) continue;
      for (const Place& place : state.places.places) {
        if (place.target != applied.target) continue;
        const std::string workload = WorkloadHash(WorkloadAt(kernel, place));
        const auto measured = catalog_.FindVerdict(kernel.key, workload, place, applied.variant);
        if (!measured) continue;
        const source::ShippedCode code =
            source::CompareShipped(shipped, applied.variant, applied.target, measured->text_hash);
        if (code == source::ShippedCode::kSame) state.as_measured.insert(applied.variant);
        if (code != source::ShippedCode::kDifferent) continue;
        others.push_back(
            {kernel.key, applied.variant, applied.toolchain, applied.target, kOtherCode});
      }
    }
  }
  for (const Refusal& other : others) state.as_measured.erase(other.variant);
  if (!Refuse(state, others)) return;
  log::Warning("a variant is taken back",
               {{"object", state.object.folder}, {"reason", kOtherCode}});
  state.publish_due = true;
}

// True if one of them is new.
bool Service::Refuse(const ObjectState& state, const std::vector<Refusal>& suspects) {
  if (suspects.empty()) return false;
  winnable_.clear();
  std::vector<Refusal> refusals = catalog_.Refusals(state.object.folder);
  const auto& kernels = state.scan->kernels;
  std::erase_if(refusals, [&](const Refusal& refusal) {
    return std::none_of(kernels.begin(), kernels.end(), [&](const records::Kernel& kernel) {
      return kernel.key == refusal.kernel_key;
    });
  });
  const std::size_t known = refusals.size();
  for (const Refusal& suspect : suspects) {
    if (std::find(refusals.begin(), refusals.end(), suspect) == refusals.end()) {
      refusals.push_back(suspect);
    }
  }
  if (refusals.size() == known) return false;
  if (auto saved = catalog_.SaveRefusals(state.object.folder, refusals); !saved) {
    log::Error("a refusal cannot be written down", {{"reason", saved.error()}});
    return false;
  }
  for (const Refusal& suspect : suspects) {
    for (const auto& [key, job] : jobs_) {
      if (job->input().kernel.key == suspect.kernel_key) job->BeginAgain();
    }
  }
  return true;
}

std::set<std::string> Service::RefusedAnywhere(const std::string& kernel_key,
                                               const std::string& toolchain,
                                               const std::string& target) {
  std::set<std::string> refused;
  for (const auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    const auto& kernels = state.scan->kernels;
    if (std::none_of(kernels.begin(), kernels.end(),
                     [&](const records::Kernel& kernel) { return kernel.key == kernel_key; })) {
      continue;
    }
    refused.merge(RefusedVariants(catalog_.Refusals(folder), kernel_key, toolchain, target));
  }
  // Of others it is tuned on.
  refused.erase(kEveryVariant);
  return refused;
}

std::vector<Refusal> Service::RefusedOf(const ObjectState& state, const records::Kernel& kernel,
                                        std::size_t place) {
  if (state.scan == nullptr || place >= state.places.places.size()) return {};
  std::vector<Refusal> refusals = catalog_.Refusals(state.object.folder);
  std::erase_if(refusals, [&](const Refusal& refusal) {
    return !Holds(refusal, kernel.key, state.scan->toolchain, state.places.places[place].target);
  });
  return refusals;
}

Publisher::Locked Service::Lock(const ObjectState& state, const std::string& lock_folder) {
  const auto project = projects_.find(state.build_folder);
  if (state.scan == nullptr || project == projects_.end()) return {};
  Publisher::Locked locked =
      publisher_.Lock(*state.scan, state.places.places, state.published,
                      {lock_folder, project->second.source_folder, project->second.build_folder});
  std::vector<records::LockedKernel> entries = std::move(locked.kernels);
  locked.kernels.clear();
  for (const records::Kernel& kernel : state.scan->kernels) {
    for (records::LockedKernel& entry : entries) {
      if (entry.signature != kernel.signature || entry.kernel_key != kernel.key) continue;
      entry.captured = RunsAsCaptured(*state.scan, kernel, captured_);
      auto leaving = outbound_.Of(std::move(entry), kernel);
      if (leaving) {
        locked.kernels.push_back(std::move(*leaving));
      } else {
        locked.problems.push_back(records::LabelOf(kernel) + ": " + leaving.error().message);
      }
    }
  }
  return locked;
}

void Service::LookAtStamp(ObjectState& state) {
  // A lock file decides without what is published. An edited source is looked at after its scan.
  const bool locked = !state.target.lock.empty() && base::FileExists(state.target.lock);
  if (locked || state.stale || state.scanning || IsOutdated(*state.scan, state.object)) {
    state.stamp_due = false;
    return;
  }
  // Uses the compiler's answers of the scan: asking again takes seconds on this loop. Later changes
  // are scanned again; of a text that cannot be read there are no answers, and nothing holds.
  const source::CheckedSelection checked =
      source::CheckSelection(state.object.command, state.scan->compiled);
  const bool holds = checked.holds && state.problem.empty();
  state.effective = holds ? records::CompiledHash(checked.selection) : "";
  const Applied applied = ReadAppliedSelection(state.object.folder);
  const bool differs =
      holds ? !applied.Is(checked.id, checked.selection) : !applied.selection.empty();
  state.stamp_due = differs && state.touched_for != state.effective;
  if (!differs) state.touched_for.reset();
}

void Service::TouchStamps() {
  if (build_runs_) return;
  for (auto& [folder, state] : objects_) {
    if (!state.stamp_due || state.stale || state.scanning || state.publish_due) continue;
    if (state.not_touched && !obstacle_.empty()) continue;
    const auto touched = publisher_.TouchStamp(folder);
    state.not_touched = !touched.has_value();
    if (!touched) {
      log::Warning("a stamp cannot be touched", {{"reason", touched.error()}});
      continue;
    }
    state.stamp_due = false;
    state.touched_for = state.effective;
  }
}

}  // namespace cupilot::service
