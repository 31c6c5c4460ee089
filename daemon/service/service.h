// The daemon's heart: projects are found and watched, their objects scanned, kernels tuned one
// candidate at a time, winners published. Everything on the loop thread; owns no thread of its own.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/calls.h"
#include "evaluate/evaluator.h"
#include "evaluate/workers.h"
#include "loop/file_watcher.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "service/again.h"
#include "service/capture_tests.h"
#include "service/captured_workloads.h"
#include "service/catalog.h"
#include "service/gpu_watch.h"
#include "service/idle_policy.h"
#include "service/journal.h"
#include "service/kernel_job.h"
#include "service/models.h"
#include "service/object_code.h"
#include "service/object_scan.h"
#include "service/outbound.h"
#include "service/project.h"
#include "service/prune.h"
#include "service/publisher.h"
#include "service/schedule.h"
#include "service/settings.h"

namespace cupilot::service {

// A kernel whose code in the built object was not compared with what is tuned.
struct UncheckedKernel {
  std::string object;  // BuiltObjectOf
  std::string kernel_key;
  std::size_t place = 0;  // of the object's
};

// An object as the service knows it.
struct ObjectState {
  std::string build_folder;
  Target target;
  Object object;
  std::unique_ptr<ObjectScan> scan;  // the last one that succeeded
  Places places;                     // where its kernels run
  std::string problem;               // of the last scan, if it failed
  bool scanning = false;
  bool stale = true;           // to be scanned, or what was captured of it to be taken
  bool publish_due = false;    // as soon as no build runs
  bool not_published = false;  // what was due could not be written
  bool not_touched = false;    // likewise the stamp
  bool stamp_due = false;      // its next build should compile it again
  Published published;
  // Until they have been, nothing is published.
  std::vector<UncheckedKernel> unchecked;
  bool check_failed = false;  // one of them could not be: it is tried again (again.h)
  // Variants whose machine code in the object is what was measured.
  std::set<std::string> as_measured;
  std::string effective;  // what its next compile would take (CompiledHash); empty: the original
  // The selection (empty: the original) for which the stamp was touched, until a compile has taken
  // it. A compile that did not is not asked again, or a build with CUPILOT=0 would never rest.
  std::optional<std::string> touched_for;
};

struct Counters {
  std::int64_t scans = 0;
  std::int64_t evaluations = 0;
  std::int64_t accepted = 0;
  std::int64_t published = 0;
};

// The obstacle of all other work while a test is run: its kernels have the device for themselves.
inline constexpr const char* kCapturing = "capturing";
// Tuning is paused by `cupilot snooze`.
inline constexpr const char* kSnoozed = "snoozed";

class Service {
 public:
  struct Collaborators {
    loop::Loop& loop;
    const base::Clock& clock;
    cache::Store& store;
    evaluate::Workers& workers;
    evaluate::Evaluator& evaluator;
    PublishFiles& files;
    CaptureRunner* captures = nullptr;          // null: the tests that projects name are not run
    const ModelSurroundings* models = nullptr;  // null: no model is asked
  };
  using EventHandler = base::UniqueFunction<void(const std::string& name, const records::Json&)>;

  Service(Collaborators collaborators, const Settings& settings, std::string state_folder);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service();

  void OnEvent(EventHandler handler) { on_event_ = std::move(handler); }
  // Reads the registrations and begins to watch and to work.
  void Start();

