#include "tests/bench/search/run_arm.h"

#include <stdlib.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "cache/memory_store.h"
#include "service/kernel_job.h"
#include "tests/bench/search/recorded.h"

namespace cupilot::bench {
namespace {

constexpr std::size_t kPoolOfArm = 1000;          // entries, of which most are shipped
constexpr const char* kProject = "search_bench";  // in requests, where a project's hash stands

// For what is sent to a model while a run is live; gone with it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string made = (std::filesystem::temp_directory_path() / "cupilot-bench-XXXXXX").string();
    if (::mkdtemp(made.data()) != nullptr) path_ = made;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    if (!path_.empty()) (void)base::RemoveTree(path_);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

service::JobInput InputOf(const Arm& arm, const Recording& recording, const LiveSide* live) {
  service::JobInput input;
  input.kernel = recording.scanned;
  input.workload = recording.workload;
  input.place.device = recording.device;
  input.place.identity = recording.identity;
  input.place.driver = recording.driver;
  input.seed = recording.seed;
  // Evaluations alone end it: no time is in what it decides.
  input.budget_seconds = std::numeric_limits<double>::infinity();
  input.budget_evaluations = recording.evaluations;
  input.parts = PartsOf(arm);
  if (live != nullptr) {
    input.command = live->command;
    input.source_text = live->source_text;
  }
  return input;
}

class ArmRunner {
 public:
  ArmRunner(loop::Loop& loop, const base::Clock& clock, const Arm& arm, const Recording& recording,
            LiveSide* live)
      : loop_(loop),
        arm_(arm),
        recording_(recording),
        live_(live),
        desk_{loop, recording, live == nullptr ? none_ : live->facts, recording, ""},
        alarms_(loop),
        provider_(desk_, alarms_, clock, FirstOf(live)),
        workers_(desk_, live == nullptr ? nullptr : live->workers),
        evaluator_(desk_, live == nullptr ? nullptr : live->evaluator),
        catalog_(store_),
        pool_(store_, kPoolOfArm),
        models_(books_, allowed_, clock, scratch_.path(), ModelSettingsOf(arm, recording)),
        clock_(clock) {
    desk_.used.facts = {};
    desk_.used.exchanges.clear();
  }

  base::Result<ArmRun> Run() {
    service::JobInput input = InputOf(arm_, recording_, live_);
    input.wake = [this] { woken_ = true; };
    TRY(AddModels(input));
    service::KernelJob job({workers_, evaluator_, catalog_, clock_, pool_}, std::move(input), {});
    while (desk_.miss.empty() && !job.finished() && !job.pending()) {
      if (job.waiting() && !woken_) {
        loop_.RunOnce(true);
        continue;
      }
      Step(job);
    }
    if (!desk_.miss.empty()) {
      return base::Fail(live_ == nullptr ? base::NotFound(desk_.miss)
                                         : base::Unavailable(desk_.miss));
    }
    if (!job.failure().empty()) return base::Fail(base::Unavailable(job.failure()));
    ArmRun run;
    if (job.search() != nullptr) {
      TRY_ASSIGN(run.curve, CurveOf(job.search()->ToJson()));
    }
    run.curve.kernel = recording_.kernel;
    run.curve.arm = recording_.arm;
    run.ended = job.ended();
    run.open_requests = job.pending() ? job.models()->open_requests() : 0;
    return run;
  }

  Recording TakeUsed() { return std::move(desk_.used); }

 private:
  static agents::Provider* FirstOf(const LiveSide* live) {
    if (live == nullptr || live->models == nullptr) return nullptr;
    return live->models->providers.empty() ? nullptr : live->models->providers.front().provider;
  }
  static agents::ModelSettings ModelSettingsOf(const Arm& arm, const Recording& recording) {
    agents::ModelSettings settings;
    settings.requests = arm.models ? recording.requests : 0;
    return settings;
  }

  // Through the guards, as everywhere: what is recorded is what was sent.
  base::Result<> AddModels(service::JobInput& input) {
    if (!arm_.models) return {};
    if (live_ != nullptr && live_->models != nullptr) surroundings_.prices = live_->models->prices;
    surroundings_.alarms = &alarms_;
    const std::string model = live_ != nullptr && live_->models != nullptr
                                  ? live_->models->providers.front().model
                                  : std::string();
    surroundings_.providers = {{&provider_, model}};
    TRY(models_.Use(surroundings_));
    TRY(models_.consent().Allow(kProject, provider_.name()));
    std::vector<std::pair<std::string, std::string>> folders;
    if (live_ != nullptr && !live_->command.directory.empty()) {
      folders.emplace_back(live_->command.directory, "<project>");
    }
    input.models = service::JobModelsOf(models_, {kProject, std::move(folders)});
    return {};
  }

  void Step(service::KernelJob& job) {
    woken_ = false;
    bool done = false;
    job.Step([&done](const base::Result<bool>&) { done = true; });
    while (!done && desk_.miss.empty()) loop_.RunOnce(true);
    // Nothing more is asked for; what is under way ends.
    if (!done) job.GiveUp(desk_.miss);
    while (!done) loop_.RunOnce(true);
  }

  loop::Loop& loop_;
  const Arm& arm_;
  const Recording& recording_;
  LiveSide* live_;
  Facts none_;
  Desk desk_;
  agents::LoopAlarms alarms_;
  RecordedProvider provider_;
  RecordedWorkers workers_;
  RecordedEvaluator evaluator_;
  cache::MemoryStore store_, books_, allowed_;
  service::Catalog catalog_;
  service::Pool pool_;
  ScratchFolder scratch_;
  service::Models models_;
  service::ModelSurroundings surroundings_;
  const base::Clock& clock_;
  bool woken_ = false;
};

}  // namespace

base::Result<ArmRun> RunArm(loop::Loop& loop, const base::Clock& clock, const Arm& arm,
                            const Recording& recording, LiveSide* live, Recording* used) {
  ArmRunner runner(loop, clock, arm, recording, live);
  auto run = runner.Run();
  Recording told = runner.TakeUsed();
  if (used != nullptr) *used = told;
  if (run) run->used = std::move(told);
  return run;
}

}  // namespace cupilot::bench
