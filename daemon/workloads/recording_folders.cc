#include "workloads/recording_folders.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/file.h"

namespace cupilot::workloads {
namespace {

// -1 if it cannot be opened. Programs that are started do not inherit it.
int OpenFolder(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// So that nobody takes a folder for abandoned that is just being made.
class Turn {
 public:
  explicit Turn(const std::string& folder) : lock_(OpenFolder(folder)) {
    while (lock_ >= 0 && ::flock(lock_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (lock_ >= 0) ::close(lock_);
  }

 private:
  int lock_;
};

// Where a file system has no locks, nothing is known to be abandoned.
bool IsAbandoned(const std::string& path) {
  const int folder = OpenFolder(path);
  if (folder < 0) return false;
  const bool free = ::flock(folder, LOCK_EX | LOCK_NB) == 0;
  ::close(folder);
  return free;
}

}  // namespace

base::Result<HeldFolder> HeldFolder::Make(const std::string& cache_folder) {
  const std::string all = cache_folder + "/capture";
  TRY(base::MakeFolders(all));
  const Turn turn(all);
  const std::string path = all + "/" + std::to_string(::getpid()) + base::UniqueSuffix();
  TRY(base::MakeFolders(path));
  const int lock = OpenFolder(path);
  if (lock < 0) return base::Fail(base::IoError(path + ": " + std::strerror(errno)));
  (void)::flock(lock, LOCK_EX | LOCK_NB);
  return HeldFolder(path, lock);
}

HeldFolder::~HeldFolder() {
  if (lock_ >= 0) ::close(lock_);
}

void RemoveAbandonedRecordings(const std::string& cache_folder) {
  const std::string all = cache_folder + "/capture";
  const Turn turn(all);
  std::error_code error;
  std::vector<std::string> abandoned;
  for (std::filesystem::directory_iterator it(all, error), end; !error && it != end;
       it.increment(error)) {
    if (IsAbandoned(it->path())) abandoned.push_back(it->path());
  }
  for (const std::string& path : abandoned) (void)base::RemoveTree(path);
}

}  // namespace cupilot::workloads
