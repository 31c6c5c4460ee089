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

// How often at most it is written down that a workload is used.
constexpr std::int64_t kNoteUseMs = 60'000;

std::string UntaggedKeyOf(const std::string& project_folder) {
  return kUntaggedPrefix + base::HashHex(project_folder);
}

std::string KeyOf(const Captured& captured) {
  base::Hasher hasher;
  hasher.Add(captured.file).Add(captured.kernel);
  for (const std::string& parameter : captured.parameters) hasher.Add(parameter);
  if (captured.sizes) {
    for (const std::vector<std::int64_t>& sizes : captured.sizes->parameters) {
      for (const std::int64_t bytes : sizes) hasher.Add(std::to_string(bytes));
    }
    for (const auto& [symbol, bytes] : captured.sizes->globals) {
      hasher.Add(symbol).Add(std::to_string(bytes));
    }
  }
  return kPrefix + hasher.Hex();
}

bool IsNamed(const Captured& captured, const std::string& file, const std::string& label) {
  return captured.file == file && captured.kernel == label;
}

GoneWorkload GoneOf(const records::Json& json) {
  return {records::TextAt(json, "file"), records::TextAt(json, "kernel"),
          records::TextAt(json, "why")};
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
  const auto visit_gone = [this](std::string_view key, std::string_view value) {
    if (const auto record = cache::Unseal(value)) gone_.emplace(key, GoneOf(record->value));
    return true;
  };
  auto scanned = store_.Scan(Table::kWorkloads, kPrefix, visit);
  if (scanned) scanned = store_.Scan(Table::kWorkloads, kUntaggedPrefix, visit_untagged);
  if (scanned) scanned = store_.Scan(Table::kWorkloads, kGonePrefix, visit_gone);
  if (!scanned) log::Error("the store cannot be read", {{"reason", scanned.error()}});
  std::set<std::string> named;
  for (const auto& [key, captured] : all_) named.merge(workloads::BlobsOf(captured));
  NoteWritten(named);
}

base::Result<> CapturedWorkloads::Save(const Captured& captured) {
  const std::string key = KeyOf(captured);
  const std::string gone = GoneKeyOf(captured.file, captured.kernel);
  std::set<std::string> replaced;
  for (const auto& [known, other] : all_) {
    if (known != key && workloads::AreOfOneKernel(other, captured)) replaced.insert(known);
  }
  std::vector<cache::Write> writes;
  writes.reserve(replaced.size() + 2);
  for (const std::string& old : replaced) writes.push_back({Table::kWorkloads, old, std::nullopt});
  if (gone_.contains(gone)) writes.push_back({Table::kWorkloads, gone, std::nullopt});
  writes.push_back({Table::kWorkloads, key, cache::Seal(workloads::ToJson(captured))});
  TRY(store_.Apply(writes));
  replaced.insert(key);
  std::set<std::string> released = ContentsOf(replaced);
  for (const std::string& blob : workloads::BlobsOf(captured)) released.erase(blob);
  NoteNew(captured);
  for (const std::string& old : replaced) all_.erase(old);
  gone_.erase(gone);
  all_[key] = captured;
  RemoveReleased(released);
  return {};
}

base::Result<> CapturedWorkloads::Drop(const Captured& captured) {
  std::set<std::string> keys;
  for (const auto& [key, other] : all_) {
    if (workloads::AreOfOneKernel(other, captured)) keys.insert(key);
  }
  const std::set<std::string> released = ContentsOf(keys);
  for (const std::string& key : keys) {
    TRY(store_.Apply({{Table::kWorkloads, key, std::nullopt}}));
    all_.erase(key);
  }
  RemoveReleased(released);
  return {};
}

base::Result<> CapturedWorkloads::Drop(const std::string& file, const std::string& label) {
  const std::string gone = GoneKeyOf(file, label);
  std::vector<cache::Write> writes = {{Table::kWorkloads, gone, std::nullopt}};
  std::set<std::string> keys;
  for (const auto& [key, captured] : all_) {
    if (!IsNamed(captured, file, label)) continue;
    writes.push_back({Table::kWorkloads, key, std::nullopt});
    keys.insert(key);
  }
  const std::set<std::string> released = ContentsOf(keys);
  TRY(store_.Apply(writes));
  std::erase_if(all_, [&](const auto& entry) { return IsNamed(entry.second, file, label); });
  gone_.erase(gone);
  RemoveReleased(released);
  return {};
}

const Captured* CapturedWorkloads::Find(const records::Kernel& kernel) const {
  for (const auto& [key, captured] : all_) {
    if (!IsNamed(captured, kernel.file, records::LabelOf(kernel))) continue;
    if (workloads::IsOf(captured, kernel)) return &captured;
  }
  return nullptr;
}

const Captured* CapturedWorkloads::Find(const std::string& file, const std::string& label) const {
  for (const auto& [key, captured] : all_) {
    if (IsNamed(captured, file, label)) return &captured;
  }
  return nullptr;
}

const Captured* CapturedWorkloads::FindEarlier(const Captured& captured) const {
  for (const auto& [key, other] : all_) {
    if (workloads::AreOfOneKernel(other, captured)) return &other;
  }
  return nullptr;
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

std::string SentenceOf(const records::Kernel& kernel, const std::string& why) {
  return kernel.file + ":" + std::to_string(kernel.line) + ": the captured workload of " +
         records::LabelOf(kernel) + " " + why;
}

std::string CapturedWorkloads::Overlay(records::Kernel& kernel) const {
  const Captured* captured = Find(kernel);
  if (captured == nullptr) {
    const GoneWorkload* gone = FindGone(kernel.file, records::LabelOf(kernel));
    return gone == nullptr ? "" : SentenceOf(kernel, gone->why);
  }
  if (!kernel.cases.empty() && !captured->replaces_tag) return {};
  std::vector<records::Case> cases = workloads::UsableCases(*captured, kernel);
  if (cases.empty() && !captured->cases.empty()) {
    const std::string& name = captured->cases.front().name;
    return kernel.file + ":" + std::to_string(kernel.line) + ": what was captured of " +
           records::LabelOf(kernel) + " is not reproducible: case '" + name +
           "': " + captured->WhyUnused(kernel.key, name);
  }
  if (!cases.empty()) kernel.cases = std::move(cases);
  return {};
}

void CapturedWorkloads::NoteUse(const records::Kernel& kernel, std::int64_t now_ms) {
  const Captured* found = Find(kernel);
  if (found == nullptr || now_ms < found->used + kNoteUseMs) return;
  Captured captured = *found;
  captured.used = now_ms;
  if (auto saved = Save(captured); !saved) {
    log::Warning("the use of a captured workload cannot be written down",
                 {{"reason", saved.error()}});
  }
}

}  // namespace cupilot::service
