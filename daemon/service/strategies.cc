#include "service/strategies.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "service/service.h"

namespace cupilot::service {
namespace {

using records::Json;
using records::PoolEntry;

constexpr std::size_t kMostRows = 1000;    // a message holds 1 MiB
constexpr std::size_t kLongestCell = 160;  // bytes
constexpr std::uint64_t kLargestFile = std::uint64_t{16} << 20;
constexpr const char* kOrigins[] = {"here", "imported", "shipped"};

// Cut between characters.
std::string Cell(const std::string& text) {
  if (text.size() <= kLongestCell) return text;
  std::size_t end = kLongestCell;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

Json EntryRow(const PoolEntry& entry) {
  Json row = {{"id", entry.id},
              {"strategy", Cell(entry.strategy.title)},
              {"kernel", Cell(entry.kernel)},
              {"bottleneck", entry.bottleneck},
              {"device", entry.device.kind},
              {"arch", Cell(entry.device.arch)},
              {"gain", nullptr},
              {"interval", nullptr},
              {"reason", entry.reason},
              {"tried", entry.tried},
              {"won", entry.won},
              {"date", Cell(entry.date)},
              {"origin", kOrigins[static_cast<std::size_t>(entry.origin)]},
              {"source", entry.source ? Cell(entry.source->title) : ""}};
  if (entry.gain) row["gain"] = entry.gain->factor;
  if (entry.gain && entry.gain->interval) row["interval"] = *entry.gain->interval;
  return row;
}

}  // namespace

base::Result<Json> StrategiesDocument(Service& service) {
  TRY_ASSIGN(std::vector<PoolEntry> all, service.pool().All());
  // What is known here first, the newest on top.
  std::stable_sort(all.begin(), all.end(), [](const PoolEntry& a, const PoolEntry& b) {
    return a.origin != b.origin ? a.origin < b.origin : a.date > b.date;
  });
  Json document = {{"schema", "cupilot.strategies_list/1"},
                   {"strategies", Json::array()},
                   {"left_out", all.size() - std::min(all.size(), kMostRows)}};
  all.resize(std::min(all.size(), kMostRows));
  for (const PoolEntry& entry : all) document["strategies"].push_back(EntryRow(entry));
  return document;
}

base::Result<Json> StrategyDocument(Service& service, const std::string& id) {
  if (id.empty()) return base::Fail(base::InvalidArgument("no entry is named"));
  TRY_ASSIGN(const std::vector<PoolEntry> all, service.pool().All());
  const PoolEntry* found = nullptr;
  std::string candidates;
  std::size_t count = 0;
  for (const PoolEntry& entry : all) {
    if (entry.id == id) return records::ToJson(entry);
    if (!entry.id.starts_with(id)) continue;
    found = &entry;
    constexpr std::size_t kMostShown = 10;
    if (++count <= kMostShown) candidates += "\n  " + entry.id + "  " + Cell(entry.strategy.title);
  }
  if (count > 1) {
    return base::Fail(base::InvalidArgument("'" + id + "' is ambiguous:" + candidates));
  }
  if (found == nullptr) {
    return base::Fail(base::NotFound("there is no entry '" + id +
                                     "' in the strategy pool; cupilot strategies list"));
  }
  return records::ToJson(*found);
}

base::Result<Json> ExportStrategies(Service& service, bool names, const std::string& reply_folder) {
  TRY_ASSIGN(const records::PoolFile file, service.pool().Export(names));
  const std::string text = records::PrettyJson(records::ToJson(file));
  const std::string path = reply_folder + "/" + base::HashHex(text) + ".json";
  TRY(base::WriteFileAtomically(path, text));
  return Json{{"schema", "cupilot.strategies_exported/1"},
              {"document", path},
              {"entries", file.entries.size()}};
}

base::Result<Json> ImportStrategies(Service& service, const std::string& path) {
  if (path.empty()) return base::Fail(base::InvalidArgument("no file is named"));
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  if (text.size() > kLargestFile) {
    return base::Fail(base::InvalidArgument(path + ": larger than 16 MiB"));
  }
  const auto json = records::ParseJson(text);
  if (!json) return base::Fail(json.error().In(path));
  const auto file = records::ParsePoolFile(*json);
  if (!file) return base::Fail(file.error().In(path));
  const auto taken = service.pool().Import(*file);
  if (!taken) return base::Fail(taken.error().In(path));
  return Json{{"schema", "cupilot.strategies_imported/1"},
              {"entries", file->entries.size()},
              {"imported", *taken}};
}

}  // namespace cupilot::service
