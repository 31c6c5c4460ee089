// What programs were seen to do decides on what their kernels are tuned.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "log/log.h"
#include "service/service.h"
#include "service/winnable.h"
#include "workloads/counted.h"
#include "workloads/recapture.h"

namespace cupilot::service {
namespace {

// Of a kernel that the compiler of this object is to be seen with.
bool LacksWorkload(const ObjectScan& scan, const records::Kernel& kernel) {
  return kernel.declined.empty() &&
         (kernel.cases.empty() || scan.dropped.contains(records::LabelOf(kernel)));
}

bool LacksAny(const ObjectState& state) {
  return state.scan != nullptr &&
         std::any_of(
             state.scan->kernels.begin(), state.scan->kernels.end(),
             [&](const records::Kernel& kernel) { return LacksWorkload(*state.scan, kernel); });
}

// By the files' times, as build tools decide.
void LookAtFile(const ObjectState& state, const Project& project, CaptureObject& object) {
  const auto file = base::IdentifyFile(state.object.command.object);
  object.built = file.has_value();
  if (!file) return;
  object.build = std::to_string(file->mtime_ns) + "," + std::to_string(file->size) + "," +
                 std::to_string(project.configured_ns);
  if (state.scan == nullptr) return;
  for (const records::SelectedFile& source : state.scan->files) {
    object.built &= source.mtime_ns <= file->mtime_ns;
  }
}

CaptureObject CaptureObjectOf(const ObjectState& state, const Project& project,
                              const CapturedWorkloads& captured) {
  CaptureObject object;
  object.id = {state.build_folder, state.target.capture_test};
  LookAtFile(state, project, object);
  object.read = !state.stale && !state.scanning;
  if (state.scan == nullptr) return object;
  object.read &= !state.places.places.empty();
  for (const Place& place : state.places.places) object.places.insert(place.device);
  for (const records::Kernel& kernel : state.scan->kernels) {
    CaptureObject::Kernel& one = object.kernels.emplace_back();
    one.file = kernel.file;
    one.label = records::LabelOf(kernel);
    for (const records::Parameter& parameter : kernel.parameters) {
      one.parameters.push_back(parameter.canonical);
    }
    one.lacks = LacksWorkload(*state.scan, kernel);
    one.gone = captured.FindGone(kernel.file, one.label) != nullptr;
  }
  return object;
}

}  // namespace

// Nothing is looked at for tests that have nothing to show.
void Service::LookAtCaptures() {
  std::set<CaptureId> wanted;
  for (const auto& [folder, state] : objects_) {
    const bool runs = state.places.why_none.empty();
    if (!state.target.capture_test.empty() && runs && LacksAny(state)) {
      wanted.insert({state.build_folder, state.target.capture_test});
    }
  }
  std::vector<CaptureObject> objects;
  for (const auto& [folder, state] : objects_) {
    const auto project = projects_.find(state.build_folder);
    const bool runs = state.places.why_none.empty();
    if (project == projects_.end() || !runs ||
        !wanted.contains({state.build_folder, state.target.capture_test})) {
      continue;
    }
    objects.push_back(CaptureObjectOf(state, project->second, captured_));
  }
  capture_tests_.Look(projects_, objects);
}

void Service::StartCapture() {
  // What is asked to be captured is known when all is read, and while it runs nothing is.
  const bool reading = std::any_of(objects_.begin(), objects_.end(), [](const auto& entry) {
    return entry.second.stale || entry.second.scanning;
  });
  if (!obstacle_.empty() || reading) return;
  const auto may_begin = [this](const CaptureDemand& demand) { return MayRunAll(demand.places); };
  if (!capture_tests_.Begin(projects_, may_begin)) return;
  LookAtCaptures();
  CheckObstacle();
  const CaptureId& id = *capture_tests_.running();
  Emit("capture", {{"test", id.test}, {"build_folder", id.build_folder}, {"stage", "begun"}});
}

void Service::OnCaptureChanged(const CaptureId* ended) {
  if (ended == nullptr) return Later(&Service::Work);
  const CaptureTry* last = capture_tests_.FindTry(*ended);
  Emit("capture", {{"test", ended->test},
                   {"build_folder", ended->build_folder},
                   {"stage", last != nullptr && last->ended ? "ended" : "interrupted"},
                   {"failure", last != nullptr ? last->failure : ""}});
  Later(&Service::AfterStep);
}

Claim Service::ClaimOf(const std::string& job_key, const KernelJob& job) {
  const JobInput& input = job.input();
  auto [known, fresh] = winnable_.try_emplace(job_key);
  if (fresh) {
    if (const workloads::Captured* captured = captured_.Find(input.kernel)) {
      const auto best =
          Together(catalog_.BestSet(input.kernel.key, input.workload, input.place, input.refused()),
                   input.workload);
      known->second =
          WinnableMicroseconds(*captured, best ? &*best : nullptr,
                               FloorsOfOriginal(catalog_, input.kernel.key, input.workload));
    }
  }
  Claim claim{job.spent_seconds(), 0, known->second, job.pass()};
  for (const records::Case& one : input.workload.cases) claim.weight += one.weight;
  return claim;
}

base::Result<CapturesTaken> Service::AddCaptured(const std::vector<workloads::Captured>& all) {
  winnable_.clear();
  CapturesTaken taken;
  std::set<std::string> unneeded;
  const std::int64_t now = NowMs();  // of all: of equal age what costs least goes first
  for (workloads::Captured captured : all) {
    const workloads::Captured* earlier = captured_.FindEarlier(captured);
    captured_.NoteWritten(workloads::BlobsOf(captured));
    // Counts alone take nothing away.
    if (earlier != nullptr) workloads::KeepRecorded(*earlier, captured);
    if (std::string why = captured_.WhyNotKept(captured, settings_.captured_bytes); !why.empty()) {
      if (earlier != nullptr) why += "; what was captured of it before stays";
      taken.not_kept.push_back({captured.file, captured.kernel, why});
      if (earlier == nullptr) TRY(captured_.SaveGone(taken.not_kept.back()));
      unneeded.merge(workloads::BlobsOf(captured));
    } else {
      if (earlier != nullptr) workloads::TakeSameCases(*earlier, captured);
      captured.used = now;
      TRY(captured_.Save(captured));
      log::Info("captured", {{"kernel", captured.kernel}, {"cases", captured.cases.size()}});
    }
    MarkStale(captured.file, captured.kernel);
  }
  captured_.RemoveUnnamed(unneeded);
  for (GoneWorkload& gone : captured_.Evict(settings_.captured_bytes, NowMs())) {
    const bool came = std::any_of(all.begin(), all.end(), [&](const workloads::Captured& one) {
      return one.file == gone.file && one.kernel == gone.kernel;
    });
    MarkStale(gone.file, gone.kernel);
    // A test that has just shown it would show it again.
    if (!came) CaptureAgain(gone);
    (came ? taken.not_kept : taken.dropped).push_back(std::move(gone));
  }
  for (const auto* some : {&taken.not_kept, &taken.dropped}) {
    for (const GoneWorkload& gone : *some) {
      log::Warning("no room for a captured workload",
                   {{"kernel", gone.kernel}, {"reason", gone.why}});
    }
  }
  Work();
  return taken;
}

base::Result<> Service::DropCaptured(const std::string& file, const std::string& label) {
  TRY(captured_.Drop(file, label));
  winnable_.clear();
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      if (kernel.file == file && records::LabelOf(kernel) == label)
        state.scan->dropped.erase(label);
    }
  }
  MarkStale(file, label);
  Work();
  return {};
}

