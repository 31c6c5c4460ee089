#include "service/catalog.h"

#include <algorithm>

#include "cache/keys.h"
#include "evaluate/variant_set.h"
#include "evaluate/verdict.h"
#include "log/log.h"
#include "records/json.h"
#include "records/reader.h"
#include "service/catalog_keys.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

constexpr std::size_t kMostIndexed = 512;  // kernels

// The same order whether an entry was read or has just been written.
const auto IsOlder = [](const auto& a, const auto& b) {
  return a.date != b.date ? a.date < b.date : a.key < b.key;
};

std::string EvidenceHash(records::Evaluation evaluation) {
  evaluation.metrics = Json::object();
  return records::HashJson(records::ToJson(evaluation));
}

std::optional<Json> Unseal(std::string_view key, std::string_view bytes) {
  auto record = cache::Unseal(bytes);
  if (record) return record->value;
  log::Warning("a record cannot be read", {{"key", key}, {"reason", record.error()}});
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const Proven> FastestOf(const ProvenSet& set) {
  std::shared_ptr<const Proven> fastest;
  for (const auto& one : set) {
    if (fastest == nullptr || one->evaluation.speedup > fastest->evaluation.speedup) fastest = one;
  }
  return fastest;
}

std::string WorkloadHash(const records::Workload& workload) {
  struct Hashed {
    records::Workload workload;
    std::string hash;
  };
  constexpr std::size_t kMostHashed = 512;  // kernels
  thread_local Kept<std::string, Hashed> hashed(kMostHashed);
  const Hashed* known = hashed.Find(workload.kernel);
  if (known != nullptr && known->workload == workload) return known->hash;
  return hashed.Add(workload.kernel, {workload, cache::WorkloadKey(workload)}).hash;
}

base::Result<> Catalog::SaveKernel(const records::Kernel& kernel,
                                   const records::Workload& workload) {
  return store_.Apply(
      {{Table::kKernels, cache::KernelKey(kernel.key), cache::Seal(records::ToJson(kernel))},
       {Table::kWorkloads, cache::WorkloadKey(workload), cache::Seal(records::ToJson(workload))}});
}

base::Result<> Catalog::SaveVerdict(const records::Variant& variant,
                                    const records::Evaluation& evaluation,
                                    const std::string& toolchain) {
  const std::string& holds_for = toolchain.empty() ? evaluation.toolchain : toolchain;
  TRY(store_.Apply({{Table::kVariants, cache::VariantKey(evaluation.kernel_key, variant.id),
                     cache::Seal(records::ToJson(variant))},
                    {Table::kEvaluations, cache::EvaluationKey(evaluation, holds_for),
                     cache::Seal(records::ToJson(evaluation), holds_for, evaluation.driver)}}));
  evaluated_.Drop(cache::EvaluationKey(evaluation, holds_for));
  // The variant is another record now, whichever evaluation it was read for.
  proven_.DropIf([&](const std::string&, const auto& proven) {
    return proven->variant.id == variant.id &&
           proven->evaluation.kernel_key == evaluation.kernel_key;
  });
  const auto known = index_.find(evaluation.kernel_key);
  if (known == index_.end()) return {};
  KernelIndex& index = known->second;
  Entry entry = EntryOf(evaluation, holds_for, evaluation.driver);
  for (Entry& other : index.entries) {
    if (other.key == entry.key) {
      // What it took the place of must not be remembered.
      index_.erase(known);
      return {};
    }
    // Its variant is another record now.
    if (other.variant == entry.variant) other.number = ++last_number_;
  }
  index.originals.Note(evaluation, entry.key);
  index.entries.push_back(std::move(entry));
  std::sort(index.entries.begin(), index.entries.end(), IsOlder);
  if (evaluation.accepted) index.best.clear();
  return {};
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

std::size_t Catalog::CountEvaluations(const std::string& kernel_key) {
  return IndexOf(kernel_key).entries.size();
}

std::vector<records::Evaluation> Catalog::EvaluationsFrom(const std::string& kernel_key,
                                                          std::size_t from, std::size_t most) {
  std::vector<records::Evaluation> evaluations;
  const std::vector<Entry>& entries = IndexOf(kernel_key).entries;
  for (std::size_t i = from; i < entries.size() && i - from < most; ++i) {
    if (auto evaluation = ReadEvaluation(entries[i].key)) {
      evaluations.push_back(std::move(*evaluation));
    }
  }
  return evaluations;
}

std::vector<std::uint64_t> Catalog::EvaluationNumbers(const std::string& kernel_key) {
  std::vector<std::uint64_t> numbers;
  for (const Entry& entry : IndexOf(kernel_key).entries) numbers.push_back(entry.number);
  return numbers;
}

std::optional<records::Evaluation> Catalog::FindEvaluation(const std::string& kernel_key,
                                                           std::uint64_t number) {
  for (const Entry& entry : IndexOf(kernel_key).entries) {
    if (entry.number == number) return ReadEvaluation(entry.key);
  }
  return std::nullopt;
}

OriginalTimes::Times Catalog::TimesOfOriginal(const std::string& kernel_key,
                                              const std::string& workload_hash,
                                              const std::string& name) {
  return IndexOf(kernel_key).originals.Find(workload_hash, name);
}

void Catalog::ReadAgain() {
  index_.clear();
  proven_.Clear();
  evaluated_.Clear();
  refusals_.Clear();
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

Catalog::Entry Catalog::EntryOf(const records::Evaluation& evaluation, std::string toolchain,
                                std::string driver) {
  Entry entry;
  entry.key = cache::EvaluationKey(evaluation, toolchain);
  entry.variant = evaluation.variant;
  entry.workload = evaluation.workload;
  entry.target = evaluation.target;
  entry.holds_for.toolchain = std::move(toolchain);
  entry.holds_for.driver = std::move(driver);
  entry.date = evaluation.date;
  entry.device = evaluation.device;
  entry.number = ++last_number_;
  entry.accepted = evaluation.accepted;
  entry.speedup = evaluation.speedup.value_or(0);
  return entry;
}

Catalog::KernelIndex& Catalog::IndexOf(const std::string& kernel_key) {
  const auto known = index_.find(kernel_key);
  if (known != index_.end()) return known->second;
  if (index_.size() >= kMostIndexed) index_.clear();
  KernelIndex& index = index_[kernel_key];
  const auto visit = [&](std::string_view key, std::string_view value) {
    const auto record = cache::Unseal(value);
    if (!record) return true;
    if (const auto evaluation = records::ParseEvaluation(record->value)) {
      index.entries.push_back(EntryOf(*evaluation, record->toolchain, record->driver));
      index.entries.back().key = key;
      index.originals.Note(*evaluation, index.entries.back().key);
    }
    return true;
  };
  if (auto scanned = store_.Scan(Table::kEvaluations, cache::EvaluationPrefix(kernel_key), visit);
      !scanned) {
    log::Error("the store cannot be read", {{"reason", scanned.error()}});
  }
  std::sort(index.entries.begin(), index.entries.end(), IsOlder);
  return index;
}

bool Catalog::IsFresh(const Entry& entry, const std::string& workload_hash, const Place& place) {
  return entry.workload == workload_hash && IsAbout(entry.device, entry.target, place) &&
         !cache::IsStale(entry.holds_for, place.toolchain, place.driver);
}

std::optional<records::Evaluation> Catalog::ReadEvaluation(const std::string& key) {
  auto bytes = store_.Get(Table::kEvaluations, key);
  if (!bytes || !*bytes) return std::nullopt;
  const auto json = Unseal(key, **bytes);
  if (!json) return std::nullopt;
  auto evaluation = records::ParseEvaluation(*json);
  if (!evaluation) return std::nullopt;
  return std::move(*evaluation);
}

const records::Evaluation* Catalog::Evaluated(const std::string& key) {
  if (const records::Evaluation* known = evaluated_.Find(key)) return known;
  auto evaluation = ReadEvaluation(key);
  return evaluation ? &evaluated_.Add(key, std::move(*evaluation)) : nullptr;
}

std::optional<records::Evaluation> Catalog::FindVerdict(const std::string& kernel_key,
                                                        const std::string& workload_hash,
                                                        const Place& place,
                                                        const std::string& variant_id) {
  const std::vector<Entry>& entries = IndexOf(kernel_key).entries;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->variant == variant_id && IsFresh(*entry, workload_hash, place)) {
      const records::Evaluation* evaluation = Evaluated(entry->key);
      return evaluation == nullptr ? std::nullopt : std::optional(*evaluation);
    }
  }
  return std::nullopt;
}

Catalog::Winners Catalog::FindWinners(const std::string& kernel_key,
                                      const records::Workload& workload,
                                      const std::string& workload_hash, const Place& place,
                                      const std::set<std::string>& without) {
  const KernelIndex& index = IndexOf(kernel_key);
  Winners fixed;
  std::vector<records::Evaluation> accepted;
  std::vector<std::string> keys;
  std::size_t best = 0;
  const std::set<std::string>& rejected = marks_.Rejected();
  const std::set<std::string> pinned = marks_.Pinned(kernel_key);
  for (const Entry& entry : index.entries) {
    if (!entry.accepted || without.contains(entry.variant) || rejected.contains(entry.variant) ||
        !IsFresh(entry, workload_hash, place)) {
      continue;
    }
    // The newest evidence of it, whatever beats it.
    if (pinned.contains(entry.variant)) {
      fixed = {entry.key, {entry.key}};
      continue;
    }
    const records::Evaluation* evaluation = Evaluated(entry.key);
    if (evaluation == nullptr) continue;
    accepted.push_back(*evaluation);
    keys.push_back(entry.key);
    if (evaluate::BeatsIncumbent(accepted.back(), accepted[best], workload)) {
      best = accepted.size() - 1;
    }
  }
  if (!fixed.best.empty()) return fixed;
  Winners winners;
  if (accepted.empty()) return winners;
  winners.best = keys[best];
  for (const std::size_t chosen : evaluate::ChooseSet(accepted, workload)) {
    winners.set.push_back(keys[chosen]);
  }
  if (winners.set.empty()) winners.set = {winners.best};
  return winners;
}

Catalog::Winners Catalog::WinnersOf(const std::string& kernel_key,
                                    const records::Workload& workload, const Place& place,
                                    const std::set<std::string>& without) {
  const std::string hash = WorkloadHash(workload);
  std::string question = hash + KeyOf(place);
  for (const std::string& id : without) question += id;
  KernelIndex& index = IndexOf(kernel_key);
  auto known = index.best.find(question);
  if (known == index.best.end()) {
    known =
        index.best.emplace(question, FindWinners(kernel_key, workload, hash, place, without)).first;
  }
  return known->second;
}

std::shared_ptr<const Proven> Catalog::ReadProven(const std::string& kernel_key,
                                                  const std::string& key) {
  if (key.empty()) return nullptr;
  if (const auto* known = proven_.Find(key)) return *known;
  const records::Evaluation* evaluation = Evaluated(key);
  if (evaluation == nullptr) return nullptr;
  auto variant = FindVariant(kernel_key, evaluation->variant);
  if (!variant) return nullptr;
  return proven_.Add(key, std::make_shared<Proven>(
                              Proven{std::move(*variant), *evaluation, EvidenceHash(*evaluation)}));
}

std::shared_ptr<const Proven> Catalog::Best(const std::string& kernel_key,
                                            const records::Workload& workload, const Place& place,
                                            const std::set<std::string>& without) {
  if (without.contains(kEveryVariant)) return nullptr;
  return ReadProven(kernel_key, WinnersOf(kernel_key, workload, place, without).best);
}

ProvenSet Catalog::BestSet(const std::string& kernel_key, const records::Workload& workload,
                           const Place& place, const std::set<std::string>& without) {
  ProvenSet set;
  if (without.contains(kEveryVariant)) return set;
  for (const std::string& key : WinnersOf(kernel_key, workload, place, without).set) {
    if (auto proven = ReadProven(kernel_key, key)) set.push_back(std::move(proven));
  }
  return set;
}

std::vector<records::Strategy> Catalog::WinnersElsewhere(const std::string& kernel_key,
                                                         const std::string& workload_hash,
                                                         const Place& place, std::size_t most) {
  const auto is_gpu = [](const std::string& arch) { return arch.starts_with("sm_"); };
  std::vector<const Entry*> winners;
  for (const Entry& entry : IndexOf(kernel_key).entries) {
    if (entry.accepted && !IsFresh(entry, workload_hash, place) &&
        !marks_.Rejected().contains(entry.variant) &&
        is_gpu(entry.device.arch) == is_gpu(place.identity.arch)) {
      winners.push_back(&entry);
    }
  }
  const auto is_here = [&](const Entry* entry) {
    return entry->workload == workload_hash && IsAbout(entry->device, entry->target, place);
  };
  std::stable_sort(winners.begin(), winners.end(), [&](const Entry* a, const Entry* b) {
    const bool here = is_here(a);
    return here != is_here(b) ? here : a->speedup > b->speedup;
  });
  std::vector<records::Strategy> strategies;
  std::set<std::string> known;
  for (const Entry* entry : winners) {
    if (strategies.size() >= most) break;
    if (!known.insert(entry->variant).second) continue;
    const auto variant = FindVariant(kernel_key, entry->variant);
    if (variant && variant->strategy && !variant->strategy->steps.empty()) {
      strategies.push_back(*variant->strategy);
    }
  }
  return strategies;
}

void Catalog::ForgetWinners() {
  for (auto& [key, index] : index_) index.best.clear();
}

base::Result<> Catalog::SaveMark(const Mark& mark) {
  ForgetWinners();
  return marks_.Save(mark);
}

base::Result<> Catalog::DropMark(const Mark& mark) {
  ForgetWinners();
  return marks_.Drop(mark);
}

std::vector<Catalog::Proposal> Catalog::Proposals(const std::string& kernel_key) {
  std::vector<Proposal> proposals;
  const auto visit = [&](std::string_view key, std::string_view value) {
    const auto json = Unseal(key, value);
    if (!json || !json->is_object()) return true;
    auto variant = records::ParseVariant(json->value("variant", Json()));
    if (!variant) return true;
    const Json speedup = json->value("speedup", Json());
    proposals.push_back({std::move(*variant), speedup.is_number() ? speedup.get<double>() : 0,
                         records::TextAt(*json, "arch"), records::TextAt(*json, "date")});
    return true;
  };
  if (auto scanned = store_.Scan(Table::kVariants, kImportedPrefix + kernel_key + "/", visit);
      !scanned) {
    log::Error("the store cannot be read", {{"reason", scanned.error()}});
  }
  std::stable_sort(proposals.begin(), proposals.end(),
                   [](const auto& a, const auto& b) { return a.speedup > b.speedup; });
  return proposals;
}

base::Result<bool> Catalog::SaveProposal(const std::string& kernel_key, const Proposal& proposal) {
  const std::string key = kImportedPrefix + cache::VariantKey(kernel_key, proposal.variant.id);
  TRY_ASSIGN(const auto known, store_.Get(Table::kVariants, key));
  if (known) return false;
  const Json json = {{"schema", "cupilot.proposal/1"},
                     {"variant", records::ToJson(proposal.variant)},
                     {"speedup", proposal.speedup},
                     {"arch", proposal.arch},
                     {"date", proposal.date}};
  TRY(store_.Apply({{Table::kVariants, key, cache::Seal(json)}}));
  return true;
}

std::vector<Refusal> Catalog::Refusals(const std::string& object_folder) {
  if (const auto* known = refusals_.Find(object_folder)) return *known;
  const std::string key = cache::SelectionKey(object_folder);
  std::vector<Refusal> refusals;
  auto bytes = store_.Get(Table::kSelections, key);
  if (!bytes) return refusals;
  if (!*bytes) return refusals_.Add(object_folder, {});
  const auto json = Unseal(key, **bytes);
  if (!json || !json->is_object() || !json->value("refused", Json()).is_array()) return refusals;
  for (const Json& entry : (*json)["refused"]) {
    records::Reading reading(records::Strictness::kLenient);
    records::ObjectReader object(entry, "refused", reading);
    Refusal refusal;
    object.Optional("kernel_key", refusal.kernel_key)
        .Optional("variant", refusal.variant)
        .Optional("toolchain", refusal.toolchain)
        .Optional("target", refusal.target)
        .Optional("reason", refusal.reason)
        .Optional("evidence", refusal.evidence);
    if (reading.ok()) refusals.push_back(std::move(refusal));
  }
  return refusals_.Add(object_folder, std::move(refusals));
}

base::Result<> Catalog::SaveRefusals(const std::string& object_folder,
                                     const std::vector<Refusal>& refusals) {
  refusals_.Clear();
  Json json = {{"schema", "cupilot.refusals/1"}, {"object", object_folder}};
  json["refused"] = Json::array();
  for (const Refusal& refusal : refusals) {
    json["refused"].push_back({{"kernel_key", refusal.kernel_key},
                               {"variant", refusal.variant},
                               {"toolchain", refusal.toolchain},
                               {"target", refusal.target},
                               {"reason", refusal.reason},
                               {"evidence", refusal.evidence}});
  }
  return store_.Apply(
      {{Table::kSelections, cache::SelectionKey(object_folder), cache::Seal(std::move(json))}});
}

// By what the cases are, not by their names alone: a smaller one may have the same.
static std::string LongCasesKey(const records::Kernel& kernel, const Place& place) {
  records::Workload workload;
  workload.kernel = kernel.name;
  workload.cases = kernel.cases;
  return kLongCasesPrefix + KeyOf(place) + "/" + kernel.key + "/" + WorkloadHash(workload);
}

std::set<std::string> Catalog::LongCases(const records::Kernel& kernel, const Place& place) {
  const auto text = Fact(LongCasesKey(kernel, place));
  const auto json = text ? records::ParseJson(*text) : base::Result<Json>(Json());
  std::set<std::string> names;
  if (!json || !json->is_array()) return names;
  for (const Json& name : *json) {
    if (name.is_string()) names.insert(name.get<std::string>());
  }
  return names;
}

base::Result<> Catalog::SaveLongCases(const records::Kernel& kernel, const Place& place,
                                      const std::set<std::string>& names) {
  return SaveFact(LongCasesKey(kernel, place), records::CompactJson(Json(names)));
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
