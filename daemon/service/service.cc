#include "service/service.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "log/log.h"

namespace cupilot::service {
namespace {

namespace fs = std::filesystem;
using records::Json;
using std::chrono::milliseconds;

constexpr milliseconds kQuiet{250};           // events of one save belong together
constexpr milliseconds kObstaclePeriod{500};  // how soon work begins again after a build

// One job for all objects that hold the same kernel with the same workload and contract.
std::string JobKey(const records::Kernel& kernel, const std::string& numerics) {
  return kernel.key + "/" + WorkloadHash(WorkloadOf(kernel)) + "/" + numerics;
}

bool IsWanted(const Target& target, const records::Kernel& kernel) {
  if (target.kernels.empty()) return true;
  return std::any_of(target.kernels.begin(), target.kernels.end(), [&](const std::string& name) {
    return name == kernel.name || name == kernel.base_name;
  });
}

double WeightOf(const records::Workload& workload) {
  double weight = 0;
  for (const records::Case& c : workload.cases) weight += c.weight;
  return std::max(weight, 1e-9);
}

}  // namespace

Service::Service(Collaborators collaborators, Settings settings, std::string state_folder)
    : with_(collaborators),
      settings_(settings),
      state_folder_(std::move(state_folder)),
      catalog_(with_.store),
      policy_(with_.clock, catalog_),
      publisher_(catalog_, with_.files),
      started_(with_.clock.Now()),
      watcher_(with_.loop, kQuiet, [this](const std::string& folder) { OnFolderChanged(folder); }),
      obstacle_timer_(with_.loop) {}

Service::~Service() = default;

void Service::Start() {
  (void)base::MakeFolders(state_folder_ + "/projects");
  if (auto watched = watcher_.Watch(state_folder_ + "/projects"); !watched) {
    log::Error("new projects will not be noticed", {{"reason", watched.error()}});
  }
  evaluate::DescribeDevice(
      with_.workers, "host", [this](base::Result<evaluate::DeviceDescription> device) {
        if (device) {
          device_ = std::move(*device);
        } else {
          log::Error("the device cannot be described", {{"reason", device.error()}});
        }
      });
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
    auto project = ReadProject(folder);
    if (!project) {
      log::Warning("a project cannot be read", {{"reason", project.error()}});
      continue;
    }
    if (auto watched = watcher_.WatchTree(folder + "/cupilot"); !watched) {
      log::Warning("a project is not watched", {{"reason", watched.error()}});
    }
    projects_[folder] = *project;
    ReadObjects(*project);
  }
}

void Service::DropProject(const std::string& build_folder) {
  projects_.erase(build_folder);
  std::erase_if(objects_,
                [&](const auto& entry) { return entry.second.build_folder == build_folder; });
  DropUnusedJobs();
}

void Service::ReadObjects(const Project& project) {
  std::set<std::string> present;
  for (Object& object : FindObjects(project)) {
    present.insert(object.folder);
    ObjectState& state = objects_[object.folder];
    state.build_folder = project.build_folder;
    state.target = project.FindTarget(object.target);
    if (state.scan == nullptr || IsOutdated(*state.scan, object)) state.stale = true;
    if (state.scan != nullptr && !state.published.empty()) {
      const auto bytes = base::ReadFile(object.folder + "/selection.json");
      state.stamp_due = bytes && StampIsDue(object.folder, base::HashHex(*bytes));
    }
    state.object = std::move(object);
  }
  std::erase_if(objects_, [&](const auto& entry) {
    return entry.second.build_folder == project.build_folder && present.count(entry.first) == 0;
  });
}

void Service::OnFolderChanged(const std::string& folder) {
  if (folder == state_folder_ + "/projects") {
    ReadProjects();
  } else {
    for (const auto& [build_folder, project] : projects_) {
      if (folder.rfind(build_folder + "/cupilot", 0) != 0) continue;
      (void)watcher_.WatchTree(build_folder + "/cupilot");
      if (auto again = ReadProject(build_folder)) {
        const Project fresh = *again;
        projects_[build_folder] = fresh;
        ReadObjects(fresh);
      }
      break;
    }
    if (source_folders_.count(folder) != 0) {
      for (auto& [name, state] : objects_) {
        if (state.scan != nullptr && IsOutdated(*state.scan, state.object)) state.stale = true;
      }
    }
  }
  CheckObstacle();
  Work();
}

// Whatever can be begun now is begun: scans first, since they say what the work is.
void Service::Work() {
  CheckObstacle();
  while (StartScan()) {
  }
  while (StartStep()) {
  }
  TouchStamps();
}

