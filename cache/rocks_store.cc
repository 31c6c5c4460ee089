#include "cache/rocks_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/file.h"

namespace cupilot::cache {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1024} * 1024;

rocksdb::DBOptions DatabaseOptions() {
  rocksdb::DBOptions options;
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
  if (status.IsIOError() && text.find("lock") != std::string::npos) {
    return base::Unavailable(text + " (another cupilotd has it open)");
  }
  return base::IoError(text);
}

}  // namespace

struct RocksStore::Database {
  std::string folder;
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;  // by Table
  std::thread compaction;
  std::atomic<bool> stop_compaction{false};

  rocksdb::ColumnFamilyHandle* Family(Table table) const {
    return families[static_cast<std::size_t>(table)];
  }
};

base::Result<std::unique_ptr<RocksStore>> RocksStore::Open(const std::string& folder) {
  TRY(base::MakeFolders(folder));
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
  if (rocksdb::DB::ListColumnFamilies(DatabaseOptions(), folder, &present).ok()) {
    for (const std::string& name : present) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(names.size());
  for (const std::string& name : names) descriptors.emplace_back(name, FamilyOptions(cache));

  auto database = std::make_unique<Database>();
  database->folder = folder;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(DatabaseOptions(), folder, descriptors, &database->families, &opened);
  if (!status.ok()) return base::Fail(ErrorOf(status, "opening the store in " + folder));
  database->db.reset(opened);
  return std::unique_ptr<RocksStore>(new RocksStore(std::move(database)));
}

RocksStore::RocksStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

RocksStore::~RocksStore() {
  database_->stop_compaction = true;
  if (database_->compaction.joinable()) database_->compaction.join();
  for (rocksdb::ColumnFamilyHandle* family : database_->families) {
    database_->db->DestroyColumnFamilyHandle(family);
  }
  database_->db->Close();
}

base::Result<std::optional<std::string>> RocksStore::Get(Table table, std::string_view key) {
  std::string value;
  const rocksdb::Status status =
      database_->db->Get(rocksdb::ReadOptions(), database_->Family(table), SliceOf(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return base::Fail(ErrorOf(status, "reading " + std::string(key)));
  return std::optional<std::string>(std::move(value));
}

base::Result<> RocksStore::Apply(const std::vector<Write>& writes) {
  rocksdb::WriteBatch batch;
  for (const Write& write : writes) {
    rocksdb::ColumnFamilyHandle* family = database_->Family(write.table);
    const rocksdb::Status added =
        write.value ? batch.Put(family, write.key, *write.value) : batch.Delete(family, write.key);
    if (!added.ok()) return base::Fail(ErrorOf(added, "writing " + write.key));
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status = database_->db->Write(options, &batch);
  if (!status.ok()) return base::Fail(ErrorOf(status, "writing to " + database_->folder));
  return {};
}

// On a thread of its own: it may take seconds, and the caller has GPUs to give back.
base::Result<> RocksStore::Compact() {
  database_->stop_compaction = true;
  if (database_->compaction.joinable()) database_->compaction.join();
  database_->stop_compaction = false;
  database_->compaction = std::thread([database = database_.get()] {
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
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(database_->db.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(folder);
  if (!status.ok()) return base::Fail(ErrorOf(status, "copying the store to " + folder));
  return {};
}

base::Result<> RocksStore::Scan(
    Table table, std::string_view prefix,
    const std::function<bool(std::string_view key, std::string_view value)>& visit) {
  const std::unique_ptr<rocksdb::Iterator> it(
      database_->db->NewIterator(rocksdb::ReadOptions(), database_->Family(table)));
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
