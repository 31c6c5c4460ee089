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

// Second locks say who waits for the first one, and who of them wants to be alone: those share
// them.
std::string WaitPath(const std::string& path) { return path + ".wait"; }
std::string AlonePath(const std::string& path) { return path + ".alone"; }

bool IsHeld(const std::string& path) {
  const auto descriptor = OpenLockFile(path);
  if (!descriptor) return true;  // not known
  const bool held = ::flock(*descriptor, LOCK_EX | LOCK_NB) != 0;
  ::close(*descriptor);
  return held;
}

// A mark that is there as long as its descriptor is open. Who cannot say that it waits waits all
// the same.
class Mark {
 public:
  explicit Mark(std::string path) : path_(std::move(path)) {}
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  // Again until it is set: who looks whether it is there is in the way for a moment.
  void Set() {
    if (set_) return;
    if (descriptor_ < 0) descriptor_ = OpenLockFile(path_).value_or(-1);
    set_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_SH | LOCK_NB) == 0;
  }

 private:
  const std::string path_;
  int descriptor_ = -1;
  bool set_ = false;
};

}  // namespace

std::string DeviceLockPath(const std::string& device) {
  return "/tmp/cupilot-device-" + device + ".lock";
}

base::Result<DeviceLock> DeviceLock::Acquire(const std::string& path,
                                             std::chrono::milliseconds limit, Use use,
                                             std::chrono::milliseconds deference) {
  const int kind = use == Use::kAlone ? LOCK_EX : LOCK_SH;
  TRY_ASSIGN(const int descriptor, OpenLockFile(path));
  DeviceLock lock(descriptor);
  Mark waits(WaitPath(path)), wants_to_be_alone(AlonePath(path));
  const auto begun = std::chrono::steady_clock::now(), deadline = begun + limit;
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    const bool defers = use == Use::kShared && now < begun + deference && IsHeld(AlonePath(path));
    if (!defers && ::flock(descriptor, kind | LOCK_NB) == 0) return lock;
    if (!defers && errno != EWOULDBLOCK && errno != EINTR) {
      return base::Fail(base::IoError("locking " + path + ": " + std::strerror(errno)));
    }
    if (now >= deadline) {
      return base::Fail(base::Unavailable("another process holds the device lock " + path));
    }
    waits.Set();
    if (use == Use::kAlone) wants_to_be_alone.Set();
    // flock cannot wait with a limit; a short pause between attempts costs nobody anything.
    ::poll(nullptr, 0, 2);
  }
}

bool DeviceLock::IsWaitedFor(const std::string& path) { return IsHeld(WaitPath(path)); }

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DeviceLock::~DeviceLock() {
  if (descriptor_ >= 0) ::close(descriptor_);  // releases the lock
}

}  // namespace cupilot::device
