#include "service/kernel_job.h"

#include <algorithm>
#include <utility>

#include "log/log.h"
#include "service/job_record.h"
#include "service/kernel_job_attempt.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr int kMostFailures = 4;  // environment failures one after another
// Speedups so many times each other need no run of both to tell which is greater.
constexpr double kFarApart = 1.25;

// Results of one seed do not lead a search with another.
std::string StoreKey(const JobInput& input) {
  return JobKey(input.kernel, input.numerics, input.place) + "/" + std::to_string(input.seed);
}

// Nor will the next candidate do better: the original fails, or there is no room for verdicts.
bool EndsAll(const base::Error& error) {
  return error.code == base::ErrorCode::kInvalidArgument || error.code == base::ErrorCode::kIo;
}

// Of the processor; 0: not known.
double BuildSecondsOf(const records::Evaluation& evaluation) {
  return evaluation.metrics.value("build_cpu_seconds", 0.0);
}

}  // namespace

KernelJob::KernelJob(Collaborators collaborators, JobInput input, Progress progress)
    : with_(collaborators),
      input_(std::move(input)),
      progress_(std::move(progress)),
      workload_hash_(WorkloadHash(input_.workload)),
      same_code_([this](const std::string& variant) {
        return with_.catalog.FindVerdict(input_.kernel.key, workload_hash_, input_.place, variant);
      }),
      pace_(PaceOn(input_.place.device)),
      in_flight_(pace_.in_flight),
      maker_(with_.workers, input_) {
  Restore();
}

KernelJob::~KernelJob() { *alive_ = false; }

// A record that does not lead where it did before is dropped: the search begins again, and finds
// the verdicts that are there.
void KernelJob::Restore() {
  const auto json = with_.catalog.FindJob(StoreKey(input_));
  if (!json) return;
  auto record = ParseJobRecord(*json);
  if (record) {
    elsewhere_ = std::move(record->elsewhere);
    advice_ = std::move(record->advice);
    opinions_ = std::move(record->opinions);
  }
  auto replayed = record ? search::KernelSearch::Replay(InputOfSearch(), record->search)
                         : base::Fail(record.error());
  if (replayed) search_.emplace(std::move(*replayed));
  const auto restored =
      replayed ? RestoreModels(record->models) : base::Result<>(base::Fail(replayed.error()));
  if (!restored) {
    log::Info("a kernel's search begins again",
              {{"kernel", records::LabelOf(input_.kernel)}, {"reason", restored.error()}});
    search_.reset();
    opinions_.clear();
    elsewhere_ = {};
    advice_ = {};
    return;
  }
  // What is tried again after a failure has spent more than was written down.
  spent_ = std::max(spent_, std::chrono::duration_cast<std::chrono::nanoseconds>(
                                std::chrono::duration<double>(record->spent_seconds)));
  for (const search::Idea& idea : search_->ideas()) {
    if (idea.outcome) continue;
    open_.push_back(std::make_unique<Attempt>());
    open_.back()->id = idea.candidate.id;
    open_.back()->candidate = idea.candidate;
  }
  const bool models_open = models_ && !models_->ended();
  const bool nothing = search_->Exhausted() && !models_open && NextFinalist() == nullptr;
  ended_ = nothing ? kNothingLeft : WhyEnough();
  finished_ = !ended_.empty();
  (void)ReconsiderModels();
  if (finished_) search_->Close();
  FindProposals();
}

void KernelJob::Save() {
  if (!search_ || !savable_) return;
  const Json json =
      ToJson(JobRecord{elsewhere_, advice_, opinions_, spent_seconds(), search_->ToJson(),
                       models_ ? models_->ToJson() : models_record_});
  if (auto saved = with_.catalog.SaveJob(StoreKey(input_), json); !saved) {
    log::Error("the progress of a kernel cannot be written down", {{"reason", saved.error()}});
  }
}

double KernelJob::spent_seconds() const {
  auto spent = spent_;
  if (busy() && !held_) spent += with_.clock.Now() - step_began_;
  return std::chrono::duration<double>(spent).count();
}

