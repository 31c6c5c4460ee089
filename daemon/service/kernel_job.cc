#include "service/kernel_job.h"

#include <algorithm>
#include <utility>

#include "log/log.h"
#include "records/reader.h"
#include "search/number_search.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr int kMostFailures = 4;  // environment failures one after another
constexpr const char* kJobSchema = "cupilot.job/1";

// Results of one seed do not lead a search with another.
std::string StoreKey(const JobInput& input) {
  return JobKey(input.kernel, input.numerics, input.place) + "/" + std::to_string(input.seed);
}

const records::Case& HeaviestCase(const records::Workload& workload) {
  return *std::max_element(
      workload.cases.begin(), workload.cases.end(),
      [](const records::Case& a, const records::Case& b) { return a.weight < b.weight; });
}

bool IsFailureOfOriginal(const base::Error& error) {
  return error.code == base::ErrorCode::kInvalidArgument;
}

}  // namespace

std::string JobKey(const records::Kernel& kernel, const std::string& numerics, const Place& place) {
  return kernel.key + "/" + WorkloadHash(WorkloadOf(kernel)) + "/" + numerics + "/" + KeyOf(place);
}

records::Workload WorkloadOf(const records::Kernel& kernel) {
  records::Workload workload;
  workload.kernel = kernel.name;
  workload.cases = kernel.cases;
  workload.tolerance = kernel.tolerance;
  return workload;
}

std::optional<double> MeasuredSpeedup(const records::Evaluation& evaluation) {
  if (evaluation.speedup) return evaluation.speedup;
  for (const char* name : {"confirmation", "first", "measurement"}) {
    const auto it = evaluation.metrics.find(name);
    if (it == evaluation.metrics.end() || !it->is_object()) continue;
    const auto speedup = it->find("speedup");
    if (speedup != it->end() && speedup->is_number()) return speedup->get<double>();
  }
  for (const records::CaseResult& result : evaluation.cases) {
    if (result.speedup > 0) return result.speedup;
  }
  return std::nullopt;
}

KernelJob::KernelJob(Collaborators collaborators, JobInput input, Progress progress)
    : with_(collaborators),
      input_(std::move(input)),
      progress_(std::move(progress)),
      workload_hash_(WorkloadHash(input_.workload)) {
  Restore();
}

KernelJob::~KernelJob() { *alive_ = false; }

// A record that does not lead where it did before is dropped: the search begins again, and finds
// the verdicts that are there.
void KernelJob::Restore() {
  const auto json = with_.catalog.FindJob(StoreKey(input_));
  if (!json) return;
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(*json, "", reading);
  double seconds = 0;
  std::vector<Json> opinions;
  Json search;
  object.Schema(kJobSchema)
      .Optional("spent_seconds", seconds)
      .Optional("opinions", opinions)
      .Optional("search", search);
  for (const Json& entry : opinions) {
    records::ObjectReader of(entry, "opinions", reading);
    search::Opinion opinion;
    of.Optional("technique", opinion.technique)
        .Optional("applies", opinion.applies)
        .Optional("reason", opinion.reason)
        .Optional("parameters", opinion.parameters);
    opinions_.push_back(std::move(opinion));
  }
  auto replayed = reading.ok() ? search::KernelSearch::Replay(InputOfSearch(), search)
                               : base::Fail(*reading.error());
  if (!replayed) {
    log::Info("a kernel's search begins again",
              {{"kernel", input_.kernel.name}, {"reason", replayed.error()}});
    opinions_.clear();
    return;
  }
  search_.emplace(std::move(*replayed));
  spent_ =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
  finished_ = search_->Exhausted() || spent_seconds() > input_.budget_seconds;
}

