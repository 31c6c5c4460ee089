#include "tests/integration/storage_faults/faulty_calls.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "tests/integration/storage_faults/disk_model.h"

namespace cupilot::test {
namespace {

struct Disk {
  DiskFaultPlan plan;
  std::unique_ptr<DiskModel> model;
  std::map<int, bool> open;  // descriptors below the folder; true: they are written to
  std::string calls, reads;
  bool faulty = false;  // calls are counted
  bool met = false;     // the call was reached
};
Disk disk;
// The model is kept. Before, calls come by here while libraries are still being made.
std::atomic<bool> watching{false};
// Held during each call: what happened first is what was written first.
std::recursive_mutex mutex;

class Guard {
 public:
  Guard() : lock_(mutex, std::defer_lock) {
    if (watching) lock_.lock();
  }

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

bool IsWatched(const std::string& path) {
  const std::string& folder = disk.plan.folder;
  return watching && (path == folder || path.rfind(folder + "/", 0) == 0);
}

std::string PathOf(int file) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size());
  return size < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(size));
}

std::string Absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  return PathOf(folder) + "/" + path;  // ours are absolute, those of the C++ library have a folder
}

bool IsOpen(int file) { return watching && disk.open.contains(file); }

void Die() {
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// What a call shall do instead of its work.
struct Turn {
  int error = 0;
  bool half = false;  // of a write
};

Turn Later(char kind) {
  switch (disk.plan.fault) {
    case DiskFault::kFull:
    case DiskFault::kShort:
      // What makes no new things works on a full disk.
      if (std::strchr("owalms", kind) != nullptr) return {ENOSPC, false};
      return {};
    case DiskFault::kBroken:
      return {EIO, false};
    default:
      return {};
  }
}

Turn Now(char kind) {
  switch (disk.plan.fault) {
    case DiskFault::kFull:
      return {std::strchr("ucth", kind) != nullptr ? EIO : ENOSPC, false};
    case DiskFault::kError:
    case DiskFault::kBroken:
      return {EIO, false};
    case DiskFault::kShort:
    case DiskFault::kShortOnce:
      return {0, kind == 'w'};
    case DiskFault::kKill:
      Die();
      break;
    case DiskFault::kLost:
    case DiskFault::kZeros:
    case DiskFault::kMixed: {
      const PowerCut cut = disk.plan.fault == DiskFault::kLost    ? PowerCut::kLost
                           : disk.plan.fault == DiskFault::kZeros ? PowerCut::kZeros
                                                                  : PowerCut::kMixed;
      // Other threads wait for us: what they would do now must not be said to be done.
      disk.model->Cut(cut, static_cast<std::uint64_t>(disk.plan.at));
      Die();
      break;
    }
    default:
      break;
  }
  return {};
}

Turn AtCall(char kind) {
  if (!disk.faulty) return {};
  disk.calls += kind;
  const long count = static_cast<long>(disk.calls.size());
  if (IsOfReading(disk.plan.fault)) return {};
  if (count == disk.plan.at) {
    disk.met = true;
    return Now(kind);
  }
  return disk.met ? Later(kind) : Turn{};
}

Turn AtRead(char kind) {
  if (!disk.faulty) return {};
  disk.reads += kind;
  const long count = static_cast<long>(disk.reads.size());
  if (!IsOfReading(disk.plan.fault) || count < disk.plan.at) return {};
  const bool now = count == disk.plan.at;
  if (disk.plan.fault == DiskFault::kShortRead) return {0, now && kind == 'R'};
  return {now || disk.plan.fault == DiskFault::kUnreadableOn ? EIO : 0, false};
}

int Failed(int error) {
  errno = error;
  return -1;
}

int OnOpen(int folder, const char* path, int flags, mode_t mode) {
  const Guard guard;
  const auto raw = [&] {
    return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  };
  if (!watching) return raw();
  const std::string whole = Absolute(folder, path);
  if (!IsWatched(whole)) {
    const int file = raw();
    disk.open.erase(file);  // of a file that fclose() closed
    return file;
  }
  struct stat status{};
  const bool there = ::lstat(whole.c_str(), &status) == 0;
  const bool makes = (flags & O_CREAT) != 0 && !there;
  const bool empties = (flags & O_TRUNC) != 0 && there && status.st_size > 0;
  if (makes || empties) {
    if (const Turn turn = AtCall('o'); turn.error != 0) return Failed(turn.error);
  } else if (there) {
    if (const Turn turn = AtRead('O'); turn.error != 0) return Failed(turn.error);
  }
  if (empties) {
    const int before = static_cast<int>(::syscall(SYS_openat, folder, path, O_RDWR | O_CLOEXEC, 0));
    if (before >= 0) {
      disk.model->BeforeTruncation(before, 0);
      ::syscall(SYS_close, before);
    }
  }
  const int file = raw();
  if (file < 0) return file;
  disk.open[file] = (flags & O_ACCMODE) != O_RDONLY;
  if (makes) disk.model->Created(whole);
  return file;
}

mode_t ModeIn(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

off_t OffsetOf(int file) {
  const int flags = ::fcntl(file, F_GETFL);
  return ::lseek(file, 0, (flags & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
}

// `work(bytes)` writes so many.
template <class Work>
ssize_t OnWrite(int file, std::size_t bytes, off_t offset, Work work) {
  const Guard guard;
  if (!IsOpen(file)) return work(bytes);
  const Turn turn = AtCall('w');
  if (turn.error != 0) return Failed(turn.error);
  if (turn.half) bytes = std::max<std::size_t>(bytes / 2, 1);
  disk.model->BeforeWrite(file, offset < 0 ? OffsetOf(file) : offset, bytes);
  return work(bytes);
}

ssize_t OnWriteParts(int file, const iovec* parts, int count, off_t offset) {
  std::string bytes;
  for (int i = 0; i < count; ++i) {
    bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  }
  return OnWrite(file, bytes.size(), offset, [&](std::size_t most) {
    return offset < 0 ? ::syscall(SYS_write, file, bytes.data(), most)
                      : ::syscall(SYS_pwrite64, file, bytes.data(), most, offset);
  });
}

// `work(bytes)` reads at most so many. Others go on while somebody waits for a pipe.
template <class Work>
ssize_t OnRead(int file, std::size_t bytes, Work work) {
  Turn turn;
  {
    const Guard guard;
    if (IsOpen(file)) turn = AtRead('R');
  }
  if (turn.error != 0) return Failed(turn.error);
  return work(turn.half ? std::max<std::size_t>(bytes / 2, 1) : bytes);
}

std::size_t OnStreamRead(void* bytes, std::size_t size, std::size_t count, FILE* stream) {
  static const auto real =
      reinterpret_cast<decltype(&::fread_unlocked)>(::dlsym(RTLD_NEXT, "fread_unlocked"));
  Turn turn;
  {
    const Guard guard;
    if (IsOpen(::fileno(stream))) turn = AtRead('F');
  }
  if (turn.error == 0) return real(bytes, size, count, stream);
  errno = turn.error;
  return 0;
}

int OnTouch(int folder, const char* path, const timespec* times, int flags) {
  const Guard guard;
  if (watching && path != nullptr && IsWatched(Absolute(folder, path))) {
    if (const Turn turn = AtCall('h'); turn.error != 0) return Failed(turn.error);
  }
  return static_cast<int>(::syscall(SYS_utimensat, folder, path, times, flags));
}

int OnSync(int file) {
  const Guard guard;
  if (::fcntl(file, F_GETFD) < 0) return -1;
  if (!IsOpen(file)) return 0;
  if (const Turn turn = AtCall('s'); turn.error != 0) return Failed(turn.error);
  disk.model->Synced(file);
  return 0;
}

int OnTruncate(int file, off_t length) {
  const Guard guard;
  if (IsOpen(file)) {
    if (const Turn turn = AtCall('t'); turn.error != 0) return Failed(turn.error);
    disk.model->BeforeTruncation(file, length);
  }
  return static_cast<int>(::syscall(SYS_ftruncate, file, length));
}

int OnAllocate(int file, int mode, off_t offset, off_t length) {
  const Guard guard;
  if (IsOpen(file)) {
    if (const Turn turn = AtCall('a'); turn.error != 0) return Failed(turn.error);
  }
  return static_cast<int>(::syscall(SYS_fallocate, file, mode, offset, length));
}

int OnRename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const Guard guard;
  if (!watching) {
    return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  }
  const std::string before = Absolute(from_folder, from), after = Absolute(to_folder, to);
  const bool watched = IsWatched(before) || IsWatched(after);
  if (watched) {
    if (const Turn turn = AtCall('r'); turn.error != 0) return Failed(turn.error);
    disk.model->BeforeRename(before, after);
  }
  const int result =
      static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  if (watched && result == 0) disk.model->Renamed(before, after);
  return result;
}

int OnLink(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  const Guard guard;
  if (!watching) {
    return static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
  }
  const std::string after = Absolute(to_folder, to);
  if (IsWatched(after)) {
    if (const Turn turn = AtCall('l'); turn.error != 0) return Failed(turn.error);
  }
  const int result =
      static_cast<int>(::syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
  if (IsWatched(after) && result == 0) disk.model->Linked(after);
  return result;
}

int OnUnlink(int folder, const char* path, int flags) {
  const Guard guard;
  if (!watching) return static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
  const std::string whole = Absolute(folder, path);
  struct stat status{};
  const bool watched = IsWatched(whole) && ::lstat(whole.c_str(), &status) == 0;
  if (watched) {
    if (const Turn turn = AtCall('u'); turn.error != 0) return Failed(turn.error);
  }
  const bool is_folder = (flags & AT_REMOVEDIR) != 0;
  // A call that will fail changes nothing.
  const bool fits = watched && S_ISDIR(status.st_mode) == is_folder;
  const ino_t number = status.st_ino;
  if (fits && !is_folder) disk.model->BeforeRemoval(whole);
  const int result = static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
  if (fits && result == 0) {
    is_folder ? disk.model->FolderRemoved(whole, number) : disk.model->Removed(whole);
  }
  return result;
}

int OnMakeFolder(int folder, const char* path, mode_t mode) {
  const Guard guard;
  if (!watching) return static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
  const std::string whole = Absolute(folder, path);
  struct stat status{};
  const bool watched = IsWatched(whole) && ::lstat(whole.c_str(), &status) != 0;
  if (watched) {
    if (const Turn turn = AtCall('m'); turn.error != 0) return Failed(turn.error);
  }
  const int result = static_cast<int>(::syscall(SYS_mkdirat, folder, path, mode));
  if (watched && result == 0) disk.model->FolderMade(whole);
  return result;
}

int OnClose(int file) {
  const Guard guard;
  Turn turn;
  if (IsOpen(file)) {
    if (disk.open[file]) turn = AtCall('c');
    disk.open.erase(file);
  }
  const int result = static_cast<int>(::syscall(SYS_close, file));
  return turn.error != 0 ? Failed(turn.error) : result;
}

// Ways to change a file that the model does not know.
void Refuse(int file, const char* call) {
  const Guard guard;
  if (!IsOpen(file)) return;
  std::fprintf(stderr, "the model of the disk does not know %s: teach it\n", call);
  std::_Exit(9);
}

}  // namespace

bool IsOfReading(DiskFault fault) {
  return fault == DiskFault::kUnreadable || fault == DiskFault::kUnreadableOn ||
         fault == DiskFault::kShortRead;
}

DiskFault FaultNamed(const std::string& name) {
  static const std::map<std::string, DiskFault> kNames = {
      {"full", DiskFault::kFull},
      {"error", DiskFault::kError},
      {"broken", DiskFault::kBroken},
      {"short", DiskFault::kShort},
      {"short_once", DiskFault::kShortOnce},
      {"kill", DiskFault::kKill},
      {"lost", DiskFault::kLost},
      {"zeros", DiskFault::kZeros},
      {"mixed", DiskFault::kMixed},
      {"unreadable", DiskFault::kUnreadable},
      {"unreadable_on", DiskFault::kUnreadableOn},
      {"short_read", DiskFault::kShortRead}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? DiskFault::kNone : found->second;
}

void BeginDiskFaults(const DiskFaultPlan& plan) {
  disk.plan = plan;
  disk.model = std::make_unique<DiskModel>(plan.keep);
  disk.faulty = true;
  watching = true;
}

void HealDisk() {
  const Guard guard;
  disk.faulty = false;
}

std::string DiskReads() {
  const Guard guard;
  return disk.reads;
}

std::string DiskCalls() {
  const Guard guard;
  return disk.calls;
}

}  // namespace cupilot::test

extern "C" {
int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cupilot::test::ModeIn(flags, arguments);
  va_end(arguments);
  return cupilot::test::OnOpen(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cupilot::test::ModeIn(flags, arguments);
  va_end(arguments);
  return cupilot::test::OnOpen(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cupilot::test::ModeIn(flags, arguments);
  va_end(arguments);
  return cupilot::test::OnOpen(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cupilot::test::ModeIn(flags, arguments);
  va_end(arguments);
  return cupilot::test::OnOpen(folder, path, flags, mode);
}
int creat(const char* path, mode_t mode) {
  return cupilot::test::OnOpen(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char* path, mode_t mode) {
  return cupilot::test::OnOpen(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
ssize_t write(int file, const void* bytes, size_t count) {
  const iovec part = {const_cast<void*>(bytes), count};
  return cupilot::test::OnWriteParts(file, &part, 1, -1);
}
ssize_t writev(int file, const iovec* parts, int count) {
  return cupilot::test::OnWriteParts(file, parts, count, -1);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t offset) {
  const iovec part = {const_cast<void*>(bytes), count};
  return cupilot::test::OnWriteParts(file, &part, 1, offset);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  const iovec part = {const_cast<void*>(bytes), count};
  return cupilot::test::OnWriteParts(file, &part, 1, offset);
}
ssize_t pwritev(int file, const iovec* parts, int count, off_t offset) {
  return cupilot::test::OnWriteParts(file, parts, count, offset);
}
ssize_t pwritev64(int file, const iovec* parts, int count, off64_t offset) {
  return cupilot::test::OnWriteParts(file, parts, count, offset);
}
ssize_t read(int file, void* bytes, size_t count) {
  return cupilot::test::OnRead(
      file, count, [&](std::size_t most) { return ::syscall(SYS_read, file, bytes, most); });
}
ssize_t pread(int file, void* bytes, size_t count, off_t offset) {
  return cupilot::test::OnRead(file, count, [&](std::size_t most) {
    return ::syscall(SYS_pread64, file, bytes, most, offset);
  });
}
ssize_t pread64(int file, void* bytes, size_t count, off64_t offset) {
  return cupilot::test::OnRead(file, count, [&](std::size_t most) {
    return ::syscall(SYS_pread64, file, bytes, most, offset);
  });
}
size_t fread_unlocked(void* bytes, size_t size, size_t count, FILE* stream) {
  return cupilot::test::OnStreamRead(bytes, size, count, stream);
}
int utimensat(int folder, const char* path, const timespec* times, int flags) noexcept {
  return cupilot::test::OnTouch(folder, path, times, flags);
}
int fsync(int file) { return cupilot::test::OnSync(file); }
int fdatasync(int file) { return cupilot::test::OnSync(file); }
int ftruncate(int file, off_t length) noexcept { return cupilot::test::OnTruncate(file, length); }
int ftruncate64(int file, off64_t length) noexcept {
  return cupilot::test::OnTruncate(file, length);
}
int fallocate(int file, int mode, off_t offset, off_t length) {
  return cupilot::test::OnAllocate(file, mode, offset, length);
}
int fallocate64(int file, int mode, off64_t offset, off64_t length) {
  return cupilot::test::OnAllocate(file, mode, offset, length);
}
int rename(const char* from, const char* to) noexcept {
  return cupilot::test::OnRename(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return cupilot::test::OnRename(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return cupilot::test::OnRename(from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
  return cupilot::test::OnLink(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  return cupilot::test::OnLink(from_folder, from, to_folder, to, flags);
}
int unlink(const char* path) noexcept { return cupilot::test::OnUnlink(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return cupilot::test::OnUnlink(folder, path, flags);
}
int rmdir(const char* path) noexcept {
  return cupilot::test::OnUnlink(AT_FDCWD, path, AT_REMOVEDIR);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return cupilot::test::OnMakeFolder(AT_FDCWD, path, mode);
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return cupilot::test::OnMakeFolder(folder, path, mode);
}
int close(int file) { return cupilot::test::OnClose(file); }

// Its begin is no promise: what counts is the sync that follows.
int sync_file_range(int file, off64_t, off64_t, unsigned) {
  return ::fcntl(file, F_GETFD) < 0 ? -1 : 0;
}
int posix_fallocate(int file, off_t, off_t) {
  cupilot::test::Refuse(file, "posix_fallocate");
  return 0;
}
int truncate(const char* path, off_t length) noexcept {
  if (cupilot::test::IsWatched(path)) {
    std::fputs("the model of the disk does not know truncate: teach it\n", stderr);
    std::_Exit(9);
  }
  return static_cast<int>(::syscall(SYS_truncate, path, length));
}
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t count,
                        unsigned flags) {
  cupilot::test::Refuse(to, "copy_file_range");
  return ::syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t count) noexcept {
  cupilot::test::Refuse(to, "sendfile");
  return ::syscall(SYS_sendfile, to, from, offset, count);
}
void* mmap(void* address, size_t length, int protection, int flags, int file,
           off_t offset) noexcept {
  if (file >= 0 && (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0) {
    cupilot::test::Refuse(file, "mmap for writing");
  }
  return reinterpret_cast<void*>(
      ::syscall(SYS_mmap, address, length, protection, flags, file, offset));
}
}
