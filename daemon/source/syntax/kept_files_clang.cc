#include "source/syntax/kept_files_clang.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "source/syntax/file_snapshot.h"

namespace cupilot::source {
namespace {

using llvm::vfs::Status;
using Text = std::shared_ptr<const llvm::MemoryBuffer>;

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of contents; then all is forgotten
// A file that is changed twice within the clock's step looks as if it had been changed once.
constexpr std::chrono::seconds kFresh{2};

// The number of the thread's snapshot; those of two threads differ.
std::atomic<std::uint64_t> last_snapshot{0};
thread_local std::uint64_t snapshot = 0;
thread_local int snapshots_open = 0;

// What a look at the disk said. Two that are equal, of which the earlier one is firm, were of the
// same contents.
struct Look {
  std::optional<Status> status;  // nothing: it is not there, or cannot be reached
  std::error_code error;
  bool link = false;
  bool firm = false;

  bool Same(const Look& other) const {
    if (status.has_value() != other.status.has_value() || link != other.link) return false;
    if (!status) return error == other.error;
    return status->getUniqueID() == other.status->getUniqueID() &&
           status->getSize() == other.status->getSize() &&
           status->getLastModificationTime() == other.status->getLastModificationTime() &&
           status->getType() == other.status->getType();
  }
};

Look LookAt(const std::string& path) {
  Look look;
  llvm::sys::fs::file_status found;
  look.error = llvm::sys::fs::status(path, found, /*follow=*/false);
  look.link = !look.error && found.type() == llvm::sys::fs::file_type::symlink_file;
  if (look.link) look.error = llvm::sys::fs::status(path, found);
  if (look.error) return look;
  look.status = Status::copyWithNewName(found, path);
  look.firm = std::chrono::system_clock::now() - look.status->getLastModificationTime() > kFresh;
  return look;
}

std::string FolderOf(const std::string& path) {
  return std::string(llvm::sys::path::parent_path(path));
}

// What is known of a path.
struct Known {
  Look look;
  std::uint64_t seen = 0;      // by this snapshot; 0: by none
  std::optional<Look> folder;  // of what cannot come to be without a change of it
  Text text;                   // null: nobody has read it
  std::string real;            // empty: nobody has asked
};

// Nobody waits for another's look at the disk: two at once look twice.
class KnownFiles {
 public:
  Known Find(const std::string& path) {
    Known known = Get(path);
    if (known.seen >= snapshot) return known;
    if (known.seen != 0 && known.folder && IsStillMissing(path, *known.folder)) {
      known.seen = snapshot;
    } else {
      Look now = LookAt(path);
      if (!known.look.firm || !known.look.Same(now)) known = {};
      known.look = std::move(now);
      known.seen = snapshot;
      if (HangsOnFolder(path, known.look)) known.folder = Find(FolderOf(path)).look;
    }
    Put(path, known);
    return known;
  }

  llvm::ErrorOr<Text> Read(const std::string& path) {
    Known known = Find(path);
    if (!known.look.status) return known.look.error;
    if (known.text != nullptr) return known.text;
    // Volatile: a mapping of a file that is cut off meanwhile would end the process.
    auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true,
                                            /*IsVolatile=*/true);
    if (!text) return text.getError();
    known.text = std::move(*text);
    Put(path, known);
    return known.text;
  }

  std::string Real(const std::string& path) {
    Known known = Find(path);
    if (known.real.empty()) {
      known.real = RealOf(path, known.look);
      Put(path, known);
    }
    return known.real;
  }

 private:
  // Between snapshots all is forgotten where it is too much, so that one is never of two readings.
  Known Get(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (bytes_ > kMostBytes && newest_ < snapshot) {
      known_.clear();
      bytes_ = 0;
    }
    newest_ = std::max(newest_, snapshot);
    const auto found = known_.find(path);
    return found == known_.end() ? Known() : found->second;
  }
  void Put(const std::string& path, const Known& known) {
    const std::lock_guard lock(mutex_);
    Known& there = known_[path];
    bytes_ += SizeOf(known.text) - SizeOf(there.text);
    there = known;
  }
  static std::size_t SizeOf(const Text& text) {
    return text == nullptr ? 0 : text->getBufferSize();
  }

  // A link that leads nowhere may lead somewhere tomorrow, and what may not be looked at may then.
  static bool HangsOnFolder(const std::string& path, const Look& look) {
    return !look.link && look.error == std::errc::no_such_file_or_directory &&
           FolderOf(path).size() < path.size();
  }
  bool IsStillMissing(const std::string& path, const Look& folder) {
    if (folder.status && !folder.firm) return false;
    return folder.Same(Find(FolderOf(path)).look);
  }

