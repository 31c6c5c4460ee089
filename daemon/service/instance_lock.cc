#include "service/instance_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cupilot::service {
namespace {

constexpr int kTries = 10;
constexpr int kBetweenTriesMs = 2;
constexpr std::size_t kMostNote = 4096;

bool LockSoon(int file) {
  for (int i = 0; i < kTries; ++i) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    ::poll(nullptr, 0, kBetweenTriesMs);
  }
  return false;
}

}  // namespace

base::Result<InstanceLock> InstanceLock::Take(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    return base::Fail(base::IoError("cannot open " + path + ": " + std::strerror(errno)));
  }
  if (!LockSoon(file)) {
    ::close(file);
    return base::Fail(base::Unavailable("a daemon is running already: it holds " + path));
  }
  return InstanceLock(file);
}

InstanceLock::InstanceLock(int file) : file_(file) {
  std::array<char, kMostNote> bytes{};
  const ssize_t count = ::pread(file_, bytes.data(), bytes.size(), 0);
  if (count > 0) before_.assign(bytes.data(), static_cast<std::size_t>(count));
}

void InstanceLock::Note(const std::string& text) {
  if (::ftruncate(file_, 0) != 0) return;
  (void)!::pwrite(file_, text.data(), text.size(), 0);
}

InstanceLock::InstanceLock(InstanceLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), before_(std::move(other.before_)) {}
InstanceLock::~InstanceLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace cupilot::service
