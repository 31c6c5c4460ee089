#include "cache/upgrade.h"

#include <algorithm>
#include <cstdint>

#include "base/file.h"
#include "cache/record.h"
#include "records/json.h"

namespace cupilot::cache {
namespace {

using records::Json;

constexpr const char* kFormatKey = "store_format";

std::string FormatFile(const std::string& folder) { return folder + "_format.json"; }

base::Error TooNew(const std::string& folder, std::int64_t format, const std::string& tool,
                   int newest) {
  return base::Unsupported(
      "the store in " + folder + " was written by cuPilot " + (tool.empty() ? "?" : tool) +
      " (store format " + std::to_string(format) + "), and this is cuPilot " +
      std::string(ToolVersion()) + ", which knows formats up to " + std::to_string(newest) +
      ": install cuPilot " + (tool.empty() ? "of that format" : tool) +
      " or newer; nothing was changed");
}

std::int64_t NumberIn(const Json& json, const char* key) {
  const Json value = json.is_object() ? json.value(key, Json()) : Json();
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

base::Result<> WriteFormatFile(const std::string& folder, int newest) {
  const Json json = {{"schema", "cupilot.store_format/1"},
                     {"format", newest},
                     {"tool", std::string(ToolVersion())}};
  return base::WriteFileDurably(FormatFile(folder), records::PrettyJson(json));
}

base::Result<bool> IsEmpty(Store& store) {
  bool empty = true;
  for (std::size_t i = 0; i < kTableCount && empty; ++i) {
    TRY(store.Scan(static_cast<Table>(i), "", [&empty](std::string_view, std::string_view) {
      empty = false;
      return false;
    }));
  }
  return empty;
}

// 0: the store is new.
base::Result<std::int64_t> FormatOf(Store& store, const std::string& folder, int newest) {
  TRY_ASSIGN(const auto bytes, store.Get(Table::kCounters, kFormatKey));
  if (!bytes) {
    TRY_ASSIGN(const bool empty, IsEmpty(store));
    return empty ? 0 : 1;
  }
  TRY_ASSIGN(const Record record, Unseal(*bytes));
  const std::int64_t format = NumberIn(record.value, "format");
  if (format < 1) {
    return base::Fail(base::Corruption("the store in " + folder + " has no readable format"));
  }
  if (format > newest) return base::Fail(TooNew(folder, format, record.tool, newest));
  return format;
}

std::string FolderOfBackup(const std::string& folder, std::int64_t format, std::string date) {
  std::erase(date, ':');
  const std::size_t slash = folder.rfind('/');
  return folder.substr(0, slash + 1) + "backups" + folder.substr(slash) + "-format" +
         std::to_string(format) + "-" + date;
}

}  // namespace

const std::vector<UpgradeStep>& UpgradeSteps() {
  // What came with 2 stands beside the rest: nothing is to be rewritten.
  static const std::vector<UpgradeStep> steps = {
      {1, [](Store&, std::vector<Write>&) { return base::Result<>(); }}};
  return steps;
}

base::Result<> CheckFormat(const std::string& folder, int newest) {
  const auto text = base::ReadFile(FormatFile(folder));
  const auto json = text ? records::ParseJson(*text) : base::Result<Json>(Json());
  if (!json) return {};  // the store itself says it, too
  const std::int64_t format = NumberIn(*json, "format");
  if (format <= newest) return {};
  return base::Fail(TooNew(folder, format, records::TextAt(*json, "tool"), newest));
}

base::Result<Upgraded> BringUpToDate(Store& store, const std::string& folder,
                                     const std::string& date, int newest,
                                     const std::vector<UpgradeStep>& steps) {
  TRY_ASSIGN(const std::int64_t found, FormatOf(store, folder, newest));
  Upgraded upgraded{static_cast<int>(found), ""};
  if (found == newest) {
    if (!base::FileExists(FormatFile(folder))) TRY(WriteFormatFile(folder, newest));
    return upgraded;
  }
  std::vector<Write> writes;
  if (found > 0) {
    upgraded.backup = FolderOfBackup(folder, found, date);
    TRY(base::MakeFolders(upgraded.backup.substr(0, upgraded.backup.rfind('/'))));
    // Of an upgrade that was killed.
    TRY(base::RemoveTree(upgraded.backup));
    TRY(store.CopyTo(upgraded.backup));
    for (int format = static_cast<int>(found); format < newest; ++format) {
      const auto step = std::find_if(steps.begin(), steps.end(), [format](const UpgradeStep& one) {
        return one.from == format;
      });
      if (step == steps.end()) {
        return base::Fail(base::Internal("no way from store format " + std::to_string(format)));
      }
      TRY(step->make(store, writes));
    }
  }
  // The file first: an older program must not come between.
  TRY(WriteFormatFile(folder, newest));
  writes.push_back({Table::kCounters, kFormatKey, Seal(Json{{"format", newest}})});
  TRY(store.Apply(writes));
  return upgraded;
}

}  // namespace cupilot::cache