bool KernelJob::under_way() const {
  return busy() || (proving_ && !proving_->ended) ||
         std::any_of(open_.begin(), open_.end(),
                     [](const auto& attempt) { return attempt->begun && !attempt->ended; });
}

void KernelJob::Hold(bool held) {
  if (held == held_) return;
  held_ = held;
  if (!busy()) return;
  const auto now = with_.clock.Now();
  if (held) spent_ += now - step_began_;
  step_began_ = now;
}

void KernelJob::Step(base::Callback<bool> done, int most) {
  done_ = std::move(done);
  retired_.reset();
  step_began_ = with_.clock.Now();
  last_.reset();
  accepted_ = false;
  told_ = 0;
  most_ = most;
  awaits_proof_ = false;
  begun_in_ = input_.takes_turns ? pass() : Pass::kLater;
  winner_waits_ = false;
  if (input_.prepare && !prepared_) {
    Prepare();
  } else {
    Begin();
  }
}

void KernelJob::Prepare() {
  Enter("replay");
  const auto spent = spent_;
  preparing_ = at_once_ = true;
  input_.prepare(RequestFor({}), [this, alive = alive_, spent](const base::Result<bool>& go_on) {
    if (!*alive) return;
    preparing_ = false;
    // The budget is for candidates.
    spent_ = spent;
    step_began_ = with_.clock.Now();
    // Nothing is judged by what was not looked at: the next step asks again.
    if (!go_on) {
      Fail(go_on.error());
      return EndStep();
    }
    prepared_ = true;
    // Others may have had its place meanwhile, and it asks for one like them.
    if (*go_on && (at_once_ || !input_.takes_turns)) return Begin();
    if (!*go_on) GiveUp("its workload is not reproducible");
    EndStep();
  });
  at_once_ = false;
}

void KernelJob::Begin() {
  if (TryProposals()) return;
  if (models_due_ && !models_ && search_ && NothingOpen()) BeginModels();
  if (search_) return GoOn();
  with_.evaluator.Prepare(RequestFor({}));
  AskTechniques();
}

void KernelJob::Enter(const std::string& stage, const Attempt* attempt) {
  stage_ = stage;
  if (attempt != nullptr) title_ = attempt->candidate.strategy.title;
  if (progress_) progress_(*this);
}

// Nothing that people wait for hangs on it.
void KernelJob::TellPool(const Attempt& attempt, const records::Evaluation& evaluation) {
  const records::Strategy& strategy =
      attempt.variant.strategy ? *attempt.variant.strategy : attempt.candidate.strategy;
  const auto added = with_.pool.Add({records::LabelOf(input_.kernel), advice_.features,
                                     advice_.bottleneck, &evaluation, &strategy});
  if (!added) log::Error("the strategy pool cannot be written", {{"reason", added.error()}});
}

void KernelJob::GoOn() {
  // What ends at once comes back here: one loop is enough. Between steps nothing is told.
  if (going_on_ || looking_) return;
  if (!busy()) {
    if (awaits_proof_ && !OnlyProofOpen() && input_.wake) input_.wake();
    return;
  }
  going_on_ = true;
  do {
    TellProof();
    AskMore();
    for (auto next = NextToTell(); next != open_.end() && (told_ < pace_.turn || finished_);
         next = NextToTell()) {
      const std::unique_ptr<Attempt> attempt = std::move(*next);
      open_.erase(next);
      ++told_;
      Tell(*attempt);
      AskMore();
    }
  } while (BeginProof());
  going_on_ = false;
  if (NothingOpen()) return LookAtWinner();
  if (!StepEnds()) return;
  awaits_proof_ = OnlyProofOpen() && told_ == 0;
  if (OnlyProofOpen()) return EndStep();
  LookAtWinner();
}

bool KernelJob::OnlyProofOpen() const {
  return open_.empty() && proving_ != nullptr && !proving_->ended;
}

// Of a job that is finished nothing stays under way, but for a proof that others need not wait for.
bool KernelJob::StepEnds() const {
  if (input_.takes_turns && OnlyProofOpen() && !given_up_) return true;
  return told_ >= pace_.turn && !finished_;
}

