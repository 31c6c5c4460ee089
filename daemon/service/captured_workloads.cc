#include "service/captured_workloads.h"

#include <set>
#include <utility>

#include "base/hash.h"
#include "cache/record.h"
#include "log/log.h"

namespace cupilot::service {
namespace {

using cache::Table;
using workloads::Captured;

const std::string kPrefix = "captured/";
const std::string kUntaggedPrefix = "untagged/";

// A capture that is under way has written contents that nothing names yet.
constexpr std::int64_t kUnderWaySeconds = 24 * 3600;

std::string UntaggedKeyOf(const std::string& project_folder) {
  return kUntaggedPrefix + base::HashHex(project_folder);
}

std::string KeyOf(const std::string& file, const std::string& label) {
  return kPrefix + base::Hasher().Add(file).Add(label).Hex();
}

}  // namespace

CapturedWorkloads::CapturedWorkloads(cache::Store& store, std::string blob_folder)
    : store_(store), blobs_(std::move(blob_folder)) {
  const auto visit = [this](std::string_view key, std::string_view value) {
    const auto record = cache::Unseal(value);
    auto captured = record ? workloads::ParseCaptured(record->value)
                           : base::Result<Captured>(base::Fail(record.error()));
    if (captured) {
      all_.emplace(key, std::move(*captured));
    } else {
      log::Warning("a captured workload cannot be read",
                   {{"key", key}, {"reason", captured.error()}});
    }
    return true;
  };
  const auto visit_untagged = [this](std::string_view key, std::string_view value) {
    if (auto record = cache::Unseal(value)) untagged_.emplace(key, std::move(record->value));
    return true;
  };
  auto scanned = store_.Scan(Table::kWorkloads, kPrefix, visit);
  if (scanned) scanned = store_.Scan(Table::kWorkloads, kUntaggedPrefix, visit_untagged);
  if (!scanned) log::Error("the store cannot be read", {{"reason", scanned.error()}});
}

base::Result<> CapturedWorkloads::Save(const Captured& captured) {
  const std::string key = KeyOf(captured.file, captured.kernel);
  TRY(store_.Apply({{Table::kWorkloads, key, cache::Seal(workloads::ToJson(captured))}}));
  all_[key] = captured;
  return {};
}

base::Result<> CapturedWorkloads::Drop(const std::string& file, const std::string& label) {
  const std::string key = KeyOf(file, label);
  TRY(store_.Apply({{Table::kWorkloads, key, std::nullopt}}));
  all_.erase(key);
  return {};
}

const Captured* CapturedWorkloads::Find(const std::string& file, const std::string& label) const {
  const auto found = all_.find(KeyOf(file, label));
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<const Captured*> CapturedWorkloads::All() const {
  std::vector<const Captured*> all;
  all.reserve(all_.size());
  for (const auto& [key, captured] : all_) all.push_back(&captured);
  return all;
}

base::Result<> CapturedWorkloads::SaveUntagged(const std::string& project_folder,
                                               const records::Json& kernels) {
  const std::string key = UntaggedKeyOf(project_folder);
  TRY(store_.Apply({{Table::kWorkloads, key, cache::Seal(kernels)}}));
  untagged_[key] = kernels;
  return {};
}

records::Json CapturedWorkloads::Untagged(const std::string& project_folder) const {
  const auto found = untagged_.find(UntaggedKeyOf(project_folder));
  return found == untagged_.end() ? records::Json::array() : found->second;
}

std::string CapturedWorkloads::Overlay(records::Kernel& kernel) {
  const Captured* captured = Find(kernel.file, records::LabelOf(kernel));
  if (captured == nullptr) return {};
  if (!workloads::IsOf(*captured, kernel)) {
    const std::string what = kernel.file + ":" + std::to_string(kernel.line) +
                             ": the captured workload of " + records::LabelOf(kernel) +
                             " was dropped: its parameters changed; capture the program again";
    if (auto dropped = Drop(kernel.file, records::LabelOf(kernel)); !dropped) {
      log::Error("a captured workload cannot be dropped", {{"reason", dropped.error()}});
    }
    return what;
  }
  if (!kernel.cases.empty() && !captured->replaces_tag) return {};
  std::vector<records::Case> cases = workloads::UsableCases(*captured, kernel);
  if (cases.empty() && !captured->cases.empty()) {
    const std::string& name = captured->cases.front().name;
    return kernel.file + ":" + std::to_string(kernel.line) + ": what was captured of " +
           records::LabelOf(kernel) + " is not reproducible: case '" + name +
           "': " + captured->WhyUnused(name);
  }
  if (!cases.empty()) kernel.cases = std::move(cases);
  return {};
}

std::vector<std::string> CapturedWorkloads::Evict(std::uint64_t most_bytes,
                                                  std::int64_t now_seconds) {
  std::set<std::string> used;
  for (const auto& [key, captured] : all_) used.merge(workloads::BlobsOf(captured));
  const std::vector<std::string> gone =
      blobs_.Evict(used, most_bytes, now_seconds - kUnderWaySeconds);
  const std::set<std::string> lost(gone.begin(), gone.end());
  std::vector<std::pair<std::string, std::string>> dropped;
  for (const auto& [key, captured] : all_) {
    for (const std::string& blob : workloads::BlobsOf(captured)) {
      if (lost.count(blob) == 0) continue;
      dropped.emplace_back(captured.file, captured.kernel);
      break;
    }
  }
  std::vector<std::string> labels;
  for (const auto& [file, label] : dropped) {
    if (Drop(file, label)) labels.push_back(label);
  }
  return labels;
}

}  // namespace cupilot::service