void KernelJob::Save() {
  if (!search_ || !savable_) return;
  Json opinions = Json::array();
  for (const search::Opinion& opinion : opinions_) {
    opinions.push_back({{"technique", opinion.technique},
                        {"applies", opinion.applies},
                        {"reason", opinion.reason},
                        {"parameters", opinion.parameters}});
  }
  const Json json = {{"schema", kJobSchema},
                     {"spent_seconds", spent_seconds()},
                     {"opinions", std::move(opinions)},
                     {"search", search_->ToJson()}};
  if (auto saved = with_.catalog.SaveJob(StoreKey(input_), json); !saved) {
    log::Error("the progress of a kernel cannot be written down", {{"reason", saved.error()}});
  }
}

void KernelJob::Hold(bool held) {
  if (held == held_) return;
  held_ = held;
  if (!busy()) return;
  const auto now = with_.clock.Now();
  if (held) spent_ += now - step_began_;
  step_began_ = now;
}

void KernelJob::Step(base::Callback<bool> done) {
  done_ = std::move(done);
  step_began_ = with_.clock.Now();
  last_.reset();
  if (search_) {
    NextCandidate();
  } else {
    AskTechniques();
  }
}

void KernelJob::Enter(const std::string& stage) {
  stage_ = stage;
  if (progress_) progress_(*this);
}

void KernelJob::AskTechniques() {
  Enter("propose");
  protocol::ProposeRequest request;
  request.kernel = input_.kernel;
  request.workload = HeaviestCase(input_.workload);
  request.device = evaluate::DeviceKind(input_.place.device);
  evaluate::Propose(with_.workers, request,
                    [this, alive = alive_](base::Result<protocol::ProposeReply> reply) {
                      if (*alive) OnProposals(std::move(reply));
                    });
}

void KernelJob::OnProposals(base::Result<protocol::ProposeReply> reply) {
  if (!reply) return Fail(reply.error());
  for (protocol::Proposal& proposal : reply->proposals) {
    opinions_.push_back({std::move(proposal.technique), proposal.applies,
                         std::move(proposal.reason), std::move(proposal.parameters)});
  }
  search_.emplace(InputOfSearch());
  NextCandidate();
}

search::SearchInput KernelJob::InputOfSearch() const {
  search::SearchInput input;
  input.kernel = input_.kernel.name;
  input.device = evaluate::DeviceKind(input_.place.device);
  input.opinions = opinions_;
  input.numbers = search::SpaceOf(input_.kernel, HeaviestCase(input_.workload));
  input.seed = input_.seed;
  return input;
}

void KernelJob::NextCandidate() {
  const auto candidate = search_->Next();
  if (!candidate || spent_seconds() > input_.budget_seconds) {
    finished_ = true;
    return EndStep(false);
  }
  title_ = candidate->strategy.title;
  Make(*candidate);
}

void KernelJob::Make(const search::Candidate& candidate) {
  Enter("rewrite");
  const auto made = [this, alive = alive_,
                     id = candidate.id](base::Result<protocol::RewriteReply> reply) {
    if (*alive) OnMade(id, std::move(reply));
  };
  if (candidate.retunes()) {
    protocol::RetuneRequest request;
    request.command = input_.command;
    request.source_text = input_.source_text;
    request.kernel = input_.kernel;
    request.values = candidate.values;
    return evaluate::Retune(with_.workers, request, input_.place.device, made);
  }
  protocol::RewriteRequest request;
  request.command = input_.command;
  request.kernel = input_.kernel;
  request.workload = HeaviestCase(input_.workload);
  request.strategy = candidate.strategy;
  request.device = evaluate::DeviceKind(input_.place.device);
  evaluate::Rewrite(with_.workers, request, input_.place.device, made);
}

