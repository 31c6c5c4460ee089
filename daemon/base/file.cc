#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace cupilot::base {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  // For the one close whose result matters: that of a written file.
  int Close() {
    const int result = close(fd_);
    fd_ = -1;
    return result;
  }

 private:
  int fd_;
};

Error SystemError(const char* what, const std::string& path) {
  const int code = errno;
  std::string message =
      std::string(what) + " " + path + ": " + std::generic_category().message(code);
  if (code == ENOENT) return NotFound(std::move(message));
  return IoError(std::move(message));
}

Result<> WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return Fail(SystemError("cannot write", path));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::string FolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// In the file's own folder, so that the rename stays on one file system.
std::string TemporaryName(const std::string& path) {
  const std::string folder = FolderOf(path);
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return folder + "/." + name + UniqueSuffix() + ".tmp";
}

enum class Wait { kForDisk, kNot };

Result<> WriteNew(const std::string& temporary, std::string_view bytes, Wait wait) {
  Descriptor file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0) return Fail(SystemError("cannot create", temporary));
  TRY(WriteAll(file.get(), bytes, temporary));
  if (wait == Wait::kForDisk && fsync(file.get()) != 0) {
    return Fail(SystemError("cannot sync", temporary));
  }
  if (file.Close() != 0) return Fail(SystemError("cannot close", temporary));
  return {};
}

Result<> Replace(const std::string& path, std::string_view bytes, Wait wait) {
  TRY(MakeFolders(FolderOf(path)));
  const std::string temporary = TemporaryName(path);
  Result<> written = WriteNew(temporary, bytes, wait);
  if (written && std::rename(temporary.c_str(), path.c_str()) != 0) {
    written = Fail(SystemError("cannot rename to", path));
  }
  if (!written) unlink(temporary.c_str());
  return written;
}

Result<> SyncFile(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Fail(SystemError("cannot open", path));
  if (fsync(file.get()) != 0) return Fail(SystemError("cannot sync", path));
  return {};
}

}  // namespace

std::string UniqueSuffix() {
  static std::atomic<unsigned> counter{0};
  // Confined processes have numbers of their own: two of them may have the same.
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return "." + std::to_string(getpid()) + "." + std::to_string(now) + "." +
         std::to_string(counter.fetch_add(1));
}

Result<std::string> ReadFile(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Fail(SystemError("cannot open", path));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return Fail(SystemError("cannot read", path));
  if (S_ISDIR(status.st_mode)) return Fail(IoError("cannot read " + path + ": is a folder"));
  std::string bytes;
  if (S_ISREG(status.st_mode)) bytes.reserve(static_cast<std::size_t>(status.st_size));
  std::array<char, 16384> block{};
  while (true) {
    const ssize_t got = read(file.get(), block.data(), block.size());
    if (got == 0) return bytes;
    if (got < 0) {
      if (errno == EINTR) continue;
      return Fail(SystemError("cannot read", path));
    }
    bytes.append(block.data(), static_cast<std::size_t>(got));
  }
}

Result<> WriteFileAtomically(const std::string& path, std::string_view bytes) {
  return Replace(path, bytes, Wait::kForDisk);
}

Result<> WriteFileUnsynced(const std::string& path, std::string_view bytes) {
  return Replace(path, bytes, Wait::kNot);
}

Result<> SyncFolderOf(const std::string& path) {
  const std::string folder = FolderOf(path);
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Of a folder that may be written but not read, as of a file system that knows no such wait,
  // there is nothing to be had.
  if (opened.get() < 0 && errno == EACCES) return {};
  if (opened.get() < 0) return Fail(SystemError("cannot open", folder));
  if (fsync(opened.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    return Fail(SystemError("cannot sync", folder));
  }
  return {};
}

Result<> WriteFileDurably(const std::string& path, std::string_view bytes) {
  TRY(WriteFileAtomically(path, bytes));
  return SyncFolderOf(path);
}

Result<bool> WriteFileIfDifferent(const std::string& path, std::string_view bytes) {
  struct stat status{};
  const bool same_size = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                         static_cast<std::size_t>(status.st_size) == bytes.size();
  if (same_size) {
    Result<std::string> present = ReadFile(path);
    if (present && *present == bytes) {
      // It may have come from who does not wait for the disk, or from us before an error.
      TRY(SyncFile(path));
      TRY(SyncFolderOf(path));
      return false;
    }
  }
  TRY(WriteFileDurably(path, bytes));
  return true;
}

Result<> MakeFolders(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return {};
    return Fail(IoError("cannot create the folder " + path + ": a file has this name"));
  }
  const std::string parent = FolderOf(path);
  if (parent != path && parent != ".") TRY(MakeFolders(parent));
  if (mkdir(path.c_str(), 0700) != 0) {
    if (errno == EEXIST) return {};
    return Fail(SystemError("cannot create the folder", path));
  }
  Result<> synced = SyncFolderOf(path);
  // So that the next try waits for it again.
  if (!synced) rmdir(path.c_str());
  return synced;
}

bool FileExists(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0;
}

Result<FileIdentity> IdentifyFile(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return Fail(SystemError("cannot look at", path));
  FileIdentity identity;
  identity.size = static_cast<std::uint64_t>(status.st_size);
  identity.mtime_ns =
      static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1000000000 + status.st_mtim.tv_nsec;
  return identity;
}

Result<> RemoveTree(const std::string& path) {
  std::error_code code;
  std::filesystem::remove_all(path, code);
  if (code) return Fail(IoError("cannot remove " + path + ": " + code.message()));
  return {};
}

std::string ExecutableFolder() {
  std::array<char, PATH_MAX> link{};
  const ssize_t length = readlink("/proc/self/exe", link.data(), link.size());
  if (length <= 0) return ".";
  return FolderOf(std::string(link.data(), static_cast<std::size_t>(length)));
}

std::string AbsolutePath(const std::string& path, const std::string& base_folder) {
  const bool absolute = !path.empty() && path[0] == '/';
  const std::string joined = absolute ? path : base_folder + "/" + path;
  std::string normal = std::filesystem::path(joined).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

}  // namespace cupilot::base
