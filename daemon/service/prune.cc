#include "service/prune.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "cache/record.h"
#include "records/json.h"
#include "service/catalog_keys.h"

namespace cupilot::service {
namespace {

using cache::Table;
using records::Json;

// The part of a key before the slash that follows `begin`.
std::string_view PartAt(std::string_view key, std::size_t begin) {
  return key.substr(begin, key.find('/', begin) - begin);
}

std::string_view PartOf(std::string_view key, int index) {
  std::size_t begin = 0;
  for (; index > 0; --index) {
    const std::size_t slash = key.find('/', begin);
    if (slash == std::string_view::npos) return {};
    begin = slash + 1;
  }
  return PartAt(key, begin);
}

std::uint64_t SizeOf(std::string_view key, std::string_view value) {
  return key.size() + value.size();
}

std::string DateOf(std::string_view value) {
  const auto record = cache::Unseal(value);
  return record ? records::TextAt(record->value, "date") : "";
}

struct Evidence {
  std::string key;
  std::string kernel_key;
  std::string variant;
  std::string date;
  std::uint64_t bytes = 0;
  bool needed = false;
};

// All that is kept for kernels, by what it belongs to.
struct Contents {
  std::vector<Evidence> evidence;                 // the oldest first
  std::map<std::string, std::uint64_t> variants;  // by the store's key
  std::map<std::string, std::int64_t> uses;       // of a variant, by its key
  std::map<std::string, std::int64_t> left;       // evaluations, by kernel_key
  std::map<std::string, std::pair<std::string, std::uint64_t>> kernels;            // label, bytes
  std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> jobs;  // and long cases
  std::uint64_t bytes = 0;
};

using Visit = std::function<void(std::string_view key, std::string_view value)>;

base::Result<> Each(cache::Store& store, Table table, std::string_view prefix, const Visit& visit) {
  return store.Scan(table, prefix, [&visit](std::string_view key, std::string_view value) {
    visit(key, value);
    return true;
  });
}

std::string LabelIn(std::string_view value) {
  const auto record = cache::Unseal(value);
  if (!record) return {};
  const std::string label = records::TextAt(record->value, "label");
  return label.empty() ? records::TextAt(record->value, "name") : label;
}

base::Result<Contents> ReadContents(cache::Store& store, const PruneNeeds& needs) {
  Contents all;
  TRY(Each(store, Table::kEvaluations, "", [&](std::string_view key, std::string_view value) {
    Evidence one{std::string(key), std::string(PartOf(key, 0)), std::string(PartOf(key, 2)),
                 DateOf(value), SizeOf(key, value)};
    one.needed = needs.variants.contains(one.variant);
    ++all.uses[one.kernel_key + "/" + one.variant];
    ++all.left[one.kernel_key];
    all.bytes += one.bytes;
    all.evidence.push_back(std::move(one));
  }));
  TRY(Each(store, Table::kVariants, "", [&](std::string_view key, std::string_view value) {
    all.bytes += SizeOf(key, value);
    if (!key.starts_with(kImportedPrefix)) all.variants[std::string(key)] = SizeOf(key, value);
  }));
  TRY(Each(store, Table::kKernels, "", [&](std::string_view key, std::string_view value) {
    all.bytes += SizeOf(key, value);
    all.kernels[std::string(key)] = {LabelIn(value), SizeOf(key, value)};
  }));
  TRY(Each(store, Table::kCounters, kJobPrefix, [&](std::string_view key, std::string_view value) {
    all.bytes += SizeOf(key, value);
    all.jobs[std::string(PartOf(key, 1))].emplace_back(key, SizeOf(key, value));
  }));
  TRY(Each(store, Table::kCounters, kLongCasesPrefix,
           [&](std::string_view key, std::string_view value) {
             all.bytes += SizeOf(key, value);
             all.jobs[std::string(PartOf(key, 2))].emplace_back(key, SizeOf(key, value));
           }));
  std::sort(all.evidence.begin(), all.evidence.end(), [](const Evidence& a, const Evidence& b) {
    return a.date != b.date ? a.date < b.date : a.key < b.key;
  });
  return all;
}

// Drops piece by piece, with what nothing needs after it.
class Pruning {
 public:
  Pruning(Contents& all, const PruneNeeds& needs) : all_(all), needs_(needs) {
    report_.bytes_before = report_.bytes_after = all.bytes;
  }