void KernelJob::OnMade(int id, base::Result<protocol::RewriteReply> reply) {
  search::Outcome outcome;
  if (!reply || reply->declined) {
    // A crash of the source worker is this candidate's own fault: it is declined like any other.
    if (!reply && reply.error().code == base::ErrorCode::kCancelled) return Fail(reply.error());
    outcome.kind = search::Outcome::Kind::kDeclined;
    outcome.reason = reply ? reply->reason : reply.error().message;
    search_->Report(id, outcome);
    return EndStep(false);
  }
  records::Variant variant = std::move(reply->variant);
  if (!variant.strategy) {
    variant.strategy = reply->strategy.title.empty()
                           ? search_->ideas()[static_cast<std::size_t>(id - 1)].candidate.strategy
                           : reply->strategy;
  }
  variant.id = records::VariantId(variant);
  const auto known =
      with_.catalog.FindVerdict(input_.kernel.key, workload_hash_, input_.place, variant.id);
  if (known) {
    ReportVerdict(id, variant, *known);
    return EndStep(false);
  }
  evaluate::EvaluateRequest request;
  request.kernel = input_.kernel;
  request.workload = input_.workload;
  request.variant = variant;
  request.command = input_.command;
  request.numerics = input_.numerics;
  request.device = input_.place.device;
  request.seed = input_.seed;
  request.max_seconds = input_.measure_seconds;
  request.progress = [this, alive = alive_](std::string_view stage) {
    if (*alive) Enter(std::string(stage));
  };
  with_.evaluator.Evaluate(std::move(request), [this, alive = alive_, id, variant](
                                                   base::Result<records::Evaluation> evaluation) {
    if (*alive) OnEvaluated(id, variant, std::move(evaluation));
  });
}

void KernelJob::OnEvaluated(int id, const records::Variant& variant,
                            base::Result<records::Evaluation> evaluation) {
  if (!evaluation) {
    search::Outcome outcome;
    outcome.reason = evaluation.error().message;
    search_->Report(id, outcome);
    return Fail(evaluation.error());
  }
  failures_in_a_row_ = 0;
  // Bound to what the store binds it to, whatever the evaluator wrote.
  evaluation->workload = workload_hash_;
  if (auto saved = with_.catalog.SaveVerdict(variant, *evaluation, input_.place.toolchain);
      !saved) {
    search::Outcome outcome;
    outcome.reason = saved.error().message;
    search_->Report(id, outcome);
    return Fail(saved.error().In("writing a verdict"));
  }
  last_ = *evaluation;
  ReportVerdict(id, variant, *evaluation);
  EndStep(evaluation->accepted);
}

void KernelJob::ReportVerdict(int id, const records::Variant& variant,
                              const records::Evaluation& evaluation) {
  search::Outcome outcome;
  outcome.kind =
      evaluation.accepted ? search::Outcome::Kind::kAccepted : search::Outcome::Kind::kRejected;
  outcome.reason = evaluation.reason;
  outcome.speedup = MeasuredSpeedup(evaluation);
  outcome.variant = variant.id;
  if (variant.strategy) outcome.aligned = variant.strategy;
  if (!evaluation.cases.empty() && evaluation.cases[0].variant_us > 0) {
    outcome.floor_share = evaluation.cases[0].floor_us / evaluation.cases[0].variant_us;
  }
  search_->Report(id, outcome);
  log::Info("verdict", {{"kernel", input_.kernel.name},
                        {"what", title_},
                        {"verdict", evaluation.accepted ? "accepted" : "rejected"},
                        {"reason", evaluation.reason},
                        {"speedup", outcome.speedup.value_or(0.0)}});
}

// The environment failed, not the candidate. What says that the original itself cannot be run ends
// the job; anything else is tried again a few times.
void KernelJob::Fail(const base::Error& error) {
  savable_ = false;
  log::Warning("no verdict", {{"kernel", input_.kernel.name}, {"reason", error}});
  if (IsFailureOfOriginal(error) || ++failures_in_a_row_ >= kMostFailures) {
    failure_ = error.message;
    finished_ = true;
  }
  EndStep(false);
}

void KernelJob::EndStep(bool accepted) {
  if (!held_) spent_ += with_.clock.Now() - step_began_;
  stage_.clear();
  Save();
  auto done = std::move(done_);
  done_ = nullptr;
  if (done) done(accepted);
}

}  // namespace cupilot::service
