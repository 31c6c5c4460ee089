#include "service/model_phase.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "agents/roles/roofline_analyst.h"
#include "evaluate/calls.h"
#include "log/log.h"
#include "records/reader.h"
#include "search/evolution/explain.h"

namespace cupilot::service {
namespace {

namespace evolution = search::evolution;
using evolution::Result;
using evolution::TaskKind;

constexpr std::size_t kMostGiven = 4;  // mechanical results that the evolution begins with

bool IsProven(const search::Idea& idea) {
  return idea.outcome && idea.outcome->kind == search::Outcome::Kind::kAccepted &&
         idea.outcome->reason.empty() && idea.outcome->speedup && !idea.outcome->variant.empty();
}

}  // namespace

ModelPhase::ModelPhase(Collaborators with)
    : with_(std::move(with)), workload_hash_(WorkloadHash(with_.input.workload)) {}

ModelPhase::~ModelPhase() = default;

std::unique_ptr<ModelPhase> ModelPhase::Begin(Collaborators with,
                                              const search::KernelSearch& search,
                                              std::int64_t evaluations) {
  std::unique_ptr<ModelPhase> phase(new ModelPhase(std::move(with)));
  phase->evaluations_ = evaluations;
  phase->FirstMembers(search);
  phase->Prepare();
  phase->evolution_.emplace(phase->InputOf(), phase->SettingsOf());
  return phase;
}

base::Result<std::unique_ptr<ModelPhase>> ModelPhase::Restore(Collaborators with,
                                                              const search::KernelSearch& search,
                                                              const records::Json& json) {
  std::unique_ptr<ModelPhase> phase(new ModelPhase(std::move(with)));
  TRY(phase->Read(search, json));
  return phase;
}

void ModelPhase::Prepare() {
  roles_ = std::make_unique<ModelRoles>(
      with_.input,
      VariantFinders{[this](const std::string& id) { return Find(id); },
                     [this](const std::string& id) { return FindEvaluation(id); }},
      example_);
  questions_ = std::make_unique<ModelQuestions>(
      with_.input, *roles_,
      ModelQuestions::Handlers{[this](int task, Understood understood, const ModelName& by) {
                                 OnResult(task, std::move(understood), by);
                               },
                               [this](const std::string& why) {
                                 Stop(why);
                                 if (!pumping_) with_.news();
                               }});
}

// The fastest of the mechanical ones, each by other techniques.
void ModelPhase::FirstMembers(const search::KernelSearch& search) {
  std::vector<const search::Idea*> proven;
  for (const search::Idea& idea : search.ideas()) {
    if (example_.empty() && idea.outcome && idea.outcome->speedup) {
      example_ = idea.outcome->variant;
    }
    if (IsProven(idea)) proven.push_back(&idea);
  }
  std::stable_sort(proven.begin(), proven.end(), [](const auto* a, const auto* b) {
    return *a->outcome->speedup > *b->outcome->speedup;
  });
  std::set<std::string> techniques;
  for (const search::Idea* idea : proven) {
    if (given_.size() >= kMostGiven) break;
    const records::Variant* variant = Find(idea->outcome->variant);
    if (variant == nullptr) continue;
    if (!techniques.insert(evolution::TechniquesOf(idea->candidate.strategy)).second) continue;
    const auto evaluation = FindEvaluation(variant->id);
    const evolution::Evidence evidence =
        EvidenceFor(*idea->outcome, evaluation ? &*evaluation : nullptr);
    evolution::Individual member;
    member.variant = FactsOf(*variant);
    member.strategy = idea->candidate.strategy;
    member.log_gain = std::log(*idea->outcome->speedup);
    member.floor_share = evidence.floor_share;
    member.bound = evidence.bound;
    given_.push_back(std::move(member));
    ideas_[variant->id] = idea->candidate.id;
  }
  if (!given_.empty()) best_gain_ = std::max(0.0, given_.front().log_gain);
  if (const auto evaluation = FindEvaluation(example_)) {
    const auto diagnosis =
        agents::Diagnose(*evaluation, with_.input.workload, agents::Side::kOriginal);
    if (diagnosis) original_.bound = diagnosis->bound;
    if (diagnosis) original_.floor_share = diagnosis->floor_share;
  }
}

evolution::Input ModelPhase::InputOf() const {
  evolution::Input input;
  input.kernel = with_.input.kernel.name;
  input.device = evaluate::DeviceKind(with_.input.place.device);
  input.original = original_;
  input.given = given_;
  input.seeds = with_.input.models.seeds;
  input.priors = with_.input.models.priors;
  input.seed = with_.input.seed;
  return input;
}

evolution::Settings ModelPhase::SettingsOf() const {
  evolution::Settings settings;
  settings.requests = with_.input.models.requests;
  settings.evaluations = evaluations_;
  settings.votes = with_.input.models.votes;
  const SearchParts& parts = with_.input.parts;
  settings.strategies = parts.strategies;
  settings.roofline = parts.roofline;
  settings.pool = parts.pool;
  settings.tree = parts.tree;
  return settings;
}

evolution::Evidence ModelPhase::EvidenceFor(const search::Outcome& outcome,
                                            const records::Evaluation* evaluation) const {
  return EvidenceOf(outcome, evaluation, with_.input.workload);
}

std::optional<records::Evaluation> ModelPhase::FindEvaluation(const std::string& variant) const {
  if (variant.empty()) return std::nullopt;
  return with_.catalog.FindVerdict(with_.input.kernel.key, workload_hash_, with_.input.place,
                                   variant);
}

// One that the techniques made is in the store, with its verdict.
const records::Variant* ModelPhase::Find(const std::string& id) const {
  if (id.empty()) return nullptr;
  if (const auto found = made_.find(id); found != made_.end()) return &found->second.variant;
  auto variant = with_.catalog.FindVariant(with_.input.kernel.key, id);
  return variant ? Keep(std::move(*variant), {}) : nullptr;
}

const records::Variant* ModelPhase::Keep(records::Variant variant, const ModelName& by) const {
  const std::string id = variant.id;
  return &made_.try_emplace(id, Made{std::move(variant), by}).first->second.variant;
}

void ModelPhase::Pump() {
  if (std::exchange(pumping_, true)) return;
  // Of an earlier process: an answer that is there already is only given once more.
  for (const evolution::Task& task : std::exchange(unasked_, {})) {
    if (!ended()) questions_->Ask(task, evolution_->best());
  }
  while (!ended()) {
    evolution::Step step = evolution_->Next();
    if (step.kind != evolution::Step::Kind::kTask) break;
    Start(*step.task);
  }
  pumping_ = false;
  if (!ended()) return;
  questions_->Stop();
  // What is being evaluated ends by itself; nobody asks for more of it.
  tuned_.clear();
}

void ModelPhase::Start(const evolution::Task& task) {
  if (task.kind != TaskKind::kEvaluate) return questions_->Ask(task, evolution_->best());
  const records::Variant* variant = Find(task.variant.id);
  if (variant == nullptr) {  // of a damaged record
    (void)evolution_->Report(task.id, Result::Of({}));
    return;
  }
  tuned_[task.id].numbers =
      std::make_unique<VariantNumbers>(with_.input, with_.limits, *variant, task.evaluations);
}

bool ModelPhase::AnyMayRun() const {
  return std::any_of(tuned_.begin(), tuned_.end(),
                     [](const auto& one) { return one.second.may_run; });
}

void ModelPhase::BeginSet() {
  if (AnyMayRun() || !questions_->idle()) return;
  for (auto& [task, tuned] : tuned_) tuned.may_run = true;
}

std::optional<search::Candidate> ModelPhase::Next(search::KernelSearch& search) {
  Pump();
  BeginSet();
  for (auto& [task, tuned] : tuned_) {
    if (!tuned.may_run || tuned.open != 0) continue;
    auto variant = tuned.numbers->Next();
    if (!variant) continue;
    const std::string id = variant->id;
    search::MadeIdea idea;
    idea.variant = id;
    if (variant->strategy) idea.strategy = *variant->strategy;
    if (!variant->parents.empty()) {
      const auto parent = ideas_.find(variant->parents.front());
      if (parent != ideas_.end()) idea.parent = parent->second;
    }
    for (const records::StrategyStep& step : idea.strategy.steps) {
      idea.expected_gain *= std::clamp(step.expected_gain, 1.0, 4.0);
    }
    const auto by = made_.find(tuned.numbers->best().id);
    Keep(std::move(*variant), by == made_.end() ? ModelName() : by->second.by);
    search::Candidate candidate = search.Take(std::move(idea));
    ideas_.try_emplace(id, candidate.id);
    tuned.open = candidate.id;
    return candidate;
  }
  return std::nullopt;
}

void ModelPhase::Report(const search::Candidate& candidate, const search::Outcome& outcome,
                        const records::Evaluation* evaluation) {
  for (auto& [task, tuned] : tuned_) {
    if (tuned.open != candidate.id) continue;
    tuned.open = 0;
    tuned.told.push_back(candidate.id);
    tuned.numbers->Report(outcome, EvidenceFor(outcome, evaluation));
    if (tuned.numbers->done()) EndTuned(task);
    return;
  }
}

// The task's result, once no more values are looked for.
void ModelPhase::EndTuned(int task) {
  const Tuned& tuned = tuned_.at(task);
  BookGain(tuned);
  Result result = Result::Of(tuned.numbers->evidence(), tuned.numbers->evaluations());
  result.variant = FactsOf(tuned.numbers->best());
  tuned_.erase(task);
  (void)evolution_->Report(task, std::move(result));
}

// What a model brought is what it is faster than all before.
void ModelPhase::BookGain(const Tuned& tuned) {
  const evolution::Evidence& evidence = tuned.numbers->evidence();
  if (evidence.kind != evolution::Evidence::Kind::kAccepted || !evidence.speedup) return;
  const double gain = std::log(*evidence.speedup);
  const double before = std::exchange(best_gain_, std::max(best_gain_, gain));
  const auto made = made_.find(tuned.numbers->best().id);
  if (gain <= before || made == made_.end() || made->second.by.provider.empty()) return;
  const ModelName& by = made->second.by;
  const auto booked =
      with_.input.models.books->budget().AddGain(by.provider, by.model, gain - before);
  if (!booked) log::Error("a model's gain is not booked", {{"reason", booked.error()}});
}

void ModelPhase::OnResult(int task, Understood understood, const ModelName& by) {
  if (understood.variant) Keep(std::move(*understood.variant), by);
  (void)evolution_->Report(task, std::move(understood.result));
  Pump();
  with_.news();
}

// What is known of a structure by then counts.
void ModelPhase::Stop(const std::string& why) {
  while (!tuned_.empty()) {
    const auto first = tuned_.begin();
    if (first->second.numbers->evaluations() == 0) {
      tuned_.erase(first);
    } else {
      EndTuned(first->first);
    }
  }
  evolution_->Stop(why);
  if (!pumping_) Pump();
}

void ModelPhase::Pause() {
  questions_->Stop();
  unasked_.clear();
  for (evolution::Task& task : evolution_->Outstanding()) {
    if (task.kind != TaskKind::kEvaluate) unasked_.push_back(std::move(task));
  }
}

bool ModelPhase::waiting() const {
  const bool held = tuned_.empty() || (!AnyMayRun() && !questions_->idle());
  return !ended() && held && unasked_.empty() && !evolution_->Outstanding().empty();
}

bool ModelPhase::pending() const {
  return waiting() && questions_->pending() > 0 && questions_->quiet();
}

void ModelPhase::LookAgain() { questions_->LookAgain(); }

records::Json ModelPhase::Document() const {
  using records::Json;
  Json ideas = Json::array();
  for (const evolution::IdeaView& idea : evolution::IdeasOf(*evolution_)) {
    Json row = {{"id", idea.id},
                {"parent", idea.parent},
                {"title", idea.title},
                {"step", idea.step},
                {"expected_gain", records::NumberJson(idea.expected)},
                {"attempts", idea.attempts},
                {"state", idea.state},
                {"why", idea.why}};
    if (idea.measured) row["measured_gain"] = records::NumberJson(*idea.measured);
    if (idea.speedup) row["speedup"] = records::NumberJson(*idea.speedup);
    ideas.push_back(std::move(row));
  }
  Json variants = Json::array();
  for (const auto& [id, made] : made_) {
    if (made.by.provider.empty()) continue;
    variants.push_back({{"id", id}, {"provider", made.by.provider}, {"model", made.by.model}});
  }
  Json document = {{"state", ended()     ? "ended"
                             : pending() ? "pending"
                                         : "asking"},
                   {"requests", questions_->sent()},
                   {"most_requests", with_.input.models.requests},
                   {"evaluations", evolution_->evaluations()},
                   {"dollars", dollars()},
                   {"open_requests", questions_->pending()},
                   {"rounds", evolution_->round()},
                   {"ended", evolution_->stop_detail()},
                   {"trouble", questions_->trouble()},
                   {"ideas", std::move(ideas)},
                   {"variants", std::move(variants)},
                   {"lines", evolution::Explain(*evolution_)}};
  return document;
}

}  // namespace cupilot::service