std::int64_t Service::NowMs() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(with_.clock.WallTime()).count();
}

// The tests that are to show what was dropped to make room.
void Service::CaptureAgain(const GoneWorkload& gone) {
  for (const auto& [folder, state] : objects_) {
    if (state.scan == nullptr || state.target.capture_test.empty()) continue;
    const auto& kernels = state.scan->kernels;
    if (std::any_of(kernels.begin(), kernels.end(), [&](const records::Kernel& kernel) {
          return kernel.file == gone.file && records::LabelOf(kernel) == gone.kernel;
        })) {
      capture_tests_.Again({state.build_folder, state.target.capture_test});
    }
  }
}

// `before`: what the scan before this one had dropped.
void Service::OverlayCaptured(records::Kernel& kernel,
                              const std::map<std::string, std::string>& before, ObjectScan& scan) {
  const std::string label = records::LabelOf(kernel);
  if (!kernel.cases.empty()) scan.declared.insert(label);
  if (const std::string why = captured_.Overlay(kernel); !why.empty()) {
    scan.warnings.push_back(why);
    scan.dropped[label] = why;
  } else if (before.contains(label) && captured_.Find(kernel) == nullptr) {
    scan.dropped[label] = before.at(label);
  }
}

// A capture of other parameters than its kernel has now. Targets with other macros may have the
// same kernel with others: it goes when it is nobody's, which is known when all was read.
void Service::DropOutdatedCaptures() {
  if (std::any_of(objects_.begin(), objects_.end(),
                  [](const auto& entry) { return entry.second.stale || entry.second.scanning; })) {
    return;
  }
  std::vector<workloads::Captured> outdated;
  for (const workloads::Captured* captured : captured_.All()) {
    bool here = false, fits = false;
    for (const auto& [folder, state] : objects_) {
      if (state.scan == nullptr) continue;
      for (const records::Kernel& kernel : state.scan->kernels) {
        if (kernel.file != captured->file || records::LabelOf(kernel) != captured->kernel) continue;
        here = true;
        fits = fits || workloads::IsOf(*captured, kernel);
      }
    }
    if (here && !fits) outdated.push_back(*captured);
  }
  for (const workloads::Captured& captured : outdated) {
    if (auto dropped = captured_.Drop(captured); !dropped) {
      log::Error("a captured workload cannot be dropped", {{"reason", dropped.error()}});
      continue;
    }
    log::Warning("a captured workload of other parameters was dropped",
                 {{"kernel", captured.kernel}});
    for (auto& [folder, state] : objects_) {
      if (state.scan == nullptr) continue;
      for (const records::Kernel& kernel : state.scan->kernels) {
        if (kernel.file != captured.file || records::LabelOf(kernel) != captured.kernel) continue;
        if (captured_.Find(kernel) != nullptr) continue;
        const std::string why =
            SentenceOf(kernel, "was dropped: its parameters changed; capture the program again");
        state.scan->warnings.push_back(why);
        state.scan->dropped[captured.kernel] = why;
      }
    }
  }
}

