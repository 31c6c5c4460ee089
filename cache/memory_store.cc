#include "cache/memory_store.h"

namespace cupilot::cache {

base::Result<std::optional<std::string>> MemoryStore::Get(Table table, std::string_view key) {
  const std::lock_guard lock(guard_);
  const Rows& rows = tables_[static_cast<std::size_t>(table)];
  const auto found = rows.find(key);
  if (found == rows.end()) return std::optional<std::string>();
  return std::optional<std::string>(found->second);
}

base::Result<> MemoryStore::Apply(const std::vector<Write>& writes) {
  const std::lock_guard lock(guard_);
  for (const Write& write : writes) {
    Rows& rows = tables_[static_cast<std::size_t>(write.table)];
    if (write.value) {
      rows[write.key] = *write.value;
    } else {
      rows.erase(write.key);
    }
  }
  return {};
}

base::Result<> MemoryStore::Scan(
    Table table, std::string_view prefix,
    const std::function<bool(std::string_view key, std::string_view value)>& visit) {
  // A copy, so that `visit` sees one state and may itself use the store.
  Rows rows;
  {
    const std::lock_guard lock(guard_);
    const Rows& all = tables_[static_cast<std::size_t>(table)];
    for (auto it = all.lower_bound(prefix); it != all.end() && it->first.starts_with(prefix);
         ++it) {
      rows.insert(*it);
    }
  }
  for (const auto& [key, value] : rows) {
    if (!visit(key, value)) break;
  }
  return {};
}

}  // namespace cupilot::cache
