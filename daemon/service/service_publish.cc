// What is best goes into the users' build folders, and what changed by that into the journal.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

// True for the folder itself and for all below it.
bool IsAtOrBelow(const std::string& path, const std::string& folder) {
  return path == folder || path.rfind(folder + "/", 0) == 0;
}

std::string Measured(const records::Evaluation& evaluation) {
  if (!evaluation.speedup || !evaluation.interval) return {};
  char text[96];
  std::snprintf(text, sizeof text, ": %.2fx [%.2f, %.2f] over the original on ",
                *evaluation.speedup, (*evaluation.interval)[0], (*evaluation.interval)[1]);
  return text + evaluation.device.name;
}

}  // namespace

void Service::PublishKernel(const std::string& kernel_key) {
  for (auto& [folder, state] : objects_) {
    if (state.scan == nullptr) continue;
    const auto& kernels = state.scan->kernels;
    if (std::any_of(kernels.begin(), kernels.end(),
                    [&](const records::Kernel& kernel) { return kernel.key == kernel_key; })) {
      state.publish_due = true;
    }
  }
}

void Service::PublishDue() {
  if (build_runs_ || (publish_timer_.active() && !leaving_)) return;
  for (auto& [folder, state] : objects_) {
    if (!state.publish_due || state.scan == nullptr || !IsPlaced(state)) continue;
    // While nothing may be done, what has failed is not tried with each look at that.
    if (state.not_published && !obstacle_.empty()) continue;
    if (!state.unchecked.empty()) continue;
    LearnShipped(state);  // its places may not have been known before
    state.publish_due = false;
    // Without a device nothing is known that would speak against what is there.
    state.not_published = false;
    if (state.places.places.empty()) continue;
    if (state.target.apply != "manual") PublishObject(state);
  }
}

bool Service::PublishObject(ObjectState& state) {
  auto published = publisher_.Publish(*state.scan, state.places.places);
  state.not_published = !published.has_value();
  if (!published) {
    log::Error("a selection cannot be published",
               {{"source", state.object.command.source}, {"reason", published.error()}});
    // A disk that is full now has room again some time: it is tried with all that happens next.
    state.publish_due = published.error().code == base::ErrorCode::kIo;
    return false;
  }
  for (const auto& [kernel, problem] : published->problems) {
    log::Warning("a variant cannot be swapped in", {{"kernel", kernel}, {"reason", problem}});
  }
  const bool another = state.published.selection != published->selection;
  state.published = std::move(*published);
  // Reads all of it: of files that others write the watcher tells, but for a lock file.
  if (state.published.wrote || another || !state.target.lock.empty()) LookAtStamp(state);
  if (!state.published.changed) return false;
  ++counters_.published;
  NoteChanges(state);
  Emit("published", {{"source", state.object.command.source}, {"swap", state.published.swap}});
  return true;
}

std::vector<std::string> Service::Apply(const std::string& folder) {
  std::vector<std::string> sources;
  for (auto& [name, state] : objects_) {
    if (state.scan == nullptr || state.places.places.empty()) continue;
    const auto project = projects_.find(state.build_folder);
    if (project == projects_.end()) continue;
    const bool inside = folder.empty() || IsAtOrBelow(folder, project->second.build_folder) ||
                        (!project->second.source_folder.empty() &&
                         IsAtOrBelow(folder, project->second.source_folder));
    if (!inside || !state.unchecked.empty()) continue;
    if (PublishObject(state)) sources.push_back(state.object.command.source);
  }
  TouchStamps();
  return sources;
}

// Why the object's builds get another choice for a kernel than before.
std::string Service::WhyChanged(const ObjectState& state, const records::Kernel& kernel,
                                const std::vector<std::string>& before, const ProvenSet& now) {
  const std::set<std::string>& rejected = catalog_.marks().Rejected();
  const std::vector<Refusal> refusals = catalog_.Refusals(state.object.folder);
  std::string gone;
  for (const Refusal& refusal : refusals) {
    if (refusal.variant == kEveryVariant && refusal.kernel_key == kernel.key) gone = refusal.reason;
  }
  for (const std::string& id : before) {
    const auto is_it = [&](const Refusal& refusal) { return refusal.variant == id; };
    const auto refused = std::find_if(refusals.begin(), refusals.end(), is_it);
    if (rejected.contains(id)) {
      gone = "the user rejected what was there";
    } else if (refused != refusals.end() && gone.empty()) {
      gone = "what was there is refused: " +
             (refused->reason.empty() ? "the swapped source does not compile" : refused->reason);
    }
  }
  if (now.empty()) {
    return !gone.empty() ? gone
                         : "nothing is proven for the kernel, flags, driver and compiler as they "
                           "are now";
  }
  if (catalog_.marks().Pinned(kernel.key).contains(now[0]->variant.id)) {
    return "the user pinned it" + Measured(now[0]->evaluation);
  }
  const std::string proven = (before.empty()  ? "proven faster than the original"
                              : !gone.empty() ? gone + "; the next best"
                                              : "proven faster than what was there") +
                             Measured(now[0]->evaluation);
  return now.size() > 1 ? proven + ", with variants for other sizes" : proven;
}

// What the store has last for a kernel of the object is what its builds got before.
void Service::NoteChanges(const ObjectState& state) {
  for (const records::Kernel& kernel : state.scan->kernels) {
    const JournalOwner owner{kernel.file, records::LabelOf(kernel)};
    std::vector<std::string> before;
    for (const Change& change : journal_.Of(owner)) {
      if (change.what == "published" && change.object == state.object.folder) {
        before = change.variants;
      }
    }
    ProvenSet now;
    for (std::size_t i = 0; i < state.places.places.size(); ++i) {
      for (const auto& one : BestSet(state, kernel, i)) now.push_back(one);
    }
    const auto published = state.published.variants.find(records::LabelOf(kernel));
    std::erase_if(now, [&](const auto& one) {
      return published == state.published.variants.end() ||
             !published->second.contains(one->variant.id);
    });
    Change change;
    change.what = "published";
    for (const auto& one : now) change.variants.push_back(one->variant.id);
    if (change.variants == before) continue;
    if (!now.empty() && now[0]->variant.strategy) change.title = now[0]->variant.strategy->title;
    change.reason = WhyChanged(state, kernel, before, now);
    change.object = state.object.folder;
    if (auto noted = journal_.Add(owner, std::move(change)); !noted) {
      log::Error("a change cannot be written down", {{"reason", noted.error()}});
    }
  }
}

}  // namespace cupilot::service
