// The store of the daemon: RocksDB in one folder, one column family a table. Kept small: 1 MB
// memtables, 4 MB of them over all, 8 MB of log, 4 MB of block cache. Every write is synced.
#pragma once

#include <memory>
#include <string>

#include "cache/store.h"

namespace cupilot::cache {

class RocksStore final : public Store {
 public:
  // Creates the folder's store where there is none. kUnavailable: another process has it open;
  // kCorruption: its files cannot be read; kIo otherwise. The message names the folder.
  static base::Result<std::unique_ptr<RocksStore>> Open(const std::string& folder);
  ~RocksStore() override;

  base::Result<std::optional<std::string>> Get(Table table, std::string_view key) override;
  base::Result<> Apply(const std::vector<Write>& writes) override;
  base::Result<> Scan(
      Table table, std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) override;
  base::Result<> Compact() override;
  // Files are shared with the copy where the file system can: they never change.
  base::Result<> CopyTo(const std::string& folder) override;

 private:
  struct Database;
  explicit RocksStore(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace cupilot::cache
