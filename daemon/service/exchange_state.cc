#include "service/exchange_state.h"

#include <array>
#include <utility>
#include <vector>

#include "base/file.h"
#include "records/json.h"
#include "records/read_parts.h"

namespace cupilot::service {
namespace {

using records::Json;

constexpr const char* kStateSchema = "cupilot.exchange_state/1";
constexpr std::string_view kStateFamily = "cupilot.exchange_state/";
// The store of a run holds no money, which is booked apart.
constexpr std::array kKeptTables = {cache::Table::kProjects,    cache::Table::kKernels,
                                    cache::Table::kWorkloads,   cache::Table::kVariants,
                                    cache::Table::kEvaluations, cache::Table::kStrategies,
                                    cache::Table::kSelections,  cache::Table::kCounters};

std::optional<cache::Table> TableOf(const Json& name) {
  for (const cache::Table table : kKeptTables) {
    if (name == std::string(cache::TableName(table))) return table;
  }
  return std::nullopt;
}

base::Error DamagedState(const std::string& path) {
  return base::Corruption(path +
                          " is damaged; remove it to begin again (requests and answers beside it "
                          "stay, and are used again)");
}

base::Result<std::vector<cache::Write>> ReadRows(const Json& rows, const std::string& path) {
  std::vector<cache::Write> writes;
  for (const Json& row : rows) {
    const bool whole =
        row.is_array() && row.size() == 3 && row[1].is_string() && row[2].is_string();
    const auto table = whole ? TableOf(row[0]) : std::nullopt;
    if (!table) return base::Fail(DamagedState(path));
    writes.push_back({*table, row[1].get<std::string>(), row[2].get<std::string>()});
  }
  return writes;
}

}  // namespace

std::string ExchangeStatePath(const std::string& folder) { return folder + "/state.json"; }

base::Result<> LoadExchangeState(const std::string& folder, const records::Kernel& kernel,
                                 cache::Store& store) {
  const std::string path = ExchangeStatePath(folder);
  if (!base::FileExists(path)) return {};
  TRY_ASSIGN(const std::string text, base::ReadFile(path));
  const auto json = records::ParseJson(text);
  if (!json || !json->is_object()) return base::Fail(DamagedState(path));
  const std::string schema = records::TextAt(*json, "schema");
  if (schema != kStateSchema && schema.starts_with(kStateFamily)) {
    return base::Fail(base::Unsupported(path + " was written by a newer cuPilot (" + schema +
                                        "); use that one, or another folder"));
  }
  const Json rows = json->value("rows", Json());
  if (schema != kStateSchema || !rows.is_array() ||
      records::TextAt(*json, "hash") != records::HashJson(rows)) {
    return base::Fail(DamagedState(path));
  }
  if (records::TextAt(*json, "kernel_key") != kernel.key) {
    const std::string label = records::TextAt(*json, "kernel");
    const bool same = label == records::LabelOf(kernel);
    return base::Fail(base::InvalidArgument(
        folder + " belongs to " +
        (same ? "an earlier text of this kernel" : "another kernel, " + label) +
        "; take another folder for " + records::LabelOf(kernel) + ", or remove " + path));
  }
  TRY_ASSIGN(const std::vector<cache::Write> writes, ReadRows(rows, path));
  return store.Apply(writes);
}

base::Result<> SaveExchangeState(const std::string& folder, const records::Kernel& kernel,
                                 cache::Store& store) {
  Json rows = Json::array();
  for (const cache::Table table : kKeptTables) {
    TRY(store.Scan(table, "", [&](std::string_view key, std::string_view value) {
      rows.push_back({std::string(cache::TableName(table)), std::string(key), std::string(value)});
      return true;
    }));
  }
  const std::string hash = records::HashJson(rows);
  const Json document = {{"schema", kStateSchema},
                         {"kernel", records::LabelOf(kernel)},
                         {"kernel_key", kernel.key},
                         {"rows", std::move(rows)},
                         {"hash", hash}};
  TRY(base::MakeFolders(folder));
  return base::WriteFileDurably(ExchangeStatePath(folder), records::PrettyJson(document));
}

}  // namespace cupilot::service
