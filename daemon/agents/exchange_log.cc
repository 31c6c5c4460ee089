#include "agents/exchange_log.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "cache/record.h"

namespace cupilot::agents {
namespace {

using cache::Table;
using records::Json;

constexpr const char* kExchangePrefix = "exchange/";

// In the order of time as texts.
std::string RowKey(std::chrono::nanoseconds now, std::int64_t number) {
  const auto padded = [](std::int64_t value) {
    std::string digits = std::to_string(value);
    constexpr std::size_t kDigits = 20;
    return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
  };
  return kExchangePrefix + padded(now.count()) + "-" + padded(number);
}

}  // namespace

base::Result<> ExchangeLog::Add(ExchangeRecord record) {
  const auto clean = [this](std::string& text) { text = redactor_(text); };
  if (record.time.empty()) record.time = base::FormatDate(clock_.WallTime());
  clean(record.request.system);
  clean(record.request.prompt);
  clean(record.sent);
  if (record.result) {
    clean(record.result->text);
  } else {
    clean(record.result.error().message);
    clean(record.result.error().partial);
  }
  TRY_ASSIGN(const std::string blob, files_.Put(records::CompactJson(ToJson(record))));
  const Json row = {{"blob", blob},
                    {"provider", record.provider},
                    {"model", record.request.model},
                    {"role", record.request.role},
                    {"kernel", record.request.kernel}};
  return store_.Apply({{Table::kCounters, RowKey(clock_.WallTime(), ++last_), cache::Seal(row)}});
}

base::Result<std::vector<ExchangeLog::Row>> ExchangeLog::Rows() const {
  std::vector<Row> rows;
  TRY(store_.Scan(Table::kCounters, kExchangePrefix,
                  [&rows](std::string_view key, std::string_view value) {
                    const auto record = cache::Unseal(value);
                    if (!record) return true;  // the others are worth as much as before
                    rows.push_back({std::string(key), records::TextAt(record->value, "blob"),
                                    records::TextAt(record->value, "kernel")});
                    return true;
                  }));
  return rows;
}

base::Result<ExchangeRecord> ExchangeLog::Read(const Row& row) const {
  TRY_ASSIGN(const std::string text, files_.Get(row.blob));
  TRY_ASSIGN(const Json json, records::ParseJson(text));
  return ReadExchange(json);
}

base::Result<std::optional<ExchangeRecord>> ExchangeLog::Last() const {
  TRY_ASSIGN(const auto rows, Rows());
  if (rows.empty()) return std::optional<ExchangeRecord>();
  TRY_ASSIGN(auto record, Read(rows.back()));
  return std::optional<ExchangeRecord>(std::move(record));
}

base::Result<std::vector<ExchangeRecord>> ExchangeLog::All(const std::string& kernel) const {
  TRY_ASSIGN(const auto rows, Rows());
  std::vector<ExchangeRecord> records;
  for (const Row& row : rows) {
    if (!kernel.empty() && row.kernel != kernel) continue;
    if (auto record = Read(row)) records.push_back(std::move(*record));
  }
  return records;
}

base::Result<> ExchangeLog::Drop(const std::set<std::string>& kernels) {
  TRY_ASSIGN(const auto rows, Rows());
  std::set<std::string> kept;
  std::vector<cache::Write> removed;
  for (const Row& row : rows) {
    if (kernels.contains(row.kernel)) {
      removed.push_back({Table::kCounters, row.key, std::nullopt});
    } else {
      kept.insert(row.blob);
    }
  }
  if (removed.empty()) return {};
  TRY(store_.Apply(removed));
  (void)files_.Evict(kept, std::numeric_limits<std::uint64_t>::max(),
                     std::numeric_limits<std::int64_t>::max());
  return {};
}

base::Result<> ExchangeLog::Trim(std::uint64_t most_bytes) {
  TRY_ASSIGN(const auto rows, Rows());
  std::map<std::string, std::uint64_t> sizes;
  for (const blobs::BlobFile& file : files_.List()) sizes[file.hash] = file.stored_bytes;
  std::set<std::string> kept;
  std::uint64_t bytes = 0;
  std::vector<cache::Write> removed;
  bool full = false;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (!full && kept.count(row->blob) == 0) {
      full = bytes + sizes[row->blob] > most_bytes;
      if (!full) bytes += sizes[row->blob];
    }
    if (full) {
      removed.push_back({Table::kCounters, row->key, std::nullopt});
    } else {
      kept.insert(row->blob);
    }
  }
  if (removed.empty()) return {};
  // The rows first: a file without a row is found by the next Trim, a row without a file by nobody.
  TRY(store_.Apply(removed));
  (void)files_.Evict(kept, most_bytes, std::numeric_limits<std::int64_t>::max());
  return {};
}

}  // namespace cupilot::agents