Pass KernelJob::pass() const {
  if (!finished_ && (!search_ || search_->first_pass())) return Pass::kFirst;
  if (!finished_ && search_->second_pass()) return Pass::kSecond;
  if (finished_ && winner_waits_) return Pass::kWinner;
  return FastestKnown() < search::kWorthAFirstProof ? Pass::kLast : Pass::kLater;
}

std::deque<std::unique_ptr<KernelJob::Attempt>>::iterator KernelJob::NextToTell() {
  const auto ended = [](const auto& attempt) { return attempt->ended; };
  const auto first = std::find_if(open_.begin(), open_.end(), ended);
  if (first == open_.begin()) return first;
  // What waits to be proven has its place in the order.
  const bool building =
      std::all_of(open_.begin(), first, [](const auto& attempt) { return !attempt->built; });
  const auto waiting = std::count_if(first, open_.end(), ended);
  return building && waiting >= pace_.patience ? first : open_.end();
}

void KernelJob::BeginAgain() {
  if (given_up_) return;
  begin_again_ = true;
  if (busy() || !NothingOpen()) return;
  ForgetAll();
  spent_ = {};
}

void KernelJob::TryAgain() {
  if (!may_try_again()) return;
  ForgetAll();
  Restore();
}

// As before the first step.
void KernelJob::ForgetAll() {
  begin_again_ = false;
  open_.clear();
  proving_.reset();
  search_.reset();
  opinions_.clear();
  elsewhere_ = {};
  advice_ = {};
  same_code_.Clear();
  ended_.clear();
  failure_.clear();
  failures_in_a_row_ = 0;
  savable_ = true;
  looked_at_ = 0;
  winner_waits_ = false;
  proof_made_ = false;
  patience_ = {};
  late_proofs_ = 0;
  proposed_ = false;
  proposals_.clear();
  finished_ = models_due_ = only_models_ = false;
  if (models_) models_->Stop("the search begins again");
  retired_ = std::move(models_);
  models_record_ = nullptr;
}

void KernelJob::AskMore() {
  // Those that an earlier daemon left under way.
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (!open_[i]->begun) Make(*open_[i]);
  }
  while (told_ < pace_.turn && !finished_ && MayOpenMore() &&
         told_ + static_cast<int>(open_.size()) < most_) {
    if (ended_ = WhyEnough(); !ended_.empty()) {
      finished_ = !BudgetUsed().empty() || !MayBeginModels();
      if (finished_) return;
      ended_.clear();
      models_due_ = true;
    }
    const auto open = static_cast<std::int64_t>(open_.size());
    if (input_.budget_evaluations > 0 && Evaluations() + open >= input_.budget_evaluations) return;
    // Models begin with what all that is under way has brought.
    models_due_ = models_due_ || ModelsDue();
    if (models_due_ && !models_) return;
    const auto candidate = NextCandidate();
    if (!candidate && begun_in_ < Pass::kLater) return;
    if (!candidate) {
      // Results, or answers, that are outstanding may bring new ones.
      if (!NothingOpen() || (models_ && !models_->ended())) return;
      if (NextFinalist() != nullptr) return;
      models_due_ = MayBeginModels();
      finished_ = !models_due_;
      if (finished_) ended_ = kNothingLeft;
      return;
    }
    open_.push_back(std::make_unique<Attempt>());
    open_.back()->id = candidate->id;
    open_.back()->candidate = *candidate;
    Make(*open_.back());
  }
}

std::int64_t KernelJob::Evaluations() const {
  return static_cast<std::int64_t>(search_->Results().size());
}

std::optional<search::Candidate> KernelJob::NextCandidate() {
  if (begun_in_ == Pass::kFirst) return search_->NextFirst();
  if (begun_in_ == Pass::kSecond) return search_->NextSecond();
  if (models_ && !models_->ended()) {
    auto candidate = models_->Next(*search_);
    if (candidate || !models_->ended()) return candidate;
  }
  if (only_models_) return std::nullopt;
  const bool was_silent = search_->numbers().warning().empty();
  auto candidate = search_->Next();
  const std::string& warning = search_->numbers().warning();
  if (was_silent && !warning.empty()) {
    log::Warning("the tunables of a kernel",
                 {{"kernel", records::LabelOf(input_.kernel)}, {"reason", warning}});
  }
  return candidate;
}

