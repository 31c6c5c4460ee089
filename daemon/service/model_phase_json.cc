// The record of a model phase (cupilot.model_phase/1), and the phase made from it again.
#include <algorithm>
#include <utility>

#include "records/read_parts.h"
#include "records/reader.h"
#include "service/model_phase.h"

namespace cupilot::service {
namespace {

namespace evolution = search::evolution;
using records::Json;

constexpr const char* kSchema = "cupilot.model_phase/1";

base::Error CorruptPhase(const std::string& what) {
  return base::Corruption("the record of what models were asked: " + what);
}

evolution::Individual ReadIndividual(const Json& json, records::Reading& reading) {
  evolution::Individual individual;
  records::ObjectReader object(json, "given", reading);
  std::int64_t idea = 0;
  Json facts;
  object.Optional("variant", facts)
      .Optional("strategy", individual.strategy)
      .Optional("log_gain", individual.log_gain)
      .Optional("bound", individual.bound)
      .Optional("floor_share", individual.floor_share)
      .Optional("idea", idea);
  individual.idea = static_cast<int>(idea);
  if (facts.is_null()) return individual;
  records::ObjectReader of(facts, "given.variant", reading);
  std::int64_t tunables = 0;
  of.Optional("id", individual.variant.id)
      .Optional("novelty_key", individual.variant.novelty_key)
      .Optional("tunables", tunables);
  individual.variant.tunables = static_cast<int>(tunables);
  return individual;
}

}  // namespace

Json ModelPhase::ToJson() const {
  Json given = Json::array();
  for (const evolution::Individual& member : given_) given.push_back(evolution::ToJson(member));
  // What was evaluated is in the store, too; what waits for that is only here.
  Json variants = Json::array();
  for (const auto& [id, made] : made_) {
    if (made.by.provider.empty()) continue;
    variants.push_back({{"variant", records::ToJson(made.variant)},
                        {"provider", made.by.provider},
                        {"model", made.by.model}});
  }
  Json tuned = Json::array();
  for (const auto& [task, one] : tuned_) {
    tuned.push_back(
        {{"task", task}, {"told", one.told}, {"open", one.open}, {"may_run", one.may_run}});
  }
  return {{"schema", kSchema},
          {"example", example_},
          {"original", evolution::ToJson(original_)},
          {"given", std::move(given)},
          {"requests", with_.input.models.requests},
          {"evaluations", evaluations_},
          {"best_gain", best_gain_},
          {"evolution", evolution_->ToJson()},
          {"questions", questions_->ToJson()},
          {"variants", std::move(variants)},
          {"ideas", ideas_},
          {"tuned", std::move(tuned)}};
}

base::Result<> ModelPhase::Read(const search::KernelSearch& search, const Json& json) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(json, "", reading);
  Json original, recorded, questions;
  std::vector<Json> given, variants, tuned;
  std::map<std::string, std::int64_t> ideas;
  object.Schema(kSchema)
      .Optional("example", example_)
      .Optional("original", original)
      .Optional("given", given)
      .Optional("evaluations", evaluations_)
      .Optional("best_gain", best_gain_)
      .Optional("evolution", recorded)
      .Optional("questions", questions)
      .Optional("variants", variants)
      .Optional("ideas", ideas)
      .Optional("tuned", tuned);
  if (!reading.ok()) return base::Fail(CorruptPhase(reading.error()->message));
  original_ = ReadIndividual(original, reading);
  for (const Json& one : given) given_.push_back(ReadIndividual(one, reading));
  for (const auto& [id, idea] : ideas) ideas_[id] = static_cast<int>(idea);
  for (const Json& one : variants) {
    records::ObjectReader of(one, "variants", reading);
    ModelName by;
    Json document;
    of.Optional("variant", document).Optional("provider", by.provider).Optional("model", by.model);
    TRY_ASSIGN(records::Variant variant, records::ParseVariant(document));
    Keep(std::move(variant), by);
  }
  if (!reading.ok()) return base::Fail(CorruptPhase(reading.error()->message));
  Prepare();
  questions_->Restore(questions);
  auto evolution = evolution::Evolution::Replay(InputOf(), SettingsOf(), recorded);
  if (!evolution) return base::Fail(evolution.error());
  evolution_.emplace(std::move(*evolution));
  return ReadTuned(search, tuned);
}

// What was under way goes on: values that were measured are told again, questions asked again when
// there is work.
base::Result<> ModelPhase::ReadTuned(const search::KernelSearch& search,
                                     const std::vector<Json>& tuned) {
  for (const evolution::Task& task : evolution_->Outstanding()) {
    if (task.kind == evolution::TaskKind::kEvaluate) {
      Start(task);
    } else {
      unasked_.push_back(task);
    }
  }
  records::Reading reading(records::Strictness::kLenient);
  for (const Json& one : tuned) {
    records::ObjectReader of(one, "tuned", reading);
    std::int64_t task = 0, open = 0;
    std::vector<std::int64_t> told;
    bool may_run = false;
    of.Optional("task", task)
        .Optional("open", open)
        .Optional("told", told)
        .Optional("may_run", may_run);
    const auto found = tuned_.find(static_cast<int>(task));
    if (!reading.ok() || found == tuned_.end()) return base::Fail(CorruptPhase("tuned"));
    Tuned& again = found->second;
    again.may_run = may_run || open != 0;
    for (const std::int64_t id : told) {
      const auto variant = again.numbers->Next();
      const search::Idea* idea = id > 0 && id <= static_cast<std::int64_t>(search.ideas().size())
                                     ? &search.ideas()[static_cast<std::size_t>(id) - 1]
                                     : nullptr;
      if (!variant || idea == nullptr || !idea->outcome || idea->candidate.made != variant->id) {
        return base::Fail(CorruptPhase("values of tunables"));
      }
      const auto evaluation = FindEvaluation(variant->id);
      again.numbers->Report(*idea->outcome,
                            EvidenceFor(*idea->outcome, evaluation ? &*evaluation : nullptr));
      again.told.push_back(static_cast<int>(id));
    }
    if (open == 0) continue;
    const bool known = open > 0 && open <= static_cast<std::int64_t>(search.ideas().size());
    const auto variant = known ? again.numbers->Next() : std::nullopt;
    if (!variant) return base::Fail(CorruptPhase("what is open"));
    again.open = static_cast<int>(open);
    // It ended while no model could be asked.
    const search::Idea& idea = search.ideas()[static_cast<std::size_t>(open) - 1];
    if (!idea.outcome) continue;
    const auto evaluation = FindEvaluation(variant->id);
    Report(idea.candidate, *idea.outcome, evaluation ? &*evaluation : nullptr);
  }
  return {};
}

}  // namespace cupilot::service
