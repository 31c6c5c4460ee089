// Tasks and results as JSON: for records, and for the hash by which a replay knows a task again.
#include <array>

#include "records/read_parts.h"
#include "records/reader.h"
#include "search/evolution/task.h"

namespace cupilot::search::evolution {
namespace {

using records::Json;

constexpr std::array<std::pair<std::string_view, TaskKind>, 6> kTaskWords = {{
    {"strategist", TaskKind::kStrategist},
    {"translate", TaskKind::kTranslate},
    {"judge", TaskKind::kJudge},
    {"evaluate", TaskKind::kEvaluate},
    {"revise", TaskKind::kRevise},
    {"align", TaskKind::kAlign},
}};
constexpr std::array<std::pair<std::string_view, Result::Kind>, 8> kResultWords = {{
    {"pending", Result::Kind::kPending},
    {"plans", Result::Kind::kPlans},
    {"variant", Result::Kind::kVariant},
    {"nothing", Result::Kind::kNothing},
    {"unanswered", Result::Kind::kUnanswered},
    {"votes", Result::Kind::kVotes},
    {"evidence", Result::Kind::kEvidence},
    {"aligned", Result::Kind::kAligned},
}};
constexpr std::array<std::pair<std::string_view, Evidence::Kind>, 3> kVerdictWords = {{
    {"accepted", Evidence::Kind::kAccepted},
    {"rejected", Evidence::Kind::kRejected},
    {"failed", Evidence::Kind::kFailed},
}};

Json FactsJson(const VariantFacts& facts) {
  Json json = {{"id", facts.id}};
  records::Put(json, "novelty_key", facts.novelty_key);
  if (facts.tunables > 0) json["tunables"] = facts.tunables;
  return json;
}

Json EvidenceJson(const Evidence& evidence) {
  Json json = {{"kind", records::WordOf(kVerdictWords, evidence.kind)}};
  records::Put(json, "reason", evidence.reason);
  records::Put(json, "detail", evidence.detail);
  records::Put(json, "bound", evidence.bound);
  if (evidence.speedup) json["speedup"] = records::NumberJson(*evidence.speedup);
  if (evidence.floor_share > 0) json["floor_share"] = evidence.floor_share;
  return json;
}

VariantFacts ReadFacts(const Json& json, const std::string& path, records::Reading& reading) {
  VariantFacts facts;
  std::int64_t tunables = 0;
  records::ObjectReader(json, path, reading)
      .Optional("id", facts.id)
      .Optional("novelty_key", facts.novelty_key)
      .Optional("tunables", tunables);
  facts.tunables = static_cast<int>(tunables);
  return facts;
}

Evidence ReadEvidence(const Json& json, const std::string& path, records::Reading& reading) {
  Evidence evidence;
  records::ObjectReader(json, path, reading)
      .OptionalWord("kind", kVerdictWords, evidence.kind)
      .Optional("reason", evidence.reason)
      .Optional("detail", evidence.detail)
      .Optional("bound", evidence.bound)
      .Optional("speedup", evidence.speedup)
      .Optional("floor_share", evidence.floor_share);
  return evidence;
}

Plan ReadPlan(const Json& json, const std::string& path, records::Reading& reading) {
  Plan plan;
  std::vector<std::int64_t> difficulties;
  records::ObjectReader(json, path, reading)
      .Optional("strategy", plan.strategy)
      .Optional("difficulties", difficulties);
  plan.difficulties.assign(difficulties.begin(), difficulties.end());
  return plan;
}

}  // namespace

std::string_view Name(TaskKind kind) {
  for (const auto& [word, value] : kTaskWords) {
    if (value == kind) return word;
  }
  return {};
}

Json ToJson(const Plan& plan) {
  return {{"strategy", records::ToJson(plan.strategy)}, {"difficulties", plan.difficulties}};
}

Json ToJson(const Individual& individual) {
  Json json = {{"id", individual.id},
               {"variant", FactsJson(individual.variant)},
               {"strategy", records::ToJson(individual.strategy)},
               {"log_gain", records::NumberJson(individual.log_gain)},
               {"idea", individual.idea},
               {"epoch", individual.epoch}};
  records::Put(json, "bound", individual.bound);
  if (individual.floor_share > 0) json["floor_share"] = individual.floor_share;
  return json;
}

Json ToJson(const Task& task) {
  Json json = {{"id", task.id}, {"kind", std::string(Name(task.kind))}};
  for (const Individual& parent : task.parents) json["parents"].push_back(ToJson(parent));
  for (const FailedIdea& idea : task.failed) {
    json["failed"].push_back({{"title", idea.title}, {"reason", idea.reason}});
  }
  for (const Failure& failure : task.earlier) {
    json["earlier"].push_back({{"reason", failure.reason}, {"detail", failure.detail}});
  }
  records::Put(json, "bottleneck", task.bottleneck);
  if (task.wanted > 0) json["wanted"] = task.wanted;
  if (task.pool) json["pool"] = true;
  if (task.idea > 0) json["idea"] = task.idea;
  if (!task.strategy.steps.empty()) json["strategy"] = records::ToJson(task.strategy);
  if (task.step) json["step"] = records::ToJson(*task.step);
  if (task.kind == TaskKind::kTranslate) {
    json["parent"] = FactsJson(task.parent);
    json["parent_strategy"] = records::ToJson(task.parent_strategy);
  }
  if (!task.variant.id.empty()) json["variant"] = FactsJson(task.variant);
  if (task.votes > 0) json["votes"] = task.votes;
  if (task.evaluations > 0) json["evaluations"] = task.evaluations;
  if (task.kind == TaskKind::kRevise) {
    json["finding"] = EvidenceJson(task.finding);
    json["round"] = task.round;
  }
  return json;
}

Json ToJson(const Result& result) {
  Json json = {{"kind", records::WordOf(kResultWords, result.kind)}};
  records::Put(json, "reason", result.reason);
  if (result.requests) json["requests"] = *result.requests;
  if (result.evaluations) json["evaluations"] = *result.evaluations;
  if (!result.variant.id.empty()) json["variant"] = FactsJson(result.variant);
  switch (result.kind) {
    case Result::Kind::kPlans:
      json["plans"] = Json::array();
      for (const Plan& plan : result.plans) json["plans"].push_back(ToJson(plan));
      break;
    case Result::Kind::kVotes:
      json["same"] = result.same;
      json["other"] = result.other;
      break;
    case Result::Kind::kEvidence:
      json["evidence"] = EvidenceJson(result.evidence);
      break;
    case Result::Kind::kAligned:
      json["aligned"] = records::ToJson(result.aligned);
      break;
    case Result::Kind::kPending:
    case Result::Kind::kVariant:
    case Result::Kind::kNothing:
    case Result::Kind::kUnanswered:
      break;
  }
  return json;
}

base::Result<Result> ReadResult(const Json& json, const std::string& path) {
  records::Reading reading(records::Strictness::kLenient);
  Result result;
  std::vector<Json> plans;
  Json variant;
  Json evidence;
  std::int64_t same = 0;
  std::int64_t other = 0;
  records::ObjectReader(json, path, reading)
      .OptionalWord("kind", kResultWords, result.kind)
      .Optional("reason", result.reason)
      .Optional("requests", result.requests)
      .Optional("evaluations", result.evaluations)
      .Optional("variant", variant)
      .Optional("plans", plans)
      .Optional("same", same)
      .Optional("other", other)
      .Optional("evidence", evidence)
      .Optional("aligned", result.aligned);
  result.same = static_cast<int>(same);
  result.other = static_cast<int>(other);
  if (!variant.is_null()) result.variant = ReadFacts(variant, path + ".variant", reading);
  if (!evidence.is_null()) result.evidence = ReadEvidence(evidence, path + ".evidence", reading);
  for (const Json& plan : plans) result.plans.push_back(ReadPlan(plan, path + ".plans", reading));
  if (reading.error()) return base::Fail(*reading.error());
  return result;
}

}  // namespace cupilot::search::evolution
