// What other machines proved of the kernel (`cupilot import`) is evaluated here before anything is
// tried: each is a candidate like any other, and counts only by the verdict of this machine.
#include <utility>

#include "log/log.h"
#include "service/kernel_job_attempt.h"

namespace cupilot::service {
namespace {

constexpr std::size_t kMostProposals = 8;  // the most promising ones of a kernel

}  // namespace

void KernelJob::FindProposals() {
  proposals_.clear();
  for (const Catalog::Proposal& one : with_.catalog.Proposals(input_.kernel.key)) {
    const std::string& id = one.variant.id;
    const bool known =
        with_.catalog.FindVerdict(input_.kernel.key, workload_hash_, input_.place, id).has_value();
    const bool unwanted = with_.catalog.marks().Rejected().contains(id);
    if (known || unwanted || proposals_.size() >= kMostProposals) continue;
    proposals_.push_back(one.variant);
  }
  proposed_ = proposals_.empty();
  // All else of a search that has ended stays so: its next step looks at these alone.
  if (!proposed_ && failure_.empty()) finished_ = false;
}

// True: one is under way, and Begin() comes after the last.
bool KernelJob::TryProposals() {
  if (proposed_) return false;
  if (proposals_.empty()) FindProposals();
  // What an earlier daemon left under way comes first, or its evaluations would meet these.
  if (proposals_.empty() || given_up_ || !NothingOpen()) {
    proposed_ = NothingOpen();
    return false;
  }
  const records::Variant variant = std::move(proposals_.front());
  proposals_.pop_front();
  proposed_ = proposals_.empty();
  title_ = variant.strategy ? variant.strategy->title : "imported";
  Enter("imported");
  with_.evaluator.Evaluate(RequestFor(variant), [this, alive = alive_, variant](
                                                    base::Result<records::Evaluation> evaluation) {
    if (*alive) OnProposed(variant, std::move(evaluation));
  });
  return true;
}

void KernelJob::OnProposed(const records::Variant& variant,
                           base::Result<records::Evaluation> evaluation) {
  if (evaluation) {
    evaluation->workload = workload_hash_;
    if (auto saved = with_.catalog.SaveVerdict(variant, *evaluation, input_.place.toolchain);
        saved) {
      last_ = *evaluation;
      accepted_ = accepted_ || evaluation->accepted;
      Enter("verdict");
    } else {
      log::Error("a verdict cannot be written down", {{"reason", saved.error()}});
    }
  } else {
    log::Info("an imported variant has no verdict",
              {{"kernel", records::LabelOf(input_.kernel)}, {"reason", evaluation.error()}});
  }
  if (given_up_) return EndStep();
  Begin();
}

}  // namespace cupilot::service
