// What is kept, and for how long: prune, the limits of the settings, and dropping projects.
#include <algorithm>
#include <utility>

#include "base/file.h"
#include "cache/keys.h"
#include "log/log.h"
#include "service/service.h"
#include "source/swap/selection_check.h"

namespace cupilot::service {
namespace {

using records::Json;

// The store is looked at once after the start and then after so many verdicts, never by the clock:
// an idle daemon does nothing.
constexpr std::int64_t kLookEvery = 1000;

bool IsInFolder(const std::string& path, const std::string& folder) {
  return !folder.empty() && path.starts_with(folder + "/");
}

}  // namespace

PruneLimits Service::StoreLimits() const {
  PruneLimits limits;
  limits.most_bytes = settings_.store_bytes;
  if (settings_.store_days > 0) {
    limits.before =
        base::FormatDate(with_.clock.WallTime() - std::chrono::hours(24 * settings_.store_days));
  }
  return limits;
}

// What builds use now is read from their folders: also of objects that could not be scanned.
PruneNeeds Service::NeedsOf() {
  PruneNeeds needs;
  for (const auto& [folder, state] : objects_) {
    for (const auto& [kernel, ids] : ReadPublished(folder).variants) {
      needs.variants.insert(ids.begin(), ids.end());
    }
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      needs.kernel_keys.insert(kernel.key);
      for (std::size_t i = 0; i < state.places.places.size(); ++i) {
        for (const auto& one : BestSet(state, kernel, i)) needs.variants.insert(one->variant.id);
      }
    }
  }
  for (const Mark& mark : catalog_.marks().All()) needs.variants.insert(mark.variant);
  return needs;
}

base::Result<PruneReport> Service::Prune(const PruneLimits& limits, bool dry_run) {
  if (Unread() > 0) {
    return base::Fail(base::Unavailable(
        "the daemon has not read all sources yet, so it does not know what they need; ask again "
        "when `cupilot status` says that it has"));
  }
  TRY_ASSIGN(PruneReport report, PlanPrune(with_.store, NeedsOf(), limits));
  if (dry_run || report.writes.empty()) return report;
  TRY(with_.store.Apply(report.writes));
  catalog_.ReadAgain();
  log::Info("the store was pruned", {{"evaluations", report.evaluations},
                                     {"bytes", report.bytes_before - report.bytes_after}});
  TRY(with_.store.Compact());
  return report;
}

// Only while nothing is worked on: reading the whole store takes its time.
void Service::KeepStoreSmall() {
  const bool due = looked_at_store_ < 0 || counters_.evaluations >= looked_at_store_ + kLookEvery;
  if (!due || Unread() > 0 || !BusyJobs().empty() || IdleReason() != "done") return;
  looked_at_store_ = counters_.evaluations;
  const PruneLimits limits = StoreLimits();
  if (limits.before.empty() && limits.most_bytes == 0) return;
  if (auto pruned = Prune(limits, false); !pruned) {
    log::Warning("the store was not pruned", {{"reason", pruned.error()}});
  }
}

// What is dropped with some projects.
struct Service::Forgetting {
  ForgetReport report;
  std::set<std::string> keys;                                 // of kernels that nobody else has
  std::vector<std::string> objects;                           // folders
  std::vector<std::pair<std::string, std::string>> captured;  // file, label
  std::vector<cache::Write> writes;
};

// Which projects, and the source folders that no other build folder shares.
base::Result<> Service::FindProjectsToForget(const std::set<std::string>& build_folders,
                                             ForgetReport& report) {
  for (const auto& [folder, project] : projects_) {
    if (!build_folders.contains(folder)) continue;
    if (policy_.AnyBuildRuns({folder})) {
      return base::Fail(
          base::Unavailable("a build runs in " + folder + "; ask again when it has ended"));
    }
    report.projects.push_back(folder);
    report.sources.insert(project.source_folder);
  }
  for (const auto& [folder, project] : projects_) {
    if (!build_folders.contains(folder)) report.sources.erase(project.source_folder);
  }
  return {};
}