bool Service::StartScan() {
  const bool busy = std::any_of(objects_.begin(), objects_.end(),
                                [](const auto& entry) { return entry.second.scanning; });
  if (busy || obstacle_ == "snoozed") return false;
  for (auto& [folder, state] : objects_) {
    if (!state.stale) continue;
    state.stale = false;
    state.scanning = true;
    ScanObject(
        with_.workers, state.object, state.target.numerics,
        [this, name = folder](base::Result<ObjectScan> scan) { OnScanned(name, std::move(scan)); });
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
    return Work();
  }
  state.problem.clear();
  std::erase_if(scan->kernels,
                [&](const records::Kernel& kernel) { return !IsWanted(state.target, kernel); });
  state.scan = std::make_unique<ObjectScan>(std::move(*scan));
  Json names = Json::array();
  for (const records::Kernel& kernel : state.scan->kernels) {
    names.push_back(kernel.name);
    if (auto saved = catalog_.SaveKernel(kernel, WorkloadOf(kernel)); !saved) {
      log::Error("a kernel cannot be written down", {{"reason", saved.error()}});
    }
  }
  for (const std::string& warning : state.scan->warnings) {
    log::Warning("scan", {{"warning", warning}});
  }
  WatchFilesOf(state);
  EnsureJobs(state);
  DropUnusedJobs();
  if (state.target.apply != "manual") PublishObject(state);
  Emit("scanned", {{"source", state.object.command.source}, {"kernels", names}});
  Work();
}

void Service::WatchFilesOf(const ObjectState& state) {
  for (const records::SelectedFile& file : state.scan->files) {
    const std::string folder = fs::path(file.path).parent_path().string();
    if (!source_folders_.insert(folder).second) continue;
    if (auto watched = watcher_.Watch(folder); !watched) {
      log::Warning("edits will not be noticed", {{"reason", watched.error()}});
    }
  }
}

void Service::EnsureJobs(const ObjectState& state) {
  for (const records::Kernel& kernel : state.scan->kernels) {
    const records::Workload workload = WorkloadOf(kernel);
    if (!kernel.declined.empty() || workload.cases.empty()) continue;
    auto& job = jobs_[JobKey(kernel, state.target.numerics)];
    if (job != nullptr) continue;
    JobInput input;
    input.kernel = kernel;
    input.workload = workload;
    input.command = state.object.command;
    input.source_text = state.scan->source_text;
    input.numerics = state.target.numerics;
    input.seed = settings_.seed;
    input.budget_seconds = settings_.seconds_per_kernel;
    input.measure_seconds = settings_.measure_seconds;
    job = std::make_unique<KernelJob>(
        KernelJob::Collaborators{with_.workers, with_.evaluator, catalog_, with_.clock},
        std::move(input), [this](const KernelJob& at_work) {
          Emit("kernel", {{"kernel", at_work.input().kernel.name},
                          {"stage", at_work.stage()},
                          {"title", at_work.title()}});
        });
  }
}

void Service::DropUnusedJobs() {
  std::set<std::string> used;
  for (const auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      used.insert(JobKey(kernel, state.target.numerics));
    }
  }
  // A busy job may be up the stack: it ends its step before it goes.
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    if (used.count(it->first) != 0) {
      ++it;
      continue;
    }
    if (it->second->busy()) dropped_.push_back(std::move(it->second));
    it = jobs_.erase(it);
  }
}

// The kernel that has had the least time for its weight is next.
bool Service::StartStep() {
  if (!obstacle_.empty()) return false;
  const auto busy = std::count_if(jobs_.begin(), jobs_.end(),
                                  [](const auto& entry) { return entry.second->busy(); });
  if (busy >= settings_.parallel) return false;
  const std::string* next = nullptr;
  double least = 0;
  for (const auto& [key, job] : jobs_) {
    if (job->busy() || job->finished()) continue;
    const double share = job->spent_seconds() / WeightOf(job->input().workload);
    if (next == nullptr || share < least) {
      next = &key;
      least = share;
    }
  }
  if (next == nullptr) return false;
  jobs_[*next]->Step([this, key = *next](base::Result<bool> accepted) { OnStep(key, accepted); });
  return true;
}

void Service::OnStep(const std::string& key, base::Result<bool> accepted) {
  // Jobs without an object end with their step, but not inside their own callback.
  with_.loop.Post([this] {
    std::erase_if(dropped_, [](const auto& job) { return !job->busy(); });
    Work();
    if (BusyJobs().empty()) Emit("idle", {{"reason", IdleReason()}});
  });
  const auto it = jobs_.find(key);
  if (it == jobs_.end()) return;
  const KernelJob& job = *it->second;
  if (job.last()) {
    ++counters_.evaluations;
    counters_.accepted += job.last()->accepted ? 1 : 0;
    Emit("kernel", {{"kernel", job.input().kernel.name},
                    {"stage", "verdict"},
                    {"title", job.title()},
                    {"verdict", job.last()->accepted ? "accepted" : "rejected"},
                    {"reason", job.last()->reason},
                    {"speedup", MeasuredSpeedup(*job.last()).value_or(0)}});
  }
  if (accepted && *accepted) PublishKernel(job.input().kernel.key);
}

