// Language models in the work on one kernel: when they are asked, and what wakes it.
#include <algorithm>
#include <cmath>

#include "log/log.h"
#include "service/kernel_job.h"

namespace cupilot::service {
namespace {

// What the pool knows, as prompts show it and the evolution begins with it. What techniques can
// make of it was tried by them.
void AddAdvice(const PoolAdvice& advice, JobModels& models) {
  models.examples.clear();
  models.seeds.clear();
  models.priors.clear();
  for (const records::PoolEntry& entry : advice.examples) {
    agents::StrategyExample example;
    example.about = search::AboutText(entry);
    example.strategy = entry.strategy;
    example.gain = entry.gain ? entry.gain->factor : 0;
    example.why = entry.reason;
    models.examples.push_back(std::move(example));
    const bool ours = !records::Gained(entry) || search::IsMechanical(entry.strategy);
    if (!ours) models.seeds.push_back({entry.strategy, {}});
  }
  // Forms of a technique are one here.
  for (const auto& [key, learned] : advice.priors) {
    if (learned.weight <= 0) continue;
    search::evolution::Prior& prior = models.priors[key.substr(0, key.find(' '))];
    const double weight = prior.weight + learned.weight;
    prior.log_gain = (prior.log_gain * prior.weight + learned.log_gain * learned.weight) / weight;
    prior.weight = weight;
  }
}

constexpr std::int64_t kModelEvaluations = 200;  // where the work has no budget of evaluations

}  // namespace

ModelPhase::Collaborators KernelJob::ForModels() {
  return {input_, with_.catalog, maker_.limits(), [this] { OnModelNews(); }};
}

// Without a provider what was asked before is kept as it is.
base::Result<> KernelJob::RestoreModels(const records::Json& record) {
  models_record_ = record;
  if (record.is_null() || input_.models.sources.empty()) return {};
  AddAdvice(advice_, input_.models);
  TRY_ASSIGN(models_, ModelPhase::Restore(ForModels(), *search_, record));
  return {};
}

// What the user has not allowed would be refused, and the phase were over before it began.
bool KernelJob::MayBeginModels() const {
  const JobModels& models = input_.models;
  if (models_ || !models_record_.is_null() || given_up_ || models.requests <= 0) return false;
  return std::any_of(models.sources.begin(), models.sources.end(), [&](const ModelSource& one) {
    if (!one.provider->traits().sends) return true;
    return models.books->consent().Allowed(models.project, one.provider->name()).value_or(false);
  });
}

bool KernelJob::ModelsDue() const {
  const double share = input_.models.begin_share;
  const bool by_time =
      std::isfinite(input_.budget_seconds) && spent_seconds() >= share * input_.budget_seconds;
  // What is under way counts: more may be begun ahead than a short budget has.
  const double begun = static_cast<double>(Evaluations()) + static_cast<double>(open_.size());
  const bool by_count = input_.budget_evaluations > 0 &&
                        begun >= share * static_cast<double>(input_.budget_evaluations);
  return (by_time || by_count) && MayBeginModels();
}

void KernelJob::BeginModels() {
  const std::int64_t evaluations =
      input_.budget_evaluations > 0
          ? std::max<std::int64_t>(1, input_.budget_evaluations - Evaluations())
          : kModelEvaluations;
  AddAdvice(advice_, input_.models);
  models_ = ModelPhase::Begin(ForModels(), *search_, evaluations);
}

bool KernelJob::ReconsiderModels() {
  if (!finished_ || !failure_.empty() || !search_ || !MayBeginModels()) return false;
  if (!BudgetUsed().empty()) return false;
  finished_ = false;
  models_due_ = only_models_ = true;
  ended_.clear();
  return true;
}

void KernelJob::LookForAnswers() {
  if (models_) models_->LookAgain();
}

bool KernelJob::waiting() const {
  return models_ && !finished_ && NothingOpen() && models_->waiting();
}

// Written down before anybody acts on it.
void KernelJob::OnModelNews() {
  if (finished_) return;
  Save();
  if (busy()) {
    GoOn();
  } else if (input_.wake) {
    input_.wake();
  }
}

}  // namespace cupilot::service
