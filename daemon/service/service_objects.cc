// The object decides: before anything is published for an object that the user has built, the code
// of its own kernel is compared with the code that is tuned.
#include <algorithm>
#include <utility>

#include "base/file.h"
#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

bool MayBeCompared(const ObjectState& state) {
  return state.scan != nullptr && !state.stale && !state.scanning &&
         state.scan->device_kind == "cuda";
}

std::string CheckKey(const std::string& folder, const UncheckedKernel& one) {
  return folder + "\n" + one.kernel_key + "\n" + std::to_string(one.place);
}

}  // namespace

// By the file's time. What is compared already, also by an earlier daemon, is not compared again.
void Service::LookAtObject(ObjectState& state) {
  state.unchecked.clear();
  if (!MayBeCompared(state)) return;
  const std::string object = BuiltObjectOf(*state.scan);
  if (object.empty()) return;
  for (const records::Kernel& kernel : state.scan->kernels) {
    if (!kernel.declined.empty()) continue;
    for (std::size_t i = 0; i < state.places.places.size(); ++i) {
      const Place& place = state.places.places[i];
      const records::Workload workload = WorkloadAt(kernel, place);
      if (workload.cases.empty()) continue;
      const auto known = FindObjectCode(catalog_, state.object.folder, kernel, place);
      if (known && IsAbout(*known, object, kernel, WorkloadHash(workload))) {
        FollowObject(state, kernel, place, known->check.declined);
      } else {
        state.unchecked.push_back({object, kernel.key, i});
      }
    }
  }
}

// Few at a time: compilers and devices are for the search. Those first that keep something from
// being published.
void Service::CheckObjects() {
  if (!obstacle_.empty() || leaving_) return;
  while (static_cast<std::int64_t>(checking_objects_.size()) < settings_.object_checks) {
    const auto next = NextUnchecked();
    if (!next) return;
    CheckObject(*next->state, *next->kernel, next->state->places.places[next->one.place],
                next->one);
  }
}

std::optional<Service::NextCheck> Service::NextUnchecked() {
  std::optional<NextCheck> next;
  for (auto& [folder, state] : objects_) {
    if (state.check_failed || !MayBeCompared(state)) continue;
    for (const UncheckedKernel& one : state.unchecked) {
      if (one.place >= state.places.places.size()) continue;
      if (checking_objects_.contains(CheckKey(folder, one))) continue;
      if (!gpu_watch_.MayRun(state.places.places[one.place].device)) continue;
      for (const records::Kernel& kernel : state.scan->kernels) {
        if (kernel.key != one.kernel_key) continue;
        const bool waits = !BestSet(state, kernel, one.place).empty();
        if (waits || !next) next = NextCheck{&state, &kernel, one};
        if (waits) return next;
      }
    }
  }
  return next;
}

void Service::CheckObject(const ObjectState& state, const records::Kernel& kernel,
                          const Place& place, const UncheckedKernel& one) {
  checking_objects_.insert(CheckKey(state.object.folder, one));
  evaluate::EvaluateRequest request;
  request.kernel = kernel;
  request.workload = WorkloadAt(kernel, place);
  request.command = state.object.command;
  request.numerics = state.target.numerics;
  request.device = place.device;
  request.seed = settings_.seed;
  const records::CompileCommand& command = state.object.command;
  with_.evaluator.CheckObject(request, base::AbsolutePath(command.object, command.directory),
                              [this, alive = alive_, folder = state.object.folder, kernel, place,
                               one](base::Result<evaluate::ObjectCheck> check) {
                                if (*alive)
                                  OnObjectChecked(folder, kernel, place, one, std::move(check));
                              });
}

