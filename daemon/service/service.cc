#include "service/service.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "log/log.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using records::Json;
using std::chrono::milliseconds;

constexpr milliseconds kObstaclePeriod{500};  // how soon work begins again after a build

// True for the folder itself and for all below it.
bool IsInside(const std::string& path, const std::string& folder) {
  return path == folder || path.rfind(folder + "/", 0) == 0;
}

std::string OurFolder(const std::string& build_folder) { return build_folder + "/cupilot"; }

// Returns whether the last scan still holds, so that only captures can have changed.
bool ReadsAsBefore(const ObjectState& state) {
  return state.scan != nullptr && state.problem.empty() && !state.scan->compiled.empty() &&
         state.scan->numerics == state.target.numerics &&
         state.scan->wanted == state.target.kernels && !IsOutdated(*state.scan, state.object);
}

bool IsWanted(const Target& target, const records::Kernel& kernel) {
  if (target.kernels.empty()) return true;
  return std::any_of(target.kernels.begin(), target.kernels.end(), [&](const std::string& name) {
    return name == kernel.name || name == kernel.base_name || name == records::LabelOf(kernel);
  });
}

}  // namespace

Service::Service(Collaborators collaborators, const Settings& settings, std::string state_folder)
    : with_(collaborators),
      settings_(settings),
      state_folder_(std::move(state_folder)),
      catalog_(with_.store),
      captured_(with_.store, state_folder_ + "/blobs"),
      outbound_(with_.store, captured_, state_folder_ + "/blobs"),
      models_(with_.store, with_.clock, state_folder_ + "/exchanges", settings.models),
      pool_(with_.store, static_cast<std::size_t>(settings.pool_entries)),
      journal_(with_.store, with_.clock),
      policy_(with_.clock, catalog_),
      gpu_watch_(with_.loop, with_.clock, with_.workers, settings.gpu,
                 state_folder_ + "/gpu-processes", [this] { OnGpusChanged(); }),
      capture_tests_(with_.loop, catalog_, with_.captures,
                     {settings.capture_tests, state_folder_ + "/captures"},
                     [this](const CaptureId* ended) { OnCaptureChanged(ended); }),
      publisher_(catalog_, with_.files),
      started_(with_.clock.Now()),
      watcher_(with_.loop, settings.quiet,
               [this](const std::string& folder) { OnFolderChanged(folder); }),
      lock_watcher_(with_.loop, milliseconds(0), [this](const std::string&) { CheckObstacle(); }),
      obstacle_timer_(with_.loop),
      models_timer_(with_.loop),
      publish_timer_(with_.loop),
      again_timer_(with_.loop) {}

Service::~Service() { *alive_ = false; }

void Service::Start() {
  if (with_.models != nullptr) {
    if (auto used = models_.Use(*with_.models); !used) {
      log::Error("no language model is asked", {{"reason", used.error()}});
    }
  }
  (void)base::MakeFolders(state_folder_ + "/projects");
  if (auto watched = watcher_.Watch(state_folder_ + "/projects"); !watched) {
    log::Error("new projects will not be noticed", {{"reason", watched.error()}});
  }
  AskForHost();
  ReadProjects();
  Work();
}

void Service::ReadProjects() {
  const std::vector<std::string> folders = ReadRegistrations(state_folder_);
  for (auto it = projects_.begin(); it != projects_.end();) {
    const std::string folder = (it++)->first;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) DropProject(folder);
  }
  for (const std::string& folder : folders) {
    WatchProject(folder);
    auto project = ReadProject(folder);
    if (!project) {
      log::Warning("a project cannot be read", {{"reason", project.error()}});
      continue;
    }
    projects_[folder] = *project;
    ReadObjects(*project);
  }
}

void Service::DropProject(const std::string& build_folder) {
  projects_.erase(build_folder);
  capture_tests_.Forget(build_folder);
  std::erase_if(objects_,
                [&](const auto& entry) { return entry.second.build_folder == build_folder; });
  DropUnusedJobs();
}

void Service::ReadObjects(const Project& project) {
  std::set<std::string> present;
  for (Object& object : FindObjects(project)) {
    present.insert(object.folder);
    WatchFolderOf(object.command.source);
    ObjectState& state = objects_[object.folder];
    state.build_folder = project.build_folder;
    Target target = project.FindTarget(object.target);
    if (target.kernels != state.target.kernels || target.numerics != state.target.numerics) {
      state.stale = true;
    }
    if (target.apply != state.target.apply) state.publish_due = true;
    state.target = std::move(target);
    state.object = std::move(object);
    if (state.scan == nullptr || IsOutdated(*state.scan, state.object)) state.stale = true;
    if (state.scan == nullptr) continue;
    LookAtBuild(state);
  }
  std::erase_if(objects_, [&](const auto& entry) {
    return entry.second.build_folder == project.build_folder && present.count(entry.first) == 0;
  });
  DropUnusedJobs();
}

