#include "tests/integration/storage_faults/disk_model.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace cupilot::test {
namespace {

[[noreturn]] void GiveUp(const std::string& what) {
  std::fprintf(stderr, "the model of the disk: %s\n", what.c_str());
  std::_Exit(9);
}

void Need(long result, const std::string& what) {
  if (result < 0) GiveUp(what + ": error " + std::to_string(errno));
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// 0: there is none.
ino_t NumberOf(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

struct stat StatusOf(int file) {
  struct stat status{};
  Need(::fstat(file, &status), "a file that cannot be looked at");
  return status;
}

class RawFile {
 public:
  explicit RawFile(const std::string& path)
      : file_(static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDWR, 0))) {
    Need(file_, "opening " + path);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;
  ~RawFile() { ::syscall(SYS_close, file_); }
  int get() const { return file_; }
  void Write(off_t offset, const std::string& bytes) const {
    Need(::syscall(SYS_pwrite64, file_, bytes.data(), bytes.size(), offset), "writing back");
  }
  void Truncate(off_t length) const {
    Need(::syscall(SYS_ftruncate, file_, length), "cutting back");
  }

 private:
  int file_;
};

std::uint64_t Mix(std::uint64_t seed, std::uint64_t what) {
  std::seed_seq seeds{seed, what, std::uint64_t{20261123}};
  return std::mt19937_64(seeds)();
}

}  // namespace

void DiskModel::Keep(const std::string& path, ino_t file) {
  if (::access(Kept(file).c_str(), F_OK) == 0) return;
  Need(::syscall(SYS_linkat, AT_FDCWD, path.c_str(), AT_FDCWD, Kept(file).c_str(), 0),
       "keeping " + path);
}

void DiskModel::Created(const std::string& path) {
  const ino_t number = NumberOf(path), folder = NumberOf(FolderOf(path));
  Keep(path, number);
  files_.try_emplace(number, File{files_.size(), 0, {}});
  folders_[folder] = FolderOf(path);
  changes_.push_back({Change::Kind::kAdded, folder, NameOf(path)});
}

void DiskModel::BeforeRemoval(const std::string& path) {
  removed_ = NumberOf(path);
  Keep(path, removed_);
}

void DiskModel::Removed(const std::string& path) {
  const ino_t folder = NumberOf(FolderOf(path));
  folders_[folder] = FolderOf(path);
  changes_.push_back({Change::Kind::kRemoved, folder, NameOf(path), "", removed_});
}

void DiskModel::FolderMade(const std::string& path) {
  const ino_t folder = NumberOf(FolderOf(path));
  folders_[folder] = FolderOf(path);
  changes_.push_back({Change::Kind::kAdded, folder, NameOf(path)});
}

void DiskModel::FolderRemoved(const std::string& path, ino_t number) {
  const ino_t folder = NumberOf(FolderOf(path));
  folders_[folder] = FolderOf(path);
  changes_.push_back({Change::Kind::kFolderRemoved, folder, NameOf(path), "", number});
}

// Its contents are as durable as they were under its other name.
void DiskModel::Linked(const std::string& path) { FolderMade(path); }

void DiskModel::BeforeRename(const std::string& from, const std::string& to) {
  if (FolderOf(from) != FolderOf(to)) GiveUp("a rename between folders: " + from + " " + to);
  struct stat status{};
  const bool file = ::lstat(to.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  replaced_ = file ? status.st_ino : 0;
  if (file) Keep(to, replaced_);
}

void DiskModel::Renamed(const std::string& from, const std::string& to) {
  const ino_t folder = NumberOf(FolderOf(to));
  folders_[folder] = FolderOf(to);
  // Where a folder has another name, what is below it is found there from now on.
  for (auto& [number, path] : folders_) {
    if (path == from || path.rfind(from + "/", 0) == 0) path = to + path.substr(from.size());
  }
  changes_.push_back({Change::Kind::kRenamed, folder, NameOf(to), NameOf(from), replaced_});
}

DiskModel::File& DiskModel::Track(int file) {
  const struct stat status = StatusOf(file);
  const auto [at, fresh] = files_.try_emplace(status.st_ino, File{files_.size(), 0, {}});
  if (fresh) {
    // It was there before the program began.
    at->second.durable = status.st_size;
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    Need(::syscall(SYS_linkat, AT_FDCWD, link.c_str(), AT_FDCWD, Kept(status.st_ino).c_str(),
                   AT_SYMLINK_FOLLOW),
         "keeping an open file");
  }
  return at->second;
}

void DiskModel::BeforeWrite(int file, off_t offset, std::size_t bytes) {
  File& known = Track(file);
  const off_t end = std::min<off_t>(known.durable, offset + static_cast<off_t>(bytes));
  if (end <= offset) return;
  Before before{offset, std::string(static_cast<std::size_t>(end - offset), '\0')};
  const RawFile whole("/proc/self/fd/" + std::to_string(file));
  Need(::pread(whole.get(), before.bytes.data(), before.bytes.size(), offset), "reading");
  known.overwritten.push_back(std::move(before));
}

void DiskModel::BeforeTruncation(int file, off_t length) {
  const off_t durable = Track(file).durable;
  if (durable > length) BeforeWrite(file, length, static_cast<std::size_t>(durable - length));
}

void DiskModel::Synced(int file) {
  const struct stat status = StatusOf(file);
  if (S_ISDIR(status.st_mode)) {
    std::erase_if(changes_, [&](const Change& change) { return change.folder == status.st_ino; });
    return;
  }
  if (!files_.contains(status.st_ino)) return;
  File& known = files_[status.st_ino];
  known.durable = status.st_size;
  known.overwritten.clear();
}

void DiskModel::CutFile(const std::string& path, const File& known, PowerCut cut,
                        std::uint64_t random) const {
  const RawFile file(path);
  const off_t size = StatusOf(file.get()).st_size;
  const std::uint64_t choice = cut == PowerCut::kMixed ? random % 4 : 4;
  if (choice == 0) return;  // all was written in time
  for (auto before = known.overwritten.rbegin(); before != known.overwritten.rend(); ++before) {
    file.Write(before->offset, before->bytes);
  }
  if (size <= known.durable) return;
  const off_t fresh = size - known.durable;
  off_t length = known.durable;  // of what remains
  if (choice == 1) length += static_cast<off_t>(random / 4 % static_cast<std::uint64_t>(fresh));
  file.Truncate(length);
  if (cut == PowerCut::kZeros || choice == 2) file.Truncate(size);
}

void DiskModel::Undo(const Change& change, std::map<ino_t, std::string>& folders) const {
  const auto folder = folders.find(change.folder);
  if (folder == folders.end() || ::access(folder->second.c_str(), F_OK) != 0) return;
  const std::string path = folder->second + "/" + change.name;
  switch (change.kind) {
    case Change::Kind::kAdded: {
      // A folder goes with all that is in it.
      const std::string away = keep_ + "/lost-" + std::to_string(NumberOf(path));
      ::unlink(away.c_str());
      (void)::syscall(SYS_renameat, AT_FDCWD, path.c_str(), AT_FDCWD, away.c_str());
      return;
    }
    case Change::Kind::kRemoved:
      Need(::syscall(SYS_linkat, AT_FDCWD, Kept(change.file).c_str(), AT_FDCWD, path.c_str(), 0),
           "bringing back " + path);
      return;
    case Change::Kind::kFolderRemoved:
      Need(::syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), 0700), "bringing back " + path);
      folders[change.file] = path;
      return;
    case Change::Kind::kRenamed: {
      const std::string from = folder->second + "/" + change.from;
      Need(::syscall(SYS_renameat, AT_FDCWD, path.c_str(), AT_FDCWD, from.c_str()),
           "renaming back " + path);
      for (auto& [number, below] : folders) {
        if (below == path || below.rfind(path + "/", 0) == 0) {
          below = from + below.substr(path.size());
        }
      }
      if (change.file == 0) return;
      Need(::syscall(SYS_linkat, AT_FDCWD, Kept(change.file).c_str(), AT_FDCWD, path.c_str(), 0),
           "bringing back " + path);
    }
  }
}

void DiskModel::Cut(PowerCut cut, std::uint64_t seed) {
  for (const auto& [number, file] : files_) {
    CutFile(Kept(number), file, cut, Mix(seed, file.order));
  }
  if (cut == PowerCut::kZeros) return;
  // How many changes of each folder are there already.
  std::map<ino_t, std::uint64_t> counts, kept;
  std::vector<ino_t> order;
  for (const Change& change : changes_) {
    if (++counts[change.folder] == 1) order.push_back(change.folder);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    kept[order[i]] = cut == PowerCut::kMixed ? Mix(seed + 1, i) % (counts[order[i]] + 1) : 0;
  }
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (counts[change->folder]-- > kept[change->folder]) Undo(*change, folders_);
  }
}

}  // namespace cupilot::test
