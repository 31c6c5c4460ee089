// The store of the daemon: RocksDB in one folder, one column family a table. Kept small: 1 MB
// memtables, 4 MB of them over all, 8 MB of log, 4 MB of block cache. Every write is synced.
//
// Where the disk is full or fails, a write returns kIo and nothing that was acknowledged before is
// lost; reading goes on. A later write opens the store anew, as after a kill, once its folder can
// be written again: no restart of the daemon is needed. What such a write had wanted is there
// afterwards or not, as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
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
  // Files are shared with the copy where the file system can: they never change. On disk when it
  // returns.
  base::Result<> CopyTo(const std::string& folder) override;
  // What RocksDB says that it holds in memory of tables, written out or not, in bytes.
  std::uint64_t BytesHeldForTest();

 private:
  struct Database;
  RocksStore(std::string folder, std::shared_ptr<Database> database);
  static base::Result<std::shared_ptr<Database>> OpenDatabase(const std::string& folder);
  // What each call works on; it is not closed meanwhile.
  base::Result<std::shared_ptr<Database>> Current();
  // After a write of `failed` went wrong: another one in its place, if the disk can be written and
  // nobody else uses it.
  base::Result<std::shared_ptr<Database>> OpenAgain(std::shared_ptr<Database> failed);

  const std::string folder_;
  std::mutex mutex_;
  std::shared_ptr<Database> database_;  // null: it could not be opened again
};

}  // namespace cupilot::cache
