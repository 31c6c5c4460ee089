#include "service/instance_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace cupilot::service {

base::Result<InstanceLock> InstanceLock::Take(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    return base::Fail(base::IoError("cannot open " + path + ": " + std::strerror(errno)));
  }
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    ::close(file);
    return base::Fail(base::Unavailable("a daemon is running already: it holds " + path));
  }
  return InstanceLock(file);
}

InstanceLock::InstanceLock(InstanceLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
InstanceLock::~InstanceLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace cupilot::service
