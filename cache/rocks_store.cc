#include "cache/rocks_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/file.h"
#include "cache/stopping_files.h"

namespace cupilot::cache {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1024} * 1024;

rocksdb::DBOptions DatabaseOptions(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.db_write_buffer_size = 4 * kMegabyte;
  options.max_total_wal_size = 8 * kMegabyte;
  // Two background jobs, since a flush must not wait for a compaction.
  options.max_background_jobs = 2;
  options.max_open_files = 64;
  options.keep_log_file_num = 2;
  options.max_log_file_size = kMegabyte;
  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.max_manifest_file_size = kMegabyte;
  // The daemon must cost nothing while idle.
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.format_version = 5;
  rocksdb::ColumnFamilyOptions options;
  options.write_buffer_size = kMegabyte;
  options.max_write_buffer_number = 2;
  options.arena_block_size = 64 * 1024;
  options.compression = rocksdb::kNoCompression;  // present in every build of RocksDB
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

rocksdb::Slice SliceOf(std::string_view text) { return {text.data(), text.size()}; }
std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

base::Error ErrorOf(const rocksdb::Status& status, const std::string& context) {
  const std::string text = context + ": " + status.ToString();
  if (status.IsCorruption()) return base::Corruption(text);
  // The library has no code of its own for a store that another process holds.
  const auto says = [&text](const char* words) { return text.find(words) != std::string::npos; };
  if (status.IsIOError() && (says("lock file") || says("lock hold"))) {
    return base::Unavailable(text + " (another cupilotd has it open)");
  }
  if (status.IsNoSpace()) return base::IoError(text + "; make room on this disk");
  return base::IoError(text);
}

}  // namespace

struct RocksStore::Database {
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() {
    StopCompaction();
    if (!db) return;
    if (const rocksdb::Snapshot* last = as_on_disk.load()) db->ReleaseSnapshot(last);
    for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
    db->Close().PermitUncheckedError();
  }

  const std::shared_ptr<StoppingFiles> files =
      std::make_shared<StoppingFiles>(rocksdb::FileSystem::Default());
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // by Table
  std::thread compaction;
  std::atomic<bool> stop_compaction{false};

  rocksdb::ColumnFamilyHandle* Family(Table table) const {
    return families[static_cast<std::size_t>(table)];
  }
  void StopCompaction() {
    stop_compaction = true;
    if (compaction.joinable()) compaction.join();
  }
  // Once a write has failed, readers see what was there before it: the library was told that it
  // went well, and would show it until the store is opened anew.
  rocksdb::ReadOptions Reading() const {
    rocksdb::ReadOptions options;
    options.snapshot = as_on_disk;
    return options;
  }
  std::atomic<const rocksdb::Snapshot*> as_on_disk{nullptr};
  // What the library says, or what it was not told.
  rocksdb::Status Outcome(const rocksdb::Status& status) const {
    return files->failure().value_or(status);
  }
};

base::Result<std::shared_ptr<RocksStore::Database>> RocksStore::OpenDatabase(
    const std::string& folder) {
  TRY(base::MakeFolders(folder));
  auto database = std::make_shared<Database>();
  const rocksdb::DBOptions options = DatabaseOptions(database->env.get());
  const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(4 * kMegabyte);
  // The default family must be opened too; it stays empty and comes last.
  std::vector<std::string> names;
  names.reserve(kTableCount + 1);
  for (std::size_t i = 0; i < kTableCount; ++i) {
    names.emplace_back(TableName(static_cast<Table>(i)));
  }
  names.push_back(rocksdb::kDefaultColumnFamilyName);
  // A newer version of ours may have added tables; all have to be opened.
  std::vector<std::string> present;
  if (rocksdb::DB::ListColumnFamilies(options, folder, &present).ok()) {
    for (const std::string& name : present) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) descriptors.emplace_back(name, FamilyOptions(cache));

  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(options, folder, descriptors, &database->families, &opened);
  if (status.ok()) database->db.reset(opened);
  if (const rocksdb::Status outcome = database->Outcome(status); !outcome.ok()) {
    return base::Fail(ErrorOf(outcome, "opening the store in " + folder));
  }
  return database;
}

base::Result<std::unique_ptr<RocksStore>> RocksStore::Open(const std::string& folder) {
  TRY_ASSIGN(auto database, OpenDatabase(folder));
  return std::unique_ptr<RocksStore>(new RocksStore(folder, std::move(database)));
}

RocksStore::RocksStore(std::string folder, std::shared_ptr<Database> database)
    : folder_(std::move(folder)), database_(std::move(database)) {}

RocksStore::~RocksStore() = default;

base::Result<std::shared_ptr<RocksStore::Database>> RocksStore::Current() {
  const std::lock_guard lock(mutex_);
  if (!database_) {
    TRY_ASSIGN(database_, OpenDatabase(folder_));
  }
  return database_;
}