// Many folders change together; they are looked at once.
void Service::OnFolderChanged(const std::string& folder) {
  if (changed_.empty()) Later(&Service::OnChanges);
  changed_.insert(folder);
}

void Service::OnChanges() {
  std::set<std::string> changed;
  changed.swap(changed_);
  // A folder that was deleted and made again is another one: each is watched anew, and only then
  // read.
  for (const std::string& folder : changed) watcher_.Unwatch(folder);
  bool registrations = changed.count(state_folder_ + "/projects") != 0;
  (void)watcher_.Watch(state_folder_ + "/projects");
  bool sources = false;
  for (const std::string& folder : changed) {
    if (source_folders_.erase(folder) == 0) continue;
    sources = true;
    WatchFolderOf(folder + "/");
  }
  std::vector<Project> fresh;
  for (const auto& [build_folder, project] : projects_) {
    const std::string ours = OurFolder(build_folder);
    if (std::none_of(changed.begin(), changed.end(),
                     [&](const std::string& folder) { return IsInside(folder, ours); }))
      continue;
    if (changed.count(ours) != 0) lock_watcher_.Unwatch(ours);
    WatchProject(build_folder);
    if (auto again = ReadProject(build_folder)) {
      fresh.push_back(std::move(*again));
    } else {
      registrations = true;
    }
  }
  for (const Project& project : fresh) {
    projects_[project.build_folder] = project;
    ReadObjects(project);
  }
  if (registrations) ReadProjects();
  if (sources) {
    for (auto& [name, state] : objects_) {
      if (state.scan == nullptr || IsOutdated(*state.scan, state.object)) state.stale = true;
    }
  }
  Work();
}

void Service::WatchProject(const std::string& build_folder) {
  const std::string ours = OurFolder(build_folder);
  auto watched = watcher_.WatchTree(ours);
  if (watched) watched = lock_watcher_.Watch(ours);
  if (!watched && base::FileExists(ours)) {
    log::Warning("a project is not watched", {{"reason", watched.error()}});
  }
}

void Service::WatchFolderOf(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  if (source_folders_.count(folder) != 0) return;
  if (auto watched = watcher_.Watch(folder)) {
    source_folders_.insert(folder);
  } else {
    log::Warning("edits will not be noticed", {{"reason", watched.error()}});
  }
}

// Whatever can be begun now is begun: scans first, since they say what the work is.
void Service::Work() {
  CheckObstacle();
  if (leaving_) {
    LookIfLeft();
  } else {
    while (StartScan()) {
    }
    LookAtCaptures();
    WatchGpus();
    StartCapture();
    CheckObjects();
    while (StartStep()) {
    }
  }
  WatchAnswers();
  PublishDue();
  TouchStamps();
  KeepStoreSmall();
  LookAtFailures();
}

bool Service::StartScan() {
  const bool busy = std::any_of(objects_.begin(), objects_.end(),
                                [](const auto& entry) { return entry.second.scanning; });
  // A snooze is for what takes time: what is tagged, and what won, is to be known all the same.
  if (busy || (!obstacle_.empty() && obstacle_ != kSnoozed)) return false;
  for (auto& [folder, state] : objects_) {
    if (!state.stale) continue;
    state.stale = false;
    if (ReadsAsBefore(state)) {
      // Lays captures over that scan: another one takes a second and would say the same.
      TakeOffCaptured(*state.scan);
      UseScan(folder, state, std::exchange(state.scan->dropped, {}));
      continue;
    }
    state.scanning = true;
    ScanObject(with_.workers, with_.clock, state.object, state.target.numerics,
               [this, alive = alive_, name = folder](base::Result<ObjectScan> scan) {
                 if (*alive) OnScanned(name, std::move(scan));
               });
    return true;
  }
  return false;
}