void Service::OnObjectChecked(const std::string& folder, const records::Kernel& kernel,
                              const Place& place, const UncheckedKernel& one,
                              base::Result<evaluate::ObjectCheck> check) {
  checking_objects_.erase(CheckKey(folder, one));
  Later(&Service::Work);
  const auto found = objects_.find(folder);
  if (found == objects_.end()) return;
  ObjectState& state = found->second;
  // What was built or scanned meanwhile is compared anew.
  if (!MayBeCompared(state) || BuiltObjectOf(*state.scan) != one.object) {
    return LookAtObject(state);
  }
  if (!check) {
    state.check_failed = true;
    log::Warning("an object's code is not compared",
                 {{"kernel", records::LabelOf(kernel)}, {"reason", check.error()}});
    return;
  }
  const ObjectCode code{one.object, kernel.key, WorkloadHash(WorkloadAt(kernel, place)), *check};
  if (auto saved = SaveObjectCode(catalog_, folder, kernel, place, code); !saved) {
    log::Error("what an object holds cannot be written down", {{"reason", saved.error()}});
    state.check_failed = true;
    return;
  }
  log::Info("an object's code", {{"kernel", records::LabelOf(kernel)},
                                 {"difference", check->difference},
                                 {"declined", check->declined}});
  std::erase_if(state.unchecked, [&](const UncheckedKernel& other) {
    return other.kernel_key == one.kernel_key && other.place == one.place;
  });
  FollowObject(state, kernel, place, check->declined);
}

// `declined`: why this object does without all variants of the kernel; empty: it does not.
void Service::FollowObject(ObjectState& state, const records::Kernel& kernel, const Place& place,
                           const std::string& declined) {
  const std::string key = JobKey(kernel, state.target.numerics, place);
  std::vector<Refusal> refusals = catalog_.Refusals(state.object.folder);
  const auto is_own = [&](const Refusal& refusal) {
    return refusal.variant == kEveryVariant &&
           Holds(refusal, kernel.key, state.scan->toolchain, place.target);
  };
  const auto known = std::find_if(refusals.begin(), refusals.end(), is_own);
  const std::string before = known == refusals.end() ? "" : known->reason;
  // A job of an earlier daemon, too, is not begun again.
  if (before == declined) return EndIfDeclined(key, declined);
  std::erase_if(refusals, is_own);
  if (!declined.empty()) {
    refusals.push_back({kernel.key, kEveryVariant, state.scan->toolchain, place.target, declined});
  }
  if (auto saved = catalog_.SaveRefusals(state.object.folder, refusals); !saved) {
    log::Error("a refusal cannot be written down", {{"reason", saved.error()}});
    state.check_failed = true;
    return;
  }
  winnable_.clear();
  state.publish_due = true;
  const auto job = jobs_.find(key);
  if (job != jobs_.end() && !before.empty() && job->second->failure() == before) {
    Drop(std::move(job->second));
    jobs_.erase(job);
    EnsureJobs(state);
  }
  EndIfDeclined(key, declined);
}

// Where all objects with the kernel do without its variants there is nothing to search for.
void Service::EndIfDeclined(const std::string& job_key, const std::string& declined) {
  const auto job = jobs_.find(job_key);
  if (declined.empty() || job == jobs_.end() || !IsDeclinedEverywhere(job_key)) return;
  if (job->second->failure().empty()) job->second->GiveUp(declined);
}

std::string Service::WhyDeclined(const ObjectState& state, const records::Kernel& kernel,
                                 std::size_t place) {
  for (const Refusal& refusal : RefusedOf(state, kernel, place)) {
    if (refusal.variant == kEveryVariant) return refusal.reason;
  }
  return {};
}

bool Service::IsDeclinedEverywhere(const std::string& job_key) {
  bool any = false;
  for (const auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      for (std::size_t i = 0; i < state.places.places.size(); ++i) {
        if (JobKey(kernel, state.target.numerics, state.places.places[i]) != job_key) continue;
        if (WhyDeclined(state, kernel, i).empty()) return false;
        any = true;
      }
    }
  }
  return any;
}

std::string Service::ObjectNote(const ObjectState& state, const records::Kernel& kernel,
                                std::size_t place) {
  if (!MayBeCompared(state) || place >= state.places.places.size()) return {};
  const auto code =
      FindObjectCode(catalog_, state.object.folder, kernel, state.places.places[place]);
  return code && code->kernel_key == kernel.key ? NoteOf(*code) : std::string();
}

}  // namespace cupilot::service