KernelJob::Attempt* KernelJob::Find(int id) {
  if (proving_ && proving_->id == id) return proving_.get();
  for (const auto& attempt : open_) {
    if (attempt->id == id) return attempt.get();
  }
  return nullptr;
}

void KernelJob::Make(Attempt& attempt) {
  attempt.begun = true;
  const search::Candidate& candidate = attempt.candidate;
  if (!candidate.made.empty()) {
    const records::Variant* variant = models_ ? models_->Find(candidate.made) : nullptr;
    if (variant != nullptr) {
      attempt.variant = *variant;
      return Consider(attempt);
    }
    search::Outcome outcome;
    outcome.reason = "what a model made is not there without it";
    return EndAttempt(candidate.id, outcome);
  }
  Enter("rewrite", &attempt);
  const auto made = [this, alive = alive_,
                     id = candidate.id](base::Result<protocol::RewriteReply> reply) {
    if (*alive) OnMade(id, std::move(reply));
  };
  if (const auto dropped = maker_.Make(candidate, made)) EndAttempt(candidate.id, *dropped);
}

void KernelJob::OnMade(int id, base::Result<protocol::RewriteReply> reply) {
  Attempt& attempt = *Find(id);
  if (!reply || reply->declined) {
    search::Outcome outcome;
    outcome.reason = reply ? reply->reason : reply.error().message;
    // A crash of the source worker is this candidate's own fault: it is declined like any other.
    const bool ours = !reply && reply.error().code == base::ErrorCode::kCancelled;
    if (!ours) outcome.kind = search::Outcome::Kind::kDeclined;
    return EndAttempt(id, outcome, ours ? &reply.error() : nullptr);
  }
  attempt.variant = std::move(reply->variant);
  records::Variant& variant = attempt.variant;
  if (!variant.strategy) {
    variant.strategy = reply->strategy.title.empty() ? attempt.candidate.strategy : reply->strategy;
  }
  if (attempt.candidate.retunes()) NarrowToClass(attempt.candidate.strategy, variant);
  variant.id = records::VariantId(variant);
  Consider(attempt);
}

void KernelJob::Consider(Attempt& attempt) {
  const int id = attempt.id;
  const records::Variant& variant = attempt.variant;
  const auto known =
      with_.catalog.FindVerdict(input_.kernel.key, workload_hash_, input_.place, variant.id);
  // What beat it may have been refused since.
  if (known && BeatenBy(*known) <= ProvenSpeedup()) {
    attempt.evaluation = *known;
    return EndAttempt(id, OutcomeOf(attempt, *known));
  }
  for (const auto& other : open_) {
    if (&attempt == proving_.get()) break;  // needs a verdict
    const bool same = other.get() != &attempt && !other->ended && other->variant.id == variant.id;
    if (same && other->same_as == nullptr) {
      attempt.same_as = other.get();
      return;
    }
  }
  if (const auto dropped = maker_.WhyDropped(attempt.candidate, variant)) {
    return EndAttempt(id, *dropped);
  }
  // Of a job that was given up it stays without a result, like what a daemon's end leaves.
  if (given_up_) {
    if (&attempt == proving_.get()) {
      proving_.reset();
    } else {
      std::erase_if(open_, [id](const auto& open) { return open->id == id; });
    }
    return GoOn();
  }
  Evaluate(id, variant);
}

evaluate::EvaluateRequest KernelJob::RequestFor(const records::Variant& variant) const {
  evaluate::EvaluateRequest request;
  request.kernel = input_.kernel;
  request.workload = input_.workload;
  request.variant = variant;
  request.command = input_.command;
  request.numerics = input_.numerics;
  request.device = input_.place.device;
  request.seed = input_.seed;
  request.max_seconds = input_.measure_seconds;
  return request;
}