void Service::OnScanned(const std::string& folder, base::Result<ObjectScan> scan) {
  const auto it = objects_.find(folder);
  if (it == objects_.end()) return Work();
  ObjectState& state = it->second;
  state.scanning = false;
  ++counters_.scans;
  if (!scan) {
    state.stale = scan.error().code == base::ErrorCode::kCancelled;
    state.problem = scan.error().message;
    log::Warning("an object cannot be scanned",
                 {{"source", state.object.command.source}, {"reason", scan.error()}});
    DropOutdatedCaptures();
    return Work();
  }
  state.problem.clear();
  scan->wanted = state.target.kernels;
  std::erase_if(scan->kernels,
                [&](const records::Kernel& kernel) { return !IsWanted(state.target, kernel); });
  for (const records::Kernel& kernel : scan->kernels) scan->tagged.push_back(kernel.cases);
  scan->warned = scan->warnings.size();
  const std::map<std::string, std::string> dropped_before =
      state.scan == nullptr ? std::map<std::string, std::string>() : state.scan->dropped;
  state.scan = std::make_unique<ObjectScan>(std::move(*scan));
  UseScan(folder, state, dropped_before);
  Work();
}

void Service::UseScan(const std::string& folder, ObjectState& state,
                      const std::map<std::string, std::string>& dropped_before) {
  Json names = Json::array();
  for (records::Kernel& kernel : state.scan->kernels) {
    OverlayCaptured(kernel, dropped_before, *state.scan);
    names.push_back(records::LabelOf(kernel));
    if (auto saved = catalog_.SaveKernel(kernel, WorkloadOf(kernel)); !saved) {
      log::Error("a kernel cannot be written down", {{"reason", saved.error()}});
      state.problem = "its kernels cannot be written down: " + saved.error().message;
    }
  }
  DropOutdatedCaptures();
  for (const std::string& warning : state.scan->warnings) {
    log::Warning("scan", {{"warning", warning}});
  }
  for (const records::SelectedFile& file : state.scan->files) WatchFolderOf(file.path);
  // One that was not there may have been plugged in, or its driver mended.
  if (state.scan->device_kind == "cuda" && gpus_.gpus.empty()) AskForGpus();
  FindPlaces(state);
  EnsureJobs(state);
  DropUnusedJobs();
  LearnRefusals(state);
  state.published = ReadPublished(folder);
  state.publish_due = true;
  LookAtObject(state);
  LookAtStamp(state);
  Emit("scanned", {{"source", state.object.command.source}, {"kernels", names}});
}

void Service::EnsureJobs(const ObjectState& state) {
  for (const records::Kernel& kernel : state.scan->kernels) {
    for (const Place& place : state.places.places) EnsureJob(state, kernel, place);
  }
}

void Service::EnsureJob(const ObjectState& state, const records::Kernel& kernel,
                        const Place& place) {
  const records::Workload workload = WorkloadAt(kernel, place);
  if (!kernel.declined.empty() || workload.cases.empty()) return;
  auto& job = jobs_[JobKey(kernel, state.target.numerics, place)];
  const auto is_there = [&](const std::string& device) {
    return std::count(place.alike.begin(), place.alike.end(), device) > 0;
  };
  if (job != nullptr && is_there(job->input().place.device)) return;
  // Its GPU is gone, or has another name now.
  if (job != nullptr) Drop(std::move(job));
  JobInput input;
  input.place = place;
  input.place.device = LeastUsed(place);
  input.kernel = kernel;
  input.workload = workload;
  input.command = state.object.command;
  input.source_text = state.scan->source_text;
  input.numerics = state.target.numerics;
  input.seed = settings_.seed;
  input.strategy = settings_.search_strategy;
  input.budget_seconds = settings_.seconds_per_kernel;
  input.budget_evaluations = settings_.evaluations_per_kernel;
  input.until_gain = settings_.until_gain;
  input.measure_seconds = settings_.measure_seconds;
  input.refused = [this, key = kernel.key, toolchain = state.scan->toolchain,
                   target = place.target] { return RefusedAnywhere(key, toolchain, target); };
  input.prepare = [this](const evaluate::EvaluateRequest& request, base::Callback<bool> done) {
    ReplayCaptured(request, std::move(done));
  };
  input.models = ModelsFor(state);
  input.wake = [this] { Later(&Service::Work); };
  input.takes_turns = true;
  job = std::make_unique<KernelJob>(
      KernelJob::Collaborators{with_.workers, with_.evaluator, catalog_, with_.clock, pool_},
      std::move(input), [this](const KernelJob& at_work) {
        if (at_work.stage() == "verdict") return OnVerdict(at_work);
        Emit("kernel", {{"kernel", records::LabelOf(at_work.input().kernel)},
                        {"stage", at_work.stage()},
                        {"title", at_work.title()}});
      });
}

