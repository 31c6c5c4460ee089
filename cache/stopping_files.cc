#include "cache/stopping_files.h"

#include <utility>

namespace cupilot::cache {
namespace {

using rocksdb::FSDirectory;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// Without a file behind it where it was opened too late.
class StoppingFile final : public FSWritableFile {
 public:
  StoppingFile(StoppingFiles& files, std::unique_ptr<FSWritableFile> file)
      : files_(files), file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    size_ += data.size();
    return Write([&] { return file_->Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    size_ += data.size();
    return Write([&] { return file_->Append(data, options, info, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* debug) override {
    size_ = offset + data.size();
    return Write([&] { return file_->PositionedAppend(data, offset, options, debug); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo& info,
                            IODebugContext* debug) override {
    size_ = offset + data.size();
    return Write([&] { return file_->PositionedAppend(data, offset, options, info, debug); });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    size_ = size;
    return Write([&] { return file_->Truncate(size, options, debug); });
  }
  // Closed in any case: nobody else would.
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    if (!file_) return IOStatus::OK();
    IOStatus closed = file_->Close(options, debug);
    return Write([&] { return std::move(closed); });
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    return Write([&] { return file_->Flush(options, debug); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Write([&] { return file_->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Write([&] { return file_->Fsync(options, debug); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* debug) override {
    return Write([&] { return file_->RangeSync(offset, bytes, options, debug); });
  }
  // Room that is not given beforehand is no failure: the write itself tells.
  void PrepareWrite(size_t offset, size_t length, const IOOptions& options,
                    IODebugContext* debug) override {
    if (Goes()) file_->PrepareWrite(offset, length, options, debug);
  }
  IOStatus Allocate(uint64_t offset, uint64_t length, const IOOptions& options,
                    IODebugContext* debug) override {
    return Goes() ? file_->Allocate(offset, length, options, debug) : IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t offset, size_t length) override {
    return Goes() ? file_->InvalidateCache(offset, length) : IOStatus::OK();
  }

  bool IsSyncThreadSafe() const override { return file_ ? file_->IsSyncThreadSafe() : true; }
  bool use_direct_io() const override { return file_ && file_->use_direct_io(); }
  size_t GetRequiredBufferAlignment() const override {
    return file_ ? file_->GetRequiredBufferAlignment()
                 : FSWritableFile::GetRequiredBufferAlignment();
  }
  void SetWriteLifeTimeHint(rocksdb::Env::WriteLifeTimeHint hint) override {
    FSWritableFile::SetWriteLifeTimeHint(hint);
    if (file_) file_->SetWriteLifeTimeHint(hint);
  }
  void SetIOPriority(rocksdb::Env::IOPriority priority) override {
    FSWritableFile::SetIOPriority(priority);
    if (file_) file_->SetIOPriority(priority);
  }
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* debug) override {
    return Goes() ? file_->GetFileSize(options, debug) : size_;
  }
  void SetPreallocationBlockSize(size_t size) override {
    if (file_) file_->SetPreallocationBlockSize(size);
  }
  void GetPreallocationStatus(size_t* block_size, size_t* last_block) override {
    *block_size = *last_block = 0;
    if (file_) file_->GetPreallocationStatus(block_size, last_block);
  }
  size_t GetUniqueId(char* id, size_t most) const override {
    return file_ ? file_->GetUniqueId(id, most) : 0;
  }

 private:
  bool Goes() const { return file_ != nullptr && !files_.failure(); }
  template <class Work>
  IOStatus Write(Work work) {
    return file_ ? files_.Write(std::move(work)) : IOStatus::OK();
  }

  StoppingFiles& files_;
  std::unique_ptr<FSWritableFile> file_;
  uint64_t size_ = 0;
};

class StoppingDirectory final : public FSDirectory {
 public:
  StoppingDirectory(StoppingFiles& files, std::unique_ptr<FSDirectory> directory)
      : files_(files), directory_(std::move(directory)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return files_.Write([&] { return directory_->Fsync(options, debug); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& how) override {
    return files_.Write([&] { return directory_->FsyncWithDirOptions(options, debug, how); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    return directory_->Close(options, debug);
  }
  size_t GetUniqueId(char* id, size_t most) const override {
    return directory_->GetUniqueId(id, most);
  }

 private:
  StoppingFiles& files_;
  std::unique_ptr<FSDirectory> directory_;
};

}  // namespace

std::optional<rocksdb::Status> StoppingFiles::failure() const {
  if (!stopped_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return failure_;
}

IOStatus StoppingFiles::NewLogger(const std::string& path, const IOOptions& options,
                                  std::shared_ptr<rocksdb::Logger>* logger, IODebugContext* debug) {
  if (!log_) log_ = std::make_unique<StoppingFiles>(target_);
  return log_->rocksdb::FileSystem::NewLogger(path, options, logger, debug);
}

// What is not there, or not supported, is an answer and no failure of the disk.
IOStatus StoppingFiles::Note(IOStatus status) {
  if (status.ok() || !status.IsIOError() || status.IsPathNotFound()) return status;
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = status;
  stopped_ = true;
  return IOStatus::OK();
}

template <class Open>
IOStatus StoppingFiles::OpenFile(std::unique_ptr<FSWritableFile>* file, Open open) {
  std::unique_ptr<FSWritableFile> opened;
  IOStatus status = Write([&] { return open(&opened); });
  if (status.ok()) *file = std::make_unique<StoppingFile>(*this, std::move(opened));
  return status;
}

IOStatus StoppingFiles::NewWritableFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<FSWritableFile>* file,
                                        IODebugContext* debug) {
  return OpenFile(
      file, [&](auto* opened) { return target()->NewWritableFile(path, options, opened, debug); });
}

IOStatus StoppingFiles::ReopenWritableFile(const std::string& path,
                                           const rocksdb::FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* file,
                                           IODebugContext* debug) {
  return OpenFile(file, [&](auto* opened) {
    return target()->ReopenWritableFile(path, options, opened, debug);
  });
}

IOStatus StoppingFiles::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<FSWritableFile>* file,
                                          IODebugContext* debug) {
  return OpenFile(file, [&](auto* opened) {
    return target()->ReuseWritableFile(path, old_path, options, opened, debug);
  });
}

IOStatus StoppingFiles::NewDirectory(const std::string& path, const IOOptions& options,
                                     std::unique_ptr<FSDirectory>* directory,
                                     IODebugContext* debug) {
  std::unique_ptr<FSDirectory> opened;
  IOStatus status = target()->NewDirectory(path, options, &opened, debug);
  if (status.ok()) *directory = std::make_unique<StoppingDirectory>(*this, std::move(opened));
  return status;
}

IOStatus StoppingFiles::DeleteFile(const std::string& path, const IOOptions& options,
                                   IODebugContext* debug) {
  // A file that stays for now is found by the next opening.
  return stopped_ ? IOStatus::OK() : target()->DeleteFile(path, options, debug);
}

IOStatus StoppingFiles::Truncate(const std::string& path, size_t size, const IOOptions& options,
                                 IODebugContext* debug) {
  return Write([&] { return target()->Truncate(path, size, options, debug); });
}

IOStatus StoppingFiles::CreateDir(const std::string& path, const IOOptions& options,
                                  IODebugContext* debug) {
  return Write([&] { return target()->CreateDir(path, options, debug); });
}

IOStatus StoppingFiles::CreateDirIfMissing(const std::string& path, const IOOptions& options,
                                           IODebugContext* debug) {
  return Write([&] { return target()->CreateDirIfMissing(path, options, debug); });
}

IOStatus StoppingFiles::DeleteDir(const std::string& path, const IOOptions& options,
                                  IODebugContext* debug) {
  return stopped_ ? IOStatus::OK() : target()->DeleteDir(path, options, debug);
}

IOStatus StoppingFiles::RenameFile(const std::string& from, const std::string& to,
                                   const IOOptions& options, IODebugContext* debug) {
  return Write([&] { return target()->RenameFile(from, to, options, debug); });
}

IOStatus StoppingFiles::LinkFile(const std::string& from, const std::string& to,
                                 const IOOptions& options, IODebugContext* debug) {
  // Whoever links has another way, or says that it failed.
  return stopped_ ? IOStatus::OK() : target()->LinkFile(from, to, options, debug);
}

}  // namespace cupilot::cache
