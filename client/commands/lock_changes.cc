#include "client/commands/lock_changes.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "blobs/blob_store.h"
#include "records/private_data.h"
#include "source/swap/lock_entry.h"
#include "workloads/synthetic.h"

namespace cupilot::client {
namespace {

using records::LockedKernel;

std::string NameInLock(const LockedKernel& entry) {
  return entry.label.empty() ? entry.kernel : entry.label;
}

std::string SpeedupText(const LockedKernel& entry) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", entry.evaluation.speedup.value_or(1.0));
  return text;
}

std::string TitleInLock(const LockedKernel& entry) {
  const std::string title = entry.variant.strategy ? entry.variant.strategy->title : "";
  return (title.empty() ? entry.variant.id.substr(0, 16) : title) + ", " + SpeedupText(entry);
}

const LockedKernel* FindPlace(const records::Lock& lock, const LockedKernel& entry) {
  const auto found =
      std::find_if(lock.kernels.begin(), lock.kernels.end(),
                   [&](const LockedKernel& other) { return records::SamePlace(other, entry); });
  return found == lock.kernels.end() ? nullptr : &*found;
}

// Words for what differs, the variant first.
std::string Difference(const LockedKernel& before, const LockedKernel& now) {
  if (before.variant.id != now.variant.id) return TitleInLock(now) + "; was " + TitleInLock(before);
  if (records::HashJson(records::ToJson(before.evaluation)) !=
      records::HashJson(records::ToJson(now.evaluation))) {
    return "the same variant, measured again: " + SpeedupText(now) + "; was " + SpeedupText(before);
  }
  return "the same variant and evidence, for the files as they are now";
}

// Earlier versions pinned a program's own contents. Those are on no machine that only has the
// entry: their shapes stay, and nothing of them is written again.
LockedKernel WithoutContents(LockedKernel entry) {
  const std::string named = "\"" + std::string(blobs::kBlobScheme);
  const std::string text = records::CompactJson(records::ToJson(entry.workload));
  if (text.find(named) == std::string::npos) return entry;
  const blobs::BlobStore none("");
  const records::Kernel kernel = source::KernelOf(entry);
  for (records::Case& one : entry.workload.cases) {
    // It fails of bytes alone that are none, which lock files do not have.
    if (!workloads::MakeSynthetic(one, kernel, none, workloads::Lost::kZeros))
      one.arguments.clear();
  }
  std::string guard = entry.evaluation.guard;  // is run
  entry.evaluation = records::WithoutElementValues(std::move(entry.evaluation));
  entry.evaluation.guard = std::move(guard);
  return entry;
}

}  // namespace

LockChanges CompareLocks(const records::Lock& before, records::Lock now,
                         const std::set<std::string>& targets, const std::string& folder) {
  LockChanges out;
  const records::CompileCommand none;
  const source::ProjectFolders folders{folder, "", ""};
  source::LockJudge judge(none, folders);
  std::vector<LockChange> removed;
  records::SortLock(now);
  records::Lock kept;
  for (const LockedKernel& entry : before.kernels) {
    if (FindPlace(now, entry) != nullptr) continue;
    std::string why = targets.contains(entry.target) ? "nothing is published for it"
                                                     : judge.WhyProjectDiffers(entry);
    if (why.empty()) {
      kept.kernels.push_back(WithoutContents(entry));
    } else {
      removed.push_back(
          {LockChange::Kind::kRemoved, NameInLock(entry), entry.target, std::move(why)});
    }
  }
  out.lock = std::move(now);
  for (const LockedKernel& entry : out.lock.kernels) {
    const LockedKernel* was = FindPlace(before, entry);
    if (was == nullptr) {
      out.changes.push_back(
          {LockChange::Kind::kAdded, NameInLock(entry), entry.target, TitleInLock(entry)});
    } else if (records::ToJson(*was) != records::ToJson(entry)) {
      out.changes.push_back(
          {LockChange::Kind::kChanged, NameInLock(entry), entry.target, Difference(*was, entry)});
    } else {
      ++out.same;
    }
  }
  for (const LockedKernel& entry : kept.kernels) {
    out.changes.push_back({LockChange::Kind::kKept, NameInLock(entry), entry.target,
                           TitleInLock(entry) + "; this machine cannot say more about it"});
    out.lock.kernels.push_back(entry);
  }
  out.changes.insert(out.changes.end(), removed.begin(), removed.end());
  records::SortLock(out.lock);
  return out;
}

}  // namespace cupilot::client