// Captured launches are run again before they are evidence: once for each text of the kernel, on a
// device of the kind that the program ran on. `done` gets false where the kernel is to be tuned on
// other cases than these.
void Service::ReplayCaptured(evaluate::EvaluateRequest request, base::Callback<bool> done) {
  captured_.NoteUse(request.kernel, NowMs());
  const workloads::Captured* captured = captured_.Find(request.kernel);
  const bool comparable = captured != nullptr && !captured->synthetic &&
                          captured->device == evaluate::DeviceKind(request.device);
  if (!comparable) return done(true);
  const std::vector<records::Case> usable = workloads::UsableCases(*captured, request.kernel);
  std::vector<records::Case> open = request.workload.cases;
  std::erase_if(open, [&](const records::Case& one) {
    const bool theirs = std::find(usable.begin(), usable.end(), one) != usable.end();
    return !theirs || captured->FindReplay(request.kernel.key, one.name) != nullptr;
  });
  if (open.empty()) return done(true);
  evaluate::EvaluateRequest replayed = request;
  replayed.workload.cases = std::move(open);
  with_.evaluator.Replay(
      std::move(replayed), captured->after,
      [this, alive = alive_, request = std::move(request), asked = *captured,
       done = std::move(done)](base::Result<protocol::ReplayReply> reply) mutable {
        if (!*alive) return;
        // A later capture of the same launches is the same workload: it is replayed in its turn.
        const workloads::Captured* known = captured_.Find(request.kernel);
        if (known != nullptr && known->cases == asked.cases && known->after != asked.after) {
          return ReplayCaptured(std::move(request), std::move(done));
        }
        done(OnReplayed(request.kernel, asked, std::move(reply)));
      });
}

base::Result<bool> Service::OnReplayed(const records::Kernel& kernel,
                                       const workloads::Captured& asked,
                                       base::Result<protocol::ReplayReply> reply) {
  const std::string label = records::LabelOf(kernel);
  if (!reply) return base::Fail(reply.error().In("replaying what was captured of " + label));
  const workloads::Captured* known = captured_.Find(kernel);
  // Another capture has come meanwhile.
  if (known == nullptr || known->cases != asked.cases) return false;
  workloads::Captured captured = *known;
  bool usable = true;
  workloads::CapturedReplays& replays = captured.replays[kernel.key];
  for (const protocol::ReplayedCase& one : reply->cases) {
    replays[one.name] = {one.times, one.reason, one.rounding, one.wanted, one.seconds, one.failed};
    usable = usable && captured.WhyUnused(kernel.key, one.name).empty();
    log::Info(
        "replayed",
        {{"kernel", label}, {"case", one.name}, {"times", one.times}, {"reason", one.reason}});
  }
  // Of texts that nobody has any more, replays need not be kept.
  std::set<std::string> texts = {kernel.key};
  for (const auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    for (const records::Kernel& one : state.scan->kernels) texts.insert(one.key);
  }
  std::erase_if(captured.replays, [&](const auto& entry) { return !texts.contains(entry.first); });
  if (auto saved = captured_.Save(captured); !saved) {
    log::Error("what became of a replay cannot be written down", {{"reason", saved.error()}});
  }
  if (!usable) MarkStale(kernel.file, label);
  return usable;
}

// What a kernel is tuned on is decided when its source is read.
void Service::MarkStale(const std::string& file, const std::string& label) {
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    const std::vector<records::Kernel>& kernels = state.scan->kernels;
    state.stale |= std::any_of(kernels.begin(), kernels.end(), [&](const records::Kernel& kernel) {
      return kernel.file == file && records::LabelOf(kernel) == label;
    });
  }
}

}  // namespace cupilot::service