void KernelJob::Evaluate(int id, const records::Variant& variant) {
  evaluate::EvaluateRequest request = RequestFor(variant);
  const Attempt& attempt = *Find(id);
  request.place = id;
  request.only_probe = ProbesFirst(attempt);
  request.fastest_known = [this, alive = std::weak_ptr<bool>(alive_)] {
    const auto still = alive.lock();
    return still != nullptr && *still ? FastestKnown() : 0.0;
  };
  request.build_cpu_seconds = request.only_probe ? patience_.limit() : 0;
  request.finalist = &attempt == proving_.get();
  request.first_proof = request.finalist && !Best();
  request.best_so_far = [this, alive = alive_](const std::vector<records::CaseResult>& cases) {
    return *alive && !MayJoin(cases) ? ProvenSpeedup() : 0.0;
  };
  request.rival = [this, alive = alive_](double speedup) -> std::optional<records::Variant> {
    if (!*alive) return std::nullopt;
    const auto best = Best();
    const double theirs = best ? best->evaluation.speedup.value_or(0) : 0;
    const bool near = speedup < kFarApart * theirs && theirs < kFarApart * speedup;
    return near ? std::optional(best->variant) : std::nullopt;
  };
  // Nobody is to wait as long as a proof takes.
  if (!request.finalist)
    request.same_code = [this, alive = std::weak_ptr<bool>(alive_), id](const std::string& code,
                                                                        SameCode::Known known) {
      const auto still = alive.lock();
      if (still == nullptr || !*still) return;
      const std::string key =
          same_code_.Ask(code, Find(id)->variant, input_.workload, std::move(known));
      if (!key.empty() && *still) Find(id)->code = key;
    };
  request.progress = [this, alive = alive_, id](std::string_view stage) {
    if (!*alive) return;
    Attempt* const own = Find(id);
    if (own != nullptr && stage != "check" && stage != "build") OnBuilt(*own);
    Enter(std::string(stage), own);
  };
  with_.evaluator.Evaluate(std::move(request),
                           [this, alive = alive_, id](base::Result<records::Evaluation> result) {
                             if (*alive) OnEvaluated(id, std::move(result));
                           });
}

// Written down before anybody acts on it, whoever's turn it is to be told.
void KernelJob::OnEvaluated(int id, base::Result<records::Evaluation> evaluation) {
  Attempt& attempt = *Find(id);
  const std::string code = attempt.code;
  const auto fail = [this, id, code, alive = alive_](const base::Error& error) {
    search::Outcome outcome;
    outcome.reason = error.message;
    EndAttempt(id, outcome, &error);
    if (*alive) same_code_.Tell(code, nullptr);
  };
  if (!evaluation) return fail(evaluation.error());
  attempt.evaluation = *evaluation;
  if (evaluation->variant != attempt.variant.id) {
    search::Outcome outcome = OutcomeOf(attempt, *evaluation);
    outcome.variant = outcome.same_code = evaluation->variant;
    return EndAttempt(id, outcome);
  }
  if (&attempt != proving_.get()) {
    ++evaluated_;
    patience_.OnBuilt(BuildSecondsOf(*evaluation));
  }
  const auto still = alive_;
  if (ProbesFirst(attempt) && !evaluation->accepted && evaluation->reason.empty()) {
    attempt.probed = true;
    const search::Outcome outcome = ProbedOutcome(attempt);
    probed_speedup_ = outcome.speedup.value_or(0);
    log::Debug("looked at", {{"kernel", records::LabelOf(input_.kernel)},
                             {"what", attempt.candidate.strategy.title},
                             {"speedup", probed_speedup_}});
    Enter("probe", &attempt);
    EndAttempt(id, outcome);
    if (*still) same_code_.Tell(code, nullptr);
    return;
  }
  // Bound to what the store binds it to, whatever the evaluator wrote.
  evaluation->workload = workload_hash_;
  // How long others took to build says nothing to another search.
  if (!evaluation->metrics.contains("build_stopped")) {
    if (auto saved =
            with_.catalog.SaveVerdict(attempt.variant, *evaluation, input_.place.toolchain);
        !saved) {
      return fail(saved.error().In("writing a verdict"));
    }
    TellPool(attempt, *evaluation);
  }
  last_ = *evaluation;
  accepted_ = accepted_ || evaluation->accepted;
  log::Info("verdict", {{"kernel", records::LabelOf(input_.kernel)},
                        {"what", attempt.candidate.strategy.title},
                        {"verdict", evaluation->accepted ? "accepted" : "rejected"},
                        {"reason", evaluation->reason},
                        {"speedup", MeasuredSpeedup(*evaluation).value_or(0.0)}});
  Enter("verdict", &attempt);
  EndAttempt(id, OutcomeOf(attempt, *evaluation));
  if (*still) same_code_.Tell(code, &*evaluation);
}