  // Publishes what is best, also for targets with APPLY manual, in the project that contains
  // `folder` (all projects if empty). Returns the sources whose selection changed.
  std::vector<std::string> Apply(const std::string& folder);
  // Entries of a lock file in this folder for what is published for the object.
  Publisher::Locked Lock(const ObjectState& state, const std::string& lock_folder);
  // Puts variants of a kernel aside in the objects of a build folder, because their program is
  // slower with them (service_demotion.cc). `variants`: ids; empty: what is published. Returns what
  // is new; kNotFound where none of them is in use there.
  base::Result<std::vector<Refusal>> Demote(const std::string& build_folder,
                                            const records::Kernel& kernel,
                                            const std::set<std::string>& variants,
                                            const std::string& reason,
                                            const records::Json& evidence);
  // Why the object does without all variants of the kernel: its own code of it is other code than
  // the code that is tuned (service_objects.cc). Empty: it does not.
  std::string WhyDeclined(const ObjectState& state, const records::Kernel& kernel,
                          std::size_t place = 0);
  // A line for people on the object's code, where it differs and was verified.
  std::string ObjectNote(const ObjectState& state, const records::Kernel& kernel,
                         std::size_t place = 0);
  // What the user decided of a variant (service_marks.cc): written down with a line of the journal,
  // and published at once. `undo`: it is taken back. kIo.
  base::Result<> Decide(const records::Kernel& kernel, const Mark& mark, bool undo);
  // What was decided elsewhere, of variants that nothing was decided of here. How many were new.
  base::Result<std::size_t> TakeMarks(const std::vector<Mark>& marks);
  // Drops what nothing needs (service_storage.cc, prune.h). kUnavailable while sources are unread:
  // what they need is not known.
  base::Result<PruneReport> Prune(const PruneLimits& limits, bool dry_run);
  PruneLimits StoreLimits() const;
  // Drops projects with all that was kept for their kernels alone; their next builds are those of
  // the originals. kUnavailable while one of them is built.
  base::Result<ForgetReport> Forget(const std::set<std::string>& build_folders, bool dry_run);
  // What other machines proved was taken as proposals: jobs of these kernels look at them.
  void OnProposals(const std::set<std::string>& kernel_keys);
  Journal& journal() { return journal_; }
  cache::Store& store() { return with_.store; }
  // The date so many seconds ago.
  std::string DateBefore(double seconds) const {
    return base::FormatDate(with_.clock.WallTime() -
                            std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::duration<double>(seconds)));
  }
  std::string Date() const { return base::FormatDate(with_.clock.WallTime()); }
  base::Result<> Snooze(std::int64_t seconds);
  base::Result<> Resume();
  // Begins nothing more, and calls `left` once the steps that are under way have ended
  // (service_leave.cc). All else goes on meanwhile.
  void Leave(base::UniqueFunction<void()> left);
  bool leaving() const { return leaving_; }

  // Captures take the places of earlier ones: their kernels are tuned on them from now on. What has
  // no room is in the result, and what goes for them.
  base::Result<CapturesTaken> AddCaptured(const std::vector<workloads::Captured>& all);
  base::Result<> DropCaptured(const std::string& file, const std::string& label);
  CapturedWorkloads& captured() { return captured_; }
  // For what leaves the machine.
  Outbound& outbound() { return outbound_; }
  const CaptureTests& capture_tests() const { return capture_tests_; }

  // For documents.
  const std::map<std::string, ObjectState>& objects() const { return objects_; }
  const std::map<std::string, Project>& projects() const { return projects_; }
  // Where the object's kernels run, or why they run nowhere.
  const Places& PlacesOf(const ObjectState& state) const { return state.places; }
  // The job at one of the object's places.
  const KernelJob* FindJob(const ObjectState& state, const records::Kernel& kernel,
                           std::size_t place = 0) const;
  // What is to run in place of the kernel in this object: not what its compile refused. Of several
  // for different sizes the one that saves most.
  std::shared_ptr<const Proven> Best(const ObjectState& state, const records::Kernel& kernel,
                                     std::size_t place = 0);
  // All of them, in the order in which a launch asks them.
  ProvenSet BestSet(const ObjectState& state, const records::Kernel& kernel, std::size_t place = 0);
  // Of the kernel's proven variants, those that this object does without.
  std::vector<Refusal> RefusedOf(const ObjectState& state, const records::Kernel& kernel,
                                 std::size_t place = 0);
  Catalog& catalog() { return catalog_; }
  Models& models() { return models_; }
  // The user allowed a provider: kernels that waited for nothing else go on.
  void OnModelsAllowed();
  Pool& pool() { return pool_; }
  const Counters& counters() const { return counters_; }
  evaluate::WorkerCounters worker_counters() const { return with_.workers.counters(); }
  evaluate::Workers::Spent SpentOn(const records::Kernel& kernel) const {
    return with_.workers.SpentOn(kernel.key);
  }
  const evaluate::DeviceDescription& host() const { return host_; }
  // Those of which there is something to tune; asked for when the first object needs one.
  const evaluate::GpuList& gpus() const { return gpus_; }
  // What is known of a GPU's use; null while there is nothing to do on it.
  const GpuJudgement* Activity(const std::string& device) const { return gpu_watch_.Find(device); }
  const GpuLoad* LoadOf(const std::string& device) const { return gpu_watch_.LoadOf(device); }
  std::int64_t snoozed_until() const { return policy_.snoozed_until(); }
  std::chrono::nanoseconds Uptime() const { return with_.clock.Now() - started_; }
  // Also those that nothing needs any more, until they have ended.
  std::vector<const KernelJob*> BusyJobs() const;
  std::vector<const KernelJob*> Jobs() const;
  // "" while something is worked on, or captured; else "done", "snoozed", "build running", "no
  // project", "scanning", "gpu in use": there is only work for GPUs that are not free.
  std::string IdleReason() const;
  // Objects that this daemon has not read yet: their kernels are not known.
  std::int64_t Unread() const;

