// The work on one kernel: asks the search what to try, makes it a variant, has it evaluated, writes
// the verdict down, and tells the search. Several candidates are under way at once, so that a GPU
// finds the next one built; the search is told their results in the order in which it was asked,
// so that what it decides depends on little time, but for those that take far longer than others
// (Pace::patience; the search's record says in which order it was told). Where a verification would
// take long, most are only looked at, and the fastest is proven now and then
// (kernel_job_proofs.cc). How far it has come is in the store, so that a new daemon goes on there.
// On the loop thread.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "evaluate/calls.h"
#include "evaluate/evaluator.h"
#include "evaluate/workers.h"
#include "search/expectation.h"
#include "search/kernel_search.h"
#include "service/build_patience.h"
#include "service/candidate_maker.h"
#include "service/catalog.h"
#include "service/elsewhere.h"
#include "service/in_flight.h"
#include "service/job_input.h"
#include "service/model_phase.h"
#include "service/pool.h"
#include "service/same_code.h"
#include "service/schedule.h"

namespace cupilot::service {

class KernelJob {
 public:
  struct Collaborators {
    evaluate::Workers& workers;
    evaluate::Evaluator& evaluator;
    Catalog& catalog;
    const base::Clock& clock;
    Pool& pool;
  };
  // What is called when something can be said about the job: "rewrite", "verify", ..., "probe" when
  // a candidate was looked at and is to be proven, and "verdict" when last() has one.
  using Progress = std::function<void(const KernelJob& job)>;

  KernelJob(Collaborators collaborators, JobInput input, Progress progress);
  KernelJob(const KernelJob&) = delete;
  KernelJob& operator=(const KernelJob&) = delete;
  ~KernelJob();

  // One turn of results. What is under way then goes on, and its results are the next step's. At
  // most `most` candidates are under way or told. `done` gets true if a variant was accepted. Not
  // again before `done`.
  void Step(base::Callback<bool> done, int most = std::numeric_limits<int>::max());

  // A variant that beat others is refused by an object: what it beat is looked at again, from the
  // verdicts that are there.
  void BeginAgain();
  // It failed, or some of its candidates have no verdict because the environment did, and nothing
  // that it asked for is outstanding: what stood in the way may have passed.
  bool may_try_again() const {
    const bool failed = !failure_.empty() || (finished_ && !savable_);
    return failed && !given_up_ && !under_way();
  }
  // Then it goes on where the store says that it was, as it would in a new daemon.
  void TryAgain();
  // Variants that other machines proved may have come since they were last asked for.
  void FindProposals();
  // Nothing more is tried, for this reason, and nothing more evaluated. Evaluations that are under
  // way end by themselves: between steps, another step waits for them.
  void GiveUp(const std::string& reason);

  // Models may be asked that might not before: what was finished goes on where that is all that is
  // left to try. True: it does.
  bool ReconsiderModels();
  // Requests that wait for their answers are looked for again.
  void LookForAnswers();
  // Between steps: nothing can be done before a model has answered; JobInput::wake is called then.
  bool waiting() const;
  // Between steps: nothing can be done before a proof has ended; JobInput::wake is called then.
  bool awaits_proof() const { return awaits_proof_ && OnlyProofOpen(); }
  // Whether all was looked at that is looked at first, and whether it showed anything.
  Pass pass() const;
  // Waiting for nothing but answers that somebody has to bring.
  bool pending() const { return waiting() && models_->pending(); }
  // Null before models are asked.
  const ModelPhase* models() const { return models_.get(); }

  // While work is held back (a build of the user runs, snoozed) no time is counted.
  void Hold(bool held);

  // Busy with what comes before its search, and has no candidates.
  bool preparing() const { return preparing_; }
  bool finished() const { return finished_; }
  // Finished, and between steps nothing is under way or left for another one.
  bool done() const { return finished_ && !under_way() && !winner_waits_; }
  bool busy() const { return static_cast<bool>(done_); }
  // Busy, or something that it asked for has not come back: then it is at work between steps, too.
  bool under_way() const;
  // Why it cannot go on at all (the original fails, ...); empty otherwise.
  const std::string& failure() const { return failure_; }
  double spent_seconds() const;
  // What another minute is expected to bring; nothing: too little is known.
  std::optional<search::Expectation> Expected() const;
  // Why nothing more is tried, where it is finished without a failure.
  const std::string& ended() const { return ended_; }
  const JobInput& input() const { return input_; }
  const std::string& stage() const { return stage_; }
  const std::string& title() const { return title_; }
  // Candidates that were evaluated here: with a verdict, or with a look that was all so far.
  std::int64_t evaluated() const { return evaluated_; }
  // What the last look said, for events.
  double probed_speedup() const { return probed_speedup_; }
  // Something that was looked at is worth a proof: with no more to try the next steps prove it.
  bool unproven() const { return proving_ != nullptr || NextFinalist() != nullptr; }
  // Null before the techniques were asked.
  const search::KernelSearch* search() const { return search_ ? &*search_ : nullptr; }
  const std::vector<search::Opinion>& opinions() const { return opinions_; }
  // What the strategy pool said when the work began; the same in every daemon that goes on with it.
  const PoolAdvice& advice() const { return advice_; }
  const Elsewhere& elsewhere() const { return elsewhere_; }
  // The last verdict of this step, for events.
  const std::optional<records::Evaluation>& last() const { return last_; }

 private:
  // One candidate that the search gave and was not told about yet.
  struct Attempt;

