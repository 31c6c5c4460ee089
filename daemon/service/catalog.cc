#include "service/catalog.h"

#include <algorithm>

#include "cache/keys.h"
#include "cache/record.h"
#include "evaluate/verdict.h"
#include "log/log.h"
#include "records/json.h"
#include "records/reader.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

const std::string kJobPrefix = "job/";

std::optional<Json> Unseal(std::string_view key, std::string_view bytes) {
  auto record = cache::Unseal(bytes);
  if (record) return record->value;
  log::Warning("a record cannot be read", {{"key", key}, {"reason", record.error()}});
  return std::nullopt;
}

}  // namespace

std::string WorkloadHash(const records::Workload& workload) { return cache::WorkloadKey(workload); }

base::Result<> Catalog::SaveKernel(const records::Kernel& kernel,
                                   const records::Workload& workload) {
  return store_.Apply(
      {{Table::kKernels, cache::KernelKey(kernel.key), cache::Seal(records::ToJson(kernel))},
       {Table::kWorkloads, cache::WorkloadKey(workload), cache::Seal(records::ToJson(workload))}});
}

base::Result<> Catalog::SaveVerdict(const records::Variant& variant,
                                    const records::Evaluation& evaluation) {
  return store_.Apply(
      {{Table::kVariants, cache::VariantKey(evaluation.kernel_key, variant.id),
        cache::Seal(records::ToJson(variant))},
       {Table::kEvaluations, cache::EvaluationKey(evaluation),
        cache::Seal(records::ToJson(evaluation), evaluation.toolchain, evaluation.driver)}});
}

std::vector<records::Evaluation> Catalog::Evaluations(const std::string& kernel_key) {
  std::vector<records::Evaluation> evaluations;
  const auto visit = [&](std::string_view key, std::string_view value) {
    if (const auto json = Unseal(key, value)) {
      if (auto evaluation = records::ParseEvaluation(*json)) evaluations.push_back(*evaluation);
    }
    return true;
  };
  if (auto scanned = store_.Scan(Table::kEvaluations, cache::EvaluationPrefix(kernel_key), visit);
      !scanned) {
    log::Error("the store cannot be read", {{"reason", scanned.error()}});
  }
  std::stable_sort(evaluations.begin(), evaluations.end(),
                   [](const auto& a, const auto& b) { return a.date < b.date; });
  return evaluations;
}

std::optional<records::Variant> Catalog::FindVariant(const std::string& kernel_key,
                                                     const std::string& id) {
  const std::string key = cache::VariantKey(kernel_key, id);
  auto bytes = store_.Get(Table::kVariants, key);
  if (!bytes || !*bytes) return std::nullopt;
  const auto json = Unseal(key, **bytes);
  if (!json) return std::nullopt;
  auto variant = records::ParseVariant(*json);
  if (!variant) return std::nullopt;
  return *variant;
}

std::optional<records::Evaluation> Catalog::FindVerdict(const std::string& kernel_key,
                                                        const std::string& workload_hash,
                                                        const std::string& target,
                                                        const std::string& variant_id) {
  std::optional<records::Evaluation> found;
  for (records::Evaluation& evaluation : Evaluations(kernel_key)) {
    if (evaluation.variant == variant_id && evaluation.workload == workload_hash &&
        (target.empty() || evaluation.target == target)) {
      found = std::move(evaluation);
    }
  }
  return found;
}

std::optional<Proven> Catalog::Best(const std::string& kernel_key,
                                    const records::Workload& workload, const std::string& target,
                                    const std::set<std::string>& without) {
  const std::string hash = WorkloadHash(workload);
  std::optional<records::Evaluation> best;
  for (records::Evaluation& evaluation : Evaluations(kernel_key)) {
    if (!evaluation.accepted || evaluation.workload != hash ||
        without.contains(evaluation.variant) || (!target.empty() && evaluation.target != target))
      continue;
    if (!best || evaluate::BeatsIncumbent(evaluation, *best, workload))
      best = std::move(evaluation);
  }
  if (!best) return std::nullopt;
  auto variant = FindVariant(kernel_key, best->variant);
  if (!variant) return std::nullopt;
  return Proven{std::move(*variant), std::move(*best)};
}

std::vector<Refusal> Catalog::Refusals(const std::string& object_folder) {
  const std::string key = cache::SelectionKey(object_folder);
  std::vector<Refusal> refusals;
  auto bytes = store_.Get(Table::kSelections, key);
  if (!bytes || !*bytes) return refusals;
  const auto json = Unseal(key, **bytes);
  if (!json || !json->is_object() || !json->value("refused", Json()).is_array()) return refusals;
  for (const Json& entry : (*json)["refused"]) {
    records::Reading reading(records::Strictness::kLenient);
    records::ObjectReader object(entry, "refused", reading);
    Refusal refusal;
    object.Optional("kernel_key", refusal.kernel_key)
        .Optional("variant", refusal.variant)
        .Optional("toolchain", refusal.toolchain);
    if (reading.ok()) refusals.push_back(std::move(refusal));
  }
  return refusals;
}

base::Result<> Catalog::SaveRefusals(const std::string& object_folder,
                                     const std::vector<Refusal>& refusals) {
  Json json = {{"schema", "cupilot.refusals/1"}, {"object", object_folder}};
  json["refused"] = Json::array();
  for (const Refusal& refusal : refusals) {
    json["refused"].push_back({{"kernel_key", refusal.kernel_key},
                               {"variant", refusal.variant},
                               {"toolchain", refusal.toolchain}});
  }
  return store_.Apply(
      {{Table::kSelections, cache::SelectionKey(object_folder), cache::Seal(std::move(json))}});
}

std::optional<Json> Catalog::FindJob(const std::string& key) {
  auto bytes = store_.Get(Table::kCounters, kJobPrefix + key);
  if (!bytes || !*bytes) return std::nullopt;
  auto record = cache::Unseal(**bytes);
  if (!record || record->tool != cache::ToolVersion()) return std::nullopt;
  return std::move(record->value);
}

base::Result<> Catalog::SaveJob(const std::string& key, const Json& job) {
  return store_.Apply({{Table::kCounters, kJobPrefix + key, cache::Seal(job)}});
}

std::optional<std::string> Catalog::Fact(const std::string& name) {
  auto bytes = store_.Get(Table::kCounters, name);
  if (!bytes || !*bytes) return std::nullopt;
  const auto json = Unseal(name, **bytes);
  if (!json || !json->is_string()) return std::nullopt;
  return json->get<std::string>();
}

base::Result<> Catalog::SaveFact(const std::string& name, const std::string& value) {
  return store_.Apply({{Table::kCounters, name, cache::Seal(Json(value))}});
}

}  // namespace cupilot::service