 private:
  void ReadProjects();
  void ReadObjects(const Project& project);
  void DropProject(const std::string& build_folder);
  void OnFolderChanged(const std::string& folder);
  void OnChanges();
  void WatchProject(const std::string& build_folder);
  void WatchFolderOf(const std::string& file);
  void Work();
  bool StartScan();
  void MarkStale(const std::string& file, const std::string& label);
  void ReplayCaptured(evaluate::EvaluateRequest request, base::Callback<bool> done);
  base::Result<bool> OnReplayed(const records::Kernel& kernel, const workloads::Captured& asked,
                                base::Result<protocol::ReplayReply> reply);
  void OverlayCaptured(records::Kernel& kernel, const std::map<std::string, std::string>& before,
                       ObjectScan& scan);
  void DropOutdatedCaptures();
  void CaptureAgain(const GoneWorkload& gone);
  std::int64_t NowMs() const;
  void OnScanned(const std::string& folder, base::Result<ObjectScan> scan);
  void UseScan(const std::string& folder, ObjectState& state,
               const std::map<std::string, std::string>& dropped_before);
  void AskForHost();
  void AskForGpus();
  void NoteGpus(evaluate::GpuList list);
  void ListGpus();
  void WatchGpus();
  void OnGpusChanged();
  bool MayRunAll(const std::set<std::string>& devices) const;
  void LookAtCaptures();
  void StartCapture();
  void OnCaptureChanged(const CaptureId* ended);
  void HoldJobs();
  void FindPlaces(ObjectState& state);
  void FindPlacesAgain();
  void OnDevices(const std::string& kind);
  void EnsureJobs(const ObjectState& state);
  void WatchAnswers();
  JobModels ModelsFor(const ObjectState& state);
  void EnsureJob(const ObjectState& state, const records::Kernel& kernel, const Place& place);
  static bool IsPlaced(const ObjectState& state);
  std::string LeastUsed(const Place& place) const;
  void DropUnusedJobs();
  void Drop(std::unique_ptr<KernelJob> job);
  std::vector<KernelJob*> AllJobs() const;
  bool StartStep();
  Claim ClaimOf(const std::string& job_key, const KernelJob& job);
  void Step(KernelJob& job);
  void OnVerdict(const KernelJob& job);
  void SpareDisplay(const KernelJob& job, const records::Evaluation& verdict);
  void AfterStep();
  void LookIfLeft();
  void LookAtFailures();
  void TryAgain();
  void PublishKernel(const std::string& kernel_key);
  void FollowMark(const Mark& mark);
  void PublishDue();
  bool PublishObject(ObjectState& state);
  std::string WhyChanged(const ObjectState& state, const records::Kernel& kernel,
                         const std::vector<std::string>& before, const ProvenSet& now);
  void NoteChanges(const ObjectState& state);
  PruneNeeds NeedsOf();
  struct Forgetting;
  base::Result<> FindProjectsToForget(const std::set<std::string>& build_folders,
                                      ForgetReport& report);
  base::Result<> FindWhatToForget(const std::set<std::string>& build_folders, Forgetting& plan);
  base::Result<> ForgetSources(const std::set<std::string>& sources);
  void ForgetTheRest();
  void KeepStoreSmall();
  void LookAtBuild(ObjectState& state);
  void LearnRefusals(ObjectState& state);
  void LearnShipped(ObjectState& state);
  void LookAtObject(ObjectState& state);
  void CheckObjects();
  struct NextCheck {
    const ObjectState* state;
    const records::Kernel* kernel;
    UncheckedKernel one;
  };
  std::optional<NextCheck> NextUnchecked();
  void CheckObject(const ObjectState& state, const records::Kernel& kernel, const Place& place,
                   const UncheckedKernel& one);
  void OnObjectChecked(const std::string& folder, const records::Kernel& kernel, const Place& place,
                       const UncheckedKernel& one, base::Result<evaluate::ObjectCheck> check);
  void FollowObject(ObjectState& state, const records::Kernel& kernel, const Place& place,
                    const std::string& declined);
  void EndIfDeclined(const std::string& job_key, const std::string& declined);
  bool IsDeclinedEverywhere(const std::string& job_key);
  bool Refuse(const ObjectState& state, const std::vector<Refusal>& suspects);
  // Variants that one of the kernel's objects does without.
  std::set<std::string> RefusedAt(const ObjectState& state, const records::Kernel& kernel,
                                  const Place& place);
  std::set<std::string> RefusedAnywhere(const std::string& kernel_key, const std::string& toolchain,
                                        const std::string& target);
  static void LookAtStamp(ObjectState& state);
  void TouchStamps();
  void CheckObstacle();
  // On the loop thread, later, unless the service is gone by then.
  void Later(void (Service::*task)());
  void Emit(const std::string& name, const records::Json& data);
  std::vector<std::string> BuildFolders() const;

