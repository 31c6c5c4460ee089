// What the user decided of variants counts from the next selection on.
#include <algorithm>

#include "log/log.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

const char* EventOf(const Mark& mark, bool undo) {
  if (mark.kind == Mark::Kind::kPinned) return undo ? "unpinned" : "pinned";
  return undo ? "allowed" : "rejected";
}

const char* ReasonOf(const Mark& mark, bool undo) {
  if (mark.kind == Mark::Kind::kPinned) {
    return undo ? "the user lets better ones in again" : "the user keeps it against better ones";
  }
  return undo ? "the user allows it again" : "the user does not want it here";
}

}  // namespace

base::Result<> Service::Decide(const records::Kernel& kernel, const Mark& mark, bool undo) {
  TRY(undo ? catalog_.DropMark(mark) : catalog_.SaveMark(mark));
  Change change;
  change.what = EventOf(mark, undo);
  change.variants = {mark.variant};
  change.title = mark.title;
  change.reason = ReasonOf(mark, undo);
  TRY(journal_.Add({kernel.file, records::LabelOf(kernel)}, std::move(change)));
  log::Info("the user decided",
            {{"kernel", mark.kernel}, {"variant", mark.variant}, {"what", EventOf(mark, undo)}});
  FollowMark(mark);
  return {};
}

void Service::FollowMark(const Mark& mark) {
  winnable_.clear();
  // What a rejected one beat is looked at again, from the verdicts that are there.
  if (mark.kind == Mark::Kind::kRejected) {
    for (const auto& [key, job] : jobs_) {
      if (job->input().kernel.key == mark.kernel_key) job->BeginAgain();
    }
  }
  PublishKernel(mark.kernel_key);
  Later(&Service::Work);
}

base::Result<std::size_t> Service::TakeMarks(const std::vector<Mark>& marks) {
  std::size_t taken = 0;
  for (const Mark& mark : marks) {
    const std::vector<Mark> here = catalog_.marks().Of(mark.kernel_key);
    const bool decided = std::any_of(here.begin(), here.end(),
                                     [&](const Mark& one) { return one.variant == mark.variant; });
    if (decided) continue;
    TRY(catalog_.SaveMark(mark));
    log::Info("a mark was imported",
              {{"kernel", mark.kernel}, {"variant", mark.variant}, {"what", Name(mark.kind)}});
    FollowMark(mark);
    ++taken;
  }
  return taken;
}

void Service::OnProposals(const std::set<std::string>& kernel_keys) {
  for (const auto& [key, job] : jobs_) {
    if (kernel_keys.contains(job->input().kernel.key)) job->FindProposals();
  }
  Later(&Service::Work);
}

}  // namespace cupilot::service
