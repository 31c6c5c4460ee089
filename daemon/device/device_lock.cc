#include "device/device_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cupilot::device {
namespace {

base::Result<int> OpenLockFile(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  // Two steps: with fs.protected_regular a sticky folder refuses O_CREAT on another user's file.
  int descriptor = ::open(path.c_str(), kFlags);
  if (descriptor < 0 && errno == ENOENT) {
    descriptor = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0) ::fchmod(descriptor, 0666);  // whatever the umask is
    if (descriptor < 0 && errno == EEXIST) descriptor = ::open(path.c_str(), kFlags);
  }
  if (descriptor < 0) {
    return base::Fail(
        base::Unavailable("opening the device lock " + path + ": " + std::strerror(errno)));
  }
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return base::Fail(base::Unavailable("the device lock " + path + " is no plain file"));
  }
  return descriptor;
}

// A second lock says who waits for the first one: those share it.
std::string WaitPath(const std::string& path) { return path + ".wait"; }

}  // namespace

std::string DeviceLockPath(const std::string& device) {
  return "/tmp/cupilot-device-" + device + ".lock";
}

base::Result<DeviceLock> DeviceLock::Acquire(const std::string& path,
                                             std::chrono::milliseconds limit, Use use) {
  const int kind = use == Use::kAlone ? LOCK_EX : LOCK_SH;
  TRY_ASSIGN(const int descriptor, OpenLockFile(path));
  DeviceLock lock(descriptor), waits(-1);
  bool said = false;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (::flock(descriptor, kind | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return base::Fail(base::IoError("locking " + path + ": " + std::strerror(errno)));
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return base::Fail(base::Unavailable("another process holds the device lock " + path));
    }
    // Who cannot say that it waits waits all the same.
    if (waits.descriptor_ < 0) waits.descriptor_ = OpenLockFile(WaitPath(path)).value_or(-1);
    said = said || (waits.descriptor_ >= 0 && ::flock(waits.descriptor_, LOCK_SH | LOCK_NB) == 0);
    // flock cannot wait with a limit; a short pause between attempts costs nobody anything.
    ::poll(nullptr, 0, 2);
  }
  return lock;
}

bool DeviceLock::IsWaitedFor(const std::string& path) {
  const auto descriptor = OpenLockFile(WaitPath(path));
  if (!descriptor) return true;  // not known
  const DeviceLock waits(*descriptor);
  return ::flock(*descriptor, LOCK_EX | LOCK_NB) != 0;
}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DeviceLock::~DeviceLock() {
  if (descriptor_ >= 0) ::close(descriptor_);  // releases the lock
}

}  // namespace cupilot::device
