// What failed for a reason that may pass by itself is tried again (again.h): jobs, scans and
// publications. Nobody has to edit, to build or to start the daemon anew for it.
#include <algorithm>
#include <utility>

#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

using std::chrono::milliseconds;

constexpr const char* kTriedAgain = "tried_again";  // when
constexpr const char* kGpus = "gpus";               // there is none, though an object is for one

std::string OfScan(const std::string& folder) { return "scan " + folder; }
std::string OfObject(const std::string& folder) { return "object " + folder; }
std::string OfPublication(const std::string& folder) { return "publication " + folder; }

}  // namespace

void Service::LookAtFailures() {
  const auto now = with_.clock.Now();
  const auto note = [this, now](const std::string& what, bool failed) {
    if (failed) {
      again_.Failed(what, now);
    } else {
      again_.Forget(what);
    }
  };
  for (const auto& [key, job] : jobs_) {
    const bool failed = job->may_try_again();
    // One that is tried again and gets on may still fail like before.
    if (failed || job->finished()) note(key, failed);
  }
  const bool for_gpus = std::any_of(objects_.begin(), objects_.end(), [](const auto& entry) {
    return entry.second.scan != nullptr && entry.second.scan->device_kind == "cuda";
  });
  if (gpus_asked_ == Asked::kAnswered) note(kGpus, for_gpus && gpus_.gpus.empty());
  for (const auto& [folder, state] : objects_) {
    if (!state.scanning && !state.stale) note(OfScan(folder), !state.problem.empty());
    if (checking_objects_.empty()) note(OfObject(folder), state.check_failed);
    const bool failed = state.not_published || state.not_touched;
    if (!state.publish_due || failed) note(OfPublication(folder), failed);
  }
  const auto next = again_.Next();
  if (!next) return again_timer_.Cancel();
  if (again_timer_.active() && again_at_ == *next) return;
  again_at_ = *next;
  again_timer_.Start(std::max(std::chrono::ceil<milliseconds>(*next - now), milliseconds(1)),
                     [this] { TryAgain(); });
}

void Service::TryAgain() {
  bool on_gpu = false;
  const auto now = with_.clock.Now();
  const std::set<std::string> due = again_.Take(now);
  // What cannot be written down need not be measured.
  if (auto written = catalog_.SaveFact(kTriedAgain, Date()); !written) {
    log::Warning("nothing can be written down yet", {{"reason", written.error()}});
    for (const std::string& what : due) again_.Failed(what, now);
    return LookAtFailures();
  }
  for (const std::string& what : due) {
    const auto job = jobs_.find(what);
    if (job != jobs_.end()) {
      on_gpu = on_gpu || evaluate::DeviceKind(job->second->input().place.device) == "cuda";
      log::Info("a kernel's work is tried again",
                {{"kernel", records::LabelOf(job->second->input().kernel)}});
      job->second->TryAgain();
      continue;
    }
    if (what == kGpus) {
      on_gpu = true;
      continue;
    }
    bool known = false;
    for (auto& [folder, state] : objects_) {
      if (what == OfScan(folder) && !state.problem.empty()) state.stale = known = true;
      if (what == OfObject(folder) && state.check_failed) {
        state.check_failed = false;
        known = true;
        LookAtObject(state);
      }
      if (what == OfPublication(folder)) state.publish_due = known = true;
    }
    if (!known) again_.Forget(what);
  }
  // The device may be gone, or another one may be there.
  if (on_gpu) AskForGpus();
  Work();
}

}  // namespace cupilot::service
