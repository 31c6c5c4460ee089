// The folders that processes hold while programs record for them: CACHE/capture/PID....
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace cupilot::workloads {

// A folder that counts as in use while this lives. Who made it removes it; if its process is ended
// before, RemoveAbandonedRecordings() does.
class HeldFolder {
 public:
  // `cache_folder` is there.
  static base::Result<HeldFolder> Make(const std::string& cache_folder);
  HeldFolder(HeldFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}
  HeldFolder& operator=(HeldFolder&&) = delete;
  ~HeldFolder();

  const std::string& path() const { return path_; }  // empty once moved from

 private:
  HeldFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_ = -1;
};

// Removes those that no process holds any more: their processes were killed. What cannot be removed
// stays.
void RemoveAbandonedRecordings(const std::string& cache_folder);

}  // namespace cupilot::workloads