  Collaborators with_;
  Settings settings_;
  std::string state_folder_;
  Catalog catalog_;
  CapturedWorkloads captured_;
  Outbound outbound_;
  Models models_;
  Pool pool_;
  Journal journal_;
  IdlePolicy policy_;
  GpuWatch gpu_watch_;
  CaptureTests capture_tests_;
  Publisher publisher_;
  EventHandler on_event_;
  std::chrono::nanoseconds started_;
  evaluate::DeviceDescription host_;
  evaluate::GpuList gpus_;
  enum class Asked { kNo, kWaiting, kAnswered };
  Asked host_asked_ = Asked::kNo;
  Asked gpus_asked_ = Asked::kNo;
  std::set<std::string> gpus_seen_;                         // uuids, by the last sample
  std::map<std::string, Project> projects_;                 // by build folder
  std::map<std::string, ObjectState> objects_;              // by object folder
  std::map<std::string, std::unique_ptr<KernelJob>> jobs_;  // by JobKey()
  std::vector<std::unique_ptr<KernelJob>> dropped_;         // in their last step
  // By JobKey(): what can be won, which is read once until something is accepted or captured.
  std::map<std::string, std::optional<double>> winnable_;
  std::set<std::string> source_folders_;  // watched for edits
  Counters counters_;
  std::set<std::string> changed_;           // folders with events that were not looked at yet
  std::string obstacle_;                    // why nothing is worked on; kCapturing: a capture is
  bool build_runs_ = false;                 // nothing is published and touched
  std::set<std::string> checking_objects_;  // folder, kernel and place of those that are compared
  bool leaving_ = false;
  base::UniqueFunction<void()> left_;  // until it was called
  loop::FileWatcher watcher_;
  loop::FileWatcher lock_watcher_;  // of a build's begin: at once
  loop::Timer obstacle_timer_;
  loop::Timer models_timer_;
  loop::Timer publish_timer_;  // from a verdict until it is published
  loop::Timer again_timer_;    // while something has failed
  Again again_;
  std::chrono::nanoseconds again_at_{0};  // when the timer ends
  std::set<std::string> forgotten_;       // kernels whose last evaluations have not ended yet
  std::int64_t looked_at_store_ = -1;     // after so many evaluations; -1: never
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cupilot::service