void Service::PublishKernel(const std::string& kernel_key) {
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr || state.target.apply == "manual") continue;
    const auto& kernels = state.scan->kernels;
    if (std::any_of(kernels.begin(), kernels.end(),
                    [&](const records::Kernel& kernel) { return kernel.key == kernel_key; })) {
      PublishObject(state);
    }
  }
}

bool Service::PublishObject(ObjectState& state) {
  auto published = publisher_.Publish(*state.scan, "");
  if (!published) {
    log::Error("a selection cannot be published",
               {{"source", state.object.command.source}, {"reason", published.error()}});
    return false;
  }
  for (const std::string& problem : published->problems) {
    log::Warning("a variant cannot be swapped in", {{"reason", problem}});
  }
  state.published = published->swap;
  state.stamp_due = published->stamp_due;
  if (!published->changed) return false;
  ++counters_.published;
  Emit("published", {{"source", state.object.command.source}, {"swap", published->swap}});
  return true;
}

void Service::TouchStamps() {
  if (obstacle_ == "build running") return;
  for (auto& [folder, state] : objects_) {
    if (!state.stamp_due) continue;
    state.stamp_due = false;
    if (auto touched = publisher_.TouchStamp(folder); !touched) {
      log::Warning("a stamp cannot be touched", {{"reason", touched.error()}});
    }
  }
}

std::vector<std::string> Service::Apply(const std::string& folder) {
  std::vector<std::string> sources;
  for (auto& [name, state] : objects_) {
    if (state.scan == nullptr) continue;
    const Project& project = projects_[state.build_folder];
    const bool inside = folder.empty() || folder.rfind(project.build_folder, 0) == 0 ||
                        folder.rfind(project.source_folder, 0) == 0;
    if (inside && PublishObject(state)) sources.push_back(state.object.command.source);
  }
  TouchStamps();
  return sources;
}

base::Result<> Service::Snooze(std::int64_t seconds) {
  TRY(policy_.Snooze(seconds));
  CheckObstacle();
  return {};
}

base::Result<> Service::Resume() {
  TRY(policy_.Resume());
  CheckObstacle();
  with_.loop.Post([this] { Work(); });
  return {};
}

// While something stands in the way it is looked for again from time to time; without an obstacle
// and without work the daemon has no timer at all.
void Service::CheckObstacle() {
  const std::string before = obstacle_;
  obstacle_ = policy_.Obstacle(BuildFolders());
  if (obstacle_ != before) {
    log::Info(obstacle_.empty() ? "work may go on" : "paused", {{"reason", obstacle_}});
    if (obstacle_.empty()) {
      with_.workers.Resume();
    } else if (before.empty()) {
      with_.workers.Pause();
    }
  }
  if (obstacle_.empty()) {
    if (!before.empty()) obstacle_timer_.Cancel();
    return;
  }
  if (!obstacle_timer_.active()) obstacle_timer_.Start(kObstaclePeriod, [this] { Work(); });
}

const KernelJob* Service::FindJob(const records::Kernel& kernel) const {
  for (const auto& [key, job] : jobs_) {
    if (job->input().kernel.key == kernel.key) return job.get();
  }
  return nullptr;
}

std::vector<const KernelJob*> Service::BusyJobs() const {
  std::vector<const KernelJob*> busy;
  for (const auto& [key, job] : jobs_) {
    if (job->busy()) busy.push_back(job.get());
  }
  return busy;
}

std::string Service::IdleReason() const {
  if (!obstacle_.empty()) return obstacle_;
  if (projects_.empty()) return "no project";
  for (const auto& [folder, state] : objects_) {
    if (state.scanning || state.stale) return "scanning";
  }
  const bool open = std::any_of(jobs_.begin(), jobs_.end(),
                                [](const auto& entry) { return !entry.second->finished(); });
  return open ? "" : "done";
}

std::vector<std::string> Service::BuildFolders() const {
  std::vector<std::string> folders;
  for (const auto& [folder, project] : projects_) folders.push_back(folder);
  return folders;
}

void Service::Emit(const std::string& name, Json data) {
  if (on_event_) on_event_(name, data);
}

}  // namespace cupilot::service