search::Outcome KernelJob::OutcomeOf(const Attempt& attempt,
                                     const records::Evaluation& evaluation) const {
  search::Outcome outcome;
  // What another one beats is as good a parent as if it had been measured once more.
  const bool good = evaluation.accepted || evaluation.metrics.contains("beaten_by");
  outcome.kind = good ? search::Outcome::Kind::kAccepted : search::Outcome::Kind::kRejected;
  outcome.reason = evaluation.reason;
  outcome.speedup = MeasuredSpeedup(evaluation);
  outcome.cases = search::SpeedupsOf(evaluation.cases);
  outcome.variant = attempt.variant.id;
  outcome.built = {evaluation.resources.registers, evaluation.resources.shared_bytes,
                   BuildSecondsOf(evaluation), evaluation.resources.local_bytes};
  if (attempt.variant.strategy) outcome.aligned = attempt.variant.strategy;
  outcome.floor_share = LeastFloorShare(input_.workload, evaluation);
  return outcome;
}

// With it end those that make the same variant.
void KernelJob::EndAttempt(int id, const search::Outcome& outcome, const base::Error* failure) {
  Attempt* ended = Find(id);
  const auto end = [&](Attempt& attempt) {
    attempt.ended = true;
    attempt.outcome = outcome;
    attempt.probed = ended->probed;
    if (&attempt != ended) attempt.evaluation = ended->evaluation;
    if (attempt.variant.strategy && outcome.aligned) {
      attempt.outcome.aligned = attempt.variant.strategy;
    }
    if (failure != nullptr) attempt.failure = *failure;
  };
  CountBuilt(*ended);
  end(*ended);
  for (const auto& attempt : open_) {
    if (attempt->same_as == ended) end(*attempt);
  }
  GoOn();
}

void KernelJob::Tell(const Attempt& attempt) {
  if (attempt.probed) return search_->ReportProbe(attempt.id, attempt.outcome);
  search_->Report(attempt.id, attempt.outcome);
  if (models_ && !attempt.candidate.made.empty()) {
    models_->Report(attempt.candidate, attempt.outcome,
                    attempt.evaluation ? &*attempt.evaluation : nullptr);
  }
  if (attempt.failure) {
    Fail(*attempt.failure);
  } else if (attempt.outcome.kind != search::Outcome::Kind::kDeclined) {
    failures_in_a_row_ = 0;
  }
}

// The environment failed, not the candidate. What says that the original itself cannot be run, or
// that nothing can be written down, ends the job; anything else is tried again a few times.
void KernelJob::Fail(const base::Error& error) {
  savable_ = false;
  log::Warning("no verdict", {{"kernel", records::LabelOf(input_.kernel)}, {"reason", error}});
  if (EndsAll(error) || ++failures_in_a_row_ >= kMostFailures) {
    if (failure_.empty()) failure_ = error.message;
    finished_ = true;
  }
  // Nothing more is asked in this step.
  told_ = std::max(told_, pace_.turn);
}

void KernelJob::GiveUp(const std::string& reason) {
  if (failure_.empty()) failure_ = reason;
  finished_ = given_up_ = true;
  if (models_) models_->Pause();
}

// What is outstanding is written down without a result: a new daemon begins it again.
void KernelJob::EndStep() {
  if (!held_) spent_ += with_.clock.Now() - step_began_;
  step_began_ = with_.clock.Now();
  stage_.clear();
  if (finished_ && models_) models_->Pause();
  Save();
  if (finished_ && search_) {
    search_->Close();
    same_code_.Clear();
  }
  auto done = std::move(done_);
  done_ = nullptr;
  if (begin_again_) BeginAgain();
  if (done) done(accepted_);
}

}  // namespace cupilot::service