  void Drop(const Evidence& one) {
    PrunedKernel& of = rows_[one.kernel_key];
    ++of.evaluations;
    of.newest = std::max(of.newest, one.date);
    ++report_.evaluations;
    Remove(Table::kEvaluations, one.key, one.bytes, of);
    const std::string variant = one.kernel_key + "/" + one.variant;
    if (--all_.uses[variant] == 0) {
      const auto found = all_.variants.find(variant);
      if (found != all_.variants.end()) {
        ++report_.variants;
        Remove(Table::kVariants, variant, found->second, of);
      }
    }
    if (--all_.left[one.kernel_key] == 0 && !needs_.kernel_keys.contains(one.kernel_key)) {
      DropRest(one.kernel_key, of);
    }
  }

  std::uint64_t bytes() const { return report_.bytes_after; }

  PruneReport Take() {
    for (auto& [key, row] : rows_) {
      const auto kernel = all_.kernels.find(key);
      row.kernel =
          kernel == all_.kernels.end() || kernel->second.first.empty() ? key : kernel->second.first;
      report_.kernels.push_back(std::move(row));
    }
    return std::move(report_);
  }

 private:
  void Remove(Table table, const std::string& key, std::uint64_t bytes, PrunedKernel& of) {
    report_.writes.push_back({table, key, std::nullopt});
    report_.bytes_after -= bytes;
    of.bytes += bytes;
  }
  void DropRest(const std::string& kernel_key, PrunedKernel& of) {
    of.whole = true;
    if (const auto kernel = all_.kernels.find(kernel_key); kernel != all_.kernels.end()) {
      Remove(Table::kKernels, kernel_key, kernel->second.second, of);
    }
    for (const auto& [key, bytes] : all_.jobs[kernel_key]) {
      ++report_.jobs;
      Remove(Table::kCounters, key, bytes, of);
    }
  }

  Contents& all_;
  const PruneNeeds& needs_;
  std::map<std::string, PrunedKernel> rows_;  // by kernel_key
  PruneReport report_;
};

}  // namespace

base::Result<PruneReport> PlanPrune(cache::Store& store, const PruneNeeds& needs,
                                    const PruneLimits& limits) {
  TRY_ASSIGN(Contents all, ReadContents(store, needs));
  Pruning pruning(all, needs);
  for (const Evidence& one : all.evidence) {
    if (one.needed) continue;
    const bool old = !limits.before.empty() && one.date < limits.before;
    const bool full = limits.most_bytes > 0 && pruning.bytes() > limits.most_bytes;
    if (old || full) pruning.Drop(one);
  }
  return pruning.Take();
}

base::Result<std::vector<cache::Write>> PlanForget(cache::Store& store,
                                                   const std::set<std::string>& kernel_keys,
                                                   const std::set<std::string>& journals,
                                                   ForgetReport& report) {
  std::vector<cache::Write> writes;
  const auto drop = [&](Table table, const std::string& prefix, std::int64_t* count) {
    return Each(store, table, prefix, [&, count](std::string_view key, std::string_view value) {
      if (count != nullptr) ++*count;
      report.bytes += SizeOf(key, value);
      writes.push_back({table, std::string(key), std::nullopt});
    });
  };
  for (const std::string& key : kernel_keys) {
    TRY_ASSIGN(const auto kernel, store.Get(Table::kKernels, key));
    if (kernel) {
      if (const std::string label = LabelIn(*kernel); !label.empty()) report.kernels.insert(label);
      report.bytes += SizeOf(key, *kernel);
      writes.push_back({Table::kKernels, key, std::nullopt});
    }
    TRY(drop(Table::kEvaluations, key + "/", &report.evaluations));
    TRY(drop(Table::kVariants, key + "/", &report.variants));
    TRY(drop(Table::kVariants, kImportedPrefix + key + "/", nullptr));
    TRY(drop(Table::kCounters, kJobPrefix + key + "/", nullptr));
    TRY(drop(Table::kSelections, "mark/" + key + "/", &report.marks));
  }
  for (const std::string& prefix : journals) TRY(drop(Table::kSelections, prefix, nullptr));
  TRY(Each(store, Table::kCounters, kLongCasesPrefix,
           [&](std::string_view key, std::string_view value) {
             if (!kernel_keys.contains(std::string(PartOf(key, 2)))) return;
             report.bytes += SizeOf(key, value);
             writes.push_back({Table::kCounters, std::string(key), std::nullopt});
           }));
  return writes;
}

base::Result<std::set<std::string>> KernelKeysIn(cache::Store& store,
                                                 const std::set<std::string>& folders) {
  std::set<std::string> keys;
  TRY(Each(store, Table::kKernels, "", [&](std::string_view key, std::string_view value) {
    const auto record = cache::Unseal(value);
    if (!record) return;
    const std::string file = records::TextAt(record->value, "file");
    for (const std::string& folder : folders) {
      if (!folder.empty() && file.starts_with(folder + "/")) keys.emplace(key);
    }
  }));
  return keys;
}

}  // namespace cupilot::service
