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
        for (const Proven& one : BestSet(state, kernel, i)) needs.variants.insert(one.variant.id);
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

base::Result<ForgetReport> Service::Forget(const std::set<std::string>& build_folders,
                                           bool dry_run) {
  ForgetReport report;
  std::set<std::string> keys, kept, sources;
  std::vector<cache::Write> writes;
  std::vector<std::string> objects;
  for (const auto& [folder, project] : projects_) {
    if (!build_folders.contains(folder)) continue;
    if (policy_.AnyBuildRuns({folder})) {
      return base::Fail(
          base::Unavailable("a build runs in " + folder + "; ask again when it has ended"));
    }
    report.projects.push_back(folder);
    sources.insert(project.source_folder);
  }
  // A source folder with another build folder keeps what its kernels share.
  for (const auto& [folder, project] : projects_) {
    if (!build_folders.contains(folder)) sources.erase(project.source_folder);
  }
  report.sources = sources;
  for (const auto& [folder, state] : objects_) {
    const bool goes = build_folders.contains(state.build_folder);
    if (goes) {
      objects.push_back(folder);
      writes.push_back({cache::Table::kSelections, cache::SelectionKey(folder), std::nullopt});
    }
    if (state.scan == nullptr) continue;
    for (const records::Kernel& kernel : state.scan->kernels) {
      (goes ? keys : kept).insert(kernel.key);
      if (goes) report.kernels.insert(records::LabelOf(kernel));
    }
  }
  TRY_ASSIGN(const std::set<std::string> older, KernelKeysIn(with_.store, sources));
  keys.insert(older.begin(), older.end());
  std::erase_if(keys, [&](const std::string& key) { return kept.contains(key); });
  TRY_ASSIGN(auto rows, PlanForget(with_.store, keys, report));
  writes.insert(writes.end(), rows.begin(), rows.end());
  std::vector<std::pair<std::string, std::string>> captured;
  for (const workloads::Captured* one : captured_.All()) {
    const bool inside = std::any_of(sources.begin(), sources.end(), [&](const std::string& folder) {
      return IsInFolder(one->file, folder);
    });
    if (inside) captured.emplace_back(one->file, one->kernel);
  }
  report.captured = static_cast<std::int64_t>(captured.size());
  for (const std::string& folder : objects) {
    const bool swapped =
        !ReadPublished(folder).variants.empty() || !ReadAppliedSelection(folder).selection.empty();
    report.objects += swapped ? 1 : 0;
  }
  if (dry_run) return report;
  // First what builds see: where the rest fails, the originals run.
  for (const std::string& folder : objects) {
    const bool applied = !ReadAppliedSelection(folder).selection.empty();
    auto done = base::RemoveTree(folder + "/" + source::kSelectionFile);
    if (done && applied) done = publisher_.TouchStamp(folder);
    if (!done) report.problems.push_back(folder + ": " + done.error().message);
  }
  for (const std::string& folder : report.projects) {
    TRY(RemoveRegistration(state_folder_, folder));
    DropProject(folder);
  }
  for (const auto& [file, label] : captured) TRY(captured_.Drop(file, label));
  for (const std::string& folder : sources) {
    TRY(captured_.SaveUntagged(folder, Json::array()));
    for (const agents::Allowance& one :
         models_.consent().List().value_or(std::vector<agents::Allowance>())) {
      if (one.project == ModelProject(folder)) {
        TRY(models_.consent().Forbid(one.project, one.provider));
      }
    }
  }
  TRY(models_.log().Drop(keys));
  TRY(with_.store.Apply(writes));
  catalog_.ReadAgain();
  catalog_.marks().ReadAgain();
  log::Info("projects were dropped", {{"count", report.projects.size()}});
  TRY(with_.store.Compact());
  Later(&Service::Work);
  return report;
}

}  // namespace cupilot::service