  void Restore();
  void ForgetAll();
  void Save();
  search::SearchInput InputOfSearch() const;
  void Prepare();
  void Begin();
  bool TryProposals();
  void OnProposed(const records::Variant& variant, base::Result<records::Evaluation> evaluation);
  void AskTechniques();
  void OnProposals(base::Result<protocol::ProposeReply> reply);
  base::Result<> RestoreModels(const records::Json& record);
  ModelPhase::Collaborators ForModels();
  // Whether a model is there that may be asked and was not.
  bool MayBeginModels() const;
  bool ModelsDue() const;
  void BeginModels();
  void OnModelNews();
  void AskPool(const std::optional<records::KernelFeatures>& features);
  void AddChampionsLike(const search::PoolQuestion& question);
  void TellPool(const Attempt& attempt, const records::Evaluation& evaluation);
  // Asks for as many as the pace allows, tells what has ended, and ends the step after its turn.
  void GoOn();
  void AskMore();
  bool MayOpenMore() const;
  void OnBuilt(Attempt& attempt);         // it waits for the device
  void CountBuilt(const Attempt& ended);  // an attempt that ends now
  // Its builds that wait are those of other searches on this device, too.
  InFlight::Others Beside(const Attempt& own) const;
  double Seconds() const;  // since any moment
  std::int64_t Evaluations() const;
  // Why no more is to be asked for; empty: there is no reason.
  std::string WhyEnough() const;
  // Of these reasons, that the budget is used up.
  std::string BudgetUsed() const;
  std::optional<search::Candidate> NextCandidate();
  void Make(Attempt& attempt);
  void OnMade(int id, base::Result<protocol::RewriteReply> reply);
  // A variant is there: what is known of it, or its evaluation.
  void Consider(Attempt& attempt);
  evaluate::EvaluateRequest RequestFor(const records::Variant& variant) const;
  void Evaluate(int id, const records::Variant& variant);
  void OnEvaluated(int id, base::Result<records::Evaluation> evaluation);
  void EndAttempt(int id, const search::Outcome& outcome, const base::Error* failure = nullptr);
  // Whose result is told next; none may be yet.
  std::deque<std::unique_ptr<Attempt>>::iterator NextToTell();
  void Tell(const Attempt& attempt);
  search::Outcome OutcomeOf(const Attempt& attempt, const records::Evaluation& evaluation) const;
  Attempt* Find(int id);
  void Enter(const std::string& stage, const Attempt* attempt = nullptr);
  void Fail(const base::Error& error);
  void LookAtWinner();
  std::set<std::string> Refused() const;
  std::shared_ptr<const Proven> Best() const;
  bool MayJoin(const std::vector<records::CaseResult>& cases) const;
  // The lower end of the best one's; 0: nothing is proven.
  double ProvenSpeedup() const;
  void EndStep();

  bool NothingOpen() const { return open_.empty() && !proving_; }
  bool OnlyProofOpen() const;
  bool StepEnds() const;
  bool ProbesFirst(const Attempt& attempt) const;
  double FastestKnown() const;  // of what is proven or may be; 0: nothing is
  search::Outcome ProbedOutcome(const Attempt& attempt) const;
  // The fastest of those that were only probed, where it is worth a proof; or null.
  const search::Idea* NextFinalist() const;
  bool ProofDue(const search::Idea& idea) const;
  // True: one was begun, and has ended already.
  bool BeginProof();
  void TellProof();

  Collaborators with_;
  JobInput input_;
  Progress progress_;
  std::string workload_hash_;
  std::optional<search::KernelSearch> search_;
  std::vector<search::Opinion> opinions_;
  Elsewhere elsewhere_;  // what won elsewhere
  PoolAdvice advice_;
  SameCode same_code_;
  std::unique_ptr<ModelPhase> models_;
  std::unique_ptr<ModelPhase> retired_;        // it may be up the stack
  records::Json models_record_;                // of a phase that cannot go on without a provider
  bool models_due_ = false;                    // as soon as nothing is under way
  bool only_models_ = false;                   // all else was finished before
  std::deque<std::unique_ptr<Attempt>> open_;  // in the order of asking
  std::unique_ptr<Attempt> proving_;           // was told as probed; null: none
  bool proof_made_ = false;
  int late_proofs_ = 0;  // after the job's time
  std::int64_t evaluated_ = 0;
  double probed_speedup_ = 0;
  base::Callback<bool> done_;
  const Pace pace_;
  InFlight in_flight_;
  BuildPatience patience_;
  const CandidateMaker maker_;
  int told_ = 0;       // in this step
  int looked_at_ = 0;  // how often what bounds the winner was asked for
  bool looking_ = false;
  bool winner_waits_ = false;     // for a step in which it is looked at
  bool begin_again_ = false;      // as soon as nothing is under way
  int most_ = 0;                  // of this step
  Pass begun_in_ = Pass::kLater;  // this step ends with that pass
  bool awaits_proof_ = false;
  bool accepted_ = false;  // in this step
  bool going_on_ = false;
  std::chrono::nanoseconds spent_{0};
  std::chrono::nanoseconds step_began_{0};
  std::string stage_;
  std::string title_;
  std::string failure_;
  std::string ended_;
  std::optional<records::Evaluation> last_;
  bool finished_ = false;
  bool given_up_ = false;
  bool prepared_ = false;
  bool preparing_ = false, at_once_ = false;  // while that is asked for, and while it is begun
  std::deque<records::Variant> proposals_;    // of other machines, that have no verdict here
  bool proposed_ = false;                     // none is left
  bool held_ = false;
  bool savable_ = true;  // every idea was reported with a verdict
  int failures_in_a_row_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cupilot::service