base::Result<std::shared_ptr<RocksStore::Database>> RocksStore::OpenAgain(
    std::shared_ptr<Database> failed) {
  const std::lock_guard lock(mutex_);
  if (database_ == failed) {
    // Who only reads is better off with what is open than with what cannot be opened.
    const std::string probe = folder_ + "/writable";
    TRY(base::WriteFileAtomically(probe, std::string(2 * kMegabyte, 'x')));
    TRY(base::RemoveTree(probe));
    failed->StopCompaction();
    failed.reset();
    if (database_.use_count() > 1) {
      return base::Fail(base::Unavailable("the store in " + folder_ + " is in use"));
    }
    database_.reset();
    TRY_ASSIGN(database_, OpenDatabase(folder_));
  }
  return database_;
}

base::Result<std::optional<std::string>> RocksStore::Get(Table table, std::string_view key) {
  TRY_ASSIGN(const auto database, Current());
  std::string value;
  const rocksdb::Status status =
      database->db->Get(database->Reading(), database->Family(table), SliceOf(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return base::Fail(ErrorOf(status, "reading " + std::string(key)));
  return std::optional<std::string>(std::move(value));
}

base::Result<> RocksStore::Apply(const std::vector<Write>& writes) {
  TRY_ASSIGN(auto database, Current());
  const auto write = [&writes](Database& to) -> rocksdb::Status {
    rocksdb::WriteBatch batch;
    for (const Write& one : writes) {
      rocksdb::ColumnFamilyHandle* family = to.Family(one.table);
      const rocksdb::Status added =
          one.value ? batch.Put(family, one.key, *one.value) : batch.Delete(family, one.key);
      if (!added.ok()) return added;
    }
    rocksdb::WriteOptions options;
    options.sync = true;
    const rocksdb::Snapshot* before = to.db->GetSnapshot();
    const rocksdb::Status status = to.Outcome(to.db->Write(options, &batch));
    const rocksdb::Snapshot* none = nullptr;
    const bool first = !status.ok() && to.as_on_disk.compare_exchange_strong(none, before);
    if (!first) to.db->ReleaseSnapshot(before);
    return status;
  };
  rocksdb::Status status = write(*database);
  if (status.IsIOError()) {
    // What made it fail may have passed; if not, that is said, and the next write tries again.
    if (auto again = OpenAgain(std::move(database))) status = write(**again);
  }
  if (!status.ok()) return base::Fail(ErrorOf(status, "writing to " + folder_));
  return {};
}

std::uint64_t RocksStore::BytesHeldForTest() {
  const auto current = Current();
  if (!current) return 0;
  rocksdb::DB& db = *(*current)->db;
  std::uint64_t unwritten = 0, readers = 0, blocks = 0;
  db.GetAggregatedIntProperty(rocksdb::DB::Properties::kSizeAllMemTables, &unwritten);
  db.GetAggregatedIntProperty(rocksdb::DB::Properties::kEstimateTableReadersMem, &readers);
  db.GetIntProperty(rocksdb::DB::Properties::kBlockCacheUsage, &blocks);  // of all families
  return unwritten + readers + blocks;
}

// On a thread of its own: it may take seconds, and the caller has GPUs to give back.
base::Result<> RocksStore::Compact() {
  TRY_ASSIGN(const auto current, Current());
  current->StopCompaction();
  current->stop_compaction = false;
  current->compaction = std::thread([database = current.get()] {
    rocksdb::CompactRangeOptions options;
    options.canceled = &database->stop_compaction;
    for (rocksdb::ColumnFamilyHandle* family : database->families) {
      if (database->stop_compaction) return;
      // What is not done now is done by the next one.
      database->db->CompactRange(options, family, nullptr, nullptr).PermitUncheckedError();
    }
  });
  return {};
}

base::Result<> RocksStore::CopyTo(const std::string& folder) {
  TRY_ASSIGN(const auto database, Current());
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(database->db.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(folder);
  if (const rocksdb::Status outcome = database->Outcome(status); !outcome.ok()) {
    return base::Fail(ErrorOf(outcome, "copying the store to " + folder));
  }
  return base::SyncFolderOf(folder);
}

base::Result<> RocksStore::Scan(
    Table table, std::string_view prefix,
    const std::function<bool(std::string_view key, std::string_view value)>& visit) {
  TRY_ASSIGN(const auto database, Current());
  const std::unique_ptr<rocksdb::Iterator> it(
      database->db->NewIterator(database->Reading(), database->Family(table)));
  for (it->Seek(SliceOf(prefix)); it->Valid() && ViewOf(it->key()).starts_with(prefix);
       it->Next()) {
    if (!visit(ViewOf(it->key()), ViewOf(it->value()))) return {};
  }
  if (!it->status().ok()) {
    return base::Fail(ErrorOf(it->status(), "scanning " + std::string(prefix)));
  }
  return {};
}

}  // namespace cupilot::cache
