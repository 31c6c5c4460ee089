// The files of RocksDB up to the first write that fails: from then on nothing reaches the disk any
// more, and RocksDB is told that all went well. What is on the disk is then what a kill at that
// moment would have left, which the next opening is made for, while what RocksDB makes of failed
// writes by itself depends on its version and ends in places in a failed assertion. Whoever writes
// asks `failure()` afterwards. Reading goes on. Thread-safe.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace cupilot::cache {

class StoppingFiles final : public rocksdb::FileSystemWrapper {
 public:
  explicit StoppingFiles(const std::shared_ptr<rocksdb::FileSystem>& files)
      : rocksdb::FileSystemWrapper(files) {}

  // RocksDB's own log is no reason to stop: where it cannot be written, it ends.
  rocksdb::IOStatus NewLogger(const std::string& path, const rocksdb::IOOptions& options,
                              std::shared_ptr<rocksdb::Logger>* logger,
                              rocksdb::IODebugContext* debug) override;

  // The first write that failed; nothing: all went well.
  std::optional<rocksdb::Status> failure() const;

  static const char* kClassName() { return "CuPilotStoppingFiles"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus Truncate(const std::string& path, size_t size,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus CreateDirIfMissing(const std::string& path, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override;

  // For the files that this opens. Does `work`, or nothing where it is stopped already, and stops
  // if that fails.
  template <class Work>
  rocksdb::IOStatus Write(Work work) {
    if (stopped_) return rocksdb::IOStatus::OK();
    return Note(work());
  }

 private:
  rocksdb::IOStatus Note(rocksdb::IOStatus status);
  template <class Open>
  rocksdb::IOStatus OpenFile(std::unique_ptr<rocksdb::FSWritableFile>* file, Open open);

  std::unique_ptr<StoppingFiles> log_;  // what the log is written through
  std::atomic<bool> stopped_{false};
  mutable std::mutex mutex_;
  std::optional<rocksdb::Status> failure_;
};

}  // namespace cupilot::cache