base::Result<> Service::FindWhatToForget(const std::set<std::string>& build_folders,
                                         Forgetting& plan) {
  std::set<std::string> kept, journals, kept_journals;
  for (const auto& [folder, state] : objects_) {
    const bool goes = build_folders.contains(state.build_folder);
    if (goes) {
      plan.objects.push_back(folder);
      plan.writes.push_back({cache::Table::kSelections, cache::SelectionKey(folder), std::nullopt});
      const bool swapped = !ReadPublished(folder).variants.empty() ||
                           !ReadAppliedSelection(folder).selection.empty();
      plan.report.objects += swapped ? 1 : 0;
    }
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      const std::string& label = records::LabelOf(kernel);
      (goes ? plan.keys : kept).insert(kernel.key);
      (goes ? journals : kept_journals).insert(Journal::PrefixOf({kernel.file, label}));
      if (goes) plan.report.kernels.insert(label);
    }
  }
  TRY_ASSIGN(const std::set<std::string> older, KernelKeysIn(with_.store, plan.report.sources));
  plan.keys.insert(older.begin(), older.end());
  std::erase_if(plan.keys, [&](const std::string& key) { return kept.contains(key); });
  std::erase_if(journals, [&](const std::string& one) { return kept_journals.contains(one); });
  TRY_ASSIGN(const auto rows, PlanForget(with_.store, plan.keys, journals, plan.report));
  plan.writes.insert(plan.writes.end(), rows.begin(), rows.end());
  for (const workloads::Captured* one : captured_.All()) {
    const auto has = [&](const std::string& folder) { return IsInFolder(one->file, folder); };
    if (std::any_of(plan.report.sources.begin(), plan.report.sources.end(), has)) {
      plan.captured.emplace_back(one->file, one->kernel);
    }
  }
  plan.report.captured = static_cast<std::int64_t>(plan.captured.size());
  return {};
}

// What only the project's source folder names.
base::Result<> Service::ForgetSources(const std::set<std::string>& sources) {
  for (const std::string& folder : sources) {
    TRY(captured_.SaveUntagged(folder, Json::array()));
    TRY_ASSIGN(const auto allowed, models_.consent().List());
    for (const agents::Allowance& one : allowed) {
      if (one.project != ModelProject(folder)) continue;
      TRY(models_.consent().Forbid(one.project, one.provider));
    }
  }
  return {};
}

// What was under way when a project was dropped has written its result since.
void Service::ForgetTheRest() {
  if (forgotten_.empty() || !dropped_.empty()) return;
  std::set<std::string> keys;
  keys.swap(forgotten_);
  // Somebody may have configured the project again.
  for (const auto& [key, job] : jobs_) keys.erase(job->input().kernel.key);
  ForgetReport report;
  const auto writes = PlanForget(with_.store, keys, {}, report);
  const base::Result<> done =
      writes ? with_.store.Apply(*writes) : base::Result<>(base::Fail(writes.error()));
  if (!done) log::Error("a dropped project left something", {{"reason", done.error()}});
  catalog_.ReadAgain();
}

base::Result<ForgetReport> Service::Forget(const std::set<std::string>& build_folders,
                                           bool dry_run) {
  Forgetting plan;
  TRY(FindProjectsToForget(build_folders, plan.report));
  TRY(FindWhatToForget(build_folders, plan));
  if (dry_run) return plan.report;
  // First what builds see: where the rest fails, the originals run.
  for (const std::string& folder : plan.objects) {
    const bool applied = !ReadAppliedSelection(folder).selection.empty();
    auto done = base::RemoveTree(folder + "/" + source::kSelectionFile);
    if (done && applied) done = publisher_.TouchStamp(folder);
    if (!done) plan.report.problems.push_back(folder + ": " + done.error().message);
  }
  for (const std::string& folder : plan.report.projects) {
    TRY(RemoveRegistration(state_folder_, folder));
    DropProject(folder);
  }
  for (const auto& [file, label] : plan.captured) TRY(captured_.Drop(file, label));
  TRY(ForgetSources(plan.report.sources));
  TRY(models_.log().Drop(plan.keys));
  TRY(with_.store.Apply(plan.writes));
  catalog_.ReadAgain();
  catalog_.marks().ReadAgain();
  journal_.ReadAgain();
  if (!dropped_.empty()) forgotten_.insert(plan.keys.begin(), plan.keys.end());
  log::Info("projects were dropped", {{"count", plan.report.projects.size()}});
  TRY(with_.store.Compact());
  Later(&Service::Work);
  return std::move(plan.report);
}

}  // namespace cupilot::service
