// What programs were seen to do decides on what their kernels are tuned.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "log/log.h"
#include "service/service.h"
#include "service/winnable.h"

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

CaptureObject CaptureObjectOf(const ObjectState& state, const Project& project) {
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
    objects.push_back(CaptureObjectOf(state, project->second));
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
    if (const workloads::Captured* captured =
            captured_.Find(input.kernel.file, records::LabelOf(input.kernel))) {
      const auto best =
          Together(catalog_.BestSet(input.kernel.key, input.workload, input.place, input.refused()),
                   input.workload);
      known->second = WinnableMicroseconds(*captured, best ? &*best : nullptr);
    }
  }
  Claim claim{job.spent_seconds(), 0, known->second};
  for (const records::Case& one : input.workload.cases) claim.weight += one.weight;
  return claim;
}

base::Result<> Service::AddCaptured(const std::vector<workloads::Captured>& all) {
  winnable_.clear();
  for (const workloads::Captured& captured : all) {
    TRY(captured_.Save(captured));
    log::Info("captured", {{"kernel", captured.kernel}, {"cases", captured.cases.size()}});
    MarkStale(captured.file, captured.kernel);
  }
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(with_.clock.WallTime());
  for (const std::string& label : captured_.Evict(settings_.captured_bytes, now.count())) {
    log::Warning("a captured workload was dropped to make room", {{"kernel", label}});
  }
  Work();
  return {};
}

base::Result<> Service::DropCaptured(const std::string& file, const std::string& label) {
  TRY(captured_.Drop(file, label));
  winnable_.clear();
  MarkStale(file, label);
  Work();
  return {};
}

// Captured launches are run again before they are evidence: once, on a device of the kind that the
// program ran on. `done` gets false where the kernel is to be tuned on other cases than these.
void Service::ReplayCaptured(evaluate::EvaluateRequest request, base::Callback<bool> done) {
  const std::string label = records::LabelOf(request.kernel);
  const workloads::Captured* captured = captured_.Find(request.kernel.file, label);
  const bool comparable = captured != nullptr && !captured->synthetic &&
                          captured->device == evaluate::DeviceKind(request.device);
  if (!comparable) return done(true);
  const std::vector<records::Case> usable = workloads::UsableCases(*captured, request.kernel);
  std::erase_if(request.workload.cases, [&](const records::Case& one) {
    const bool theirs = std::find(usable.begin(), usable.end(), one) != usable.end();
    return !theirs || captured->replays.count(one.name) != 0;
  });
  if (request.workload.cases.empty()) return done(true);
  const records::Kernel kernel = request.kernel;
  with_.evaluator.Replay(std::move(request), captured->after,
                         [this, alive = alive_, kernel, asked = *captured, done = std::move(done)](
                             base::Result<protocol::ReplayReply> reply) mutable {
                           if (*alive) done(OnReplayed(kernel, asked, std::move(reply)));
                         });
}

bool Service::OnReplayed(const records::Kernel& kernel, const workloads::Captured& asked,
                         base::Result<protocol::ReplayReply> reply) {
  const std::string label = records::LabelOf(kernel);
  if (!reply) {
    // Whatever it is, the evaluations will say it, too.
    log::Warning("a captured workload was not replayed",
                 {{"kernel", label}, {"reason", reply.error()}});
    return true;
  }
  const workloads::Captured* known = captured_.Find(kernel.file, label);
  // Another capture has come meanwhile.
  if (known == nullptr || known->date != asked.date || known->cases != asked.cases) return false;
  workloads::Captured captured = *known;
  bool usable = true;
  for (const protocol::ReplayedCase& one : reply->cases) {
    captured.replays[one.name] = {one.times, one.reason, one.rounding};
    usable = usable && captured.WhyUnused(one.name).empty();
    log::Info(
        "replayed",
        {{"kernel", label}, {"case", one.name}, {"times", one.times}, {"reason", one.reason}});
  }
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