void Service::DropUnusedJobs() {
  winnable_.clear();
  std::set<std::string> used;
  for (const auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      for (const Place& place : state.places.places) {
        used.insert(JobKey(kernel, state.target.numerics, place));
      }
    }
  }
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (used.count(it->first) != 0) {
      ++it;
      continue;
    }
    Drop(std::move(it->second));
    it = jobs_.erase(it);
  }
}

// One that is at work may be up the stack, and what it asked for goes on without it: it asks for
// nothing more, and goes when all of that has ended.
void Service::Drop(std::unique_ptr<KernelJob> job) {
  if (!job->under_way()) return;
  KernelJob& dropped = *dropped_.emplace_back(std::move(job));
  dropped.GiveUp("nothing needs it any more");
  if (!dropped.busy()) Step(dropped);
}

// With those that end their last step: they need devices and time like the others.
std::vector<KernelJob*> Service::AllJobs() const {
  std::vector<KernelJob*> all;
  all.reserve(jobs_.size() + dropped_.size());
  for (const auto& [key, job] : jobs_) all.push_back(job.get());
  for (const auto& job : dropped_) all.push_back(job.get());
  return all;
}

// On a device that has room.
bool Service::StartStep() {
  if (!obstacle_.empty()) return false;
  std::map<std::string, std::int64_t> busy;
  for (const KernelJob* job : AllJobs()) {
    const std::string& device = job->input().place.device;
    // On a GPU preparing has lanes of its own, so other kernels' searches go on.
    const bool beside = job->preparing() && evaluate::DeviceKind(device) == "cuda";
    busy[device] += job->busy() && !beside ? 1 : 0;
  }
  std::vector<KernelJob*> ready;
  std::vector<Claim> claims;
  for (const auto& [key, job] : jobs_) {
    if (job->busy() || job->waiting() || job->awaits_proof() || job->done()) continue;
    const std::string& device = job->input().place.device;
    if (busy[device] >= settings_.parallel || !gpu_watch_.MayRun(device)) continue;
    ready.push_back(job.get());
    claims.push_back(ClaimOf(key, *job));
  }
  const auto next = NextTurn(claims);
  if (!next) return false;
  Step(*ready[*next]);
  return true;
}

void Service::Step(KernelJob& job) {
  job.Step([this](const base::Result<bool>&) { Later(&Service::AfterStep); });
}

// What is accepted need not wait for the end of the step.
void Service::OnVerdict(const KernelJob& job) {
  const records::Evaluation& verdict = *job.last();
  ++counters_.evaluations;
  counters_.accepted += verdict.accepted ? 1 : 0;
  Emit("kernel", {{"kernel", records::LabelOf(job.input().kernel)},
                  {"stage", "verdict"},
                  {"title", job.title()},
                  {"verdict", verdict.accepted ? "accepted" : "rejected"},
                  {"reason", verdict.reason},
                  {"speedup", MeasuredSpeedup(verdict).value_or(0)}});
  SpareDisplay(job, verdict);
  captured_.NoteUse(job.input().kernel, NowMs());
  // The original's floor may be known from now on.
  std::erase_if(winnable_, [&](const auto& entry) {
    const auto known = jobs_.find(entry.first);
    return known == jobs_.end() || known->second.get() == &job;
  });
  if (!verdict.accepted) return;
  winnable_.clear();
  PublishKernel(job.input().kernel.key);
  if (settings_.publish_pause.count() == 0) return Later(&Service::Work);
  if (!publish_timer_.active()) {
    publish_timer_.Start(settings_.publish_pause, [this] { Work(); });
  }
}

// Jobs without an object end with their step, but not inside their own callback.
void Service::AfterStep() {
  std::erase_if(dropped_, [](const auto& job) { return !job->busy(); });
  ForgetTheRest();
  Work();
  if (BusyJobs().empty()) Emit("idle", {{"reason", IdleReason()}});
}

base::Result<> Service::Snooze(std::int64_t seconds) {
  TRY(policy_.Snooze(seconds));
  CheckObstacle();
  return {};
}

base::Result<> Service::Resume() {
  TRY(policy_.Resume());
  CheckObstacle();
  Later(&Service::Work);
  return {};
}