  // What is no link is where its folder is.
  std::string RealOf(const std::string& path, const Look& look) {
    const std::string name(llvm::sys::path::filename(path));
    const bool plain = look.status && !look.link && name != "." && name != "..";
    const std::string folder = FolderOf(path);
    if (plain && folder.size() < path.size() && folder != "/") return Real(folder) + "/" + name;
    llvm::SmallString<256> real;
    return llvm::sys::fs::real_path(path, real) ? path : real.str().str();
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;
  std::size_t bytes_ = 0;
  std::uint64_t newest_ = 0;
};

// Outlives the threads that are about to use it when a process ends.
KnownFiles& Files() {
  static KnownFiles& files = *new KnownFiles();
  return files;
}

// A view of a text that others have, too.
class SharedText final : public llvm::MemoryBuffer {
 public:
  SharedText(Text text, std::string name) : text_(std::move(text)), name_(std::move(name)) {
    init(text_->getBufferStart(), text_->getBufferEnd(), /*RequiresNullTerminator=*/true);
  }
  llvm::StringRef getBufferIdentifier() const override { return name_; }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }

 private:
  Text text_;
  std::string name_;
};

class OpenFile final : public llvm::vfs::File {
 public:
  OpenFile(Status status, std::string real, Text text)
      : status_(std::move(status)), real_(std::move(real)), text_(std::move(text)) {}

  llvm::ErrorOr<Status> status() override { return status_; }
  llvm::ErrorOr<std::string> getName() override { return real_; }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name,
                                                               std::int64_t, bool, bool) override {
    return std::make_unique<SharedText>(text_, name.str());
  }
  std::error_code close() override { return {}; }

 private:
  Status status_;
  std::string real_;
  Text text_;
};

class KeptFiles final : public llvm::vfs::FileSystem {
 public:
  llvm::ErrorOr<Status> status(const llvm::Twine& path) override {
    const Look look = Files().Find(Absolute(path)).look;
    if (!look.status) return look.error;
    return Status::copyWithNewName(*look.status, path);
  }
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    const std::string absolute = Absolute(path);
    const Look look = Files().Find(absolute).look;
    if (!look.status) return look.error;
    if (look.status->isDirectory()) return std::make_error_code(std::errc::is_a_directory);
    auto text = Files().Read(absolute);
    if (!text) return text.getError();
    return std::make_unique<OpenFile>(Status::copyWithNewName(*look.status, path),
                                      Files().Real(absolute), std::move(*text));
  }
  llvm::vfs::directory_iterator dir_begin(const llvm::Twine& folder,
                                          std::error_code& error) override {
    return llvm::vfs::getRealFileSystem()->dir_begin(Absolute(folder), error);
  }
  std::error_code setCurrentWorkingDirectory(const llvm::Twine& path) override {
    const std::string absolute = Absolute(path);
    const Look look = Files().Find(absolute).look;
    if (!look.status) return look.error;
    if (!look.status->isDirectory()) return std::make_error_code(std::errc::not_a_directory);
    folder_ = absolute;
    return {};
  }
  llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override {
    if (!folder_.empty()) return folder_;
    return llvm::vfs::getRealFileSystem()->getCurrentWorkingDirectory();
  }
  std::error_code getRealPath(const llvm::Twine& path,
                              llvm::SmallVectorImpl<char>& output) override {
    const std::string absolute = Absolute(path);
    const Look look = Files().Find(absolute).look;
    if (!look.status) return look.error;
    const std::string real = Files().Real(absolute);
    output.assign(real.begin(), real.end());
    return {};
  }

 private:
  std::string Absolute(const llvm::Twine& path) const {
    llvm::SmallString<256> absolute;
    path.toVector(absolute);
    if (const std::error_code error = makeAbsolute(absolute)) return path.str();
    return absolute.str().str();
  }

  std::string folder_;  // empty: the process's
};

}  // namespace

FileSnapshot::FileSnapshot() {
  if (snapshots_open++ == 0) snapshot = ++last_snapshot;
}

FileSnapshot::~FileSnapshot() { --snapshots_open; }

base::FileIdentity IdentifyAsSeen(const std::string& path) {
  const FileSnapshot now;
  const Look look = Files().Find(path).look;
  if (!look.status) return {};
  return {look.status->getSize(), std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      look.status->getLastModificationTime().time_since_epoch())
                                      .count()};
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> OpenKeptFiles() {
  return llvm::makeIntrusiveRefCnt<KeptFiles>();
}

std::string RealPath(const std::string& path) {
  const FileSnapshot now;
  return Files().Real(path);
}

}  // namespace cupilot::source
