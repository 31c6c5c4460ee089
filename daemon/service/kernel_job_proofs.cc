// Where a verification takes a hundred times as long as a look at a candidate: all are probed, the
// search goes on with what that says, and beside it the fastest of them is proven, as soon as
// it is worth publishing: the first one when each technique was looked at once.
#include <algorithm>
#include <utility>
#include <vector>

#include "evaluate/calls.h"
#include "service/kernel_job.h"
#include "service/kernel_job_attempt.h"

namespace cupilot::service {
namespace {

constexpr double kMuchData = 1 << 18;   // bytes of a case
constexpr double kWorthProving = 1.02;  // as a variant has to beat what is published
constexpr int kLateProofs = 3;          // after the job's time
// Of a kernel that nobody waits behind, a first proof after so many looks: while one is under way
// the search has two thirds of the GPU's time, and its first looks gain most: of 40 searches on
// `tests/data/spaces/h100` half are within 5 % of the best after 24 to 64.
constexpr std::int64_t kFirstLooks = 48;

}  // namespace

bool KernelJob::ProbesFirst(const Attempt& attempt) const {
  const bool much =
      advice_.features && advice_.features->values[records::FeatureAt("case_bytes")] >= kMuchData;
  // A model's variant is answered with a verdict; one for some sizes is of use beside others.
  const std::vector<records::StrategyStep>& steps = attempt.candidate.strategy.steps;
  const bool some_sizes = !steps.empty() && steps.back().technique == search::kSizeClass;
  return much && attempt.candidate.made.empty() && !some_sizes && &attempt != proving_.get() &&
         evaluate::DeviceKind(input_.place.device) == "cuda";
}

double KernelJob::FastestKnown() const {
  double fastest = 0;
  if (!search_) return fastest;
  for (const search::Idea& idea : search_->ideas()) {
    if (!idea.outcome || idea.outcome->kind != search::Outcome::Kind::kAccepted) continue;
    fastest = std::max(fastest, idea.outcome->speedup.value_or(0));
  }
  // Of those that wait for their turn to be told the time is known as well.
  for (const auto& attempt : open_) {
    if (attempt->probed) fastest = std::max(fastest, attempt->outcome.speedup.value_or(0));
  }
  return fastest;
}

search::Outcome KernelJob::ProbedOutcome(const Attempt& attempt) const {
  search::Outcome outcome = OutcomeOf(attempt, *attempt.evaluation);
  outcome.kind = search::Outcome::Kind::kAccepted;
  outcome.reason = kNotProven;
  return outcome;
}

const search::Idea* KernelJob::NextFinalist() const {
  if (!search_ || given_up_) return nullptr;
  if (late_proofs_ >= kLateProofs && spent_seconds() >= input_.budget_seconds) return nullptr;
  const search::Idea* fastest = nullptr;
  double speedup = 0;
  for (const search::Idea& idea : search_->ideas()) {
    if (!idea.unproven || idea.outcome->speedup.value_or(0) <= speedup) continue;
    fastest = &idea;
    speedup = *idea.outcome->speedup;
  }
  if (fastest == nullptr) return nullptr;
  const auto best = Best();
  const double proven = best ? best->evaluation.speedup.value_or(1) : 1.0;
  return speedup >= kWorthProving * std::max(1.0, proven) ? fastest : nullptr;
}

bool KernelJob::ProofDue(const search::Idea& idea) const {
  // Nothing else is to be done, now or at all.
  if (open_.empty() && begun_in_ >= Pass::kLater) return true;
  if (finished_ || search_->first_pass()) return false;
  if (!input_.takes_turns && !proof_made_ && Evaluations() < kFirstLooks) return false;
  return proof_made_ || *idea.outcome->speedup >= search::kWorthAFirstProof;
}

bool KernelJob::BeginProof() {
  const search::Idea* idea = proving_ ? nullptr : NextFinalist();
  if (idea == nullptr || !ProofDue(*idea)) return false;
  proof_made_ = true;
  proving_ = std::make_unique<Attempt>();
  proving_->id = idea->candidate.id;
  proving_->candidate = idea->candidate;
  if (spent_seconds() >= input_.budget_seconds) ++late_proofs_;
  Make(*proving_);
  return proving_ == nullptr || proving_->ended;
}

void KernelJob::TellProof() {
  if (!proving_ || !proving_->ended) return;
  const std::unique_ptr<Attempt> attempt = std::move(proving_);
  Tell(*attempt);
}

}  // namespace cupilot::service