// While something stands in the way it is looked for again from time to time; without an obstacle
// and without work the daemon has no timer at all.
void Service::CheckObstacle() {
  const std::string before = obstacle_;
  const bool built = build_runs_;
  build_runs_ = policy_.AnyBuildRuns(BuildFolders());
  if (built && !build_runs_) {
    for (auto& [folder, state] : objects_) LookAtObject(state);
  }
  const CaptureId* capture = capture_tests_.running();
  if (capture != nullptr && (policy_.snoozed() || policy_.AnyBuildRuns({capture->build_folder}))) {
    capture_tests_.Interrupt();
  }
  obstacle_ = policy_.snoozed()    ? kSnoozed
              : build_runs_        ? "build running"
              : capture != nullptr ? kCapturing
                                   : "";
  if (obstacle_ != before) {
    log::Info(obstacle_.empty() ? "work may go on" : "paused", {{"reason", obstacle_}});
  }
  if (obstacle_.empty() != before.empty()) {
    HoldJobs();
    if (obstacle_.empty()) {
      with_.workers.Resume();
    } else {
      with_.workers.Pause();
    }
  }
  if (obstacle_.empty()) {
    if (!before.empty()) obstacle_timer_.Cancel();
    return;
  }
  if (!obstacle_timer_.active()) obstacle_timer_.Start(kObstaclePeriod, [this] { Work(); });
}

void Service::Later(void (Service::*task)()) {
  with_.loop.Post([this, alive = alive_, task] {
    if (*alive) (this->*task)();
  });
}

const KernelJob* Service::FindJob(const ObjectState& state, const records::Kernel& kernel,
                                  std::size_t place) const {
  if (place >= state.places.places.size()) return nullptr;
  const auto it = jobs_.find(JobKey(kernel, state.target.numerics, state.places.places[place]));
  return it == jobs_.end() ? nullptr : it->second.get();
}

std::shared_ptr<const Proven> Service::Best(const ObjectState& state, const records::Kernel& kernel,
                                            std::size_t place) {
  return FastestOf(BestSet(state, kernel, place));
}

ProvenSet Service::BestSet(const ObjectState& state, const records::Kernel& kernel,
                           std::size_t place) {
  if (place >= state.places.places.size()) return {};
  const Place& where = state.places.places[place];
  return catalog_.BestSet(kernel.key, WorkloadAt(kernel, where), where,
                          RefusedAt(state, kernel, where));
}

std::set<std::string> Service::RefusedAt(const ObjectState& state, const records::Kernel& kernel,
                                         const Place& place) {
  return RefusedVariants(catalog_.Refusals(state.object.folder), kernel.key,
                         state.scan == nullptr ? "" : state.scan->toolchain, place.target);
}

std::vector<const KernelJob*> Service::BusyJobs() const {
  std::vector<const KernelJob*> busy;
  for (const KernelJob* job : AllJobs()) {
    if (job->busy()) busy.push_back(job);
  }
  return busy;
}

std::string Service::IdleReason() const {
  if (!obstacle_.empty()) return obstacle_ == kCapturing ? "" : obstacle_;
  if (projects_.empty()) return "no project";
  if (!checking_objects_.empty()) return "";
  for (const auto& [folder, state] : objects_) {
    if (state.scanning || state.stale) return "scanning";
    if (state.scan != nullptr && !IsPlaced(state)) return "scanning";
  }
  bool open = false, may_run = false, asking = false, pending = false;
  for (const KernelJob* job : AllJobs()) {
    if (job->done()) continue;
    pending = pending || job->pending();
    asking = asking || (job->waiting() && !job->pending());
    if (job->waiting()) continue;
    open = true;
    may_run = may_run || gpu_watch_.MayRun(job->input().place.device);
  }
  for (const CaptureDemand& demand : capture_tests_.due()) {
    open = true;
    may_run = may_run || MayRunAll(demand.places);
  }
  if (open) return may_run ? "" : "gpu in use";
  return asking ? "asking models" : pending ? "waiting for answers" : "done";
}

std::int64_t Service::Unread() const {
  return std::count_if(objects_.begin(), objects_.end(), [](const auto& entry) {
    const ObjectState& state = entry.second;
    return (state.stale || state.scanning) && state.scan == nullptr;
  });
}

std::vector<std::string> Service::BuildFolders() const {
  std::vector<std::string> folders;
  folders.reserve(projects_.size());
  for (const auto& [folder, project] : projects_) folders.push_back(folder);
  return folders;
}

void Service::Emit(const std::string& name, const Json& data) {
  if (on_event_) on_event_(name, data);
}

}  // namespace cupilot::service
